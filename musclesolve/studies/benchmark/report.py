"""All that `musclesolve benchmark` measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import musclesolve as ms
from musclesolve._util.checks import check_integer
from musclesolve.data.bundled import reference_stride
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import REGISTRY, find_solver
from musclesolve.studies.benchmark.bare import BARE
from musclesolve.studies.benchmark.contest import OWN, Row, contest, takes
from musclesolve.studies.benchmark.machine import machine
from musclesolve.studies.benchmark.problems import random_problem, varied
from musclesolve.studies.benchmark.scaling import FRAMES, with_frames, with_moments, with_muscles
from musclesolve.studies.benchmark.single import Single, single
from musclesolve.studies.benchmark.stages import Stages, stages, start

COSTS = ("force_squared", "stress_cubed", "soft_saturation", "min_max")
CALLS = 3000
"""Calls with a single frame, where there are that many frames."""

BUDGET, FULL_BUDGET = 1.0, 5.0
"""Seconds for the timed calls of each solver."""

FEW = ("batch", "daqp", "quadprog", "osqp", "ipopt", "slsqp")
"""Solvers whose growth is shown, of those that are asked for."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Report:
    """What was measured.

    Attributes:
        machine: with what.
        trial: the name of the trial file.
        rows: solvers side by side.
        single: one frame by itself.
        start: seconds of the first steps of a fresh Python.
        stages: of a run.
        growth: rows of growing problems, with --full.
    """

    machine: dict[str, str]
    trial: str
    rows: list[Row]
    single: list[Single]
    start: dict[str, float]
    stages: Stages
    growth: list[Row] = field(default_factory=list)


def benchmark(
    trial: str | Path | None = None,
    frames: int = 10_000,
    costs: tuple[str, ...] = (),
    solvers: tuple[str, ...] = (),
    full: bool = False,
    progress: Progress = lambda stage, fraction: None,
) -> Report:
    """Solvers side by side on the same frames, one frame by itself, and where the time of a run goes.

    The frames are those of the right leg of a trial, over and over, each a little different (`varied`), and those of
    a random leg (`random_problem`). Every solver works in a process of its own, on as many frames as it can do in its
    time.

    Args:
        trial: the trial file; default: the bundled reference stride.
        frames: the most of them.
        costs: names; default: three smooth ones and min_max.
        solvers: names; default: all, and the bare rivals of bare.py.
        full: growing numbers of frames, muscles and moments as well.
        progress: called with what comes next and the share of the work that is done.

    Raises:
        InputError: a cost, a solver or a trial is unknown, or a number of frames not one.
    """
    count = check_integer(frames, "frames", 1)
    named, contenders = _costs(costs), _solvers(solvers)
    _check_fit([name for name in contenders if solvers], [name for name in named if costs], named, contenders)
    file = Path(trial) if trial is not None else reference_stride()
    progress("recording", 0.0)
    where = machine()
    recorded = ms.leg_problem(ms.run(ms.read_trial(file), side="r"), "r")
    problems = {"recorded leg": varied(recorded, count), "random leg": random_problem(count)}
    budget, growth = FULL_BUDGET if full else BUDGET, 0.5 if full else 1.0
    rows: list[Row] = []
    for number, (name, problem) in enumerate(problems.items()):
        done = growth * number / len(problems)
        rows += contest(
            name,
            problem,
            named,
            contenders,
            budget,
            lambda what, at=done: progress(what, at),  # type: ignore[misc]
        )
    smooth = [cost for cost in named if REGISTRY[OWN].fits(find_cost(cost))]
    part = varied(recorded, min(count, CALLS))
    progress("single frames", growth * 0.9)
    alone = [single(part, cost, OWN, part.n_frames) for cost in smooth if OWN in contenders]
    progress("where time goes", growth * 0.95)
    steps, run = start(file, compiling=full), stages(file, repeats=1 if count < 100 else 5)
    grown = _growth(contenders, count, lambda what: progress(what, 0.6)) if full else []
    return Report(where, file.name, rows, alone, steps, run, grown)


def _growth(solvers: tuple[str, ...], frames: int, progress: Callable[[str], None]) -> list[Row]:
    few = tuple(name for name in FEW if name in solvers)
    cost, some = "force_squared", min(frames, 1000)
    return [
        *with_frames(few, cost, max(frames, FRAMES[-1] if frames >= 10_000 else 1), progress),
        *with_muscles(few, cost, some, BUDGET, progress),
        *with_moments(few, cost, some, BUDGET, progress),
    ]


def _costs(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(find_cost(name).name for name in names) or COSTS


def _check_fit(
    asked_solvers: list[str], asked_costs: list[str], costs: tuple[str, ...], solvers: tuple[str, ...]
) -> None:
    """Refuse what is asked for by name and would then stand in no table."""
    idle = [name for name in asked_solvers if not any(takes(name, cost) for cost in costs)]
    idle += [cost for cost in asked_costs if not any(takes(name, cost) for name in solvers)]
    if idle:
        raise InputError(
            f"there is nothing to measure for {', '.join(idle)}: none of these solvers takes such a cost",
            where="benchmark",
            expected="costs that a solver takes, and solvers that take a cost: see `Solvers` in docs/sharing.md",
            remedy="name another solver or cost, or leave --solver or --cost out",
        )


def _solvers(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in BARE:
            find_solver(name)
    if not names:
        return (*REGISTRY, *BARE)
    if len(set(names)) < len(names):
        raise InputError("a solver is named twice", where="solver", expected="each once")
    return names
