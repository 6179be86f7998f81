"""Grids of panels that several figures share: small multiples, joints in rows, degrees of freedom in rows."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import xarray as xr

from musclesolve._util.sides import LEG_JOINTS
from musclesolve.laboratory.plotting.page.curves import Abscissa
from musclesolve.laboratory.plotting.page.page_style import Arrangement, broken, current_style, text_width
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading, page, zero_line
from musclesolve.laboratory.results.dataset.result_quantities import OPPOSITE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

GROUPS = (
    *("iliopsoas", "hip_extensors", "hip_abductors", "hip_adductors", "hip_external_rotators"),
    *("quadriceps_femoris", "hamstrings", "knee_flexors"),
    *("triceps_surae", "ankle_plantarflexors", "ankle_dorsiflexors"),
)
"""The order of the groups on a page, from hip to ankle: the same for all muscle sets."""
ACTIVATION, FORCE = "activation [1]", "force [N]  (each panel has its own scale)"
"""Labels of the vertical axis of pages of muscles."""
LEAST_WIDTH = 0.6
"""Least width of a panel, at the default size of text [inch]."""


@dataclass(frozen=True)
class Grid:
    """Layout and scale of the panels of a page of small multiples."""

    columns: int = 5  # of panels
    top: float | None = None  # upper end of the scale of all panels; each has its own scale without it
    least: float = 1.0  # what the scale of a panel of its own extends to at least
    above: float = 0.03  # what is left free above the upper end, as a share of it
    low: bool = False  # whether the page is only as high as its rows need


OWN_SCALES = Grid()


def small_multiples(
    result: xr.Dataset,
    titles: tuple[str, str],
    x: Abscissa,
    panels: Mapping[str, str],
    fill: "Callable[[Axes, str], None]",
    grid: Grid = OWN_SCALES,
) -> Sheet:
    """A page with a panel for each name, from zero upward.

    The titles belong to the page and of the vertical axis; panels: name -> note below it; fill draws one of them.
    """
    style, names = current_style(), [name.replace("_", " ") for name in panels]
    narrow = style.narrow  # 43 panels leave little space for lines above them
    columns = fitting_columns(names, grid.columns, 3 if narrow else 2)
    usual = max(1, -(-len(panels) // grid.columns))
    rows, height = max(1, -(-len(panels) // columns)), min(1.0, 0.16 + 0.21 * usual) if grid.low else 1.0
    height = height * rows / usual
    sheet, axes = page(result, titles[0], rows, columns, height=height)
    for number, (panel, (name, note)) in enumerate(with_panels(axes, panels.items())):
        if grid.top and number % columns:
            panel.tick_params(labelleft=False)
        fill(panel, name)
        heading(panel, name.replace("_", " "), "" if narrow else note.replace("_", " "))
        top = grid.top or max(panel.get_ylim()[1], grid.least)
        end = (1.0 + grid.above) * top
        panel.set_ylim(-0.03 * top, end)  # a curve along the edge stays visible
        if style.axes is None:  # a number at the upper end would touch the text above it
            panel.set_yticks(
                [tick for tick in panel.get_yticks() if 0.0 <= tick <= (0.96 if grid.top else 0.93) * end]
            )
        x.apply(panel, labeled=number + columns >= len(panels), with_label=False)
    sheet.label_axes(x.label, titles[1])
    return sheet


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


def joint_rows(
    panels: np.ndarray, x: Abscissa, joints: Sequence[str] = LEG_JOINTS
) -> Iterator[tuple[np.ndarray, str]]:
    """Yield each row of panels with its joint; afterward its scale begins at zero, in body weights."""
    for row, joint in zip(panels, joints, strict=True):
        yield row, joint
        row[0].set_ylabel("[body weights]")
        row[0].set_ylim(bottom=0.0)
        for axes in row:
            x.apply(axes, labeled=joint == joints[-1])


def with_senses(stem: str, of: str = "") -> str:
    """A degree of freedom, or a quantity of it, with the names of its two senses: "hip flexion (+)   extension (-)"."""
    senses = f" (+)   {OPPOSITE[stem]} (-)" if stem in OPPOSITE else ""
    return f"{stem.replace('_', ' ')}{of}{senses}"


def dof_rows(
    panels: np.ndarray, x: Abscissa, dofs: Sequence[str], moment_unit: str
) -> Iterator[tuple[np.ndarray, str]]:
    """Yield each row of panels, angle and moment, with its degree of freedom; afterward it is labeled."""
    for row, dof in zip(panels, dofs, strict=True):
        yield row, dof
        heading(row[0], with_senses(dof))
        heading(row[1], with_senses(dof, " moment"))
        row[0].set_ylabel("[deg]")
        row[1].set_ylabel(moment_unit)
        for axes in row:
            zero_line(axes)
            x.apply(axes, labeled=dof == dofs[-1])
