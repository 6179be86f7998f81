"""The marks of a panel: lines, areas, bars, upright lines and points, each with the name of what it shows.

The curves of a result become marks once (`curves`). Axes of matplotlib show them in files and in axes of a user
(`paint`), an SVG in a page of HTML (`chart`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.page.sheet import sheet_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Mark:
    """A mark of a panel: its name and its look."""

    label: str  # name of the series, and of the part of its drawing
    style: Mapping[str, Any]  # keywords of matplotlib: color, linewidth [points], linestyle, alpha, zorder


@dataclass(frozen=True)
class Line(Mark):
    """A curve."""

    place: Array  # (K,) on the horizontal axis
    values: Array  # (K,); NaN breaks the line
    is_scaled: bool = True  # whether the scale of the panel includes it


@dataclass(frozen=True)
class Area(Mark):
    """An area between two curves."""

    place: Array  # (K,)
    low: Array  # (K,)
    high: Array  # (K,)


@dataclass(frozen=True)
class Bars(Mark):
    """Bars over stretches of the horizontal axis."""

    stretches: Sequence[tuple[float, float]]
    rows: tuple[float, float]  # lower and upper end, shares of the height of the panel


@dataclass(frozen=True)
class Uprights(Mark):
    """Lines over the whole height of a panel."""

    places: Array  # (K,)


@dataclass(frozen=True)
class Points(Mark):
    """Signs of the same height."""

    places: Array  # (K,)
    height: float  # share of the height of the panel


def paint(axes: "Axes", marks: Iterable[Mark]) -> None:
    """Draw marks into axes of matplotlib."""
    for mark in marks:
        named: dict[str, Any] = {"label": mark.label, **mark.style}
        match mark:
            case Line(is_scaled=True):
                axes.plot(mark.place, mark.values, **named)
            case Line():
                sheet_of(axes).off_scale(axes, mark.place, mark.values, **named)
            case Area():
                axes.fill_between(mark.place, mark.low, mark.high, **named)
            case Bars():
                sheet_of(axes).bars(axes, mark.stretches, mark.rows, **named)
            case Uprights():
                sheet_of(axes).upright(axes, mark.places, **named)
            case Points():
                heights = np.full(mark.places.size, mark.height)
                axes.plot(mark.places, heights, transform=axes.get_xaxis_transform(), clip_on=False, **named)
