"""Parts that the figures share: a page with panels over the gait cycle, in the look of the package's own."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.thesis_figures.study import Study
from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.laboratory.plotting.page.page_style import SMALL, TEXT
from musclesolve.laboratory.plotting.page.sheet import Sheet, page

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
STANCE = "#E3E3E3"
LACKS = "#F2F2F2"
BACKED = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}


@dataclass(frozen=True)
class Finding:
    """The picture of a figure, None where the recording has nothing to show, and what is found in words."""

    figure: Figure | None
    found: str


def panels(
    study: Study | None,
    title: str,
    rows: int,
    columns: int,
    height: float,
    *,
    labels: bool = True,
    sharey: bool = False,
) -> tuple[Sheet, np.ndarray]:
    """A figure on a share of an A4 page with panels (rows, columns), each with room for labels.

    What it is drawn of stands below the title; None: of no trial.
    """
    about = xr.Dataset() if study is None else xr.Dataset(attrs=study.identity)
    figure, axes = page(about, title, rows, columns, height=height, labels=labels, sharey=sharey)
    return figure, axes


def over_cycle(axes: Axes, study: Study, unit: str, labeled: bool = True) -> None:
    """The axis of a panel over the gait cycle, its stance as a bar at the foot."""
    axes.set_xlim(0.0, 100.0)
    axes.axhline(0.0, color="black", linewidth=0.4)
    for first, stop in true_runs(study.stance):
        ends = study.percent[first], study.percent[stop - 1]
        axes.axvspan(*ends, ymax=0.02, color=STANCE, linewidth=0.0, zorder=0.1)
    axes.set_ylabel(unit, fontsize=TEXT)
    axes.tick_params(labelbottom=labeled)  # numbers of a row above would lie on the headings of the next
    if labeled:
        axes.set_xlabel("gait cycle of the right leg [%]", fontsize=TEXT)


def mark_gaps(axes: Axes, study: Study, lacks: Mask, reason: str = "") -> None:
    """Hatch the frames of the cycle (K,) that lack something; the reason stands in the longest run of them."""
    runs = true_runs(lacks)
    edges = np.interp(np.arange(lacks.size + 1) - 0.5, np.arange(lacks.size), study.percent)
    for first, stop in runs:
        axes.axvspan(
            edges[first],
            edges[stop],
            facecolor=LACKS,
            edgecolor="#B5B5B5",
            hatch="//",
            linewidth=0.0,
            zorder=0.05,
        )
    if reason and len(runs):
        first, stop = max(runs, key=lambda run: run[1] - run[0])
        place = {"xy": (0.5 * (edges[first] + edges[stop]), 0.97), "xycoords": axes.get_xaxis_transform()}
        axes.annotate(reason, **place, rotation=90, ha="center", va="top", fontsize=SMALL, bbox=BACKED)


def key(axes: Axes, **options: Any) -> None:
    """The legend of one panel."""
    axes.legend(fontsize=SMALL, frameon=False, **options)


def when(values: Array, percent: Array) -> str:
    """The largest value and where it is: "121 at 48 %"."""
    place = int(np.nanargmax(values))
    return f"{plain(values[place])} at {percent[place]:.0f} %"


def plain(value: float) -> str:
    """A number to three digits, never as a power of ten."""
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def png(figure: Figure) -> bytes:
    """A figure as the content of a file."""
    memory = io.BytesIO()
    figure.savefig(memory, dpi=150, format="png")
    return memory.getvalue()
