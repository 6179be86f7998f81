"""A page: a header, a grid of panels, and lengths between them that go with the text, whatever the width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

from musclesolve.plotting.page.page_style import MM, PageStyle
from musclesolve.plotting.page.panel import ABOVE, BETWEEN, Panel
from musclesolve.plotting.page.text_lines import LINE, broken, text_height, text_width

A4 = (210.0 * MM, 297.0 * MM)
LEFT, BOTTOM, RIGHT, TOP = 0.60, 0.55, 0.32, 0.14
"""Margins at the default size of text [inch]; the header begins below the upper one."""
SIDEWAYS, UPWARDS, LABEL = 0.41, 0.11, 0.25
"""Between panels: for numbers, above numbers or ticks, and for a label of the axis of every panel [inch]."""
LEAST, USUAL = 0.36, 0.6
"""The height that a panel keeps, and the one that a narrow page does not take from it, at that size of text [inch]."""
LEGEND_LINE = 1.5 / 72.0
"""Height of a line of the legend per point of its text [inch]."""
EDGE = 0.06
"""What text leaves free at the edge of the page [inch]."""
HINTED = 0.15
"""What lines are shorter than the page: letters on a screen are up to 3 % wider than in print [inch]."""
BESIDE = 2.6
"""Width of the sign beside a text of the legend, with the space between them [sizes of the text]."""
ACROSS = 0.46
"""From a panel to the label of its vertical axis [inch]."""


@dataclass(frozen=True)
class Arrangement:
    """How the panels of a page are arranged."""

    rows: int
    columns: int
    panel_height: float  # [inch], on a page of the default style
    labels: bool = False  # whether each panel has a label of its vertical axis
    left: float = 0.0  # more space on the left of the first column [inch]
    right: float = 0.0  # more space on the right of every panel [inch]
    below: float = 0.0  # more space below every panel [inch]
    least: float = LEAST  # height that a panel keeps [inch]

    def inner_width(self, style: PageStyle) -> float:
        """Between the margins [inch]."""
        return style.width - (LEFT + RIGHT + self.left + self.right) * style.scale

    def gap(self, style: PageStyle) -> float:
        """Between the panels of a row [inch]."""
        return (SIDEWAYS + LABEL * self.labels + self.right) * style.scale

    def pitch(self, style: PageStyle) -> float:
        """From a panel to the next of its row [inch]."""
        return (self.inner_width(style) + self.gap(style)) / self.columns

    def room_above(self, style: PageStyle, column: int) -> float:
        """For the text above a panel, from its left edge to what stands to its right [inch]."""
        if column == self.columns - 1:
            return self.pitch(style) - self.gap(style) + (RIGHT + self.right) * style.scale - EDGE
        between = BETWEEN if style.narrow else 2.0 * BETWEEN
        return self.pitch(style) - max(between, (ACROSS + 0.06) * style.scale * self.labels)


class Sheet(Figure):
    """A figure of a page, made by `musclesolve.plotting.page.style.page`."""

    def prepare(self, style: PageStyle, grid: Arrangement) -> None:
        """Set what decides where things are."""
        self.style, self.grid = style, grid
        self._headings = [LINE * style.font_pt + ABOVE / 72.0] * grid.rows
        self._header: list[Text] = []
        self._legend: Legend | None = None
        self._legend_rows, self._legend_pt = 0, style.font_pt
        self._outer: dict[str, Text] = {}
        # Inches from the upper left corner, whatever height the page will have.
        self._from_top = self.dpi_scale_trans + ScaledTranslation(0.0, 1.0, self.transFigure)  # type: ignore[arg-type]

    def add_header(self, text: str, points: float, color: str = "black") -> None:
        """Add lines below those of the header; the page grows by them."""
        margin = LEFT * self.style.scale
        text = broken(text, points, self.style.width - margin - HINTED)
        self._header.append(self.text(margin, 0.0, text, fontsize=points, color=color, va="top"))
        self._header[-1].set_transform(self._from_top)

    def add_note(self, text: str, color: str) -> None:
        """Add a smaller note, beside the title where both fit, otherwise below the header."""
        size, first = self.style.note_pt, self._header[0] if self._header else None
        used = text_width(first.get_text(), float(first.get_fontsize())) if first is not None else 0.0
        if text_width(text, size) + used + 0.3 < self.style.width - (LEFT + RIGHT) * self.style.scale:
            place = 1.0 - RIGHT * self.style.scale / self.style.width
            shift = ScaledTranslation(0.0, -(TOP + 0.03) * self.style.scale, self.dpi_scale_trans)
            beside = self.text(place, 1.0, text, fontsize=size, color=color, va="top", ha="right")
            beside.set_transform(self.transFigure + shift)
        else:
            self.add_header(text, size, color)
            self.fit()

    def add_legend(self, handles: Sequence[Any], labels: Sequence[str], **options: Any) -> None:
        """Add the legend of the page below its title, in as many rows as its entries need."""
        size = float(options.pop("fontsize", self.style.font_pt))
        columns = min(len(handles), options.pop("ncols", len(handles)))
        room = self.style.width - LEFT * self.style.scale - HINTED
        while columns > 1 and _width(labels, columns, size, **options) > room:
            columns -= 1
        if columns == 1:
            labels = [broken(label, size, room - BESIDE * size / 72.0) for label in labels]
        extra = sum(label.count("\n") for label in labels)
        self._legend_rows, self._legend_pt = -(-len(handles) // max(columns, 1)) + extra, size
        usual = {
            "columnspacing": 1.2,
            "labelspacing": 0.3,
            "handlelength": BESIDE - 0.6,
            "handletextpad": 0.6,
        }
        self._legend = self.legend(
            handles=by_rows(handles, columns),
            labels=by_rows(labels, columns),
            ncols=columns,
            fontsize=size,
            loc="upper left",
            bbox_to_anchor=(LEFT * self.style.scale, 0.0),
            bbox_transform=self._from_top,
            borderpad=0.0,
            borderaxespad=0.0,
            frameon=False,
            **usual | options,
        )
        self.fit()

    def label_axes(self, x: str, y: str) -> None:
        """Label the axes of all panels together, once; the vertical one in two lines where the page is low."""
        rooms = {"x": self.grid.inner_width(self.style), "y": float(self.get_figheight()) - 2.0 * EDGE}
        for key, text, rotation in (("x", x, 0.0), ("y", y, 90.0)):
            wrapped = broken(text, self.style.font_pt, rooms[key])
            self._outer[key] = self.text(
                0.0, 0.0, wrapped, fontsize=self.style.font_pt, rotation=rotation, ha="center", va="center"
            )
        self.fit()

    def make_room_above(self, row: int, height: float) -> None:
        """Leave so much space above the panels of a row [inch], for headings of several lines."""
        if height > self._headings[row] + 1e-6:
            self._headings[row] = height
            self.fit()

    def fit(self) -> None:
        """Give the page the height that it needs, and everything its place."""
        scale, grid, width = self.style.scale, self.grid, self.style.width
        gap, bottom = (UPWARDS + grid.below) * scale, (BOTTOM + grid.below) * scale
        top = self._place_header() + 0.06 * scale
        fixed = top + sum(self._headings) + (grid.rows - 1) * gap + bottom
        panel = max(grid.panel_height * min(1.0, width / A4[0]), min(grid.panel_height, USUAL * scale))
        panel = max(min(panel, (A4[1] - fixed) / grid.rows), grid.least * scale)
        height = fixed + grid.rows * panel
        self.set_size_inches(width, height)
        across, edge = self.grid.pitch(self.style) - self.grid.gap(self.style), (LEFT + grid.left) * scale
        for axes in self.axes:
            if isinstance(axes, Panel):
                first, last, row = *axes.columns, axes.row
                end = top + sum(self._headings[: row + 1]) + row * gap + (row + 1) * panel
                wide = across + (last - first) * self.grid.pitch(self.style)
                axes.set_position(
                    (
                        (edge + first * self.grid.pitch(self.style)) / width,
                        1.0 - end / height,
                        wide / width,
                        panel / height,
                    )
                )
        middle = 0.5 * (bottom + height - top) / height
        places = {"x": (0.5 + 0.5 * (edge - RIGHT * scale) / width, 0.16 * scale / height)}
        lines = self._outer["y"].get_text().count("\n") if self._outer else 0
        places["y"] = ((0.12 + 0.04 * lines) * scale / width, self._within(middle, height))
        for key, text in self._outer.items():
            text.set_position(places[key])

    def _within(self, middle: float, height: float) -> float:
        """The middle of the label of the vertical axis, so that its ends are on the page [share of its height]."""
        label = self._outer.get("y")
        half = 0.5 * text_width(label.get_text(), self.style.font_pt) if label is not None else 0.0
        least = min(0.5, (half + EDGE) / height)
        return min(max(middle, least), 1.0 - least)

    def _place_header(self) -> float:
        """Put its lines and the legend below each other; returns where they end, from the top [inch]."""
        scale, end = self.style.scale, TOP * self.style.scale
        for text in self._header:
            text.set_position((LEFT * scale, -end))
            end += text_height(text.get_text(), float(text.get_fontsize())) + 0.01 * scale
        end += 0.04 * scale
        if self._legend is not None:
            self._legend.set_bbox_to_anchor((LEFT * scale, -end), self._from_top)
        return end + self._legend_rows * LEGEND_LINE * self._legend_pt


def by_rows(entries: Sequence[Any], columns: int) -> list[Any]:
    """Entries in the order in which matplotlib, which fills column by column, shows them row by row."""
    return [entries[k] for column in range(columns) for k in range(column, len(entries), columns)]


def _width(labels: Sequence[str], columns: int, size: float, **options: Any) -> float:
    """Of a legend of so many columns [inch]."""
    em = size / 72.0
    widest = [max(text_width(label, size) for label in labels[k::columns]) for k in range(columns)]
    between = (columns - 1) * float(options.get("columnspacing", 1.2))
    return sum(widest) + em * (columns * BESIDE + between)
