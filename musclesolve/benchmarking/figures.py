"""What was measured as figures, times on scales of powers of ten."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.benchmarking.contest import OWN, Row
from musclesolve.benchmarking.report import Report
from musclesolve.benchmarking.tables import number
from musclesolve.plotting.png import Progress, png_files
from musclesolve.plotting.style import GRID_COLOR, NOTE_COLOR, SMALL, TEXT

COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")  # Okabe and Ito (2008)
OTHERS = "#9FB6C6"
FILES = ("solvers.png", "growth.png")


def figure_files(report: Report, progress: Progress = lambda stage, fraction: None) -> dict[str, bytes]:
    """The content of the file of every figure, by its name."""
    pages: dict[str, Callable[[], Figure]] = {"solvers": partial(bars, report)}
    if report.growth:
        pages["growth"] = partial(lines, report)
    return png_files(pages, progress)


def bars(report: Report) -> Figure:
    """Microseconds a frame of every solver, a panel for each problem and cost."""
    groups = list(dict.fromkeys((row.cost, row.problem) for row in report.rows))
    sizes = [sum((row.cost, row.problem) == group for row in report.rows) for group in groups]
    figure = Figure(figsize=(7.5, 0.9 + sum(0.55 + 0.19 * size for size in sizes)), layout="constrained")
    panels = figure.subplots(
        len(groups), 1, sharex=True, squeeze=False, height_ratios=[1 + size for size in sizes]
    )
    for axes, group in zip(panels[:, 0], groups, strict=True):
        _bars(axes, [row for row in report.rows if (row.cost, row.problem) == group])
    panels[-1, 0].set_xlabel("microseconds a frame", fontsize=TEXT)
    figure.suptitle(f"Solvers side by side, {report.machine['processor']}", fontsize=TEXT + 1)
    return figure


def _bars(axes: Axes, rows: list[Row]) -> None:
    for place, row in enumerate(reversed(rows)):
        if np.isfinite(row.us_per_frame):
            color = COLORS[0] if row.solver == OWN else OTHERS
            axes.barh(
                place, row.us_per_frame, color=color, hatch="///" if row.remark else None, edgecolor="white"
            )
            said = f" {number(row.us_per_frame)}" + (f"  {row.remark}" if row.remark else "")
            axes.text(row.us_per_frame, place, said, va="center", fontsize=SMALL)
        else:
            axes.text(
                0.01,
                place,
                row.remark,
                va="center",
                fontsize=SMALL,
                color=NOTE_COLOR,
                transform=axes.get_yaxis_transform(),
            )
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [row.solver for row in reversed(rows)])
    axes.set_title(f"{rows[0].cost}, {rows[0].problem}", fontsize=TEXT, loc="left")
    axes.tick_params(labelsize=SMALL)
    axes.grid(axis="x", color=GRID_COLOR, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    times = [row.us_per_frame for row in rows if np.isfinite(row.us_per_frame)]
    if times:
        axes.set_xlim(0.5 * min(times), 12.0 * max(times))


def lines(report: Report) -> Figure:
    """Time per frame against frames, muscles and moments, and memory against frames."""
    figure = Figure(figsize=(7.5, 6.0), layout="constrained")
    panels = figure.subplots(2, 2)
    kinds = (
        ("frames", "frames", "us_per_frame", "microseconds a frame"),
        ("muscles", "muscles", "us_per_frame", "microseconds a frame"),
        ("moments", "moments", "us_per_frame", "microseconds a frame"),
        ("frames", "frames", "memory_mb", "memory of a call [MB]"),
    )
    for axes, (problem, x, y, label) in zip(panels.flat, kinds, strict=True):
        rows = [row for row in report.growth if row.problem == problem]
        for color, solver in zip(COLORS, dict.fromkeys(row.solver for row in report.growth), strict=False):
            points = [(getattr(row, x), getattr(row, y)) for row in rows if row.solver == solver]
            shown = [point for point in points if np.isfinite(point[1])]
            if shown:
                axes.plot(
                    *zip(*shown, strict=True), "o-", color=color, label=solver, linewidth=1.2, markersize=3
                )
        axes.set_xscale("log")
        axes.set_yscale("log" if y == "us_per_frame" else "symlog")
        axes.set_xlabel(x, fontsize=TEXT)
        axes.set_ylabel(label, fontsize=TEXT)
        axes.tick_params(labelsize=SMALL)
        axes.grid(color=GRID_COLOR, linewidth=0.5)
    panels[0, 0].legend(fontsize=SMALL)
    cost = report.growth[0].cost
    figure.suptitle(f"Growth, {cost}, {report.machine['processor']}", fontsize=TEXT + 1)
    return figure
