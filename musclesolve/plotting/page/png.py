"""Pages as the content of files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping

from matplotlib.figure import Figure

Progress = Callable[[str, float], None]


def png_files(pages: Mapping[str, Callable[[], Figure]], progress: Progress) -> dict[str, bytes]:
    """The content of the file of every page, PNG at 200 dots per inch, by its name with the suffix.

    Args:
        pages: what draws each page, by its name.
        progress: called before every page with "drawing" and the share of the pages that is done.
    """
    files = {}
    for number, (name, draw) in enumerate(pages.items()):
        progress("drawing", number / len(pages))
        files[f"{name}.png"] = _png(draw())
    return files


def _png(page: Figure) -> bytes:
    """One page; a letter that the font does not have, in the name of a person say, is drawn as a box without ado."""
    memory = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        page.savefig(memory, dpi=200, format="png")
    return memory.getvalue()
