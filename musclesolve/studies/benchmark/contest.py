"""One solver on one problem under one cost: time, success, certificate, iterations, memory. Failures count too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from musclesolve.errors import MuscleSolveError
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import REGISTRY
from musclesolve.studies.benchmark.bare import BARE
from musclesolve.studies.benchmark.fresh import NoAnswerError, in_fresh_process
from musclesolve.studies.benchmark.timing import Memory, affordable, measure, seconds_of

OWN = "batch"
PATIENCE = 60.0
"""Seconds beyond the budget after which a process is given up."""


@dataclass(frozen=True)
class Row:
    """What was measured.

    Attributes:
        problem: its name.
        moments: m.
        muscles: n.
        cost: its name.
        solver: its name.
        frames: of the timed calls: as many as the budget allows.
        us_per_frame: of the fastest call [microseconds].
        first_call_s: of the first call in a process that has imported musclesolve.sharing, on one frame [s].
        solved: frames whose certificate holds.
        certificate: the worst one, of all frames that have an answer.
        iterations: mean.
        memory_mb: the largest memory of the process beyond that before the first call [MB].
        ratio: time per frame over that of the project's own solver on the same problem.
        remark: what went wrong.
    """

    problem: str
    moments: int
    muscles: int
    cost: str
    solver: str
    frames: int = 0
    us_per_frame: float = np.nan
    first_call_s: float = np.nan
    solved: int = 0
    certificate: float = np.nan
    iterations: float = np.nan
    memory_mb: float = np.nan
    ratio: float = np.nan
    remark: str = ""


def contest(
    name: str,
    problem: Problem,
    costs: tuple[str, ...],
    solvers: tuple[str, ...],
    budget: float,
    progress: Callable[[str], None] = lambda what: None,
) -> list[Row]:
    """A row for every cost and every solver that takes it, each in a process of its own.

    Args:
        name: of the problem.
        problem: with frames enough for the fastest.
        costs: names.
        solvers: names, those of `bare.BARE` among them.
        budget: seconds that each may spend on timed calls.
        progress: called with what comes next.
    """
    rows = []
    for cost in costs:
        for solver in solvers:
            if not takes(solver, cost):
                continue
            progress(f"{cost} by {solver}")
            rows.append(_row(name, problem, cost, solver, budget))
    return with_ratios(rows)


def takes(solver: str, cost: str) -> bool:
    """Whether a solver, registered or bare, is for a cost."""
    if solver in BARE:
        return BARE[solver].fits(find_cost(cost))
    return REGISTRY[solver].fits(find_cost(cost))


def _row(name: str, problem: Problem, cost: str, solver: str, budget: float) -> Row:
    blank = Row(name, problem.n_dof, problem.n_muscles, cost, solver)
    package = BARE[solver].package if solver in BARE else REGISTRY[solver].package
    if not _installed(solver):
        return replace(blank, remark=f"not installed ({package})")
    try:
        found = in_fresh_process(measured, problem, cost, solver, budget, limit=budget + PATIENCE)
    except NoAnswerError as error:
        return replace(blank, remark=str(error))
    return replace(blank, **found)


def _installed(solver: str) -> bool:
    return BARE[solver].installed if solver in BARE else REGISTRY[solver].installed


def measured(problem: Problem, cost: str, solver: str, budget: float) -> dict[str, Any]:
    """The figures of a row, measured in the process that calls this."""
    memory = Memory()
    try:
        figures = (
            _bare(problem, cost, solver, budget) if solver in BARE else _solve(problem, cost, solver, budget)
        )
    except MuscleSolveError as error:
        return {"remark": " ".join(str(error).split())}
    return figures | {"memory_mb": memory.grown()}


def _solve(problem: Problem, cost: str, solver: str, budget: float) -> dict[str, Any]:
    """Through `solve`, as everybody calls it: scaling, certificate and all."""
    from musclesolve.sharing.solving import solve

    first, _ = seconds_of(lambda: solve(problem.frames(np.array([0])), cost, solver))
    frames = affordable(
        lambda count: solve(problem.frames(np.arange(count)), cost, solver), problem.n_frames, budget
    )
    part = problem.frames(np.arange(frames))
    part.moment_matrix, part.valid  # noqa: B018, computed once for a problem, whoever solves it
    timing = measure(lambda: solve(part, cost, solver), budget=budget / 2.0)
    answer = timing.value
    figures: dict[str, Any] = {
        "frames": frames,
        "us_per_frame": 1e6 * min(timing.first, timing.best) / frames,
        "first_call_s": first,
        "solved": int(answer.solved.sum()),
        "iterations": float(answer.iterations.mean()),
    }
    known = answer.kkt_residual[np.isfinite(answer.kkt_residual)]
    if known.size:
        figures["certificate"] = float(known.max())
    if not answer.solved.all():
        figures["remark"] = f"{frames - int(answer.solved.sum())} frames without an answer"
    return figures


def _bare(problem: Problem, cost: str, solver: str, budget: float) -> dict[str, Any]:
    """Of a rival nothing but the calls is timed; its answers are certified afterwards."""
    from musclesolve.sharing.certificate import kkt_residual
    from musclesolve.sharing.kernel.constants import TOLERANCE

    rival, chosen = BARE[solver], find_cost(cost)
    first, _ = seconds_of(lambda: rival.prepare(problem.frames(np.array([0])), chosen)())
    run = rival.prepare(problem.frames(np.arange(min(problem.n_frames, 20))), chosen)
    seconds, _ = seconds_of(run)
    frames = int(np.clip(budget / 4.0 * min(problem.n_frames, 20) / seconds, 1, problem.n_frames))
    part = problem.frames(np.arange(frames))
    timing = measure(rival.prepare(part, chosen), budget=budget / 2.0)
    found = timing.value
    residual = kkt_residual(part, chosen, found.activation, np.zeros_like(part.moment), found.multiplier)
    solved = int((residual <= TOLERANCE).sum())
    return {
        "frames": frames,
        "us_per_frame": 1e6 * min(timing.first, timing.best) / frames,
        "first_call_s": first,
        "solved": solved,
        "certificate": float(residual.max()),
        "iterations": found.iterations,
        "remark": "" if solved == frames else f"{frames - solved} frames miss 1e-6",
    }


def with_ratios(rows: list[Row]) -> list[Row]:
    """The rows with their time per frame over that of the own solver on the same problem under the same cost."""
    own = {(row.problem, row.cost): row.us_per_frame for row in rows if row.solver == OWN}
    return [replace(row, ratio=row.us_per_frame / own.get((row.problem, row.cost), np.nan)) for row in rows]
