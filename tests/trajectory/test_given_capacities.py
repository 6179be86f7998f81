"""Muscles of given capacities as a motion for the structured method."""

from __future__ import annotations

import numpy as np
from sharing_cases import leg

from musclesolve import costs
from musclesolve.sharing import RateLimits
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.trajectory.motion_problem import TimeBasis
from musclesolve.trajectory.solve_rate_limited import GivenCapacities

LEG = leg(4, dofs=3, muscles=8)
LIMITS = ActivationLimits.from_rate_limits(RateLimits(), 0.01 * np.arange(4))
SOME = np.random.default_rng(0).uniform(0.1, 0.6, (4, 8))


def motion() -> GivenCapacities:
    return GivenCapacities.from_problem(LEG, LIMITS, np.full((4, 3), np.inf))


def test_coordinates_of_frames_are_their_coefficients_and_have_no_rate():
    for frames in (3, 4, 9):
        basis = TimeBasis.from_frame_count(frames)
        c = np.random.default_rng(frames).standard_normal((frames, 2))
        np.testing.assert_array_equal(basis.values(c), c)
        np.testing.assert_array_equal(basis.coefficients(c), c)
        np.testing.assert_array_equal(basis.gather(c, c), c)
        assert not basis.rates(c).any()


def test_a_muscle_is_in_balance_where_its_coordinate_is_its_activation():
    state = motion().state(SOME, np.ones_like(SOME))
    assert not state.imbalance(SOME).any()
    np.testing.assert_allclose(state.imbalance(SOME - 0.1), 0.1)
    produced = np.einsum("tkn,tn->tk", motion().lever, state.tendon.value)
    np.testing.assert_allclose(produced, np.einsum("tkn,tn->tk", LEG.moment_arm, SOME * LEG.force_capacity))


def test_soft_rows_are_moments_with_a_reserve_of_weight_one():
    cost = costs()["joint_reaction_squared"]()
    eased = motion().with_soft_rows(LEG, cost)
    left = eased.moment - np.einsum("tkn,tn->tk", eased.lever, SOME)
    np.testing.assert_allclose(0.5 * np.square(left[:, 3:]).sum(axis=1), cost.soft_rows(LEG).value(SOME))
    assert (eased.compliance[:, 3:] == 1.0).all() and (eased.compliance[:, :3] == 0.0).all()


def test_fixed_muscles_carry_their_moment_without_a_lever():
    lower, upper = np.zeros((4, 8)), np.ones((4, 8))
    lower[:, 2] = upper[:, 2] = 0.3
    fixed = GivenCapacities.from_problem(
        LEG.with_arrays(lower=lower, upper=upper), LIMITS, np.full((4, 3), np.inf)
    )
    free, at = fixed.without_fixed(), SOME.copy()
    at[:, 2] = 0.3
    assert not free.lever[:, :, 2].any()
    short = [motion.moment - np.einsum("tkn,tn->tk", motion.lever, at) for motion in (fixed, free)]
    np.testing.assert_allclose(*short)


def test_loose_frames_may_have_any_activation():
    limits = LIMITS.with_loose_frames(2)
    jumping = np.array([[0.5], [0.5], [0.5], [0.5], [0.0], [1.0]])
    assert limits.slack(jumping)[:, 3:].min() == 0.0
    np.testing.assert_array_equal(limits.slack(jumping)[:, :3], LIMITS.slack(jumping[:4]))
