"""Moments that muscles miss by far: reserves of any size, and muscles that rest where their own cost is least."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve import Problem, Status, costs, solve
from musclesolve.sharing import certify
from musclesolve.sharing.kernel.constants import PATIENCE
from musclesolve.sharing.solver.batch import Batch, Vectorized

SOLVERS = [Batch(), Vectorized()]


@pytest.mark.parametrize("solver", SOLVERS, ids=["compiled", "numpy"])
@pytest.mark.parametrize("cost", ["activation_power", "force_squared", "stress_cubed"])
def test_large_reserves_end_by_the_gap_and_not_by_round_off(solver, cost):
    """The round-off of a moment times the multiplier of a large reserve is far above the cost of all muscles."""
    frames, random = 40, np.random.default_rng(3)
    arm = random.uniform(0.02, 0.06, (frames, 1, 3))
    moment = 10.0 ** random.uniform(2.5, 3.5, (frames, 1))
    problem = Problem(arm, moment, np.full((frames, 3), 1000.0), np.full(3, 1000.0))
    answer = solve(problem, cost, solver, on_infeasible="reserve")
    assert (answer.status == Status.SOLVED_WITH_RESERVE).all()
    assert (answer.activation == 1.0).all()
    np.testing.assert_allclose(answer.reserve, moment - 1000.0 * arm.sum(axis=2), rtol=1e-12)
    assert answer.iterations.max() < PATIENCE


@pytest.mark.parametrize("solver", SOLVERS, ids=["compiled", "numpy"])
def test_a_muscle_without_an_arm_rests_where_its_own_cost_is_least(solver):
    """a^2 + 5 (a - e)^2 is least at 5 e / 6: all marginal costs vanish there, and W with them."""
    frames = 61
    emg = 0.2 + 0.1 * np.sin(np.linspace(0.0, 2.0 * np.pi, frames))[:, None]
    moment = 1000.0 * np.cos(np.linspace(0.0, 3.0, frames))[:, None]
    arm = np.full((frames, 1, 1), -3e-88)
    problem = Problem(arm, moment, np.full((frames, 1), 1000.0), np.full(1, 1000.0), emg=emg)
    of_emg = costs()["emg_tracking"](unmeasured_weight=0.0)
    cost = costs()["activation_power"]() + 5.0 * of_emg
    answer = solve(problem, cost, solver, on_infeasible="reserve")
    assert (answer.status == Status.SOLVED_WITH_RESERVE).all()
    np.testing.assert_allclose(answer.activation, 5.0 * emg / 6.0, rtol=1e-9)
    assert answer.iterations.max() < 2 * PATIENCE


def test_marginal_costs_that_cancel_certify_their_optimum_and_no_other_point():
    """At e every slope is zero: the multiplier of a nearly powerless muscle may not decide."""
    problem = Problem([[1e-60]], [0.4e-57], [1000.0], [1000.0], emg=[0.4])
    multiplier = np.array([1e30])
    for activation, holds in ((0.4, True), (0.4 + 1e-6, False), (0.39, False)):
        found = certify(problem, "emg_tracking", np.array([activation]), np.zeros(1), multiplier)
        assert found.holds == holds
