"""Colors, sizes and the empty page: readable in print, in gray and with color vision deficiency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from musclesolve.plotting.page.light_axis import GRID_COLOR
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.panel import Panel
from musclesolve.plotting.page.sheet import A4, ACROSS, Arrangement, Sheet
from musclesolve.plotting.page.text_lines import LINE, text_width
from musclesolve.results.dataset.result_quantities import identity

# Okabe & Ito (2008): distinct under every common color vision deficiency, and in gray.
SIDE_COLOR = {"r": "#0072B2", "l": "#E69F00", "other": "#000000"}
# The right leg is drawn first and wider: where the legs agree, it shows on both sides of the left one.
SIDE_WIDTH = {"r": 1.9, "l": 0.9, "other": 1.2}  # points
RESERVE_STYLE = ":"
REPEATED: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.6}
STANCE_COLOR = {"r": "#99C7E0", "l": "#F5D999"}  # 40 % of the color of the leg
SHADE_COLOR = {"r": "#B8D8E9", "l": "#F8E4B5"}  # 28 % of the color of the leg
STANCE_BAR = {"r": (0.97, 1.0), "l": (0.94, 0.97)}  # shares of the height of a panel
FAILED_MARK: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 2.5, "markeredgewidth": 0.7}
FAILED_ROW = {
    "r": 0.02,
    "l": 0.06,
    "other": 0.02,
}  # shares of the height of a panel, below what the curves use of it
NOTE_COLOR = "#555555"
USUAL_MARGINS, USUAL_GAP = (0.95, 0.55), 0.40
"""Above and below the panels, and between them, of a page of the default style [inch]: what `height` counts with."""
NO_SPACE: Mapping[str, float] = {}
TEXT, SMALL = 8.0, 6.5
"""Points on maps; on pages the style in force decides."""


def place_legend(figure: Figure, handles: Sequence[Any], **options: Any) -> None:
    """Add the legend of a page below its title, in rows that fit; options are those of matplotlib."""
    labels = options.pop("labels", None) or [str(handle.get_label()) for handle in handles]
    _sheet(figure).add_legend(handles, labels, **options)


def page(
    result: xr.Dataset,
    title: str,
    rows: int,
    columns: int,
    *,
    height: float = 1.0,
    labels: bool = False,
    space: Mapping[str, float] = NO_SPACE,
    **options: Any,
) -> tuple[Sheet, np.ndarray]:
    """A page with a grid of panels, shape (rows, columns), as wide and with text as large as the style in force says.

    Below the title stand the identity of the result and, later, a legend. Its height is a share of that of A4 upright,
    and what headings, legend and a narrow page need beyond it.

    Args:
        result: what the page is of.
        title: of the page.
        rows: of panels.
        columns: of panels.
        height: of the page, as a share of A4.
        labels: whether there is space between the columns for the label of a vertical axis.
        space: more space than usual, at the default size of text: "left" of the first column, on the "right" of every
            panel, "below" every panel; and the "least" height of a panel [inch].
        options: of `Figure.subplots`.
    """
    style = current_style()
    usual = A4[1] * height - sum(USUAL_MARGINS) - (rows - 1) * (USUAL_GAP + space.get("below", 0.0))
    sheet = Sheet(figsize=(style.width, style.width))
    sheet.prepare(style, Arrangement(rows, columns, max(usual / rows, 0.1), labels, **space))
    panels = sheet.subplots(rows, columns, squeeze=False, subplot_kw={"axes_class": Panel}, **options)
    for (row, column), panel in np.ndenumerate(panels):
        panel.prepare(row, column, sheet.grid.room_above(style, column))
        if labels:
            panel.yaxis.label_distance = 72.0 * ACROSS * style.scale
    if style.titled:
        sheet.add_header(title, style.title_pt)
        if of := identity(result):
            sheet.add_header(of, style.note_pt, NOTE_COLOR)
    sheet.fit()
    return sheet, panels


def space_for(labels: Sequence[str], usual: float = 0.40) -> float:
    """More space than the usual beside a panel, for labels of its rows in the size of the style in force [inch]."""
    style = current_style()
    return max(0.0, max(text_width(label, style.font_pt) for label in labels) / style.scale - usual)


def height_for(rows: int) -> float:
    """The least height of a panel with so many labelled rows, at the default size of text [inch]."""
    return 8.0 * LINE * rows


def heading(axes: Axes, name: str, note: str = "") -> None:
    """Name of a panel and, below it, a smaller note; broken into lines where the panel is narrow."""
    _panel(axes).set_heading(name, note)


def note(axes: Axes, text: str) -> None:
    """A smaller note above the right end of a panel."""
    _panel(axes).set_note(text)


def page_note(figure: Figure, text: str) -> None:
    """A smaller note at the upper right of a page, beside its title, or below it."""
    _sheet(figure).add_note(text, NOTE_COLOR)


def _sheet(figure: Figure) -> Sheet:
    assert isinstance(figure, Sheet), "a figure made by `page`"
    return figure


def _panel(axes: Axes) -> Panel:
    assert isinstance(axes, Panel), "a panel of a figure made by `page`"
    return axes


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
