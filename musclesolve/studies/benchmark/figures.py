"""What was measured as figures, times on scales of powers of ten."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.page.png import Progress, png_files
from musclesolve.plotting.page.style import GRID_COLOR, NOTE_COLOR, SMALL, TEXT
from musclesolve.studies.benchmark.contest import OWN, Row
from musclesolve.studies.benchmark.report import Report
from musclesolve.studies.benchmark.tables import number

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
    """Microseconds a frame of every solver: a column of panels for each problem, a row for each cost."""
    problems = list(dict.fromkeys(row.problem for row in report.rows))
    costs = list(dict.fromkeys(row.cost for row in report.rows))
    panel = {
        (cost, problem): [row for row in report.rows if (row.cost, row.problem) == (cost, problem)]
        for cost in costs
        for problem in problems
    }
    heights = [2.5 + max(len(panel[cost, problem]) for problem in problems) for cost in costs]
    figure = Figure(figsize=(4.4 * len(problems), 0.9 + 0.17 * sum(heights)), layout="constrained")
    all_axes = figure.subplots(len(costs), len(problems), sharex=True, squeeze=False, height_ratios=heights)
    for axes, rows in zip(all_axes.flat, panel.values(), strict=True):
        _bars(axes, rows)
    times = [row.us_per_frame for row in report.rows if np.isfinite(row.us_per_frame)]
    if times:
        all_axes[0, 0].set_xlim(0.5 * min(times), 8.0 * max(times))
    figure.supxlabel("microseconds a frame", fontsize=TEXT)
    figure.suptitle(f"Solvers side by side, {report.machine['processor']}", fontsize=TEXT + 1)
    return figure


def _bars(axes: Axes, rows: list[Row]) -> None:
    axes.set_xscale("log")
    for place, row in enumerate(reversed(rows)):
        if np.isfinite(row.us_per_frame):
            color, hatch = COLORS[0] if row.solver == OWN else OTHERS, "///" if row.remark else None
            axes.barh(place, row.us_per_frame, color=color, hatch=hatch, edgecolor="white")
            said = f" {number(row.us_per_frame)}" + (" *" if row.remark else "")
            axes.text(row.us_per_frame, place, said, va="center", fontsize=SMALL)
        else:
            options: dict[str, Any] = {"color": NOTE_COLOR, "transform": axes.get_yaxis_transform()}
            axes.text(0.02, place, row.remark, va="center", fontsize=SMALL, **options)
    axes.set_yticks(range(len(rows)), [row.solver for row in reversed(rows)])
    axes.set_ylim(-0.6, max(len(rows), 3) - 0.4)
    axes.set_title(f"{rows[0].cost}, {rows[0].problem}", fontsize=TEXT, loc="left")
    axes.tick_params(labelsize=SMALL, which="both")
    axes.grid(axis="x", color=GRID_COLOR, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    failed = [row.solver for row in rows if row.remark and np.isfinite(row.us_per_frame)]
    if failed:
        axes.set_xlabel("* some frames without a certificate", fontsize=SMALL, loc="right", color=NOTE_COLOR)


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
            shown = [point for point in points if np.isfinite(point[1]) and point[1] > 0]
            if shown:
                axes.plot(
                    *zip(*shown, strict=True), "o-", color=color, label=solver, linewidth=1.2, markersize=3
                )
        axes.set_xscale("log")
        axes.set_yscale("log")
        if y == "memory_mb":
            axes.set_ylim(bottom=1.0)
        if x != "frames":
            sizes = sorted({getattr(row, x) for row in rows})
            axes.set_xticks(sizes, [str(size) for size in sizes])
            axes.minorticks_off()
        axes.set_xlabel(x, fontsize=TEXT)
        axes.set_ylabel(label, fontsize=TEXT)
        axes.tick_params(labelsize=SMALL)
        axes.grid(color=GRID_COLOR, linewidth=0.5)
    panels[0, 0].legend(fontsize=SMALL)
    cost = report.growth[0].cost
    figure.suptitle(f"Growth, {cost}, {report.machine['processor']}", fontsize=TEXT + 1)
    return figure
