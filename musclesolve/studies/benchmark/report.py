"""The measurements of `musclesolve benchmark`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from musclesolve._util.checks import check_integer
from musclesolve._util.progress import Progress, no_progress
from musclesolve.data.bundled import reference_stride
from musclesolve.errors import InputError
from musclesolve.recording.trial.trial_file import read_trial
from musclesolve.results.dataset.leg_problem import leg_problem
from musclesolve.results.run_trial import run
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import REGISTRY, find_solver
from musclesolve.studies.benchmark.contest import OWN, Row, SingleFrame, contest, single_frames, takes
from musclesolve.studies.benchmark.measure import machine
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
