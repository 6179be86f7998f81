"""The measurements of `musclesolve benchmark`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.checks import check_integer
from musclesolve._util.progress import Progress, no_progress
from musclesolve.data.bundled import reference_stride
from musclesolve.errors import InputError, MuscleSolveError
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.results.dataset.leg_problem import leg_problem
from musclesolve.results.run_trial import run
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import REGISTRY, find_solver
from musclesolve.studies.benchmark.measure import (
    Latency,
    Memory,
    NoResultError,
    affordable,
    in_fresh_process,
    machine,
    measure,
    seconds_of,
)
from musclesolve.studies.benchmark.problems import random_problem, varied

COSTS = ("force_squared", "stress_cubed", "soft_saturation", "min_max")
CALLS = 3000
"""Most calls with a single frame."""
BUDGET = 1.0
"""Seconds for the timed calls of each solver."""


@dataclass(frozen=True)
class Report:
    """The machine, solvers side by side, and the latency of one frame."""

    machine: dict[str, str]
    rows: list[Row]
    single: list[SingleFrame]


def benchmark(
    trial: str | Path | None = None,
    frames: int = 10_000,
    costs: tuple[str, ...] = (),
    solvers: tuple[str, ...] = (),
    progress: Progress = no_progress,
) -> Report:
    """Measure solvers side by side on the same frames, and the latency of one frame.

    The frames are those of the right leg of a trial, repeated with small changes (`varied`), and those of a random
    leg (`random_problem`). Every solver works in a process of its own, on as many frames as its budget allows.

    Args:
        trial: the trial file; default: the bundled reference stride.
        frames: the most of them.
        costs: names; default: three smooth ones and min_max.
        solvers: names; default: all.
        progress: called with what comes next and the share of the work that is done.
    """
    count = check_integer(frames, "frames", 1)
    named, contenders = tuple(find_cost(name).name for name in costs) or COSTS, _solvers(solvers)
    _check_fit(solvers, costs, named, contenders)
    file = Path(trial) if trial is not None else reference_stride()
    progress("recording", 0.0)
    where = machine()
    recorded = leg_problem(run(read_trial(file), side="r"), "r")
    problems = {"recorded leg": varied(recorded, count), "random leg": random_problem(count)}
    rows: list[Row] = []
    for number, (name, problem) in enumerate(problems.items()):
        done = number / len(problems)
        rows += contest(name, problem, named, contenders, BUDGET, lambda what, at=done: progress(what, at))  # type: ignore[misc]
    smooth = [cost for cost in named if OWN in contenders and takes(OWN, cost)]
    part = varied(recorded, min(count, CALLS))
    progress("single frames", 0.9)
    return Report(where, rows, [single_frames(part, cost, OWN) for cost in smooth])


def _solvers(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        find_solver(name)
    if len(set(names)) < len(names):
        raise InputError(
            "a solver is named twice", code="duplicate_name", where="solver", expected="each once"
        )
    return names or tuple(REGISTRY)


def _check_fit(
    solvers: tuple[str, ...], costs: tuple[str, ...], all_costs: tuple[str, ...], all_solvers: tuple[str, ...]
) -> None:
    """Refuse what is requested by name and would then be in no table."""
    idle = [name for name in solvers if not any(takes(name, cost) for cost in all_costs)]
    idle += [cost for cost in costs if not any(takes(name, cost) for name in all_solvers)]
    if idle:
        raise InputError(
            f"there is nothing to measure for {', '.join(idle)}: none of these solvers takes such a cost",
            code="unfit_solver",
            where="benchmark",
            expected="costs that a solver takes, and solvers that take a cost: see `Solvers` in docs/sharing.md",
            remedy="name another solver or cost, or leave --solver or --cost out",
        )


OWN = "batch"
PATIENCE = 60.0
"""Seconds beyond the budget after which a process is ended."""


@dataclass(frozen=True)
class Row:
    """Figures of one solver on one problem under one cost."""

    problem: str
    moments: int
    muscles: int
    cost: str
    solver: str
    frames: int = 0  # of the timed calls: as many as the budget allows
    us_per_frame: float = np.nan  # of the fastest call [microseconds]
    first_call_s: float = np.nan  # on one frame, in a process that has imported musclesolve.sharing [s]
    solved: int = 0  # frames whose certificate holds
    certificate: float = np.nan  # the largest one of the frames that have a solution
    iterations: float = np.nan  # mean
    memory_mb: float = np.nan  # growth of the peak memory of the process [MB]
    ratio: float = np.nan  # time per frame over that of `batch` on the same problem
    remark: str = ""  # what went wrong


def contest(
    name: str,
    problem: Problem,
    costs: tuple[str, ...],
    solvers: tuple[str, ...],
    budget: float,
    progress: Callable[[str], None] = lambda what: None,
) -> list[Row]:
    """Measure every cost with every solver that takes it, each in a process of its own, for `budget` seconds.

    The problem needs frames enough for the fastest solver; progress is called with the cost and the solver.
    """
    rows = []
    for cost in costs:
        for solver in solvers:
            if takes(solver, cost):
                progress(f"{cost} by {solver}")
                rows.append(_row(name, problem, cost, solver, budget))
    return with_ratios(rows)


def takes(solver: str, cost: str) -> bool:
    """Whether a solver can minimise a cost."""
    return REGISTRY[solver].fits(find_cost(cost))


def _row(name: str, problem: Problem, cost: str, solver: str, budget: float) -> Row:
    blank = Row(name, problem.n_dof, problem.n_muscles, cost, solver)
    if not REGISTRY[solver].installed:
        return replace(blank, remark=f"not installed ({REGISTRY[solver].package})")
    try:
        found = in_fresh_process(measured, problem, cost, solver, budget, limit=budget + PATIENCE)
    except NoResultError as error:
        return replace(blank, remark=str(error))
    return replace(blank, **found)


def measured(problem: Problem, cost: str, solver: str, budget: float) -> dict[str, Any]:
    """Measure the figures of a row in this process."""
    memory = Memory()
    try:
        figures = _figures(problem, cost, solver, budget)
    except MuscleSolveError as error:
        return {"remark": " ".join(str(error).split())}
    return figures | {"memory_mb": memory.grown()}


def _figures(problem: Problem, cost: str, solver: str, budget: float) -> dict[str, Any]:
    """Through `solve`: scaling, certificate and all."""
    from musclesolve.sharing.solving import solve

    def first_frames(count: int) -> Problem:
        return problem.frames(np.arange(count))

    first, _ = seconds_of(lambda: solve(first_frames(1), cost, solver))
    frames = affordable(lambda count: solve(first_frames(count), cost, solver), problem.n_frames, budget)
    part = first_frames(frames)
    part.moment_matrix, part.valid  # noqa: B018, computed once for a problem, whoever solves it
    timing = measure(lambda: solve(part, cost, solver), budget=budget / 2.0)
    solution = timing.value
    unsolved = frames - int(solution.solved.sum())
    return {
        "frames": frames,
        "us_per_frame": 1e6 * min(timing.first, timing.best) / frames,
        "first_call_s": first,
        "solved": frames - unsolved,
        "iterations": float(solution.iterations.mean()) or np.nan,  # 0: the solver does not report them
        "certificate": float(np.fmax.reduce(solution.kkt_residual)),
        "remark": f"{unsolved} frames without a solution" if unsolved else "",
    }


def with_ratios(rows: list[Row]) -> list[Row]:
    """Return the rows with the ratio of their time to that of `batch` on the same problem under the same cost."""
    own = {(row.problem, row.cost): row.us_per_frame for row in rows if row.solver == OWN}
    return [replace(row, ratio=row.us_per_frame / own.get((row.problem, row.cost), np.nan)) for row in rows]


@dataclass(frozen=True)
class SingleFrame:
    """Latency of one frame under a cost: `solve` of a Problem, and with the making of the Problem from arrays."""

    cost: str
    solving: Latency
    with_problem: Latency


def single_frames(problem: Problem, cost: str, solver: str) -> SingleFrame:
    """Solve every frame of a problem in a call of its own, as in a control loop."""
    arrays = [
        (problem.moment_arm[t], problem.moment[t], problem.force_capacity[t], problem.max_isometric_force)
        for t in range(problem.n_frames)
    ]
    from musclesolve.sharing.solving import solve

    solve(Problem(*arrays[0]), cost, solver)
    made = [Problem(*each) for each in arrays]
    solving = [seconds_of(lambda one=one: solve(one, cost, solver))[0] for one in made]  # type: ignore[misc]
    making = [seconds_of(lambda each=each: solve(Problem(*each), cost, solver))[0] for each in arrays]  # type: ignore[misc]
    return SingleFrame(cost, Latency.of(solving), Latency.of(making))
