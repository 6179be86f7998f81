"""Panels that several figures share: their number abreast, the order of muscles, the names of senses."""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from musclesolve.laboratory.plotting.page.page_style import Arrangement, broken, current_style, text_width
from musclesolve.laboratory.results.dataset.result_quantities import OPPOSITE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

GROUPS = (
    *("iliopsoas", "hip_extensors", "hip_abductors", "hip_adductors", "hip_external_rotators"),
    *("quadriceps_femoris", "hamstrings", "knee_flexors"),
    *("triceps_surae", "other_plantarflexors", "ankle_dorsiflexors"),
)
"""The order of the groups on a page, from hip to ankle: the same for all muscle sets."""
ACTIVATION, FORCE = "activation [1]", "force [N]  (each panel has its own scale)"
"""Labels of the vertical axis of pages of muscles."""
LEAST_WIDTH = 0.6
"""Least width of a panel, at the default size of text [inch]."""


def with_panels(panels: np.ndarray, shown: Collection[T]) -> "Iterator[tuple[Axes, T]]":
    """Yield each panel with what it shows, row by row; the panels that are left are hidden."""
    for axes in panels.flat[len(shown) :]:
        axes.set_visible(False)
    return zip(panels.flat, shown, strict=False)


def fitting_columns(names: Sequence[str], most: int, lines: int) -> int:
    """Return the largest number of panels side by side, up to a limit, that leaves every heading so many lines."""
    style = current_style()
    for columns in range(min(most, max(1, len(names))), 1, -1):
        row = Arrangement(1, columns, 1.0)
        rooms = [row.room_above(style, number % columns) for number in range(len(names))]
        texts = [broken(name, style.font_pt, room) for name, room in zip(names, rooms, strict=True)]
        fits = [text_width(text, style.font_pt) <= room for text, room in zip(texts, rooms, strict=True)]
        wide = row.pitch(style) - row.gap(style) >= LEAST_WIDTH * style.scale
        if wide and all(fits) and all(text.count("\n") < lines for text in texts):
            return columns
    return 1


def muscles_by_group(names: Sequence[str], groups: Sequence[str]) -> dict[str, str]:
    """Muscle -> group, the muscles of one group together, the groups from hip to ankle, then groups of other names."""
    group_of = dict(zip(names, groups, strict=True))
    order = list(dict.fromkeys((*GROUPS, *group_of.values())))
    return dict(sorted(group_of.items(), key=lambda entry: order.index(entry[1])))


def with_senses(stem: str, of: str = "") -> str:
    """A degree of freedom, or a quantity of it, with the names of its two senses: "hip flexion (+)   extension (-)"."""
    senses = f" (+)   {OPPOSITE[stem]} (-)" if stem in OPPOSITE else ""
    return f"{stem.replace('_', ' ')}{of}{senses}"
