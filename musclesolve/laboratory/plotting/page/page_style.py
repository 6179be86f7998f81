"""Style of a page: width, size of the text, file format; keys of its legend, and lengths that scale with its text.

Every figure is drawn in the current style:

    with page_style(width_mm=85, font_pt=7):
        figure = muscle_forces(result)

Colors, lines and marks of curves are the same in every style: readable in print, in gray and with color vision
deficiency. What a user has changed in `matplotlib.rcParams` comes before the style: size and family of the text, grid,
spines, ticks, widths of lines, colors of compared curves, resolution of files, and the width of "figure.figsize".

matplotlib is not loaded here: the command line reads the settings.
"""

import io
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from musclesolve._util.messages import Progress, as_text, check_known, no_progress
from musclesolve._util.sides import SIDE_LETTERS, SIDE_NAMES
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.command_settings import PlotSettings
from musclesolve.tables.settings import settings_of

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


RULES = settings_of(PlotSettings)
"""The settings of a page: default and range of each field."""
FORMATS = RULES["file_format"].choices
NARROW = 140.0
"""Greatest width of a page that is for a column [mm]."""
SMALLEST_PT = 6.0
"""Size of text below which notes are as large as other text, because smaller text is not readable in print [points]."""
MM = 1.0 / 25.4
"""Inches per millimeter."""


LOOK = ("color", "label", "linestyle", "linewidth")
"""Keywords of a figure for the look of its curves."""


def changed_setting(name: str) -> Any:
    """The value of a setting in `matplotlib.rcParams` if a user has changed it, else None."""
    if (mpl := sys.modules.get("matplotlib")) is None:
        return None
    value = mpl.rcParams[name]
    return None if value == mpl.rcParamsDefault[name] else value


def line_scale() -> float:
    """Factor on the usual widths of curves: of "lines.linewidth" if a user has changed it."""
    return float(changed_setting("lines.linewidth") or 1.5) / 1.5


def _usual_width() -> float:
    """Width of a page [mm]: of "figure.figsize" if a user has changed it. The height follows from what is drawn."""
    size = changed_setting("figure.figsize")
    return float(size[0]) / MM if size else RULES["width_mm"].default


@dataclass(frozen=True)
class PageStyle:
    """Width, text and format of figures; unless given, as for an upright A4 page.

    Raises:
        InputError: the width or the size of the text is out of range, or there is no such format.
    """

    # of the page; columns of journals are 80 to 90 mm wide, whole pages 170 to 190 mm
    width_mm: float = field(default_factory=_usual_width)
    # of headings, labels and legends in print; notes are a little smaller
    font_pt: float = field(
        default_factory=lambda: float(changed_setting("font.size") or RULES["font_pt"].default)
    )
    # whether the page has title and identity of the result; a paper has them in the caption
    titled: bool = RULES["titled"].default
    file_format: str = RULES["file_format"].default
    # whether published bands stand behind angles, moments, powers and ground reaction
    norms: bool = RULES["norms"].default
    norm_file: str | None = RULES["norm_file"].default  # norms of a laboratory, before the published ones
    # of pages with a panel for each muscle: those that are drawn, by name with or without side, or by group. Without
    # any name all of them; in a column the one of the greatest force of each group.
    muscles: tuple[str, ...] = ()
    dpi: int | None = RULES["dpi"].default  # of PNG files; without it "savefig.dpi" of matplotlib or 200
    axes: Any = None  # axes of a user, in place of a page
    look: Mapping[str, Any] = field(default_factory=dict)  # keywords of a figure (`LOOK`)

    def __post_init__(self) -> None:
        for name, key in (("width of a page", "width_mm"), ("size of the text", "font_pt")):
            value, rule = getattr(self, key), RULES[key]
            if not isinstance(value, Real) or not rule.contains(float(value)):
                raise input_error(
                    "bad_number",
                    problem=f"the {name} is {as_text(value)} {rule.unit}",
                    expected=f"{rule.minimum:g} to {rule.maximum:g} {rule.unit}",
                )
        check_known([self.file_format], "format of figures", FORMATS)

    @property
    def width(self) -> float:
        """Width of the page [inch]."""
        return self.width_mm * MM

    @property
    def narrow(self) -> bool:
        """Whether the width fits a column rather than a page."""
        return self.width_mm <= NARROW

    @property
    def scale(self) -> float:
        """Factor on lengths that scale with the text, such as margins, relative to the default."""
        return self.font_pt / 8.0

    @property
    def note_pt(self) -> float:
        """Size of notes [points]."""
        return min(self.font_pt, max(self.font_pt - 1.5, SMALLEST_PT))

    @property
    def title_pt(self) -> float:
        """Size of the title of a page [points]."""
        return self.font_pt + (1.0 if self.narrow else 3.0)

    @property
    def settings(self) -> Any:
        """The style sheet: settings of matplotlib with which axes and legends are made."""
        sheet = STYLE_SHEET | dict.fromkeys(("axes.labelsize", "legend.fontsize"), self.font_pt)
        kept = (name for name in sheet if changed_setting(name.replace("labelcolor", "color")) is None)
        return {name: sheet[name] for name in kept}

    def chosen(self, of: str) -> dict[str, Any]:
        """The look of one curve that the user chose: of a side, or of a cost, a solver or a result."""
        names = {}
        for name, value in self.look.items():
            by = value if isinstance(value, Mapping) else {of: value}
            if (wanted := by.get(of, by.get(SIDE_NAMES.get(of, of)))) is not None:
                names[name] = wanted
        return names


