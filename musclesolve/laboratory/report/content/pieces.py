"""Pieces of sections: numbers that keep their full value, tables, and figures of a dataset by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import xarray as xr
from markupsafe import Markup
from rich.table import Table as RichTable

from musclesolve._util.messages import capitalized
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.laboratory.plotting.figure_names import MODEL as OF_MODEL
from musclesolve.laboratory.plotting.figure_names import RECORDING, pages_of
from musclesolve.laboratory.plotting.page.chart_figure import chart_of
from musclesolve.laboratory.plotting.page.page_style import PageStyle, current_style, page_style
from musclesolve.laboratory.plotting.page.page_svg import page_svg
from musclesolve.laboratory.report.inputs import DAMAGE, RESULT, reason
from musclesolve.laboratory.results.dataset.checked import MODEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DASH = "–"


class Absent(Exception):
    """A section has nothing to show; the message has the reason."""


@dataclass(frozen=True)
class PageTable:
    """A table with a caption; the first column has the names of the rows."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""
    compact: bool = field(default=False)  # whether it is shown folded
    prose: bool = False  # whether the last column holds sentences


def cell(value: float, digits: int = 2) -> str:
    """A number of a table; a dash where there is none."""
    return f"{value:z.{digits}f}" if np.isfinite(value) else DASH


def plain(name: str) -> str:
    """A name with blanks."""
    return name.replace("_", " ")


LONGEST_WORDS = 60
"""A cell with more characters is a sentence."""
LONG_TABLE = 14
"""Number of rows above which the table of a command is shown folded."""


def from_rich(table: RichTable, title: str = "") -> PageTable:
    """Convert the table of a command, with a capital letter in the title like all captions of a page."""
    columns = [str(column.header) for column in table.columns]
    cells = [[str(cell) for cell in column.cells] for column in table.columns]
    prose = any(len(cell) > LONGEST_WORDS for column in cells for cell in column)
    caption, rows = capitalized(title or str(table.title or "")), list(zip(*cells, strict=True))
    return PageTable(caption, columns, rows, compact=len(rows) > LONG_TABLE, prose=prose)


def digest(value: str) -> Markup:
    """A hash with possible line breaks at every character."""
    return Markup('<code class="hash">{}</code>').format(value)


Draw: TypeAlias = "Callable[[xr.Dataset], Figure]"


def figures_of(data: xr.Dataset, kind: str) -> dict[str, Draw]:
    """The figures of a dataset by name, without figures of missing variables."""
    if kind == RESULT:
        kind = OF_MODEL if MODEL in data.attrs else RECORDING
    return pages_of(data, kind)


def caption(name: str, draw: Draw) -> str:
    """Return the caption of a figure: the first sentence of its function."""
    function = draw.func if isinstance(draw, partial) else draw
    first = (function.__doc__ or name.replace("_", " ")).strip().partition("\n")[0].removeprefix("Draw ")
    side = draw.keywords.get("side") if isinstance(draw, partial) else None
    return capitalized(first).rstrip(".") + (f"; {SIDE_NAMES[side]} leg." if side else ".")


@dataclass(frozen=True)
class Picture:
    """A figure of a page, or the reason of its absence."""

    key: str  # its own in the page
    name: str
    label: str
    data: str = ""  # its SVG or HTML
    fault: str = ""
    is_chart: bool = False  # whether it is a chart, which the page arranges


def drawn(key: str, name: str, draw: "Callable[..., Figure]", data: object, label: str = "") -> Picture:
    """A figure of a page: its chart where it has one, else what matplotlib draws.

    A fault of the file that prevents it becomes a sentence.

    Args:
        key: of the figure, its own in the page.
        name: of the figure.
        draw: its drawing function.
        data: what it shows; of a result its facts.
        label: the caption of the figure unless given.
    """
    style, label, chart = current_style(), label or caption(name, draw), chart_of(draw)
    try:
        if chart is None:
            return Picture(key, name, label, Markup(page_svg(partial(draw, data), key, label)))
        # named in full, the style is not made anew for every curve
        with page_style(PageStyle(titled=False, norms=style.norms, norm_file=style.norm_file)):
            return Picture(key, name, label, Markup(chart(data).html()), is_chart=True)
    except DAMAGE as error:
        return Picture(key, name, label, fault=reason(error))
