"""Charts: panels of curves, bands and bars with the words that explain them, each described once.

`Chart.html` paints a chart for a page of HTML, `chart_figure` for files and axes of a user. A page has some hundred
panels, for which matplotlib would need several times as long as the computation of a result. There a panel is a small
SVG in a grid, written directly from its numbers; the browser breaks lines and arranges the panels, in as many columns
as the window has space for. `values.js` reads the values under the pointer from the paths and from three attributes of
a panel: its box, and the ends of its axes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.messages import capitalized
from musclesolve.laboratory.plotting.page.curves import Abscissa
from musclesolve.laboratory.plotting.page.marks import Area, Bars, Line, Mark, Points, Uprights
from musclesolve.laboratory.plotting.page.page_style import Key

PIXEL = 10
"""Units of the SVG of a panel in about a pixel: coordinates are whole numbers."""
WIDTH, HEIGHT = 240 * PIXEL, 132 * PIXEL
"""Size of the SVG of a panel."""
LEFT, TOP, RIGHT, BOTTOM = 31 * PIXEL, 5 * PIXEL, 10 * PIXEL, 15 * PIXEL
"""Space around the box of a panel, for the numbers of its axes."""
STRAIGHT = 0.5
"""Units by which a point that is left out may lie above or below the line through its neighbors."""
PASSES = 2
"""Times that points are left out: the line is at most two times `STRAIGHT` beside one of them."""
MARGIN = 0.1
"""Share of the range of the curves that is left free above and below them."""
TICKS = 4
"""Usual number of ticks of a vertical axis."""
PER_PIXEL = 4
"""Points of a curve in a pixel of width from which on only the lowest and highest are drawn."""
DASHES: Mapping[str, tuple[float, ...]] = {"--": (3.7, 1.6), ":": (1.0, 1.65), "-.": (6.4, 1.6, 1.0, 1.6)}
"""Lengths of dashes and gaps, in widths of the line, as matplotlib has them."""


@dataclass(frozen=True)
class Panel:
    """A panel of a chart."""

    title: str
    marks: Sequence[Mark]
    unit: str = ""
    note: str = ""  # below the title
    more: str = ""  # a note above the right end; in a page behind the other one
    low: float | None = None  # ends of the vertical axis that do not follow from the curves
    high: float | None = None
    least: float = 0.0  # least length of the vertical axis
    has_zero: bool = True  # whether the axis includes zero, with a line
    across: str = ""  # label of a horizontal axis of its own, whose ends follow from the lines
    square: bool = False  # whether both axes have the same scale, in a file


@dataclass
class Chart:
    """Panels over the same horizontal axis, and the words that explain them."""

    x: Abscissa  # the horizontal axis
    of: xr.Dataset  # which a file names below its title
    title: str  # of the page of a file
    panels: Sequence[Panel | None]  # row by row; None: an empty place
    columns: int = 4  # of a wide window
    abreast: int = 2  # columns of a file, where their names fit
    row: float = 0.2  # height of a row of a file, as a share of A4
    vertical: str = ""  # what the vertical axes show, where that is the same of all panels
    entries: Mapping[str, Any] = field(default_factory=dict)  # of the legend, as of `DrawnSheet.add_legend`
    notes: list[str] = field(default_factory=list)

    def add_legend(self, entries: Mapping[str, Any]) -> None:
        """Set the legend."""
        self.entries = entries

    def add_note(self, text: str) -> None:
        """Add a note below the legend."""
        self.notes.append(text)

    def html(self) -> str:
        """The chart as HTML."""
        shown = " ".join(self.vertical.split())
        words = f"{capitalized(shown)}, over {self.x.label}" if shown else f"over {self.x.label}"
        legend = "".join(f"<li>{_sample(entry)}{escape(text)}</li>" for text, entry in self.entries.items())
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        panels = "".join(_panel(panel, self.x.label, self.x.limits) for panel in self.panels)
        return (
            f'<ul class="legend">{legend}</ul>{notes}<p>{escape(words)}</p>'
            f'<div class="panels of{self.columns}">{panels}</div>'
        )


@dataclass(frozen=True)
class _Scale:
    """The box of a panel, with the ends of its axes."""

    x: tuple[float, float]
    y: tuple[float, float]
    wide: int = WIDTH - LEFT - RIGHT
    tall: int = HEIGHT - TOP - BOTTOM

    def across(self, place: Any) -> Any:
        """The horizontal coordinate of a place or of several (K,)."""
        return LEFT + self.wide * (place - self.x[0]) / (self.x[1] - self.x[0] or 1.0)

    def up(self, value: Any) -> Any:
        """The vertical coordinate of a value or of several (K,)."""
        return self.at_share((value - self.y[0]) / (self.y[1] - self.y[0]))

    def at_share(self, height: Any) -> Any:
        """The vertical coordinate of a share of the height."""
        return TOP + self.tall * (1.0 - height)

    def within(self, value: Array) -> Array:
        """Values (K,) without those that lie outside the box."""
        space = 0.02 * (self.y[1] - self.y[0])
        return np.where((value >= self.y[0] - space) & (value <= self.y[1] + space), value, np.nan)


def _panel(panel: Panel | None, label: str, limits: tuple[float, float]) -> str:
    if panel is None:
        return '<div class="panel none"></div>'
    if panel.across:
        places = np.concatenate([mark.place for mark in panel.marks if isinstance(mark, Line)])
        low, high = float(np.nanmin(places)), float(np.nanmax(places))
        widening = 0.5 * (high <= low)  # a path of one point
        limits, label = (low - widening, high + widening), panel.across
    scale = _Scale(limits, vertical_ends(panel))
    ticks = round_numbers(*limits, 5) if limits != (0.0, 100.0) else [0.0, 50.0, 100.0]
    upward = [tick for tick in round_numbers(*scale.y, TICKS) if scale.y[0] <= tick <= scale.y[1]]
    grid = "".join(f"M{scale.across(tick):.0f} {TOP}v{scale.tall}" for tick in ticks)
    grid += "".join(f"M{LEFT} {scale.up(tick):.0f}h{scale.wide}" for tick in upward)
    frame = f"M{LEFT} {TOP}v{scale.tall}h{scale.wide}"
    if scale.y[0] < 0.0 < scale.y[1] and panel.has_zero:
        frame += f"M{LEFT} {scale.up(0.0):.0f}h{scale.wide}"
    shown, below = _numbers(ticks), HEIGHT - 3 * PIXEL
    numbers = "".join(
        f'<text x="{scale.across(tick):.0f}" y="{below}">{text}</text>'
        for tick, text in zip(ticks, shown, strict=True)
    )
    beside, lower = LEFT - 4 * PIXEL, 3 * PIXEL
    numbers += '<g class="up">' + "".join(
        f'<text x="{beside}" y="{scale.up(tick) + lower:.0f}">{text}</text>'
        for tick, text in zip(upward, _numbers(upward), strict=True)
    )
    ordered = sorted(panel.marks, key=lambda mark: float(mark.style.get("zorder", 2.0)))
    marks = "".join(_mark(mark, scale) for mark in ordered)
    box = f"{LEFT} {TOP} {scale.wide} {scale.tall}"
    ends = {"x": scale.x, "y": scale.y}
    data = {"box": box, **{name: f"{low:.7g} {high:.7g}" for name, (low, high) in ends.items()}}
    named = "".join(f' data-{name}="{text}"' for name, text in (data | {"across": escape(label)}).items())
    words = "; ".join(filter(None, (panel.note, panel.more)))
    unit = f" <small>[{escape(panel.unit)}]</small>" if panel.unit else ""
    note = "".join(f"<p>{escape(text)}</p>" for text in (words, panel.across) if text)
    return (
        f'<div class="panel"><p class="name">{escape(panel.title)}{unit}</p>{note}'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(panel.title)}"{named}>'
        f'<path class="grid" d="{grid}"/><path class="frame" d="{frame}"/>{numbers}</g>{marks}</svg></div>'
    )


def vertical_ends(panel: Panel) -> tuple[float, float]:
    """The ends of the vertical axis: stated, or beyond the curves and areas."""
    arrays = [mark.values for mark in panel.marks if isinstance(mark, Line) and mark.is_scaled]
    arrays += [end for mark in panel.marks if isinstance(mark, Area) for end in (mark.low, mark.high)]
    values = np.concatenate([*arrays, np.zeros(int(panel.has_zero))]) if arrays else np.zeros(1)
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    low, high = panel.low if panel.low is not None else low, panel.high if panel.high is not None else high
    if (lacking := max(panel.least, 1e-9) - (high - low)) > 0.0:
        low, high = (
            (low, high + lacking) if panel.low is not None else (low - lacking / 2, high + lacking / 2)
        )
    space = MARGIN * (high - low)
    return low - space * (0.3 if panel.low is not None else 1.0), high + space * (panel.high is None)


def with_one_scale(panels: Sequence[Panel]) -> list[Panel]:
    """The panels of a row with the same ends of their vertical axes."""
    ends = [vertical_ends(panel) for panel in panels]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return [replace(panel, low=panel.low if panel.low == 0.0 else low, high=high) for panel in panels]


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten within two ends, about as many as wanted."""
    step = (high - low) / count
    power = 10.0 ** floor(log10(step))
    step = power * next(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= 0.75 * step)
    return [step * k for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def _numbers(ticks: Sequence[float]) -> list[str]:
    """The numbers of an axis, all with as many digits as they need."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    digits = max(0, -floor(log10(step) + 1e-9))
    return [f"{tick:z.{digits}f}".replace("-", "\N{MINUS SIGN}") for tick in ticks]


def _mark(mark: Mark, scale: _Scale) -> str:
    """The SVG of a mark; empty where none of it lies in the box."""
    match mark:
        case Line() if mark.style.get("marker") == "o":
            half = 2 * PIXEL
            path = "".join(
                f"M{x - half:.0f} {y:.0f}a{half} {half} 0 1 0 {2 * half} 0a{half} {half} 0 1 0 {-2 * half} 0z"
                for x, y in zip(scale.across(mark.place), scale.up(mark.values), strict=True)
            )
            return f'<path d="{path}"{_fill(mark.style)}/>'
        case Line():
            path = curve_path(scale.across(mark.place), scale.up(scale.within(mark.values)))
            name = "" if mark.label.startswith("_") else f' data-of="{escape(mark.label)}"'
            return path and f'<path d="{path}"{name}{_stroke(mark.style)}/>'
        case Area():
            place = scale.across(mark.place)
            low, high = (scale.up(np.clip(end, *scale.y)) for end in (mark.low, mark.high))
            runs = true_runs(np.asarray(np.isfinite(low) & np.isfinite(high)))
            path = "".join(
                curve_path(place[a:b], high[a:b]) + curve_path(place[a:b][::-1], low[a:b][::-1], "L") + "z"
                for a, b in map(tuple, runs)
                if b - a > 1
            )
            return path and f'<path d="{path}"{_fill(mark.style)}/>'
        case Bars():
            low, high = map(scale.at_share, mark.rows)
            path = "".join(
                f"M{scale.across(first):.0f} {high:.0f}H{scale.across(last):.0f}V{low:.0f}"
                f"H{scale.across(first):.0f}z"
                for first, last in mark.stretches
            )
            return f'<path d="{path}"{_fill(mark.style)}/>'
        case Uprights():
            path = "".join(f"M{place:.0f} {TOP}v{scale.tall}" for place in scale.across(mark.places))
            return f'<path d="{path}"{_stroke(mark.style)}/>'
        case Points():
            at, half = scale.at_share(mark.height), 2 * PIXEL
            path = "".join(
                f"M{place - half:.0f} {at - half:.0f}l{2 * half} {2 * half}m0 {-2 * half}l{-2 * half} {2 * half}"
                for place in scale.across(mark.places)
            )
            return f'<path d="{path}"{_stroke({**mark.style, "linestyle": "-", "linewidth": 0.8})}/>'
    raise TypeError(type(mark))


def curve_path(x: Array, y: Array, start: str = "M") -> str:
    """A line through points (K,) as an SVG path of relative steps, interrupted where a number is unknown."""
    parts = []
    for first, last in true_runs(np.asarray(np.isfinite(x) & np.isfinite(y))):
        across, upward = _without_straight(*_thinned(x[first:last], y[first:last]))
        whole = np.rint(np.stack([across, upward], axis=1)).astype(int)  # sums of rounded steps do not drift
        steps = np.diff(whole, axis=0).ravel().tolist()
        line = f"l{'%+d%+d' * (len(steps) // 2)}" % tuple(steps) if steps else ""
        parts.append(f"{start}{whole[0, 0]} {whole[0, 1]}{line}")
    return "".join(parts)


def _without_straight(x: Array, y: Array) -> tuple[Array, Array]:
    """Points without those that lie on the line through their neighbors, `PASSES` times every second one at most."""
    for _ in range(PASSES if x.size > 2 else 0):
        along, kept = x[2::2] - x[:-2:2], np.ones(x.size, dtype=bool)
        aside = (y[1:-1:2] - y[:-2:2]) * along - (y[2::2] - y[:-2:2]) * (x[1:-1:2] - x[:-2:2])
        kept[1:-1:2] = ~(
            np.abs(aside) <= STRAIGHT * along
        )  # upright lines and lines backward keep their points
        x, y = x[kept], y[kept]
    return x, y


def _thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """The first, lowest, highest and last point of each pixel of width of a dense line."""
    if x.size <= PER_PIXEL * WIDTH / PIXEL or (np.diff(x) < 0.0).any():
        return x, y
    starts = np.flatnonzero(np.diff(np.floor(x / PIXEL), prepend=np.nan) != 0.0)
    kept = {0, x.size - 1}
    for first, last in pairwise([*starts.tolist(), x.size]):
        part = y[first:last]
        kept |= {first, first + int(part.argmin()), first + int(part.argmax()), last - 1}
    index = np.array(sorted(kept))
    return x[index], y[index]


def _stroke(style: Mapping[str, Any], unit: float = PIXEL) -> str:
    """Attributes of a line; unit: size of a point in the units of the SVG."""
    width, dashes = unit * float(style.get("linewidth", 1.5)), style.get("linestyle", "-")
    lengths: Sequence[float] = DASHES.get(dashes, ()) if isinstance(dashes, str) else dashes[1]
    pattern = " ".join(f"{length * width:.3g}" for length in lengths)
    return (
        f' fill="none" stroke="{style["color"]}" stroke-width="{width:g}"'
        + (f' stroke-dasharray="{pattern}"' if pattern else "")
        + (f' stroke-opacity="{style["alpha"]:g}"' if style.get("alpha", 1.0) != 1.0 else "")
    )


def _fill(style: Mapping[str, Any], unit: float = PIXEL) -> str:
    """Attributes of an area; unit: as in `_stroke`."""
    edge = f' stroke="{style["edgecolor"]}" stroke-width="{0.8 * unit:g}"' if "edgecolor" in style else ""
    opacity = f' fill-opacity="{style["alpha"]:g}"' if style.get("alpha", 1.0) != 1.0 else ""
    return f' fill="{style.get("facecolor", style.get("color", "none"))}"{opacity}{edge}'


def _sample(entry: Any) -> str:
    """The samples of an entry of the legend."""
    return "".join(_key(key) for key in _keys(entry))


def _keys(entry: Any) -> Iterator[Key]:
    for each in entry if isinstance(entry, tuple) else (entry,):
        yield from _keys(each) if isinstance(each, tuple) else (each,)


def _key(key: Key) -> str:
    if key.kind == "area":
        inner = f'<path d="M0 1h20v8h-20z"{_fill(key.style, 1.0)}/>'
    elif key.style.get("marker") == "x":
        inner = (
            f'<path d="M7 2l6 6m0 -6l-6 6"{_stroke({**key.style, "linestyle": "-", "linewidth": 1.0}, 1.0)}/>'
        )
    else:
        inner = f'<path d="M0 5h20"{_stroke({"linewidth": 1.5, **key.style}, 1.0)}/>'
    return f'<svg viewBox="0 0 20 10" aria-hidden="true">{inner}</svg>'
