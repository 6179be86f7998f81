"""Axes that are drawn fast: numbers, ticks and grid of an axis without an object for each of them.

matplotlib makes a tick of six objects for every number, of which a page with 43 panels has 500: most of the time of
drawing it. Here an axis draws its grid as one path, its tick marks as another, and all numbers with one text.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.artist import Artist, allow_rasterization
from matplotlib.axis import Axis, XAxis, YAxis
from matplotlib.backend_bases import RendererBase
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import ScalarFormatter
from matplotlib.transforms import IdentityTransform

from musclesolve._util.arrays import Array

GRID_COLOR = "#D9D9D9"
TICK_COLOR = "#555555"
LENGTH, PAD = 2.0, 2.5
"""Of tick marks, and from them to the numbers [points]."""


class LightAxis(Axis):
    """What both axes share; `tick_params` knows labelsize, labelbottom, labelleft and length, `grid` on or off."""

    label_key: ClassVar[str]
    align: ClassVar[dict[str, Any]]
    label_distance: float | None = None
    """From the panel to the label of the axis [points]; below the numbers unless given."""

    def clear(self) -> None:
        """Reset it; numbers are never printed as an offset or a power of ten at the end of the axis."""
        self.options: dict[str, Any] = {"labelsize": 8.0, "length": LENGTH, "gridOn": True}
        super().clear()
        plain = ScalarFormatter(useOffset=False)
        plain.set_scientific(False)
        self.set_major_formatter(plain)
        self.isDefault_majfmt = True

    def set_clip_path(self, path: Any, transform: Any = None) -> None:
        """Clip the axis, not the ticks that it does not have."""
        Artist.set_clip_path(self, path, transform)

    def set_tick_params(self, which: str = "major", reset: bool = False, **options: Any) -> None:
        """Keep what `draw` looks for."""
        if which != "minor":
            self.options.update(options)

    def _get_tick_label_size(self, axis_name: str) -> float:
        return float(self.options["labelsize"])

    @allow_rasterization
    def draw(self, renderer: RendererBase) -> None:
        """Grid, tick marks, numbers and label."""
        if not self.get_visible():
            return
        renderer.open_group("axis", gid=self.get_gid())
        places, numbers = self._ticks()
        edge, end = map(float, self.axes.bbox.get_points()[:, 1 - self._number])
        point = float(renderer.points_to_pixels(1.0))  # type: ignore[arg-type]
        if self.options["gridOn"]:
            self._strokes(renderer, places, (edge, end), GRID_COLOR, 0.4)
        lowest = edge - self.options["length"] * point
        if lowest < edge:
            self._strokes(renderer, places, (lowest, edge), TICK_COLOR, 0.8)
        if self.options.get(self.label_key, True):
            start = lowest - PAD * point
            lowest = start - self._write(renderer, places, numbers, start)
        self._name(renderer, edge, lowest, point)
        renderer.close_group("axis")
        self.stale = False

    def _ticks(self) -> tuple[Array, list[str]]:
        """Places of the ticks along the axis [pixels], and their numbers."""
        values = np.asarray(self.get_majorticklocs(), dtype=float)
        numbers = self.get_major_formatter().format_ticks(list(values))
        places = self.axes.transData.transform(self._points(values))[:, self._number]
        low, high = np.sort(self.axes.bbox.get_points()[:, self._number])
        inside = (places >= low - 0.5) & (places <= high + 0.5)
        return places[inside], [number for number, there in zip(numbers, inside, strict=True) if there]

    def _strokes(
        self, renderer: RendererBase, places: Array, ends: tuple[float, float], color: str, width: float
    ) -> None:
        """Lines across the axis at these places, from end to end [pixels]."""
        lines = np.empty((len(places), 2, 2))
        lines[..., self._number] = places[:, None]
        lines[..., 1 - self._number] = ends
        codes = np.tile([Path.MOVETO, Path.LINETO], len(places)).astype(np.uint8)
        gc = renderer.new_gc()  # type: ignore[no-untyped-call]
        gc.set_foreground(color)
        gc.set_linewidth(width)
        gc.set_snap(True)
        renderer.draw_path(gc, Path(lines.reshape(-1, 2), codes), IdentityTransform())
        gc.restore()

    def _write(self, renderer: RendererBase, places: Array, numbers: list[str], edge: float) -> float:
        """Print the numbers [pixels]; returns how far they reach from the edge."""
        rotation = float(self.options.get("labelrotation", 0.0))
        text = Text(fontsize=self.options["labelsize"], rotation=rotation, **self.align)
        text.set_figure(self.axes.figure)
        reach = 0.0
        for place, number in zip(places, numbers, strict=True):
            if number:
                at = [edge, edge]
                at[self._number] = place
                text.set_position((at[0], at[1]))
                text.set_text(number)
                text.draw(renderer)
                box = text.get_window_extent(renderer)
                reach = max(reach, box.width if self._number else box.height)
        return reach

    def _name(self, renderer: RendererBase, edge: float, lowest: float, point: float) -> None:
        """The label of the axis, beyond its numbers or at a distance that all panels of a page share."""
        if not self.label.get_text():
            return
        distance = self.label_distance
        place = lowest - self.labelpad * 0.5 * point if distance is None else edge - distance * point
        at = list(self.label.get_position())
        at[1 - self._number] = place
        self.label.set_position((at[0], at[1]))
        self.label.draw(renderer)

    def _points(self, values: Array) -> Array:
        points = np.zeros((len(values), 2))
        points[:, self._number] = values
        points[:, 1 - self._number] = np.mean(self.axes.viewLim.get_points()[:, 1 - self._number])
        return points

    @property
    def _number(self) -> int:
        return 0 if isinstance(self, XAxis) else 1


class LightXAxis(LightAxis, XAxis):
    """The horizontal one."""

    label_key = "labelbottom"
    align: ClassVar[dict[str, Any]] = {"ha": "center", "va": "top"}


class LightYAxis(LightAxis, YAxis):
    """The vertical one."""

    label_key = "labelleft"
    align: ClassVar[dict[str, Any]] = {"ha": "right", "va": "center_baseline"}
