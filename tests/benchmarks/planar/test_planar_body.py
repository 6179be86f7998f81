"""Planar bodies weigh and stand as people do; broken ones are refused."""

import numpy as np
import pytest
from refusals import refused

from benchmarks.planar import PlanarTree, planar_body
from benchmarks.planar.planar_tree import MODELS, place


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sex", ["female", "male"])
def test_segment_masses_sum_to_the_mass_of_the_subject(name, sex):
    # The printed percentages sum to 100 within rounding.
    assert planar_body(name, 61.0, 1.66, sex).mass.sum() == pytest.approx(61.0, rel=6e-4)


@pytest.mark.parametrize("name", MODELS)
def test_lengths_scale_with_stature_and_inertia_with_mass_and_length(name):
    small, tall = planar_body(name, 50.0, 1.50), planar_body(name, 100.0, 1.80)
    np.testing.assert_allclose(tall.mount, 1.2 * small.mount)
    np.testing.assert_allclose(tall.center, 1.2 * small.center)
    np.testing.assert_allclose(tall.inertia, 2.0 * 1.44 * small.inertia)


def standing(tree):
    q = np.concatenate([np.zeros(2), tree.rest])[None]
    return place(tree, q).reshape(-1, 3)[:, :2]


def test_all_bodies_have_the_same_center_and_leg():
    """Seven segments, nine, or two legs: the same subject standing. The trunk's parts have the same levels in all."""
    centers = [planar_body(name).mass @ standing(planar_body(name)) / 73.0 for name in MODELS]
    np.testing.assert_allclose(centers[1], centers[0], atol=1e-5)
    np.testing.assert_allclose(centers[2], centers[0], atol=1e-12)


def test_all_bodies_have_the_same_moment_of_inertia():
    """About the hip, standing: parts composed into one segment keep theirs (parallel axes)."""
    about = []
    for name in MODELS:
        tree = planar_body(name)
        about.append(tree.inertia.sum() + tree.mass @ (standing(tree) ** 2).sum(axis=1))
    np.testing.assert_allclose(about, about[0], rtol=1e-5)


def test_foot_and_toes_together_are_the_foot():
    whole, split = planar_body("seven_segment"), planar_body("nine_segment")
    foot, parts = whole.segment("foot"), [split.segment("foot"), split.segment("toes")]
    place_of = standing(split)[parts] - standing(whole)[foot]
    mass = split.mass[parts]
    assert mass.sum() == pytest.approx(whole.mass[foot])
    np.testing.assert_allclose(mass @ place_of, 0.0, atol=1e-5)
    about = split.inertia[parts].sum() + mass @ (place_of**2).sum(axis=1)
    assert about == pytest.approx(whole.inertia[foot], rel=1e-3)


def tree(**changes):
    fields = {
        "names": ("a", "b", "c"),
        "parent": np.array([-1, 0, 1]),
        "mount": np.zeros((3, 2)),
        "center": np.ones((3, 2)),
        "mass": np.ones(3),
        "inertia": np.ones(3),
        "rest": np.zeros(3),
    }
    return PlanarTree(**fields | changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parent": np.array([-1, 2, 1])}, ("bad_model",)),
        ({"parent": np.array([-1, -1, 1])}, ("bad_model",)),
        ({"mass": np.array([1.0, 0.0, 1.0])}, ("bad_model", "b", "0")),
        ({"inertia": np.array([1.0, 1.0, -2.0])}, ("bad_model", "c")),
        ({"center": np.full((3, 2), np.nan)}, ("not_finite", "center")),
        ({"rest": np.zeros(2)}, ("bad_shape", "rest")),
    ],
)
def test_trees_that_cannot_be_are_refused(changes, words):
    with refused(*words):
        tree(**changes)


def test_unknown_segments_are_named():
    with refused("unknown_name", "tail"):
        tree().segment("tail")
    with refused("conflict", "a"):
        tree().joint("a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mass": -3.0}, ("bad_number", "-3")),
        ({"stature": 18.3}, ("bad_number", "18.3")),
        ({"sex": "other"}, ("unknown_name", "other")),
        ({"name": "eight_segment"}, ("unknown_name", "eight_segment")),
        ({"name": "absent.toml"}, ("unreadable_file", "absent.toml")),
    ],
)
def test_impossible_bodies_are_refused(arguments, words):
    with refused(*words):
        planar_body(**arguments)


def test_a_broken_file_is_refused(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("stature = 1.7\n[[segment]]\nname = 'x'\n")
    with refused("bad_model", "mine.toml"):
        planar_body(file)
