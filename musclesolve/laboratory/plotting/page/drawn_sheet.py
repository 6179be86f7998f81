"""A page that matplotlib draws.

The panels are subplots of a `GridSpec` of matplotlib, with a row for headings above each row of panels. Its ratios
follow from the widths of the texts in print before anything is drawn: text has the size that was chosen, is broken
into lines where it does not fit, and the page is as high as headings and legend need. (The constrained layout of
matplotlib breaks no lines, keeps the height of the page, and takes as long as drawing a page of 43 panels does.)

A figure is also drawn into axes that a user has made, such as a panel of a grid of matplotlib:

    figure, axes = plt.subplots(2, 2)
    musclesolve.laboratory.plotting.one_muscle(result, "soleus", ax=axes[0, 0], color={"right": "black",
    "left": "tab:red"})

Axes keep their size, their ticks and the style of the user. Title, header and notes of a page are left to the user; the
entries of its legend appear in `ax.legend()`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Affine2D, ScaledTranslation, Transform, blended_transform_factory

from musclesolve._util.arrays import Array
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.page.dark_colors import DARK, LIGHT, contrast, on_dark_ground
from musclesolve.laboratory.plotting.page.page_style import (
    A4,
    ACROSS,
    BETWEEN,
    EDGE,
    LEFT,
    LINE,
    NOTE_COLOR,
    RIGHT,
    Arrangement,
    Key,
    PageStyle,
    broken,
    labeled,
    text_height,
    text_width,
)


class Marks:
    """Marks on axes of matplotlib, for which axes have no single call."""

    style: PageStyle

    def off_scale(self, axes: Axes, place: Array, curve: Array, **style: Any) -> None:
        """Draw a curve without effect on the scale of its panel."""
        colors, widths, label = style["color"], style["linewidth"], style.get("label", "")
        vertices = np.stack([place, curve], axis=1)
        axes.add_collection(
            LineCollection([vertices], colors=colors, linewidths=widths, label=label), autolim=False
        )

    def upright(self, axes: Axes, places: Array, **style: Any) -> None:
        """Draw lines from the lower to the upper edge of a panel."""
        ends = [[(place, 0.0), (place, 1.0)] for place in places]
        axes.add_collection(
            LineCollection(ends, transform=axes.get_xaxis_transform(), **style), autolim=False
        )

    def bars(
        self, axes: Axes, stretches: Sequence[tuple[float, float]], rows: tuple[float, float], **style: Any
    ) -> None:
        """Draw bars over stretches of the axis, between two shares of the height of a panel."""
        low, high = rows
        boxes = [[(first, low), (first, high), (last, high), (last, low)] for first, last in stretches]
        bar = PolyCollection(boxes, transform=axes.get_xaxis_transform(), zorder=1.0, **style)
        axes.add_collection(bar, autolim=False)

    def below(self, axes: Axes) -> Transform:
        """Transform: across a panel in shares, upward in inches of the default style from its lower edge."""
        inches: Any = axes.figure.dpi_scale_trans
        upward = inches + ScaledTranslation(0.0, 0.0, axes.transAxes)  # type: ignore[arg-type]
        return blended_transform_factory(axes.transAxes, Affine2D().scale(1.0, self.style.scale) + upward)

    def strip_below(self, axes: Axes, bottom: float, height: float) -> Axes:
        """A small panel below another one, as `below` measures."""
        strip = axes.inset_axes((0.0, bottom, 1.0, height), transform=self.below(axes))
        strip.patch.set_visible(False)
        strip.spines[["top", "right"]].set_visible(False)
        return strip


class OwnAxes(Marks):
    """Axes of a user in the place of a page; the methods are as in `DrawnSheet`."""

    def __init__(self, style: PageStyle, grid: Arrangement, axes: Any) -> None:
        self.style, self.grid = style, grid
        array, count = np.array(axes, dtype=object), grid.rows * grid.columns
        others = {f"a {type(axis).__name__}" for axis in array.flat if not isinstance(axis, Axes)}
        if others or array.size != count:
            raise input_error(
                "bad_value",
                where="ax",
                problem=f"this figure has {grid.rows} x {grid.columns} panels, "
                f"and ax has {', '.join(others) or array.size}",
                expected=f"{count} axes",
                remedy=f"ax=plt.subplots({grid.rows}, {grid.columns})[1]",
            )
        self.panels = array.reshape(grid.rows, grid.columns)

    def _ignored(self, *_: Any) -> None:
        """Header, notes and places of the axes are left to the user."""

    add_header = add_note = fit = _ignored

    def add_legend(self, entries: Mapping[str, Any]) -> None:
        """Make `legend()` of the first axes show the entries of the page, and no part of a curve besides."""
        for axes in self.panels.flat:
            for artist in (*axes.lines, *axes.collections, *axes.patches):
                artist.set_label("_nolegend_")
        first: Axes = self.panels.flat[0]
        for text, entry in labeled(entries).items():
            key = entry[0] if isinstance(entry, tuple) else entry
            if not isinstance(key, Key):
                key.set_label(text)
            elif key.kind == "line":
                first.plot([], [], **key.style, label=text)
            else:
                first.fill_between([], [], **key.style, label=text)

    def label_axes(self, x: str, y: str) -> None:
        """Label the lowest axes and the first ones."""
        for axes in self.panels[-1]:
            axes.set_xlabel(x)
        for axes in self.panels[:, 0]:
            points = axes.yaxis.label.get_size()
            axes.set_ylabel(broken(y.partition("  (")[0], points, self._inches(axes).height))

    def label_below(self, axes: Axes, text: str) -> None:
        """Label the horizontal axis of a panel."""
        axes.set_xlabel(text)

    def one_panel(self, row: np.ndarray) -> Axes:
        """Return the first of the axes of a row (columns,) and hide the others."""
        for other in row[1:]:
            other.set_visible(False)
        first: Axes = row[0]
        return first

    def panel_width(self, axes: Axes) -> float:
        """Width of a panel [inch]."""
        return float(self._inches(axes).width)

    def _inches(self, axes: Axes) -> Any:
        """The box of axes [inch]."""
        return axes.bbox.transformed(axes.figure.dpi_scale_trans.inverted())

    def set_texts(self, axes: Axes, name: str | None = None, note: str = "", right: str = "") -> None:
        """Set the title of the axes; notes follow it in brackets."""
        title = axes.get_title() if name is None else name
        if more := ", ".join(filter(None, (note, right))):
            title = f"{title} ({more})" if title else more
        axes.set_title(title)


# Lengths [inch], at the default size of text unless stated otherwise; `arrangement` has the lengths of every page.
BOTTOM, TOP = 0.55, 0.14  # margins; the header begins below the upper one
UPWARDS = 0.11  # between rows of panels, above numbers or ticks
USUAL_HEIGHT = 0.6  # height of a panel that a narrow page does not take from it
HINTED = 0.25  # factor on the lengths of lines: letters on a screen are up to 3 % wider than in print
BEYOND = 0.22  # how far the text on the right reaches beyond the panel, where there is space
LEGEND_LINE = 1.5 / 72.0  # height of a line of the legend per point of its text
ABOVE = 3.0  # from a panel to the text above it [points]
BESIDE = 2.6  # width of the sign beside a text of the legend, with the space between them [sizes of the text]


@dataclass
class _Panel:
    """The text above a panel, and the space for it."""

    row: int
    room: float  # from its left edge to the next panel or the edge of the page [inch]
    name: str = ""
    note: Annotation | None = None  # below the name
    right: Annotation | None = None  # above the right end


class DrawnSheet(Marks, Figure):
    """A page as a figure of matplotlib, made by `page`."""

    def __init__(self, style: PageStyle, grid: Arrangement, sharey: Any = False) -> None:
        super().__init__(figsize=(style.width, style.width))
        self.style, self.grid, self._settings = style, grid, style.settings
        self._headings = [LINE * style.font_pt + ABOVE / 72.0] * grid.rows  # heights above the rows [inch]
        self._header: list[Text] = []
        self._beside = False  # whether a note stands beside the title
        self._legend: Legend | None = None
        self._legend_height = 0.0
        self._outer: dict[str, Text] = {}
        # Inches from the upper left corner, whatever height the page will have.
        self._from_top = self.dpi_scale_trans + ScaledTranslation(0.0, 1.0, self.transFigure)  # type: ignore[arg-type]
        self._cells = self.add_gridspec(2 * grid.rows, grid.columns, hspace=0.0)
        across = ScaledTranslation(-ACROSS * style.scale, 0.0, self.dpi_scale_trans)
        # Lists: an array of objects in a reference cycle with it is never freed.
        self._rows: list[list[Axes]] = []
        self._placed: dict[Axes, _Panel] = {}
        with mpl.rc_context(self._settings):
            for row in range(grid.rows):
                self._rows.append([])
                for column in range(grid.columns):
                    shared = self._rows[0 if sharey is True else row][:1] if sharey else []
                    axes = self.add_subplot(self._cells[2 * row + 1, column], sharey=next(iter(shared), None))
                    # with a stated size, the number of ticks follows from it, too
                    axes.tick_params(labelsize=style.font_pt, labelleft=not sharey or column == 0)
                    axes.patch.set_visible(False)
                    axes.yaxis.set_label_coords(0.0, 0.5, axes.transAxes + across)
                    self._rows[row].append(axes)
                    self._placed[axes] = _Panel(row, grid.room_above(style, column))

    def draw(self, renderer: Any) -> None:
        """Draw the page; on a dark ground, such as of `dark_background`, in the colors of dark pages."""
        if contrast(to_hex(self.get_facecolor()), DARK) < contrast(to_hex(self.get_facecolor()), LIGHT):
            on_dark_ground(self)
        super().draw(renderer)

    @property
    def panels(self) -> np.ndarray:
        """The grid of axes, (rows, columns)."""
        return np.array(self._rows, dtype=object)

    def add_header(self, text: str, points: float, color: str = "black") -> None:
        """Add lines below the lines of the header; the page grows by them."""
        margin = LEFT * self.style.scale
        text = broken(text, points, self.style.width - margin - HINTED)
        self._header.append(self.text(margin, 0.0, text, fontsize=points, color=color, va="top"))
        self._header[-1].set_transform(self._from_top)

    def add_note(self, text: str) -> None:
        """Add a smaller note: the first one beside the title where both fit, others below the header."""
        size, scale = self.style.note_pt, self.style.scale
        used = sum(text_width(first.get_text(), float(first.get_fontsize())) for first in self._header[:1])
        if (
            self._header
            and not self._beside
            and text_width(text, size) + used + 0.3 < self.style.width - (LEFT + RIGHT) * scale
        ):
            self._beside = True
            place = (self.style.width - RIGHT * scale, -(TOP + 0.03) * scale)
            beside = self.text(*place, text, fontsize=size, color=NOTE_COLOR, va="top", ha="right")
            beside.set_transform(self._from_top)
        else:
            self.add_header(text, size, NOTE_COLOR)
            self.fit()

    def add_legend(self, entries: Mapping[str, Any]) -> None:
        """Add the legend of the page below its title, in as many rows as its entries need.

        entries: text -> `Key`; one that is a tuple stands for its members side by side.
        """
        entries = labeled(entries)
        labels, handles = list(entries), [_handle(entry) for entry in entries.values()]
        size, left = self.style.font_pt, LEFT * self.style.scale
        room, em, columns = self.style.width - left - HINTED, size / 72.0, len(handles)
        with mpl.rc_context(self._settings):
            spacing, pad = mpl.rcParams["legend.columnspacing"], mpl.rcParams["legend.handletextpad"]

        def width(columns: int) -> float:
            widest = [max(text_width(label, size) for label in labels[k::columns]) for k in range(columns)]
            return sum(widest) + em * (columns * BESIDE + (columns - 1) * spacing)

        while columns > 1 and width(columns) > room:
            columns -= 1
        if columns == 1:
            labels = [broken(label, size, room - BESIDE * em) for label in labels]
        rows = -(-len(handles) // max(columns, 1)) + sum(label.count("\n") for label in labels)
        self._legend_height = rows * LEGEND_LINE * size
        # matplotlib fills a legend column by column; entries are read row by row.
        order = [k for column in range(columns) for k in range(column, len(handles), columns)]
        with mpl.rc_context(self._settings):
            self._legend = self.legend(
                handles=[handles[k] for k in order],
                labels=[labels[k] for k in order],
                ncols=columns,
                loc="upper left",
                bbox_to_anchor=(left, 0.0),
                bbox_transform=self._from_top,
                handlelength=BESIDE - pad,
                handler_map={tuple: HandlerTuple(ndivide=None, pad=0.0)},
            )
        self.fit()

    def label_axes(self, x: str, y: str) -> None:
        """Label the axes of all panels together, once; the vertical one in two lines where the page is low."""
        rooms = {"x": self.grid.inner_width(self.style), "y": float(self.get_figheight()) - 2.0 * EDGE}
        centered: Any = {"fontsize": self.style.font_pt, "ha": "center", "va": "center"}
        for key, text, rotation in (("x", x, 0.0), ("y", y, 90.0)):
            wrapped = broken(text, self.style.font_pt, rooms[key])
            self._outer[key] = self.text(0.0, 0.0, wrapped, rotation=rotation, **centered)
        self.fit()

    @property
    def across(self) -> str:
        """Words of the horizontal axis, where all panels have the same; otherwise none."""
        labels = {axes.get_xlabel() for axes in self.axes} | {
            self._outer["x"].get_text() if self._outer else ""
        }
        words = labels - {""}
        return " ".join(words.pop().split()) if len(words) == 1 else ""

    def label_below(self, axes: Axes, text: str) -> None:
        """Label the horizontal axis of a panel, in lines that fit below it."""
        axes.set_xlabel(broken(text, self.style.font_pt, self._placed[axes].room))

    def one_panel(self, row: np.ndarray) -> Axes:
        """Return a panel that takes the place of the panels of a row (columns,)."""
        first: Axes = row[0]
        for axes in row[1:]:
            axes.remove()
            del self._placed[axes]
        panel = self._placed[first]
        first.set_subplotspec(self._cells[2 * panel.row + 1, : len(row)])
        panel.room += (len(row) - 1) * self.grid.pitch(self.style)
        self.fit()
        return first

    def panel_width(self, axes: Axes) -> float:
        """Width of a panel [inch]."""
        return float(axes.get_position().width) * self.style.width

    def set_texts(self, axes: Axes, name: str | None = None, note: str = "", right: str = "") -> None:
        """Set the name of a panel, a smaller note below it, and a note above its right end, in one line if both fit.

        Texts are broken into lines where the panel is narrow; None changes nothing.
        """
        panel, points, beyond = self._placed[axes], self.style.note_pt, BEYOND * self.style.scale

        def small(text: str, place: float) -> Annotation:
            return axes.annotate(
                broken(text, points, panel.room),
                (place, 1.0),
                (72.0 * beyond * place, 1.0),
                xycoords="axes fraction",
                textcoords="offset points",
                va="bottom",
                ha="right" if place else "left",
                fontsize=points,
                linespacing=1.05,
                color=NOTE_COLOR,
            )

        if name is not None:
            panel.name = broken(name, self.style.font_pt, panel.room)
        if note:
            panel.note = small(note, 0.0)
        if right:
            panel.right = small(right, 1.0)
        room, below = self.panel_width(axes) + beyond, 0.0
        notes = [note for note in (panel.note, panel.right) if note is not None]
        widths = [text_width(note.get_text(), points) for note in notes]
        if len(notes) == 2 and sum(widths) + BETWEEN > room:
            notes.pop(0).set_visible(False)  # the text of the note on the right is nowhere else
        name_width = text_width(panel.name, self.style.font_pt)
        beside = notes == [panel.right] and panel.note is None and name_width + widths[-1] + BETWEEN < room
        if notes and not beside:
            below = max(72.0 * text_height(note.get_text(), points) for note in notes) + 0.2 * points
        if panel.right is not None:
            panel.right.set_position((72.0 * beyond, ABOVE if beside else 1.0))
        pad = below + 1.0 if below else ABOVE
        # With its height given, matplotlib does not measure all labels of the panel to find one.
        axes.set_title(panel.name, loc="left", y=1.0, pad=pad, fontsize=self.style.font_pt, linespacing=1.05)
        height = text_height(panel.name, self.style.font_pt) + pad / 72.0
        if height > self._headings[panel.row] + 1e-6:
            self._headings[panel.row] = height
            self.fit()

    def fit(self) -> None:
        """Set the height of the page and place all its parts."""
        style, grid, scale, width = self.style, self.grid, self.style.scale, self.style.width
        top = TOP * scale
        for text in self._header:
            text.set_position((LEFT * scale, -top))
            top += text_height(text.get_text(), float(text.get_fontsize())) + 0.01 * scale
        top += 0.04 * scale
        if self._legend is not None:
            self._legend.set_bbox_to_anchor((LEFT * scale, -top), self._from_top)
        top += self._legend_height + 0.06 * scale

        gap, bottom, pitch = (UPWARDS + grid.below) * scale, (BOTTOM + grid.below) * scale, grid.pitch(style)
        fixed = top + sum(self._headings) + (grid.rows - 1) * gap + bottom
        panel = max(grid.panel_height * min(1.0, width / A4[0]), min(grid.panel_height, USUAL_HEIGHT * scale))
        panel = max(min(panel, (A4[1] - fixed) / grid.rows), grid.least * scale)
        height = fixed + grid.rows * panel
        self.set_size_inches(width, height)
        edge, between = (LEFT + grid.left) * scale, np.array([0.0] + [gap] * (grid.rows - 1))
        ratios = np.stack([between + self._headings, np.full(grid.rows, panel)], axis=1)
        self._cells.set_height_ratios(ratios.ravel().tolist())
        self.subplots_adjust(
            left=edge / width,
            right=(edge + grid.inner_width(style)) / width,
            bottom=bottom / height,
            top=1.0 - top / height,
            wspace=grid.gap(style) / (pitch - grid.gap(style)),
        )
        if self._outer:
            x, y = self._outer["x"], self._outer["y"]
            x.set_position((0.5 + 0.5 * (edge - RIGHT * scale) / width, 0.16 * scale / height))
            # In the middle of the panels, unless an end of the label would lie beyond the page.
            half = 0.5 * text_width(y.get_text(), style.font_pt)
            least = min(0.5, (half + EDGE) / height)
            middle = min(max(0.5 * (bottom + height - top) / height, least), 1.0 - least)
            y.set_position(((0.12 + 0.04 * y.get_text().count("\n")) * scale / width, middle))


def _handle(entry: Any) -> Any:
    """Return the handle that matplotlib draws in a legend."""
    if isinstance(entry, tuple):
        return tuple(map(_handle, entry))
    if not isinstance(entry, Key):
        return entry
    return Line2D([], [], **entry.style) if entry.kind == "line" else Patch(**entry.style)
