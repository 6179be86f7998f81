"""Keys of a legend, and the names of curves by which a page switches them on and off.

matplotlib is not loaded here, because pages for a browser do not need it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from musclesolve._util.sides import SIDE_LETTERS, SIDE_NAMES
from musclesolve.plotting.page.page_style import current_style

APART = " · "
"""Separator between the name of a series, such as a leg, and the name of a part of its drawing."""


@dataclass(frozen=True)
class Key:
    """A sample of a line or an area."""

    kind: Literal["line", "area"]
    style: dict[str, Any]  # keywords of matplotlib's `Line2D` or `Patch`
    of: str = ""  # the series that it represents; empty where it explains a part of several


def line(color: str, linewidth: float = 1.5, *, of: str = "", **style: Any) -> Key:
    """A line of a legend."""
    return Key("line", {"color": color, "linewidth": linewidth, **style}, of)


def area(*, of: str = "", **style: Any) -> Key:
    """An area of a legend."""
    return Key("area", style, of)


def series(side: str, part: str = "") -> str:
    """Label of a curve of a leg: the name of the leg, and the part of the drawing."""
    name = SIDE_NAMES.get(side, side)
    return f"{name}{APART}{part}" if part else name


def labeled(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of a legend with the labels that the user chose for their series."""
    style, found = current_style(), dict[str, Any]()
    for text, entry in entries.items():
        of = entry.of if isinstance(entry, Key) else ""
        found[style.chosen(SIDE_LETTERS.get(of, of)).get("label", text) if of else text] = entry
    return found