NOTE_COLOR, GRID_COLOR = "#555555", "#D9D9D9"
STYLE_SHEET: dict[str, Any] = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.ymargin": 0.1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # numbers are never printed as an offset or a power of ten at the end of the axis
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-99, 99),
    "grid.color": GRID_COLOR,
    "grid.linewidth": 0.4,
    "lines.solid_capstyle": "butt",
    "xtick.bottom": False,  # the lines of the grid are the ticks
    "ytick.left": False,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.borderaxespad": 0.0,
    "legend.columnspacing": 1.2,
    "legend.labelspacing": 0.3,
    "legend.handletextpad": 0.6,
}
for _axis in ("xtick", "ytick"):
    STYLE_SHEET |= {f"{_axis}.major.size": 2.0, f"{_axis}.major.pad": 2.5}
    STYLE_SHEET |= {f"{_axis}.color": NOTE_COLOR, f"{_axis}.labelcolor": "black"}

A4_PAGE = PageStyle()
_style: ContextVar[PageStyle | None] = ContextVar("page_style", default=None)


def current_style() -> PageStyle:
    """The current page style."""
    return _style.get() or PageStyle()


@contextmanager
def page_style(style: PageStyle | None = None, **settings: Any) -> Iterator[PageStyle]:
    """Draw and save figures in a style: one that is made, or the settings of `PageStyle`, such as width_mm=85."""
    from musclesolve._util.checks import check_type  # loads numpy

    style = PageStyle(**settings) if style is None else style
    check_type(style, PageStyle, "style", "a PageStyle, or its settings by name")
    token = _style.set(style)
    try:
        yield style
    finally:
        _style.reset(token)


class _OfSides(Mapping[str, Any]):
    """A property of the curves of a side: the usual one, or what the user chose."""

    def __init__(
        self, usual: Mapping[str, Any], name: str, made: Callable[[Any], Any] = lambda chosen: chosen
    ) -> None:
        self._usual, self._name, self._made = usual, name, made

    def __getitem__(self, side: str) -> Any:
        usual, chosen = self._usual[side], current_style().chosen(side)
        if self._name in chosen:
            return self._made(chosen[self._name])
        if self._name == "linewidth":
            return usual * line_scale()
        return usual

    def __iter__(self) -> Iterator[str]:
        return iter(self._usual)

    def __len__(self) -> int:
        return len(self._usual)


