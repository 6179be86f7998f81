"""What was measured as tables, for people and for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict, fields

import numpy as np
from rich import box
from rich.table import Table

from musclesolve.studies.benchmark.contest import Row
from musclesolve.studies.benchmark.report import Report
from musclesolve.studies.benchmark.timing import Latency

COLUMNS = ("us/frame", "x batch", "frames", "solved", "worst", "iter.", "first", "MB")
"""Explained by `COLUMN_MEANING`."""
COLUMN_MEANING = (
    "us/frame: the fastest call; x batch: that over the same of batch; solved: frames whose certificate holds; worst: "
    "certificate; first: call in a process, on one frame [s]; MB: memory that the calls took at most."
)


def tables(report: Report) -> list[Table]:
    """All of them."""
    groups = list(dict.fromkeys((row.problem, row.cost) for row in report.rows))
    contests = [
        side_by_side([row for row in report.rows if (row.problem, row.cost) == group]) for group in groups
    ]
    grown = [growth(report.growth, name) for name in dict.fromkeys(row.problem for row in report.growth)]
    alone = [single(report)] if report.single else []
    return [*contests, *alone, where_time_goes(report), *grown]


def side_by_side(rows: list[Row]) -> Table:
    """The solvers on one problem under one cost."""
    first = rows[0]
    title = f"{first.cost}: {first.problem}, {first.moments} moments, {first.muscles} muscles"
    table = _table(title, ("solver",), COLUMNS, _remarks(rows))
    for row in rows:
        table.add_row(row.solver, *_cells(row))
    return table


def growth(rows: list[Row], name: str) -> Table:
    """The solvers on growing problems."""
    some = [row for row in rows if row.problem == name]
    title = f"growing {name}, {rows[0].cost}"
    table = _table(title, ("solver", "moments", "muscles"), COLUMNS, _remarks(some))
    for row in some:
        table.add_row(row.solver, str(row.moments), str(row.muscles), *_cells(row))
    return table


def _remarks(rows: list[Row]) -> str:
    """What went wrong, a line for each row where something did."""
    return "\n".join(f"{row.solver}: {row.remark}" for row in rows if row.remark)


def _table(title: str, names: Iterable[str], columns: Iterable[str], below: str = "") -> Table:
    table = Table(
        title=title,
        title_justify="left",
        caption=below or None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading in names:
        table.add_column(heading, no_wrap=True)
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _cells(row: Row) -> list[str]:
    return [
        number(row.us_per_frame),
        number(row.ratio),
        str(row.frames) if row.frames else "-",
        str(row.solved) if row.frames else "-",
        "-" if np.isnan(row.certificate) else f"{row.certificate:.0e}",
        "-" if np.isnan(row.iterations) else f"{row.iterations:.0f}",
        number(row.first_call_s),
        "-" if np.isnan(row.memory_mb) else f"{row.memory_mb:.0f}",
    ]


def number(value: float) -> str:
    """Three digits, without a power of ten as long as that can be read."""
    if not np.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def single(report: Report) -> Table:
    """One frame by itself."""
    title = "one frame by itself, ms.solve with batch [microseconds]"
    table = _table(title, ("cost", "what"), ("median", "99th percentile", "largest", "calls"))
    for each in report.single:
        for what, times in (("solve", each.solving), ("Problem and solve", each.making_too)):
            table.add_row(each.cost, what, *_micro(times), str(times.calls))
    return table


def _micro(times: Latency) -> list[str]:
    return [number(1e6 * seconds) for seconds in (times.median, times.slow, times.worst)]


def where_time_goes(report: Report) -> Table:
    """The start of Python, then the stages of a run."""
    run = report.stages
    title = f"where time goes: {report.trial}, {run.frames} frames"
    table = _table(title, ("stage",), ("ms", "share", "us/frame"))
    for name, seconds in report.start.items():
        table.add_row(f"fresh Python: {name}", f"{1e3 * seconds:.1f}")
    table.add_section()
    for name, seconds in run.seconds.items():
        share = f"{seconds / run.whole:.0%}"
        table.add_row(f"warm: {name}", f"{1e3 * seconds:.1f}", share, number(1e6 * seconds / run.frames))
    table.add_row("warm: all", f"{1e3 * run.whole:.1f}", "", number(1e6 * run.whole / run.frames))
    table.add_row(f"peak memory {number(run.peak_mb)} MB")
    return table


def said_of_machine(report: Report) -> str:
    """One line of what the figures were measured with."""
    return ", ".join(f"{name} {value}" for name, value in report.machine.items() if value != "not installed")


def files(report: Report) -> dict[str, bytes]:
    """The tables for other programs, by the names of their files."""
    found = {"solvers.csv": _csv(report.rows), "stages.csv": _stages_csv(report)}
    if report.growth:
        found["growth.csv"] = _csv(report.growth)
    if report.single:
        found["single.csv"] = _single_csv(report)
    found["machine.json"] = json.dumps(report.machine, indent=1).encode()
    return found


def _csv(rows: list[Row]) -> bytes:
    return _written([field.name for field in fields(Row)], (list(asdict(row).values()) for row in rows))


def _single_csv(report: Report) -> bytes:
    lines = [
        [each.cost, what, times.median, times.slow, times.worst, times.calls]
        for each in report.single
        for what, times in (("solve", each.solving), ("Problem and solve", each.making_too))
    ]
    return _written(["cost", "what", "median_s", "percentile_99_s", "largest_s", "calls"], lines)


def _stages_csv(report: Report) -> bytes:
    lines = [["fresh", name, seconds] for name, seconds in report.start.items()]
    lines += [["warm", name, seconds] for name, seconds in report.stages.seconds.items()]
    return _written(["process", "stage", "seconds"], lines)


def _written(heading: list[str], lines: Iterable[list[object]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(lines)
    return out.getvalue().encode()
