"""Figures of a dataset by name, and as parts of a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import xarray as xr
from markupsafe import Markup

from musclesolve._util.sides import SIDE_NAMES
from musclesolve.plotting.browser import page_parts
from musclesolve.plotting.figure_names import MODEL as OF_MODEL
from musclesolve.plotting.figure_names import RECORDING, pages_of
from musclesolve.plotting.page.described_sheet import described
from musclesolve.report.content.pieces import DAMAGE, reason
from musclesolve.report.inputs import RESULT
from musclesolve.results.dataset.checked import MODEL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw: TypeAlias = "Callable[[xr.Dataset], Figure]"


def figures_of(data: xr.Dataset, kind: str) -> dict[str, Draw]:
    """The figures of a dataset by name, without figures of missing variables."""
    if kind == RESULT:
        kind = OF_MODEL if MODEL in data.attrs else RECORDING
    return pages_of(data, kind)


def caption(name: str, draw: Draw) -> str:
    """Return the caption of a figure: the first sentence of its function."""
    function = draw.func if isinstance(draw, partial) else draw
    first = (function.__doc__ or name.replace("_", " ")).strip().partition("\n")[0]
    side = draw.keywords.get("side") if isinstance(draw, partial) else None
    return first.rstrip(".") + (f"; {SIDE_NAMES[side]} leg." if side else ".")


@dataclass(frozen=True)
class Picture:
    """A figure of a page, or the reason of its absence."""

    key: str  # its own in the page
    name: str
    label: str
    data: str = ""  # escaped data from which a browser draws it
    fault: str = ""


def drawn(key: str, name: str, draw: Callable[..., Figure], data: object, label: str = "") -> Picture:
    """The figure that `draw` makes of some data; a fault of the file that prevents it becomes a sentence.

    label: the caption of the figure unless given.
    """
    label = label or caption(name, draw)
    try:
        return Picture(key, name, label, Markup(page_parts.data(described(partial(draw, data)))))
    except DAMAGE as error:
        return Picture(key, name, label, fault=reason(error))