def _paler(color: Any) -> str:
    """A color mixed with white."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = (0.4 * channel + 0.6 for channel in to_rgb(color))
    return to_hex((red, green, blue))


# Okabe & Ito (2008): distinct under every common color vision deficiency, and in gray.
SIDE_COLOR = _OfSides({"r": "#0072B2", "l": "#E69F00", "other": "#000000"}, "color")
# The right leg is drawn first and wider, the left leg dashed: where the legs agree, the right one shows on both sides
# of the left one and in its gaps.
SIDE_WIDTH = _OfSides({"r": 1.9, "l": 1.1, "other": 1.2}, "linewidth")  # points
SIDE_DASHES = _OfSides({"r": "-", "l": (0, (5.0, 4.0)), "other": "-"}, "linestyle")
RESERVE_STYLE = ":"
REPEATED: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.6}
SINGLE: dict[str, Any] = {"linewidth": 0.35, "alpha": 0.45}
BAND = 0.22  # opacity of the band of one standard deviation
# 40 % of the color of the leg
STANCE_COLOR = _OfSides({"r": "#99C7E0", "l": "#F5D999"}, "color", _paler)
SHADE = 0.28  # opacity of the area of a measured curve
STANCE_PREDICTED: dict[str, Any] = {"facecolor": "none", "linewidth": 0.8}
"""Style of the bars of a foot whose force is predicted, beside the color of the leg at their edge."""
PREDICTED_STYLE = (0, (6.0, 1.5, 1.0, 1.5))
"""Dashes and dots of a curve where it is predicted and not measured."""
STANCE_BAR = {"r": (0.97, 1.0), "l": (0.94, 0.97)}  # shares of the height of a panel
FAILED_MARK: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 2.5, "markeredgewidth": 0.7}
# Shares of the height of a panel, below what the curves use of it.
FAILED_ROW = {"r": 0.02, "l": 0.06, "other": 0.02}
TEXT, SMALL = 8.0, 6.5
"""Size of the text of maps and of their notes [points]; the current style decides for pages."""


APART = " · "
"""Separator between the name of a series, such as a leg, and the name of a part of its drawing."""


@dataclass(frozen=True)
class Key:
    """A sample of a line or an area."""

    kind: Literal["line", "area"]
    style: dict[str, Any]  # keywords of matplotlib's `Line2D` or `Patch`
    of: str = ""  # the series that it represents; empty where it explains a part of several


def line(color: str, linewidth: float = 1.5, *, of: str = "", **style: Any) -> Key:
    """A line of a legend."""
    return Key("line", {"color": color, "linewidth": linewidth, **style}, of)


def area(*, of: str = "", **style: Any) -> Key:
    """An area of a legend."""
    return Key("area", style, of)


def series(side: str, part: str = "") -> str:
    """Label of a curve of a leg: the name of the leg, and the part of the drawing."""
    name = SIDE_NAMES.get(side, side)
    return f"{name}{APART}{part}" if part else name


def labeled(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Entries of a legend with the labels that the user chose for their series."""
    style, names = current_style(), dict[str, Any]()
    for text, entry in entries.items():
        of = entry.of if isinstance(entry, Key) else ""
        names[style.chosen(SIDE_LETTERS.get(of, of)).get("label", text) if of else text] = entry
    return names


A4 = (210.0 * MM, 297.0 * MM)

# Lengths [inch], at the default size of text unless stated otherwise.
LEFT, RIGHT = 0.60, 0.32  # margins
SIDEWAYS, LABEL = 0.41, 0.25  # between the panels of a row: for numbers, for axis labels
LEAST = 0.36  # height that a panel keeps
# free space above, below and between the panels of the default style, for `height`
USUAL_MARGINS, USUAL_GAP = ((0.95, 0.55), 0.40)
EDGE = 0.06  # free space between text and the edge of the page
ACROSS = 0.46  # from a panel to the label of its vertical axis
BETWEEN = 0.045  # between the text above a panel and that above the next, and between two texts of one
LINE = 1.25 / 72.0  # height of a line of text per point of its size
KEPT = "\N{NO-BREAK SPACE}"
"""Space at which a line is not broken: before a bracket."""


