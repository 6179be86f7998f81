"""Solvers side by side on the same frames: time, status, certificate, iterations."""

from __future__ import annotations

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console, measure
from musclesolve.recording import Trial


def problem_of(trial: Trial, side: str = "r") -> ms.Problem:
    """The force-sharing problem of one leg of a trial, reserves left out."""
    result = ms.run(trial, side=side)
    dofs = list(result.attrs["shared_dofs"])
    arm = result.moment_arm.sel(dof=dofs).values
    needed = result.joint_moment.sel(dof=dofs).values - np.einsum(
        "tkm,tm->tk", arm, result.passive_force.values
    )
    strength = result.max_isometric_force.values
    return ms.Problem(
        arm, needed, result.force_capacity.values, strength, muscle=result.muscle.values, dof=dofs
    )


def report(trial: Trial) -> None:
    """Print a row for every cost and solver; failures stay in the table."""
    problem = problem_of(trial)
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
    for cost in ("force_squared", "stress_cubed", "soft_saturation"):
        for solver, repeats in (("batch", 5), ("ipopt", 1)):
            timing = measure(lambda cost=cost, solver=solver: ms.solve(problem, cost, solver), repeats)
            solution = timing.value
            assert isinstance(solution, ms.Solution)
            good = solution.solved
            table.add_row(
                cost,
                solver,
                f"{1e6 * timing.best / problem.n_frames:.0f}",
                f"{timing.first:.2f}",
                f"{good.sum()}/{good.size}",
                f"{np.nanmax(solution.kkt_residual[good]):.0e}",
                f"{solution.iterations[good].mean():.0f}",
            )
    console.print(table)
