"""Refusals of a motion problem, and their sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_cases import small_motion
from refusals import refused

from musclesolve.trajectory import MotionProblem, solve_motion
from musclesolve.trajectory.motion_problem import FEWEST_FRAMES, LONGEST_STEP

P = small_motion()


def with_entry(name: str, value: float) -> np.ndarray:
    found = getattr(P, name).copy()
    found[(3,) + (0,) * (found.ndim - 1)] = value
    return found


@pytest.mark.parametrize("count", [1, 3])
def test_too_few_frames_are_refused(count):
    with refused("too_few_frames", "time", str(FEWEST_FRAMES), "rigid"):
        P.frames(slice(0, count))


def test_the_fewest_frames_are_enough():
    assert P.frames(slice(0, FEWEST_FRAMES)).n_frames == FEWEST_FRAMES


def test_frames_far_apart_are_refused():
    with refused("uneven_sampling", "time", "100 ms", "rigid"):
        small_motion(step=0.1)
    gap = P.time + 0.06 * (np.arange(20) > 7)
    with refused("uneven_sampling", "70 ms", "0.07 and 0.14 s"):
        replace(P, time=gap)
    assert small_motion(step=0.999 * LONGEST_STEP).n_frames == 20


@pytest.mark.every_pair
@pytest.mark.parametrize("name", ["moment_arm", "moment", "musculotendon_length", "musculotendon_velocity"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(name, value):
    with refused("not_finite", name, "frame 3"):
        replace(P, **{name: with_entry(name, value)})


@pytest.mark.parametrize(
    ("code", "name", "value"),
    [
        ("bad_shape", "moment_arm", P.moment_arm[:, :, :3]),
        ("bad_shape", "moment_arm", P.moment_arm[:, 0]),
        ("bad_shape", "moment", P.moment[:, 0]),
        ("bad_shape", "moment", P.moment[:-1]),
        ("bad_shape", "musculotendon_length", P.musculotendon_length[:, :2]),
        ("bad_shape", "lower", np.zeros(3)),
        ("bad_shape", "upper", np.ones((20, 5))),
        ("bad_shape", "emg", np.ones((19, 4))),
        ("bad_shape", "reserve_weight", np.ones((20, 2))),
        ("not_finite", "lower", np.nan),
        ("not_finite", "upper", np.nan),
        ("not_numbers", "moment", P.moment + 1j),
        ("not_numbers", "lower", "zero"),
        ("time_not_increasing", "time", P.time[::-1]),
        ("bad_type", "limits", 0.01),
        ("bad_type", "muscles", "gait2392"),
    ],
)
def test_arrays_of_another_kind_are_refused(code, name, value):
    with refused(code, name):
        replace(P, **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "parts"),
    [
        ("lower", -0.1, ("flexor",)),
        ("lower", [0.0, 0.0, 1.2, 0.0], ("extensor",)),
        ("upper", -1.0, ("flexor",)),
        ("reserve_weight", 0.0, ("knee",)),
        ("reserve_weight", -1.0, ("knee",)),
        ("reserve_weight", np.inf, ("knee",)),
        ("emg", -0.5, ("flexor",)),
    ],
)
def test_values_without_a_meaning_are_refused_before_solving(name, value, parts):
    with refused("bad_number", *parts):
        solve_motion(replace(P, **{name: value}))


def test_velocities_opposite_to_the_changes_of_length_are_refused():
    with refused("bad_number", "musculotendon_velocity", "opposite sign"):
        replace(P, musculotendon_velocity=-P.musculotendon_velocity)


def test_some_frames_are_a_motion_by_themselves():
    whole = replace(P, lower=0.05, reserve_weight=2.0, emg=np.linspace(0.0, 1.0, 20)[:, None])
    part = whole.frames(slice(4, 12))
    assert isinstance(part, MotionProblem) and part.n_frames == 8
    for name in ("time", "moment", "moment_arm", "musculotendon_length", "lower", "reserve_weight", "emg"):
        np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[4:12])
    assert part.muscles is whole.muscles and part.dof == whole.dof


def test_weights_are_those_of_the_trapezoid_rule():
    time = np.array([0.0, 0.01, 0.03, 0.04])
    problem = replace(P.frames(slice(0, 4)), time=time)
    f = np.array([3.0, -1.0, 2.0, 5.0])
    assert problem.weight @ f * 0.04 / 3.0 == pytest.approx(np.trapezoid(f, time), rel=1e-14)
