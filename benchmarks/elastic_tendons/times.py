"""Time, and agreement with the reference."""

from __future__ import annotations

from operator import itemgetter

import numpy as np

from benchmarks.elastic_tendons.variants import COST, OWN, SETS, SOFT, motion
from benchmarks.timing import measure
from benchmarks.validation.page import table
from musclesolve.sharing.solving import solve
from musclesolve.studies.benchmark.measure import seconds_of
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.collocation.collocation import Collocation
from musclesolve.trajectory.motion_solution import MotionSolution
from musclesolve.trajectory.solve_motion import solve_motion, static_problem


def total(found: MotionSolution, problem: MotionProblem) -> float:
    """The cost of the whole motion."""
    return float(problem.weight @ found.cost)


def times() -> str:
    """Single frames, the structured method and the reference on each leg."""
    rows = []
    for database in SETS:
        for tendons in (OWN, SOFT[1]):
            for side in "rl":
                problem = motion(database, side, tendons)
                rows.append((f"`{database}`", tendons.label, side, *_compared(problem)))
    head = ("set", "tendons", "leg", "single frames [ms]", "structured [s]", "steps", "certificate")
    more = ("collocation [s]", "steps", "certificate", "ratio", "activations apart", "costs apart")
    return table((*head, *more), rows)


def _compared(problem: MotionProblem) -> tuple[str, ...]:
    static = static_problem(problem)[0]
    single = measure(lambda: solve(static, COST)).best
    fast, ours = min((seconds_of(lambda: solve_motion(problem, COST)) for _ in range(3)), key=itemgetter(0))
    slow, theirs = seconds_of(lambda: solve_motion(problem, COST, Collocation()))
    apart = np.abs(ours.activation - theirs.activation).max()
    cost = abs(total(ours, problem) / total(theirs, problem) - 1.0)
    if ours.solver != "structured" or not (ours.solved.all() and theirs.solved.all()):
        raise RuntimeError(f"{ours.solver}: {ours.notes}; {theirs.notes}")
    return (
        *(f"{1e3 * single:.2f}", f"{fast:.2f}", str(ours.iterations), f"{ours.kkt_residual.max():.0e}"),
        *(f"{slow:.1f}", str(theirs.iterations), f"{theirs.kkt_residual.max():.0e}", f"{slow / fast:.0f}"),
        *(f"{apart:.0e}", f"{cost:.0e}"),
    )
