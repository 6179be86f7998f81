"""Style of a page: its width, the size of its text and its file format, for a report or for a column of a paper.

Every figure is drawn in the current style:

    with page_style(width_mm=85, font_pt=7):
        figure = muscle_forces(result)

Colors, lines and marks of curves are the same in every style: readable in print, in gray and with color vision
deficiency. What a user has changed in `matplotlib.rcParams` comes before the style: size and family of the text, grid,
spines, ticks, widths of lines, colors of compared curves, resolution of files, and the width of "figure.figsize".
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from musclesolve._util.names import check_known
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.errors import input_error
from musclesolve.settings.commands import PlotSettings
from musclesolve.settings.schema import settings_of

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


def changed_settings() -> dict[str, Any]:
    """All settings in `matplotlib.rcParams` that a user has changed, but the choice of a window."""
    import matplotlib as mpl  # slow to load

    names = (name for name in mpl.rcParams if name != "backend")
    return {name: value for name in names if (value := changed_setting(name)) is not None}


def line_scale() -> float:
    """Factor on the usual widths of curves: of "lines.linewidth" if a user has changed it."""
    return float(changed_setting("lines.linewidth") or 1.5) / 1.5


def _usual_size() -> float:
    return float(changed_setting("font.size") or RULES["font_pt"].default)


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
    font_pt: float = field(default_factory=_usual_size)
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
            if not rule.contains(value):
                raise input_error(
                    "bad_number",
                    problem=f"the {name} is {value:g} {rule.unit}",
                    expected=f"{rule.minimum:g} to {rule.maximum:g} {rule.unit}",
                )
        check_known([self.file_format], "format of figures", FORMATS)

    @property
    def drawn(self) -> bool:
        """Return whether matplotlib draws the page, not a browser."""
        return True

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
        found = {}
        for name, value in self.look.items():
            each = value if isinstance(value, Mapping) else {of: value}
            if (wanted := each.get(of, each.get(SIDE_NAMES.get(of, of)))) is not None:
                found[name] = wanted
        return found


@dataclass(frozen=True)
class BrowserStyle(PageStyle):
    """Style of a page that is described as data, and drawn by a browser, which breaks lines and finds the sizes."""

    @property
    def drawn(self) -> bool:
        """See PageStyle."""
        return False


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
    style = style or PageStyle(**settings)
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
# The right leg is drawn first and wider: where the legs agree, it shows on both sides of the left one.
SIDE_WIDTH = _OfSides({"r": 1.9, "l": 0.9, "other": 1.2}, "linewidth")  # points
SIDE_DASHES = _OfSides({"r": "-", "l": "-", "other": "-"}, "linestyle")
RESERVE_STYLE = ":"
REPEATED: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.6}
SINGLE: dict[str, Any] = {"linewidth": 0.35, "alpha": 0.45}
BAND = 0.22  # opacity of the band of one standard deviation
# 40 % of the color of the leg
STANCE_COLOR = _OfSides({"r": "#99C7E0", "l": "#F5D999"}, "color", _paler)
SHADE = 0.28  # opacity of the area of a measured curve
STANCE_PREDICTED: dict[str, Any] = {"facecolor": "none", "linewidth": 0.8}
"""Style of the bars of a foot whose force is predicted, beside the color of the leg at their edge."""
PREDICTED_STYLE = (0, (4.0, 1.6))
"""Dashes of a curve where it is predicted and not measured."""
STANCE_BAR = {"r": (0.97, 1.0), "l": (0.94, 0.97)}  # shares of the height of a panel
FAILED_MARK: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 2.5, "markeredgewidth": 0.7}
# Shares of the height of a panel, below what the curves use of it.
FAILED_ROW = {"r": 0.02, "l": 0.06, "other": 0.02}
TEXT, SMALL = 8.0, 6.5
"""Size of the text of maps and of their notes [points]; the current style decides for pages."""
