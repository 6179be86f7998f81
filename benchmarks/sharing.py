"""Solvers side by side on the same frames: time, status, certificate, iterations."""

from __future__ import annotations

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console, measure
from musclesolve.recording import Trial
from musclesolve.sharing.cost.registry import find_cost

SLOW = {"trust-constr": 3, "slsqp": 12}
"""Frames for solvers that take long."""


def report(trial: Trial) -> None:
    """Print a row for every cost and solver; failures stay in the table."""
    problem = ms.leg_problem(ms.run(trial, side="r"), "r")
    size = f"{problem.n_frames} frames, {problem.n_dof} moments, {problem.n_muscles} muscles"
    table = Table(
        "cost",
        "solver",
        "us/frame",
        "first call [s]",
        "solved",
        "worst certificate",
        "iterations",
        title=size,
    )
    for cost in ("force_squared", "stress_cubed", "soft_saturation", "min_max"):
        for solver, record in ms.solvers().items():
            if not record.installed or not record.fits(find_cost(cost)):
                continue
            part = problem.frames(np.arange(problem.n_frames)[: SLOW.get(solver)])
            timing = measure(
                lambda cost=cost, solver=solver, part=part: ms.solve(part, cost, solver),
                5 if record.batched else 1,
            )
            solution = timing.value
            assert isinstance(solution, ms.Solution)
            good = solution.solved
            table.add_row(
                cost,
                solver,
                f"{1e6 * timing.best / part.n_frames:.0f}",
                f"{timing.first:.2f}",
                f"{good.sum()}/{good.size}",
                f"{solution.kkt_residual[good].max(initial=0.0):.0e}",
                f"{solution.iterations.mean():.0f}",
            )
    console.print(table)
