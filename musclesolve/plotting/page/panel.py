"""A panel of a page: axes with light ticks, a heading and notes above them that never lie on each other."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Annotation, Text

from musclesolve.plotting.page.light_axis import TICK_COLOR, LightXAxis, LightYAxis
from musclesolve.plotting.page.page_style import PageStyle, current_style
from musclesolve.plotting.page.text_lines import broken, text_height, text_width

ABOVE = 3.0
"""From the panel to the text above it [points]."""
BETWEEN = 0.045
"""From the text above a panel to that of the next, and between two texts of one [inch]."""
BEYOND = 0.22
"""How far the text on the right reaches beyond the panel, where there is space [inch]."""


class Panel(Axes):
    """Axes of a `Sheet`."""

    style: PageStyle
    row: int
    columns: tuple[int, int]  # first and last that it extends over
    room, beyond = 10.0, 0.0
    """For text above it, from its left edge to the next panel or the edge of the page, and beyond its end [inch]."""

    def _init_axis(self) -> None:
        self.style = current_style()
        self.xaxis, self.yaxis = LightXAxis(self, clear=False), LightYAxis(self, clear=False)  # type: ignore[assignment]
        for edges, axis in ((("bottom", "top"), self.xaxis), (("left", "right"), self.yaxis)):
            for edge in edges:
                self.spines[edge].register_axis(axis)

    def prepare(self, row: int, column: int, room: float) -> None:
        """Set its place, what it has in common with the others, and the room for the text above it [inch]."""
        self.row, self.columns = row, (column, column)
        self.room, self.beyond = room, BEYOND * self.style.scale
        self._name = ""
        self._note: Annotation | None = None
        self._right: Annotation | None = None
        self.tick_params(labelsize=self.style.font_pt)
        self.grid(True)
        self.set_axisbelow(True)
        self.margins(y=0.1)
        self.patch.set_visible(False)
        for edge in ("top", "right"):
            self.spines[edge].set_visible(False)
        for edge in ("left", "bottom"):
            self.spines[edge].set_position(("outward", 0.0))  # else left to ticks, which there are none of

    def extend_to(self, other: Panel) -> None:
        """Take the place of the panels of its row up to another one, too."""
        room = other.room - self.room + float(other.get_position().x0 - self.get_position().x0) * self.inches
        self.columns, self.room = (self.columns[0], other.columns[1]), self.room + room
        self.figure.fit()  # type: ignore[union-attr]

    @property
    def inches(self) -> float:
        """Width of the page [inch]."""
        return float(self.figure.get_figwidth())  # type: ignore[union-attr]

    def set_xlabel(self, xlabel: str, *args: Any, **options: Any) -> Text:  # type: ignore[override]
        """Label of the horizontal axis, in the size of the page."""
        xlabel = broken(xlabel, self.style.font_pt, self.room)
        return super().set_xlabel(xlabel, *args, **options | {"fontsize": self.style.font_pt})

    def set_ylabel(self, ylabel: str, *args: Any, **options: Any) -> Text:  # type: ignore[override]
        """Label of the vertical axis, in the size of the page."""
        return super().set_ylabel(ylabel, *args, **options | {"fontsize": self.style.font_pt})

    def set_heading(self, name: str, note: str = "") -> None:
        """Name of the panel and, below it, a smaller note."""
        self._name = broken(name, self.style.font_pt, self.room)
        if note:
            self._note = self._small(note, 0.0)
        self._arrange()

    def set_note(self, text: str) -> None:
        """A smaller note above the right end of the panel, in the line of its heading where both fit."""
        if text:
            self._right = self._small(text, 1.0)
            self._arrange()

    def _small(self, text: str, place: float) -> Annotation:
        text = broken(text, self.style.note_pt, self.room)
        return self.annotate(
            text,
            (place, 1.0),
            (72.0 * self.beyond * place, 1.0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="bottom",
            ha="right" if place else "left",
            fontsize=self.style.note_pt,
            linespacing=1.05,
            color=TICK_COLOR,
        )

    def _arrange(self) -> None:
        """Put the notes in one line, the heading above it or beside the right note; report the height to the page."""
        size, room, below = self.style.note_pt, self.panel_width + self.beyond, 0.0
        notes = [note for note in (self._note, self._right) if note is not None]
        widths = [text_width(note.get_text(), size) for note in notes]
        if len(notes) == 2 and sum(widths) + BETWEEN > room:
            notes.pop(0).set_visible(False)  # what the note on the right states is nowhere else
        last = text_width(self._name, self.style.font_pt)
        beside = notes == [self._right] and self._note is None and last + widths[-1] + BETWEEN < room
        if notes and not beside:
            below = max(72.0 * text_height(note.get_text(), size) for note in notes) + 0.2 * size
        if self._right is not None:
            self._right.set_position((72.0 * self.beyond, ABOVE if beside else 1.0))
        pad = below + 1.0 if below else ABOVE
        # With its height given, matplotlib does not measure all labels of the panel to find one.
        self.set_title(self._name, loc="left", y=1.0, pad=pad, fontsize=self.style.font_pt, linespacing=1.05)
        self.figure.make_room_above(self.row, text_height(self._name, self.style.font_pt) + pad / 72.0)  # type: ignore[union-attr]

    @property
    def panel_width(self) -> float:
        """Of the panel [inch]."""
        return float(self.get_position().width) * self.inches
