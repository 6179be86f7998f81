"""Moments out of reach, in random problems of the benchmark."""

from __future__ import annotations

import pytest

from musclesolve import Status, solve
from musclesolve.studies.benchmark.measure import random_problem


@pytest.mark.parametrize("cost", ["stress_cubed", "force_squared", "soft_saturation", "activation_power"])
@pytest.mark.parametrize("times", [10.0, 1000.0])
def test_weights_of_reserves_of_solve_certify_moments_far_beyond_reach(cost, times):
    problem = random_problem(50)
    far = problem.with_arrays(moment=times * problem.moment)
    found = solve(far, cost, on_infeasible="reserve")
    assert (found.status == Status.SOLVED_WITH_RESERVE).all() and (found.gap <= 1e-9).all()
