"""Pages as the content of files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping

import xarray as xr
from matplotlib.figure import Figure

from musclesolve._util.progress import Progress, no_progress

Figures = Mapping[str, Callable[[xr.Dataset], Figure]]


def figures_of(
    result: xr.Dataset,
    figures: Figures,
    progress: Progress | None = None,
    needs: Mapping[str, str] | None = None,
) -> dict[str, bytes]:
    """The content of the file of every figure of a dataset, PNG at 200 dots per inch, by its name with the suffix.

    A figure is drawn if the dataset has the variable that it needs. `progress` is called before every figure.
    """
    report, needs = progress or no_progress, needs or {}
    drawn = {name: draw for name, draw in figures.items() if name not in needs or needs[name] in result}
    files = {}
    for number, (name, draw) in enumerate(drawn.items()):
        report("drawing", number / len(drawn))
        files[f"{name}.png"] = _png(draw(result))
    return files


def _png(page: Figure) -> bytes:
    """One page; a letter that the font does not have, as in a name, is drawn as a box without a warning."""
    memory = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        page.savefig(memory, dpi=200, format="png")
    return memory.getvalue()