@dataclass(frozen=True)
class Arrangement:
    """Arrangement of the panels of a page."""

    rows: int
    columns: int
    panel_height: float  # [inch], on a page of the default style
    labels: bool = False  # whether each panel has a label of its vertical axis
    left: float = 0.0  # more space on the left of the first column [inch]
    right: float = 0.0  # more space on the right of every panel [inch]
    below: float = 0.0  # more space below every panel [inch]
    least: float = LEAST  # height that a panel keeps [inch]

    def inner_width(self, style: PageStyle) -> float:
        """Width between the margins of the page [inch]."""
        return style.width - (LEFT + RIGHT + self.left + self.right) * style.scale

    def gap(self, style: PageStyle) -> float:
        """Width between the panels of a row [inch]."""
        return (SIDEWAYS + LABEL * self.labels + self.right) * style.scale

    def pitch(self, style: PageStyle) -> float:
        """Distance from a panel to the next of its row [inch]."""
        return (self.inner_width(style) + self.gap(style)) / self.columns

    def room_above(self, style: PageStyle, column: int) -> float:
        """Space for the text above a panel, from its left edge to the next object on its right [inch]."""
        if column == self.columns - 1:
            return self.pitch(style) - self.gap(style) + (RIGHT + self.right) * style.scale - EDGE
        between = BETWEEN if style.narrow else 2.0 * BETWEEN
        return self.pitch(style) - max(between, (ACROSS + 0.06) * style.scale * self.labels)


def space_for(labels: Sequence[str], usual: float = 0.40) -> float:
    """More space than the usual beside a panel, for labels of its rows in the size of the style in force [inch]."""
    style = current_style()
    return max(0.0, max(text_width(label, style.font_pt) for label in labels) / style.scale - usual)


def height_for(rows: int) -> float:
    """The least height of a panel with a number of labeled rows, at the default size of text [inch]."""
    return 8.0 * LINE * rows


@lru_cache(maxsize=4096)
def _width_per_point(line: str, family: str) -> float:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    size = 100.0
    font = get_font(findfont(FontProperties()))  # whose size changes with what is drawn
    font.set_size(size, 72)
    font.set_text(line, 0.0)
    return float(font.get_width_height()[0]) / 64.0 / 72.0 / size


def text_width(text: str, points: float) -> float:
    """Width of the longest line of a text in print [inch]."""
    family = str(changed_setting("font.family") or "") + str(changed_setting("font.sans-serif") or "")
    return points * max((_width_per_point(line, family) for line in text.split("\n")), default=0.0)


def text_height(text: str, points: float) -> float:
    """Height of the lines of a text [inch]."""
    return LINE * points * (text.count("\n") + 1)


def broken(text: str, points: float, width: float) -> str:
    """Break a text into lines of at most `width` [inch]: at wide spaces first, then between words.

    A bracket stays with the word before it unless both are wider than a line.
    """
    fits = text_width(text, points) <= width
    lines: list[str] = []
    for part in [text] if fits else [part.strip() for part in text.split("   ")]:
        lines.append("")
        for word in part.replace(" (", KEPT + "(").split(" "):
            for piece in word.split(KEPT) if text_width(word, points) > width else [word]:
                longer = f"{lines[-1]} {piece}".lstrip()
                if lines[-1] and text_width(longer, points) > width:
                    lines.append(piece)
                else:
                    lines[-1] = longer
    return "\n".join(lines).replace(KEPT, " ")


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


def figures_of(result: "xr.Dataset", figures: Figures, progress: Progress | None = None) -> dict[str, bytes]:
    """The content of the file of every figure of a dataset in the style in force, by its name with the suffix.

    `progress` is called before every figure.
    """
    report, files = progress or no_progress, {}
    for number, (name, draw) in enumerate(figures.items()):
        report("drawing", number / len(figures))
        files[f"{name}.{current_style().file_format}"] = file_content(draw(result))
    return files


def file_content(page: "Figure") -> bytes:
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
