"""Every text of a page with the place where it is drawn, numbers of the axes included."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox


class Drawn(NamedTuple):
    """A text on a page."""

    text: str
    points: float
    box: Bbox  # [pixels]


def drawn_texts(figure: Figure) -> list[Drawn]:
    """Draw a page and note every visible text."""
    found: list[Drawn] = []
    draw = Text.draw

    def noted(self, renderer, *args, **kwargs):
        if self.get_visible() and self.get_text().strip():
            box = Text.get_window_extent(self, renderer)
            found.append(Drawn(self.get_text(), float(self.get_fontsize()), Bbox(box.get_points().copy())))
        draw(self, renderer, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", noted)
        FigureCanvasAgg(figure).draw()
    return found


def overprinted(drawn: Sequence[Drawn], slack: float = 2.0) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other by more than so many pixels, both ways."""
    return [(a.text, b.text) for a, b in combinations(drawn, 2) if _overlap(a.box, b.box, slack)]


def outside(figure: Figure, drawn: Sequence[Drawn], slack: float = 1.0) -> list[str]:
    """Texts that reach beyond the page."""
    page = figure.bbox
    return [
        each.text
        for each in drawn
        if each.box.x0 < -slack
        or each.box.y0 < -slack
        or each.box.x1 > page.x1 + slack
        or each.box.y1 > page.y1 + slack
    ]


def _overlap(a: Bbox, b: Bbox, slack: float) -> bool:
    return bool(min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack)
