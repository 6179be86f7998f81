"""Figures drawn into axes that a user has made, such as a panel of a grid of matplotlib.

    figure, axes = plt.subplots(2, 2)
    musclesolve.plotting.one_muscle(result, "soleus", ax=axes[0, 0], color={"right": "black", "left": "tab:red"})

Axes keep their size, their ticks and the style of the user. Title, header and notes of a page are left to the user; the
entries of its legend appear in `ax.legend()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.transforms import Affine2D, ScaledTranslation, Transform, blended_transform_factory

from musclesolve._util.arrays import Array
from musclesolve.errors import input_error
from musclesolve.plotting.page.arrangement import Arrangement, broken
from musclesolve.plotting.page.keys import Key, labeled
from musclesolve.plotting.page.page_style import PageStyle


class Marks:
    """Marks on axes of matplotlib, for which axes have no single call."""

    style: PageStyle

    def off_scale(self, axes: Axes, place: Array, curve: Array, **style: Any) -> None:
        """Draw a curve without effect on the scale of its panel."""
        colors, widths, label = style["color"], style["linewidth"], style.get("label", "")
        vertices = np.stack([place, curve], axis=1)
        axes.add_collection(
            LineCollection([vertices], colors=colors, linewidths=widths, label=label), autolim=False
        )

    def upright(self, axes: Axes, places: Array, **style: Any) -> None:
        """Draw lines from the lower to the upper edge of a panel."""
        ends = [[(place, 0.0), (place, 1.0)] for place in places]
        axes.add_collection(
            LineCollection(ends, transform=axes.get_xaxis_transform(), **style), autolim=False
        )

    def bars(
        self, axes: Axes, stretches: Sequence[tuple[float, float]], rows: tuple[float, float], **style: Any
    ) -> None:
        """Draw bars over stretches of the axis, between two shares of the height of a panel."""
        low, high = rows
        boxes = [[(first, low), (first, high), (last, high), (last, low)] for first, last in stretches]
        bar = PolyCollection(boxes, transform=axes.get_xaxis_transform(), zorder=1.0, **style)
        axes.add_collection(bar, autolim=False)

    def below(self, axes: Axes) -> Transform:
        """Transform: across a panel in shares, upward in inches of the default style from its lower edge."""
        inches: Any = axes.figure.dpi_scale_trans
        upward = inches + ScaledTranslation(0.0, 0.0, axes.transAxes)  # type: ignore[arg-type]
        return blended_transform_factory(axes.transAxes, Affine2D().scale(1.0, self.style.scale) + upward)

    def strip_below(self, axes: Axes, bottom: float, height: float) -> Axes:
        """A small panel below another one, as `below` measures."""
        strip = axes.inset_axes((0.0, bottom, 1.0, height), transform=self.below(axes))
        strip.patch.set_visible(False)
        strip.spines[["top", "right"]].set_visible(False)
        return strip


class OwnAxes(Marks):
    """Axes of a user in the place of a page; the methods are as in `DrawnSheet`."""

    def __init__(self, style: PageStyle, grid: Arrangement, axes: Any) -> None:
        self.style, self.grid = style, grid
        given, count = np.array(axes, dtype=object), grid.rows * grid.columns
        others = {f"a {type(each).__name__}" for each in given.flat if not isinstance(each, Axes)}
        if others or given.size != count:
            raise input_error(
                "bad_value",
                where="ax",
                problem=f"this figure has {grid.rows} x {grid.columns} panels, "
                f"and ax has {', '.join(others) or given.size}",
                expected=f"{count} axes",
                remedy=f"ax=plt.subplots({grid.rows}, {grid.columns})[1]",
            )
        self.panels = given.reshape(grid.rows, grid.columns)

    def _ignored(self, *_: Any) -> None:
        """Header, notes and places of the axes are left to the user."""

    add_header = add_note = fit = _ignored

    def add_legend(self, entries: Mapping[str, Any]) -> None:
        """Make `legend()` of the first axes show the entries of the page, and no part of a curve besides."""
        for axes in self.panels.flat:
            for artist in (*axes.lines, *axes.collections, *axes.patches):
                artist.set_label("_nolegend_")
        first: Axes = self.panels.flat[0]
        for text, entry in labeled(entries).items():
            key = entry[0] if isinstance(entry, tuple) else entry
            if not isinstance(key, Key):
                key.set_label(text)
            elif key.kind == "line":
                first.plot([], [], **key.style, label=text)
            else:
                first.fill_between([], [], **key.style, label=text)

    def label_axes(self, x: str, y: str) -> None:
        """Label the lowest axes and the first ones."""
        for axes in self.panels[-1]:
            axes.set_xlabel(x)
        for axes in self.panels[:, 0]:
            points = axes.yaxis.label.get_size()
            axes.set_ylabel(broken(y.partition("  (")[0], points, self._inches(axes).height))

    def label_below(self, axes: Axes, text: str) -> None:
        """Label the horizontal axis of a panel."""
        axes.set_xlabel(text)

    def one_panel(self, row: np.ndarray) -> Axes:
        """Return the first of the axes of a row (columns,) and hide the others."""
        for other in row[1:]:
            other.set_visible(False)
        first: Axes = row[0]
        return first

    def panel_width(self, axes: Axes) -> float:
        """Width of a panel [inch]."""
        return float(self._inches(axes).width)

    def _inches(self, axes: Axes) -> Any:
        """The box of axes [inch]."""
        return axes.bbox.transformed(axes.figure.dpi_scale_trans.inverted())

    def set_texts(self, axes: Axes, name: str | None = None, note: str = "", right: str = "") -> None:
        """Set the title of the axes; notes follow it in brackets."""
        title = axes.get_title() if name is None else name
        if more := ", ".join(filter(None, (note, right))):
            title = f"{title} ({more})" if title else more
        axes.set_title(title)
