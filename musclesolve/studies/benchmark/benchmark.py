"""The measurements of `musclesolve benchmark`, as tables for the terminal and as files."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd
from rich import box
from rich.table import Table

from musclesolve._util.checks import check_type
from musclesolve._util.messages import Progress, no_progress
from musclesolve.data.bundled import reference_stride
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.page.page_style import file_content
from musclesolve.laboratory.plotting.study.listed_figures import solver_times
from musclesolve.laboratory.recording.command_settings import BENCHMARK_COSTS, BenchmarkSettings
from musclesolve.laboratory.results.dataset.frame_validity import cut_sides
from musclesolve.laboratory.results.dataset.leg_problem import leg_problem
from musclesolve.laboratory.results.tables.lines import csv_text, names, numbers, titled_table
from musclesolve.laboratory.run_trial import run
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.solver.solver_registry import solvers as registered_solvers
from musclesolve.studies.benchmark.measure import (
    REFERENCE,
    Latency,
    Row,
    SingleFrame,
    contest,
    machine,
    random_problem,
    single_frames,
    takes,
    varied,
)
from musclesolve.tables.document import check_value
from musclesolve.tables.settings import settings_of

RULES = settings_of(BenchmarkSettings)
CALLS = 3000
"""Largest number of calls with a single frame."""
BUDGET = 1.0
"""Seconds for the timed calls of each solver."""


@dataclass(frozen=True)
class BenchmarkReport:
    """The machine, solvers side by side, and the latency of one frame."""

    machine: dict[str, str]
    rows: list[Row]
    single: list[SingleFrame]


def benchmark(
    trial: str | Path | None = None,
    frames: int = RULES["frames"].default,
    costs: tuple[str, ...] = (),
    solvers: tuple[str, ...] = (),
    progress: Progress = no_progress,
) -> BenchmarkReport:
    """Measure solvers side by side on the same frames, and the latency of one frame.

    The frames come from the right leg of a trial, or from a model without legs, repeated with small changes
    (`varied`), and from a random leg (`random_problem`). Every solver works in a process of its own, on as many frames
    as its budget allows.

    Args:
        trial: the trial file; default: the bundled reference stride.
        frames: largest number of frames.
        costs: names, with options or without; default: `BENCHMARK_COSTS`.
        solvers: names; default: all.
        progress: called with the next step and the share of the work that is done.
    """
    check_value(frames, RULES["frames"], "frames")
    costs, solvers = _listed(costs, "cost"), _listed(solvers, "solver")
    named = tuple(find_cost(name).label for name in costs) or BENCHMARK_COSTS
    for name in solvers:
        find_solver(name)
    contenders = solvers or tuple(registered_solvers())
    # a requested solver would otherwise be in no table
    idle = [name for name in solvers if not any(takes(name, cost) for cost in named)]
    idle += [cost for cost in costs if not any(takes(name, cost) for name in contenders)]
    if idle:
        raise input_error(
            "unfit_solver",
            where="benchmark",
            problem=f"there is nothing to measure for {', '.join(map(str, idle))}: none of these "
            "solvers takes such a cost",
            expected="costs that a solver takes, and solvers that take a cost: see `Solvers` in docs/sharing.md",
            remedy="name another solver or cost, or leave --solver or --cost out",
        )
    file = reference_stride() if trial is None else trial
    progress("recording", 0.0)
    where = machine()
    read = read_trial(file)
    reactions = any("reaction_matrix" in find_cost(cost).data for cost in named)
    result = run(read, side="r")
    recorded = leg_problem(result, cut_sides(result)[0], trial=read if reactions else None)
    problems = {"recorded leg": varied(recorded, frames), "random leg": random_problem(frames)}
    rows: list[Row] = []
    for number, (name, problem) in enumerate(problems.items()):
        done = number / len(problems)
        rows += contest(name, problem, named, contenders, BUDGET, lambda what, at=done: progress(what, at))  # type: ignore[misc]
    smooth = [
        row.cost for row in rows if row.solver == REFERENCE and row.problem == "recorded leg" and row.frames
    ]
    part = varied(recorded, min(frames, CALLS))
    progress("single frames", 0.9)
    return BenchmarkReport(where, rows, [single_frames(part, cost, REFERENCE) for cost in smooth])


def _listed(names_or_name: str | Iterable[str], where: str) -> tuple[str, ...]:
    """The names of an argument, one or several; refuse objects, which no other process takes, and a name twice."""
    names = (names_or_name,) if isinstance(names_or_name, str) else tuple(names_or_name)
    for name in names:
        check_type(name, str, where, f"a name; entry points musclesolve.{where}s add more")
    if len(set(names)) < len(names):
        problem = f"a {where} is named twice"
        raise input_error("duplicate_name", where=where, problem=problem, expected="each once")
    return names


STYLE = {"box": box.SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0)}
COLUMNS = ("us/frame", "x batch", "frames", "solved", "worst", "iter.", "first", "MB")
"""Headings of the columns of a table, which `COLUMN_MEANING` explains."""
COLUMN_MEANING = (
    "us/frame: the fastest call; x batch: that time over the time of batch; solved: frames whose certificate holds; "
    "worst: gap; first: call in a process, on one frame [s]; MB: growth of the peak memory."
)


def tables(report: BenchmarkReport) -> list[Table]:
    """Return all tables of a report."""
    groups = list(dict.fromkeys((row.problem, row.cost) for row in report.rows))
    contests = [side_by_side([row for row in report.rows if (row.problem, row.cost) == of]) for of in groups]
    return [*contests, *([single_frame(report)] if report.single else [])]


def side_by_side(rows: list[Row], sizes: bool = False) -> Table:
    """Solvers on one problem under one cost; with `sizes` on problems of several sizes."""
    first = rows[0]
    title = f"{first.cost}: {first.problem}"
    title += "" if sizes else f", {first.moments} moments, {first.muscles} muscles"
    remarks = "\n".join(f"{row.solver}: {row.remark}" for row in rows if row.remark)
    columns = (*names("solver", *(["moments", "muscles"] * sizes)), *numbers(*COLUMNS, whole=True))
    cells = ((row.solver, *([str(row.moments), str(row.muscles)] * sizes), *_cells(row)) for row in rows)
    return titled_table(title, columns, cells, caption=remarks or None, caption_justify="left", **STYLE)


def _cells(row: Row) -> list[str]:
    return [
        number(row.us_per_frame),
        number(row.ratio),
        str(row.frames) if row.frames else "-",
        str(row.solved) if row.frames else "-",
        "-" if np.isnan(row.gap) else f"{row.gap:.0e}",
        "-" if np.isnan(row.iterations) else f"{row.iterations:.0f}",
        number(row.first_call_s),
        "-" if np.isnan(row.memory_mb) else f"{row.memory_mb:.0f}",
    ]


def number(value: float) -> str:
    """A number with three digits, without a power of ten if readable."""
    if not np.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def single_frame(report: BenchmarkReport) -> Table:
    """The table of the latencies of one frame [microseconds]."""
    title = "one frame by itself, ms.solve with batch [microseconds]"
    columns = (*names("cost", "what"), *numbers("median", "99th percentile", "largest", "calls", whole=True))
    rows = [
        (cost, what, *(number(1e6 * x) for x in (times.median, times.slow, times.worst)), str(times.calls))
        for cost, what, times in _latencies(report)
    ]
    return titled_table(title, columns, rows, **STYLE)


def _latencies(report: BenchmarkReport) -> Iterable[tuple[str, str, Latency]]:
    for latency_row in report.single:
        yield latency_row.cost, "solve", latency_row.solving
        yield latency_row.cost, "Problem and solve", latency_row.with_problem


def files(report: BenchmarkReport) -> dict[str, bytes]:
    """Return the tables for other programs and the figure of the times, by the names of their files."""
    heading = [field.name for field in fields(Row)]
    rows = (asdict(row).values() for row in report.rows)
    contents = {"solvers.csv": csv_text([heading, *rows]).encode()}
    contents["solvers.png"] = file_content(solver_times(pd.DataFrame(report.rows)))
    if report.single:
        heading = ["cost", "what", "median_s", "percentile_99_s", "largest_s", "calls"]
        single = ([cost, what, *asdict(times).values()] for cost, what, times in _latencies(report))
        contents["single.csv"] = csv_text([heading, *single]).encode()
    contents["machine.json"] = json.dumps(report.machine, indent=1).encode()
    return contents
