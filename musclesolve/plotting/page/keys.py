"""Keys of a legend, and the names of curves by which a page switches them on and off.

matplotlib is not loaded: a page that a browser draws does without it.
"""

from dataclasses import dataclass
from typing import Any, Literal

from musclesolve._util.sides import SIDE_NAMES

APART = " · "
"""Between the name of a series, such as a leg, and what a part of its drawing is."""


@dataclass(frozen=True)
class Key:
    """A sample of a line or an area."""

    kind: Literal["line", "area"]
    style: dict[str, Any]  # keywords of matplotlib's `Line2D` or `Patch`
    of: str = ""  # the series that it stands for; empty where it explains a part of several


def line(color: str, linewidth: float = 1.5, *, of: str = "", **style: Any) -> Key:
    """A line of a legend."""
    return Key("line", {"color": color, "linewidth": linewidth, **style}, of)


def area(*, of: str = "", **style: Any) -> Key:
    """An area of a legend."""
    return Key("area", style, of)


def series(side: str, part: str = "") -> str:
    """Label of what is drawn of a leg: its name, and what part of the drawing it is."""
    name = SIDE_NAMES.get(side, side)
    return f"{name}{APART}{part}" if part else name
