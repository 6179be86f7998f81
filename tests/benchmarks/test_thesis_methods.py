"""Methods that the thesis tried or names find the optimum of a small problem, or fail as the rows of the source say."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from packages import imported

import musclesolve as ms
from benchmarks.thesis_figures.optimizers import COST
from benchmarks.thesis_methods import (
    METHODS,
    feasible_directions,
    genetic,
    gradient_projection,
    interior_directions,
    measured,
    moving_asymptotes,
)
from musclesolve.sharing.solver.frame_program import FrameProgram

EXACT = ("SQP (SciPy SLSQP)", "SLP (HiGHS, limits on steps)")


@pytest.fixture(scope="module")
def cases():
    """Two frames of four muscles about two joints: program, forces of the optimum, least cost."""
    arm = np.array([[0.05, 0.03, -0.04, 0.0], [0.0, 0.02, -0.01, 0.04]])
    problem = ms.Problem(
        arm, np.array([[20.0, 12.0], [-5.0, 10.0]]), np.full(4, 900.0), [800.0, 900.0, 1000.0, 700.0]
    )
    best = ms.solve(problem, COST, "batch")
    assert best.solved.all()
    return [
        (FrameProgram(problem.frames(np.array([t])), COST), best.force[t], float(best.cost[t]))
        for t in range(2)
    ]


@pytest.mark.parametrize(
    "method",
    [*(METHODS[name] for name in EXACT), feasible_directions, gradient_projection, interior_directions],
)
def test_methods_with_linear_rows_find_the_optimum_of_a_small_problem(method, cases):
    found = measured(method, cases, 20.0)
    assert found["miss"] < 1e-4 and abs(found["excess"]) < 1e-4 and found["off"] < 2.0


def test_moving_asymptotes_need_a_lagrangian_around_them(cases):
    imported("nlopt")
    found = measured(partial(moving_asymptotes, outer=True), cases, 20.0)
    assert found["miss"] < 1e-3 and abs(found["excess"]) < 1e-4


def test_a_genetic_algorithm_with_penalties_pays_with_moments(cases):
    found = measured(partial(genetic, penalty=1e3), cases, 1.0)
    exact = measured(METHODS[EXACT[0]], cases, 1.0)
    assert found["miss"] > 100.0 * exact["miss"]
