"""Fiber and tendon lengths on a person: the operating range of the own model is kept, and what cannot be is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from refusals import refused

import muscle_db
from muscle_db.model import standing_length
from musclesolve.dynamics import human_model
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.scaling.fiber_lengths import (
    OperatingRange,
    fiber_and_tendon_lengths,
    operating_range,
    sampled_poses,
)
from musclesolve.muscles.scaling.scaled_paths import frame_maps, reference_model, scaled_paths

NEW = ["gait2392", "rajagopal_2023"]
LENGTHS = ("optimal_fiber_length", "tendon_slack_length")
UNEVEN = {"knee_r": np.array([0.0, 0.0, -0.40]), "knee_l": np.array([0.0, 0.0, -0.44])}


@cache
def own(name):
    """A set, its skeleton, and its paths there with via points as tabulated."""
    database = muscle_db.load(name)
    model = reference_model(database.reference)
    return database, model, scaled_paths(model, database, "r", frame_maps(model, database, "r"))


def tabulated(database):
    lengths = [(muscle.optimal_fiber_length, muscle.tendon_slack_length) for muscle in database]
    return np.array(lengths).T


def normalized(model, muscles, side):
    """Normalized fiber lengths (P, n) over the range of motion; zero where the tendon is slack."""
    length = muscles.paths.evaluate(*sampled_poses(model, side)).length
    parameters = muscles.parameters
    along = np.maximum(length - parameters.tendon_slack_length, 0.0) / parameters.optimal_fiber_length
    return np.hypot(along, np.sin(parameters.pennation_angle))


@pytest.mark.parametrize("name", NEW)
def test_the_own_skeleton_gives_back_the_own_lengths(name):
    database, model, paths = own(name)
    found = fiber_and_tendon_lengths(model, database, "r", paths)
    np.testing.assert_allclose(found, tabulated(database), rtol=1e-9)


def test_ranges_are_those_of_the_skeleton_that_fiber_lengths_belong_to():
    """Positions of silva_2003 are scaled to another skeleton, its fiber and tendon lengths are not."""
    database = replace(muscle_db.load("silva_2003"), operating_range_of=None)
    expected = [standing_length(muscle, database.reference, unscaled=True) for muscle in database]
    np.testing.assert_allclose(operating_range(database).length[0], expected, rtol=1e-12)
    by_own_range, by_standing = (
        scale_muscles(human_model(), database, "r", fiber_lengths=rule).parameters.optimal_fiber_length
        for rule in ("operating_range", "standing")
    )
    np.testing.assert_allclose(by_own_range, by_standing, rtol=0.25)


@pytest.mark.parametrize("name", NEW)
def test_a_person_twice_as_large_works_in_the_same_range(name):
    database = muscle_db.load(name)
    small, large = human_model(50.0, 0.9), human_model(50.0, 1.8)
    one, other = (scale_muscles(each, database, "r") for each in (small, large))
    for field in LENGTHS:
        twice = 2.0 * getattr(one.parameters, field)
        np.testing.assert_allclose(getattr(other.parameters, field), twice, rtol=1e-12)
    ranges = [normalized(*each, "r") for each in ((small, one), (large, other))]
    np.testing.assert_allclose(*ranges, rtol=1e-10)


@pytest.mark.parametrize("rule", ["operating_range", "standing"])
@pytest.mark.parametrize("name", muscle_db.available())
def test_a_person_in_the_mirror_has_the_other_leg(name, rule):
    """Thighs of 40 and 44 cm, and the other way round."""
    database = muscle_db.load(name)
    mirrored = {f"knee_{other}": UNEVEN[f"knee_{side}"] for side, other in ("rl", "lr")}
    person, image = (human_model(offsets=each) for each in (UNEVEN, mirrored))
    for side, other in ("rl", "lr"):
        here = scale_muscles(person, database, side, fiber_lengths=rule)
        there = scale_muscles(image, database, other, fiber_lengths=rule)
        for field in LENGTHS:
            length, mirrored_length = (getattr(each.parameters, field) for each in (here, there))
            np.testing.assert_allclose(length, mirrored_length, rtol=1e-12)
        mirror = there.paths.standing * [1.0, -1.0, 1.0]
        np.testing.assert_allclose(here.paths.standing, mirror, atol=1e-12)
    right, left = (scale_muscles(person, database, side, fiber_lengths=rule) for side in "rl")
    crossing = [k for k, name in enumerate(right.names) if name.startswith(("semi", "rectus_femoris"))]
    longer, shorter = (leg.parameters.tendon_slack_length[crossing] for leg in (left, right))
    assert (longer > 1.03 * shorter).all()


def test_the_operating_range_of_another_set():
    """Muscles of the source with the ranges of gait2392: these are kept, and no longer those of the standing rule."""
    database, model = muscle_db.load("silva_2003"), human_model()
    ranges = operating_range(database)
    np.testing.assert_array_equal(
        ranges.normalized_length[:, ranges.names.index("soleus")],
        operating_range(muscle_db.load("gait2392")).normalized_length[
            :, [muscle.name for muscle in muscle_db.load("gait2392")].index("soleus")
        ],
    )
    kept, standing = (
        normalized(model, scale_muscles(model, database, "r", fiber_lengths=rule), "r")
        - ranges.normalized_length
        for rule in ("operating_range", "standing")
    )
    off = [np.sqrt(np.nanmean(each**2, axis=0)) for each in (kept, standing)]
    assert np.median(off[0]) < 0.04 and np.median(off[1]) > 2.0 * np.median(off[0])


@pytest.mark.parametrize("seed", [0, 1])
def test_lengths_that_fit_exactly_are_found(seed):
    """Musculotendon lengths made from any fiber and tendon lengths near those that grew with the muscle."""
    database = muscle_db.load("gait2392")
    ranges = operating_range(database)
    grown = np.random.default_rng(seed).uniform(0.7, 1.4)
    length = grown * ranges.length
    np.testing.assert_allclose(ranges.fitted(length), grown * tabulated(database), rtol=1e-9)


def test_noise_of_paths_moves_short_fibers_no_more_than_they_are_trusted():
    """A millimeter of error in every pose, in a muscle whose length hardly changes and in one whose does."""
    rng = np.random.default_rng(3)
    for swing in (0.01, 0.5):
        normal = 1.0 + swing * rng.uniform(-1.0, 1.0, (128, 1))
        optimal, slack, flat = np.array([0.05]), np.array([0.2]), np.zeros(1)
        length = slack + optimal * normal
        ranges = OperatingRange.from_lengths(("x",), length, optimal, slack, flat)
        found, _ = ranges.fitted(length + 1e-3 * rng.normal(size=length.shape))
        assert abs(found[0] / 0.05 - 1.0) < 0.1


def alone(database, **changes):
    """Only the soleus of a set, changed."""
    return replace(
        muscle_db.load(database), muscles=(replace(muscle_db.load(database)["soleus"], **changes),)
    )


@pytest.mark.parametrize("length", [0.05, 0.6])
def test_a_muscle_that_works_nowhere_is_named(length):
    database = alone("gait2392", tendon_slack_length=length)
    with refused("bad_muscle_set", "soleus", "0 of 128", 'fiber_lengths = "standing"'):
        scale_muscles(human_model(), database, "r")


def test_a_muscle_on_the_wrong_side_of_the_joint_is_named():
    """The soleus with the path of a dorsiflexor: longer where its range says that it is shorter."""
    front = muscle_db.load("silva_2003")["tibialis_anterior"].path
    database = replace(alone("silva_2003", path=front), fiber_lengths="operating_range")
    with refused("bad_muscle_set", "soleus", "mm"):
        scale_muscles(human_model(), database, "r")


def test_ranges_of_a_set_that_lacks_the_muscle_are_refused():
    database = alone("silva_2003", name="plantaris", short_name="plant")
    with refused("bad_muscle_set", "plantaris", "gait2392"):
        scale_muscles(human_model(), database, "r", fiber_lengths="operating_range")


def test_an_unknown_rule_is_refused():
    with refused("unknown_name", "operating_range"):
        scale_muscles(human_model(), muscle_db.load(), "r", fiber_lengths="operating")
