"""Exact derivatives of the optimum of a motion, against differences of the reference method and of ours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_cases import small_motion
from optimum_differences import COST, optimum_difference, reference_optimum, three_muscles

from musclesolve.muscles.muscle_parameters import QUANTITIES
from musclesolve.sharing.problem_scale import fallback_weight
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.motion_problem import MotionCost
from musclesolve.trajectory.optimum_derivatives import OptimumDerivatives, with_parameters
from musclesolve.trajectory.solve_motion import static_start

MUSCLE = 1


def direction(quantity: str, muscle: int, count: int) -> np.ndarray:
    single = np.zeros((1, len(QUANTITIES), count))
    single[0, QUANTITIES.index(quantity), muscle] = 1.0
    return single


@pytest.mark.in_part(2)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_derivatives_are_the_differences_of_the_reference_method(quantity):
    problem = three_muscles()
    derivatives = OptimumDerivatives(problem, MotionCost.from_cost(problem, COST), reference_optimum(problem))
    assert derivatives.known
    change = derivatives.along(direction(quantity, MUSCLE, 3))
    reference = optimum_difference(problem, quantity, MUSCLE, 5e-4)
    for exact, there in (
        (change.activation[0], reference.activation),
        (change.fiber_length[0], reference.fiber_length),
    ):
        assert np.abs(there).max() > 1e-3
        assert exact == pytest.approx(there, abs=1e-4 * np.abs(there).max())


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_derivatives_hold_with_reserves_limits_and_muscles_at_rest(quantity):
    """Where muscles lack something, and some are at bounds: the optimum of a neighbor is the one extrapolated."""
    motion = small_motion(30)
    usual = fallback_weight(motion.isometric, MotionCost.from_cost(motion, COST).cost)
    problem = replace(motion, moment=1.5 * motion.moment, reserve_weight=1e-4 * usual)
    cost = MotionCost.from_cost(problem, COST)
    near = BandedInteriorPoint(good=1e-9).solve(problem, cost, static_start(problem, cost.cost)[:2])
    assert (near.activation < 1e-6).any()
    assert np.abs(problem.compliance * near.multiplier).max() > 0.1
    count, step = near.activation.shape[1], 1e-4
    change = OptimumDerivatives(problem, cost, near).along(direction(quantity, MUSCLE, count))
    ends = []
    for sign in (1.0, -1.0):
        factor = np.where(np.arange(count) == MUSCLE, np.exp(sign * step), 1.0)
        changed = with_parameters(problem, problem.muscles.parameters.scaled(quantity, factor))
        found = BandedInteriorPoint(good=1e-9).resume(changed, MotionCost.from_cost(changed, COST), near)
        rate = changed.basis.rates(changed.basis.coefficients(found.coordinate))
        fiber = changed.state(found.coordinate, rate).fiber_length
        ends.append((found.activation, fiber, changed.compliance * found.multiplier))
    exact = (change.activation[0], change.fiber_length[0], change.reserve[0])
    for high, low, there in zip(*ends, exact, strict=True):
        assert np.abs(there).max() > 1e-4
        assert (high - low) / (2.0 * step) == pytest.approx(there, abs=2e-3 * np.abs(there).max())


def test_motion_is_taken_up_again_from_the_optimum_of_one_like_it():
    problem = small_motion(30)
    cost = MotionCost.from_cost(problem, COST)
    first = BandedInteriorPoint().solve(problem, cost, static_start(problem, cost.cost)[:2])
    changed = with_parameters(problem, problem.muscles.parameters.scaled("optimal_fiber_length", 1.005))
    of_changed = MotionCost.from_cost(changed, COST)
    again = BandedInteriorPoint().resume(changed, of_changed, first)
    afresh = BandedInteriorPoint().solve(changed, of_changed, static_start(changed, of_changed.cost)[:2])
    assert again.activation == pytest.approx(afresh.activation, abs=1e-5)
    assert again.iterations < afresh.iterations
