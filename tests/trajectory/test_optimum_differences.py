"""The derivatives of an optimum by parameters of muscles, by differences: three routes to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from optimum_differences import (
    COST,
    QUANTITIES,
    optimum_difference,
    reference_optimum,
    three_muscles,
    with_factor,
)
from thorough import some

from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.motion_problem import MotionCost
from musclesolve.trajectory.solve_motion import static_start

STEP = 5e-4
MUSCLE = 1


@pytest.mark.in_part(2)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_differences_are_those_of_the_solver_of_the_package(quantity):
    problem = three_muscles()
    reference = optimum_difference(problem, quantity, MUSCLE, STEP)
    ends = []
    for sign in (1.0, -1.0):
        changed = with_factor(problem, quantity, MUSCLE, np.exp(sign * STEP))
        cost = MotionCost.from_cost(changed, COST)
        found = BandedInteriorPoint().solve(changed, cost, static_start(changed, cost.cost)[:2])
        rate = changed.basis.rates(changed.basis.coefficients(found.coordinate))
        ends.append((found.activation, changed.state(found.coordinate, rate).fiber_length))
    for high, low, there in zip(*ends, (reference.activation, reference.fiber_length), strict=True):
        assert np.abs(there).max() > 1e-3
        assert (high - low) / (2.0 * STEP) == pytest.approx(there, abs=1e-4 * np.abs(there).max())


@pytest.mark.thorough
@pytest.mark.parametrize("quantity", some(QUANTITIES, 2))
def test_error_falls_with_the_square_of_the_step(quantity):
    problem = three_muscles()
    coarse, middle, fine = (
        optimum_difference(problem, quantity, MUSCLE, share * STEP).activation for share in (16.0, 8.0, 4.0)
    )
    first, second = np.abs(coarse - middle).max(), np.abs(middle - fine).max()
    assert first < 0.05 * np.abs(fine).max()
    assert second < 1e-5 * np.abs(fine).max() or first / second == pytest.approx(4.0, rel=0.1)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_derivative_of_the_cost_is_that_of_the_lagrangian(quantity):
    """dJ/dx = -sum (lambda . dR/dx f + mu . dE/dx) at the states of the optimum (certificate.py)."""
    problem, step = three_muscles(), 1e-5
    attempt = reference_optimum(problem)
    z, rate = attempt.coordinate, problem.basis.rates(problem.basis.coefficients(attempt.coordinate))

    def constraints(sign: float) -> float:
        changed = with_factor(problem, quantity, MUSCLE, np.exp(sign * step))
        state = changed.state(z, rate)
        moment = np.einsum("tkn,tn->tk", changed.lever, state.tendon.value)
        missed = (attempt.balance_multiplier * state.imbalance(attempt.activation)).sum()
        return float((attempt.multiplier * moment).sum() + missed)

    slope = -(constraints(1.0) - constraints(-1.0)) / (2.0 * step)
    assert optimum_difference(problem, quantity, MUSCLE, STEP).cost == pytest.approx(slope, rel=1e-4)
