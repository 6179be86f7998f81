"""Colors, sizes and the empty figure: A4 upright, readable in print and with color vision deficiency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from musclesolve.results.dataset.result_quantities import identity

# Okabe & Ito (2008): distinct under every common color vision deficiency, and in gray.
SIDE_COLOR = {"r": "#0072B2", "l": "#E69F00", "other": "#000000"}
# The right leg is drawn first and wider: where the legs agree, it shows on both sides of the left one.
SIDE_WIDTH = {"r": 1.9, "l": 0.9, "other": 1.2}  # points
RESERVE_STYLE = ":"
REPEATED: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.6}
STANCE_COLOR = {"r": "#99C7E0", "l": "#F5D999"}  # 40 % of the color of the leg
STANCE_BAR = {"r": (0.97, 1.0), "l": (0.94, 0.97)}  # shares of the height of a panel
FAILED_MARK: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 2.5, "markeredgewidth": 0.7}
FAILED_ROW = {
    "r": 0.02,
    "l": 0.06,
    "other": 0.02,
}  # shares of the height of a panel, below what the curves use of it
GRID_COLOR = "#D9D9D9"
NOTE_COLOR = "#555555"
A4 = (8.27, 11.69)  # inch
MARGIN = np.array([0.65, 0.55, 0.25, 0.95])  # inch: left, bottom, right, top
GAP = np.array([0.45, 0.40])  # inch between panels: sideways for the numbers, upwards for the heading
LABEL = 0.25  # inch more sideways where every panel has a label of its own
LEGEND = (MARGIN[0], 0.51)  # inch from the left and upper edge of the page
TEXT, SMALL = 8.0, 6.5  # points


def place_legend(figure: Figure, handles: Sequence[Any], **options: Any) -> None:
    """Add the legend of a page below its title; options are those of matplotlib."""
    width, height = figure.get_size_inches()
    usual = {"ncols": len(handles), "fontsize": TEXT, "columnspacing": 1.2}
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(LEGEND[0] / width, 1.0 - LEGEND[1] / height),
        borderpad=0.0,
        borderaxespad=0.0,
        frameon=False,
        **usual | options,
    )


def page(
    result: xr.Dataset,
    title: str,
    rows: int,
    columns: int,
    *,
    height: float = 1.0,
    labels: bool = False,
    **options: Any,
) -> tuple[Figure, np.ndarray]:
    """A figure on (a share of the height of) an A4 page with a grid of panels, shape (rows, columns).

    Below the title stand the identity of the result and, later, a legend. With `labels` the gap between the columns
    has space for the label of a vertical axis.
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
    figure.text(left, 1 - 0.15 * top, title, fontsize=TEXT + 3, va="top")
    figure.text(left, 1 - 0.36 * top, identity(result), fontsize=SMALL - 0.5, va="top", color=NOTE_COLOR)
    for axes in panels.flat:
        axes.tick_params(labelsize=SMALL, length=2, color=NOTE_COLOR)
        axes.grid(True, color=GRID_COLOR, linewidth=0.4)
        axes.set_axisbelow(True)
        axes.margins(y=0.1)
        for edge in ("top", "right"):
            axes.spines[edge].set_visible(False)
    return figure, panels


def heading(axes: Axes, name: str, note: str = "") -> None:
    """Name of a panel and, below it, a smaller note."""
    # With its height given, matplotlib does not measure all labels of the panel to find one, a third of the drawing.
    axes.set_title(name, fontsize=SMALL, loc="left", pad=8 if note else 3, y=1.0)
    if note:
        below: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
        axes.annotate(note, (0.0, 1.0), (0, 1), fontsize=SMALL - 1, color=NOTE_COLOR, **below)


def note(axes: Axes, text: str) -> None:
    """A smaller note above the right end of a panel."""
    above: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
    axes.annotate(text, (1.0, 1.0), (0, 1), ha="right", fontsize=SMALL - 1, color=NOTE_COLOR, **above)


def caption(figure: Figure, title: str, note: str, place: tuple[float, float, float]) -> None:
    """Title and smaller note of a map; the place is x of both, y of the title and y of the note [shares]."""
    figure.text(place[0], place[1], title, fontsize=TEXT + 3, va="top")
    figure.text(place[0], place[2], note, fontsize=SMALL, color=NOTE_COLOR, va="top")


def color_bar(figure: Figure, image: AxesImage, place: tuple[float, float, float, float], unit: str) -> None:
    """The scale of a map, at a place [shares of the figure]."""
    bar = figure.colorbar(image, cax=figure.add_axes(place))
    bar.set_label(unit, fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)


def cell_borders(axes: Axes, rows: int, columns: int) -> None:
    """Thin lines between the cells of a map instead of ticks."""
    axes.set_xticks(np.arange(-0.5, columns), minor=True)
    axes.set_yticks(np.arange(-0.5, rows), minor=True)
    axes.grid(which="minor", color=GRID_COLOR, linewidth=0.3)
    axes.tick_params(which="both", length=0)
