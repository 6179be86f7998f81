"""Support of a planar body: constraint rows, the modes of the paper, and what two feet leave open."""

import numpy as np
import pytest
from planar_bodies import complex_step, random_motion
from refusals import refused

from benchmarks.planar import (
    PlanarMotion,
    Support,
    constraint_force,
    foot_support,
    planar_body,
    supported_inverse,
)
from benchmarks.planar.planar_dynamics import support_bias, support_directions, support_position, support_rows
from musclesolve.errors import MuscleSolveError

MODES = ("flat", "toes")


@pytest.fixture(scope="module")
def tree():
    return planar_body("nine_segment")


@pytest.fixture(params=MODES)
def support(tree, request):
    return foot_support(tree, request.param)


def test_rows_are_the_derivative_of_the_constraints(tree, support):
    q = random_motion(tree).q
    expected = complex_step(lambda x: support_position(tree, x, support), q)
    np.testing.assert_allclose(support_rows(tree, q, support), expected, atol=1e-14)


def test_bias_is_minus_the_rate_of_the_rows_times_the_velocities(tree, support):
    motion = random_motion(tree)
    moved = support_rows(tree, motion.q + 1e-30j * motion.qd, support)
    expected = -np.einsum("tcn,tn->tc", moved.imag / 1e-30, motion.qd)
    np.testing.assert_allclose(support_bias(tree, motion.q, motion.qd, support), expected, atol=1e-11)


def test_directions_keep_the_support(tree, support):
    q = random_motion(tree).q
    directions = support_directions(tree, q, support)
    assert directions.shape[1:] == (11, 8)
    np.testing.assert_allclose(support_rows(tree, q, support) @ directions, 0.0, atol=1e-14)
    assert (np.linalg.matrix_rank(directions) == 8).all()


@pytest.mark.parametrize("mode", MODES)
def test_the_constraints_of_the_paper(tree, mode):
    """(14) with -l3 cos phi3 in the second row (correction E3); a straight instep has no eta."""
    l3 = 0.13
    support = Support("foot", np.array([l3, 0.0]), "foot" if mode == "flat" else "toes")
    q = random_motion(tree).q
    (x_h, y_h), (f1, f2, f3, f4) = q[:, :2].T, q[:, 2:6].T
    l1, l2 = tree.mount[1, 0], tree.mount[2, 0]
    x0 = x_h + l1 * np.sin(f1) + l2 * np.sin(f2) + l3 * np.sin(f3)
    y0 = y_h - l1 * np.cos(f1) - l2 * np.cos(f2) - l3 * np.cos(f3)
    expected = np.column_stack([x0, y0, f3 if mode == "flat" else f4])
    np.testing.assert_allclose(support_position(tree, q, support), expected, atol=1e-14)


def test_only_the_modes_of_the_paper(tree):
    with refused("unknown_name", "heel"):
        foot_support(tree, "heel")
    with refused("unknown_name", "toes"):
        foot_support(planar_body("seven_segment"), "flat")


def test_shares_of_two_feet_do_not_follow_from_motion():
    walker = planar_body("two_leg")
    feet = [Support(f"foot_{side}", np.array([0.05, -0.066]), f"foot_{side}") for side in "rl"]
    motion = random_motion(walker)
    still = PlanarMotion(motion.q, 0.0 * motion.q, 0.0 * motion.q)
    with refused("conflict", "6", "9"):
        supported_inverse(walker, still, feet)


def test_supports_that_depend_on_each_other_are_refused(tree):
    """Holding foot and toes at one ground point twice says the same thing twice."""
    motion = random_motion(tree)
    feet = [foot_support(tree, "flat"), foot_support(tree, "toes")]
    with refused(None, "6", "frame 1", error=MuscleSolveError):
        constraint_force(tree, motion.q, motion.qd, 0.0 * motion.q, feet)
