"""Pages as the content of files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import xarray as xr

from musclesolve._util.progress import Progress, no_progress
from musclesolve.plotting.page.page_style import changed_setting, current_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures: TypeAlias = "Mapping[str, Callable[[xr.Dataset], Figure]]"
DPI = 200
TEXT_AS_TEXT: Any = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "musclesolve"}
"""Letters of vector files stay letters, which can be searched and edited; names in an SVG are the same every time."""
SAVED: dict[str, dict[str, Any]] = {
    "png": {"dpi": DPI, "pil_kwargs": {"compress_level": 3}},  # twice as fast as the default, and 5 % larger
    "pdf": {"metadata": {"CreationDate": None}},
    "svg": {"metadata": {"Date": None}},
}
"""Options of each format: without dates, so that equal results give equal bytes."""


def figures_of(result: xr.Dataset, figures: Figures, progress: Progress | None = None) -> dict[str, bytes]:
    """The content of the file of every figure of a dataset in the style in force, by its name with the suffix.

    `progress` is called before every figure.
    """
    report, files = progress or no_progress, {}
    for number, (name, draw) in enumerate(figures.items()):
        report("drawing", number / len(figures))
        files[file_name(name)] = file_content(draw(result))
    return files


def file_name(figure: str) -> str:
    """Name of the file of a figure, with the suffix of the style in force."""
    return f"{figure}.{current_style().file_format}"


def file_content(page: Figure) -> bytes:
    """One page; a letter that the font does not have, as in a name, is drawn as a box without a warning."""
    import matplotlib as mpl

    memory, file_format = io.BytesIO(), current_style().file_format
    options = SAVED[file_format]
    if file_format == "png" and (dpi := current_style().dpi or changed_setting("savefig.dpi")):
        options = options | {"dpi": dpi}
    with warnings.catch_warnings(), mpl.rc_context(TEXT_AS_TEXT):
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        page.savefig(memory, format=file_format, **options)
    return memory.getvalue()
