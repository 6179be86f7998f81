"""Segments that are stated: the table's values change nothing, the total stays, a light shank swings lightly."""

import numpy as np
import pytest
from package_tables import package_table
from refusals import refused

from musclesolve.dynamics import (
    Sensitivity,
    StatedSegment,
    forward_human_model,
    human_model,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.model.segment_inertia import compose, named_points, segment_axes, segments_of

SIZE = (70.25, 1.70, "male")
LEG = ("hip", "knee", "ankle")


def whole(model, name):
    mass = model.mass
    own = [k for k, body in enumerate(model.topology.bodies) if body.segment == name]
    return compose([(mass.mass[k], mass.center[k], mass.inertia[k]) for k in own])


def as_in_table(model, name):
    """Return the values that the table gives a segment, in the terms in which a trial states it."""
    mass, center, inertia = whole(model, name)
    lengths, where = (
        package_table("dynamics/model/definitions/human_lengths.toml"),
        named_points(model.topology, model.standing),
    )
    start, end = (where[point] for point in lengths["segment"][name])
    places = package_table("dynamics/model/definitions/human_segments.toml")["segment"]
    transverse = next(place["transverse"] for place in places if place["name"] == name)
    ends = (where[point] for point in lengths["long_axis"].get(name, lengths["segment"][name]))
    axes = segment_axes(*ends, transverse)
    own = axes.T @ inertia @ axes
    np.testing.assert_allclose(own, np.diag(np.diag(own)), atol=1e-12)
    share = float((center - start) @ (end - start) / ((end - start) @ (end - start)))
    return StatedSegment(mass, None, share, tuple(np.diag(own)))


def test_a_segment_stated_with_its_own_values_changes_nothing(model):
    plain = human_model(*SIZE)
    names = [segment.name for segment in segments_of(plain)]
    for chosen in ([name] for name in names):
        same = human_model(*SIZE, segments={name: as_in_table(plain, name) for name in chosen})
        np.testing.assert_allclose(same.mass.mass, plain.mass.mass, rtol=1e-12)
        np.testing.assert_allclose(same.mass.center, plain.mass.center, atol=1e-12)
        np.testing.assert_allclose(same.mass.inertia, plain.mass.inertia, atol=1e-12)


def test_the_moments_of_an_able_bodied_subject_stay(model, motion, wrenches):
    names = [segment.name for segment in segments_of(model)][:4]
    plain = human_model(*SIZE)
    same = human_model(*SIZE, segments={name: as_in_table(plain, name) for name in names})
    one, other = (projected_moments(each, motion, wrenches) for each in (plain, same))
    np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize(
    "stated",
    [
        StatedSegment(1.4, center=0.35, inertia=(0.012, 0.012, 0.002)),
        StatedSegment(0.0),
        StatedSegment(mass_factor=1.5),
    ],
)
def test_the_body_weighs_what_it_weighed(stated):
    plain, other = human_model(*SIZE), human_model(*SIZE, segments={"shank_r": stated})
    assert other.mass.total == pytest.approx(SIZE[0], rel=1e-12)
    expected = stated.mass if stated.mass is not None else 1.5 * whole(plain, "shank_r")[0]
    assert whole(other, "shank_r")[0] == pytest.approx(expected)
    factors = [
        whole(other, name)[0] / whole(plain, name)[0]
        for name in ("thigh_r", "shank_l", "head", "upper_torso")
    ]
    np.testing.assert_allclose(factors, factors[0], rtol=1e-12)
    assert forward_human_model(other).mass.total == pytest.approx(SIZE[0], rel=1e-12)


def test_what_is_stated_is_what_the_segment_has():
    other = human_model(*SIZE, segments={"shank_r": StatedSegment(1.4, None, 0.35, (0.012, 0.013, 0.002))})
    found = next(segment for segment in segments_of(other) if segment.name == "shank_r")
    assert (found.mass, found.center) == (pytest.approx(1.4), pytest.approx(0.35))
    np.testing.assert_allclose(found.principal, [0.002, 0.012, 0.013])
    np.testing.assert_allclose(np.diag(whole(other, "shank_r")[2]), [0.012, 0.013, 0.002])


def test_mass_alone_keeps_center_and_radii_of_gyration():
    plain, other = human_model(*SIZE), human_model(*SIZE, segments={"foot_l": StatedSegment(0.5)})
    (m, c, i), (m1, c1, i1) = whole(plain, "foot_l"), whole(other, "foot_l")
    np.testing.assert_allclose(c1, c)
    np.testing.assert_allclose(i1 / m1, i / m)


def test_a_lighter_shank_needs_smaller_moments_at_the_knee(model, motion):
    """In swing (no ground force) the knee moves shank and foot: it changes by the mass times its sensitivity."""
    light = human_model(*SIZE, segments={"shank_r": StatedSegment(1.5, inertia=None)})
    plain = human_model(*SIZE)
    knee = plain.dof("knee_flexion_r")
    change = (projected_moments(light, motion, []) - projected_moments(plain, motion, []))[:, knee]
    sensitivity = Sensitivity.by_mass(plain, motion, segment_motion(plain, motion), inertia_follows=True)
    by = {name: whole(light, name)[0] - whole(plain, name)[0] for name in ("shank_r", "foot_r")}
    expected = sum(by[name] * sensitivity.of("knee_flexion_r", name) for name in by)
    np.testing.assert_allclose(change, expected, atol=1e-8)
    assert by["shank_r"] < -1.0 and np.abs(change).max() > 1.0
    ankle = plain.dof("ankle_dorsiflexion_r")
    assert (
        np.abs((projected_moments(light, motion, []) - projected_moments(plain, motion, []))[:, ankle]).max()
        < 0.05 * np.abs(change).max()
    )


def test_a_missing_hand_has_neither_mass_nor_weight(motion):
    without = human_model(*SIZE, segments={"hand_r": StatedSegment(0.0)})
    moments = projected_moments(without, motion, [])
    assert np.abs(moments[:, without.dof("wrist_flexion_r")]).max() < 1e-12
    assert np.abs(moments[:, without.dof("wrist_flexion_l")]).max() > 1e-3


def test_what_no_body_has_is_refused():
    with refused("unknown_name", "tail"):
        human_model(*SIZE, segments={"tail": StatedSegment(1.0)})
    with refused("conflict"):
        human_model(*SIZE, segments={"upper_torso": StatedSegment(60.0)})
    with refused("bad_type", "shank_r"):
        human_model(*SIZE, segments={"shank_r": 1.4})


@pytest.mark.parametrize(
    "values, code",
    [
        ({"mass": -1.0}, "bad_number"),
        ({"mass": float("nan")}, "bad_number"),
        ({"mass": 1.0, "mass_factor": 2.0}, "conflict"),
        ({"mass_factor": 0.0}, "bad_number"),
        ({"center": 50.0}, "bad_number"),
        ({"inertia": (0.01, 0.01)}, "bad_shape"),
        ({"inertia": (0.01, -0.01, 0.01)}, "bad_number"),
        ({"inertia": (0.001, 0.001, 0.01)}, "bad_number"),
        ({"mass": 0.0, "inertia": (0.01, 0.01, 0.01)}, "conflict"),
    ],
)
def test_a_segment_that_cannot_be_is_refused(values, code):
    with refused(code):
        StatedSegment(**values)


def test_all_segments_may_be_stated_if_they_weigh_what_the_body_does():
    """A subject of whom everything was measured, such as a child: nothing of the table is left."""
    plain = human_model(*SIZE)
    masses = {body.segment: 0.0 for body in plain.topology.bodies}
    for body, mass in zip(plain.topology.bodies, plain.mass.mass, strict=True):
        masses[body.segment] += mass
    head, torso = masses["head"], masses["upper_torso"]
    masses |= {"head": head + 1.0, "upper_torso": torso - 1.0}
    other = human_model(*SIZE, segments={name: StatedSegment(mass) for name, mass in masses.items()})
    assert whole(other, "head")[0] == pytest.approx(head + 1.0)
    assert other.mass.total == pytest.approx(SIZE[0])
    with refused("conflict"):
        human_model(*SIZE, segments={name: StatedSegment(1.1 * mass) for name, mass in masses.items()})
