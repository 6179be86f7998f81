"""The error that the time between frames makes: our frames beside a collocation of high order."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.elastic_tendons.times import timed, total
from benchmarks.elastic_tendons.variants import COST, SETS, motion
from benchmarks.validation.page import table
from musclesolve.trajectory.collocation.collocation import Collocation
from musclesolve.trajectory.motion_problem import MotionCost
from musclesolve.trajectory.solve_motion import solve_motion, static_start

MARGIN = 0.1
"""At either end [s], where the state before and after the motion is not known."""
HIGH_ORDER = Collocation(scheme="radau", order=3)


def between() -> str:
    """Radau collocation of three points between frames, right leg."""
    rows = []
    for database in SETS:
        problem = motion(database, "r")
        cost = MotionCost.from_cost(problem, COST)
        ours = solve_motion(problem, COST)
        begin = static_start(problem, cost.cost)
        seconds, report = timed(partial(HIGH_ORDER.report, problem, cost, begin))
        if not report.kkt_residual < 1e-6:
            raise RuntimeError(f"{database}: {report.attempt.message}")
        time, names = problem.time, problem.muscles.names
        apart = np.abs(report.attempt.activation - ours.activation)
        within = (time > time[0] + MARGIN) & (time < time[-1] - MARGIN)
        worst = names[int(apart[within].max(axis=0).argmax())].removesuffix("_r").replace("_", " ")
        rows.append(
            (
                *(f"`{database}`", f"{seconds:.0f}", f"{np.abs(report.defect).max():.2f}"),
                *(f"{np.abs(ours.defect).max():.2f}", f"{np.quantile(np.abs(ours.defect), 0.99):.3f}"),
                *(f"{apart.max():.2f}", f"{apart[within].max():.2f} ({worst})"),
                f"{np.sqrt((apart[within] ** 2).mean()):.4f}",
                f"{report.cost / total(ours, problem) - 1.0:+.0e}",
            )
        )
    head = ("set", "time of Radau [s]", "its largest error midway", "ours", "ours, 99 %")
    more = ("activations apart", "without 0.1 s at the ends", "rms", "cost, change")
    return table((*head, *more), rows)
