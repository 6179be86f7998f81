"""Colours, sizes and the empty figure: A4 upright, readable in print and by the colour-blind."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

# Okabe & Ito (2008): these two stay apart under every common colour deficiency, and in grey.
SIDE_COLOR = {"r": "#0072B2", "l": "#E69F00"}
SIDE_NAME = {"r": "right", "l": "left"}
FAILED_MARK: dict[str, Any] = {"color": "#B00020", "marker": "x", "linestyle": "", "markersize": 2.5}
GRID_COLOR = "#D9D9D9"
NOTE_COLOR = "#555555"
A4 = (8.27, 11.69)  # inch
MARGIN = np.array([0.65, 0.55, 0.25, 0.75])  # inch: left, bottom, right, top
GAP = np.array([0.45, 0.40])  # inch between panels: sideways for the numbers, upwards for the heading
LABEL = 0.25  # inch more sideways where every panel has a label of its own
TEXT, SMALL = 8.0, 6.5  # points


def page(
    title: str, rows: int, columns: int, *, height: float = 1.0, labels: bool = False, **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure on (a share of the height of) an A4 page with a grid of panels, shape (rows, columns).

    With `labels` there is room between the columns for the label of a vertical axis.
    """
    size = np.array([A4[0], A4[1] * height])
    figure = Figure(figsize=(size[0], size[1]))
    left, bottom, right, top = MARGIN / np.tile(size, 2)
    number = np.array([columns, rows])
    gap = np.add(GAP, [LABEL if labels else 0.0, 0.0])
    panel = (size - MARGIN[:2] - MARGIN[2:] - (number - 1) * gap) / number
    grid = {"left": left, "bottom": bottom, "right": 1 - right, "top": 1 - top}
    grid |= {"wspace": gap[0] / panel[0], "hspace": gap[1] / panel[1]}
    panels = figure.subplots(rows, columns, squeeze=False, gridspec_kw=grid, **options)
    figure.text(left, 1 - 0.2 * top, title, fontsize=TEXT + 3, va="top")
    for axes in panels.flat:
        axes.tick_params(labelsize=SMALL, length=2, color=NOTE_COLOR)
        axes.grid(True, color=GRID_COLOR, linewidth=0.4)
        axes.set_axisbelow(True)
        for edge in ("top", "right"):
            axes.spines[edge].set_visible(False)
    return figure, panels


def legend(figure: Figure, sides: list[str], *, solutions: bool, stance: bool = False) -> None:
    """One legend for the page: the legs, and how frames are drawn that are not solved exactly."""
    handles: list[Any] = [Line2D([], [], color=SIDE_COLOR[side], label=SIDE_NAME[side]) for side in sides]
    if solutions:
        handles.append(Line2D([], [], color=NOTE_COLOR, linestyle=":", label="with reserve"))
        handles.append(Line2D([], [], **FAILED_MARK, label="no valid solution"))
    if stance:
        handles.append(Patch(color=NOTE_COLOR, alpha=0.2, label="foot on the ground"))
    figure.legend(
        handles=handles, loc="outside upper right", ncols=len(handles), fontsize=TEXT, frameon=False
    )


def heading(axes: Axes, name: str, note: str = "") -> None:
    """Name of a panel and, below it, a smaller note."""
    axes.set_title(name, fontsize=SMALL, loc="left", pad=8 if note else 3)
    if note:
        below: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
        axes.annotate(note, (0.0, 1.0), (0, 1), fontsize=SMALL - 1, color=NOTE_COLOR, **below)
