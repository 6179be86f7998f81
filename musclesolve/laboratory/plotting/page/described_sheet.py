"""A page as data, which a browser draws: the marks of every panel, its scales and texts, the legend.

Figures draw on its panels as on axes of matplotlib. `Panel` takes their calls and stores the marks; any other call is
an error. Numbers are stored once, in single precision, as one text for the page.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, true_runs
from musclesolve.laboratory.plotting.page.page_style import (
    Arrangement,
    BrowserStyle,
    Key,
    PageStyle,
    current_style,
    page_style,
)

SHARES = "shares of the panel"
ACROSS = "shares of the height"
"""Replaces a transform of matplotlib: x in units of the axis, y in shares of the height of the panel."""
BELOW = "inches below the panel"
"""Replaces a transform: x in shares of the axis, y in inches upward from the lower edge of the panel."""
MARGINS = {"x": 0.05, "y": 0.1}
"""Free space at either end of a scale, as a share of its range, as in the style sheet of drawn pages."""
DASHES = {"-": "", "": None, "None": None, "--": (3.7, 1.6), ":": (1.0, 1.65), "-.": (6.4, 1.6, 1.0, 1.6)}
"""Lengths of dashes and gaps in widths of the line, as matplotlib has them; None: no line."""
DECIMALS = 4
SHORT, MOST = 8, 65534
"""Length from which an array is stored as whole numbers, and the greatest of these."""
MANY, EXACT = 150, 1e-3
"""Length of a curve from which points on a straight line between others are left out, to a share of its range."""
COLUMNS = 1000
"""Number of parts of an axis, about as wide as a pixel, of each of which a longer curve keeps its ends and extremes."""


class Scale:
    """Scale of an axis: stated ends, otherwise the range of its marks with a margin; several panels may share one."""

    def __init__(self, margin: float) -> None:
        self.margin = margin
        self.low, self.high = np.inf, -np.inf
        self.zero = False  # whether bars begin at zero, below which there is no margin
        self.stated: tuple[float, float] | None = None

    def take(self, values: Any) -> None:
        """Extend to values that are drawn."""
        known = np.asarray(values, float)
        known = known[np.isfinite(known)]
        if known.size:
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))

    @property
    def ends(self) -> tuple[float, float]:
        """Lower and upper end."""
        if self.stated is not None:
            return self.stated
        if self.low > self.high:
            return 0.0, 1.0
        low, high = self.low, self.high
        if low == high:  # a single value is widened as matplotlib does
            low, high = low - 0.05 * (abs(low) or 1.0), high + 0.05 * (abs(high) or 1.0)
        free = self.margin * (high - low)
        return low if self.zero and low == 0.0 else low - free, high + free

    def state(self, low: float | None, high: float | None) -> None:
        """Set one end or both; None leaves an end unchanged."""
        ends = self.ends
        self.stated = (ends[0] if low is None else float(low), ends[1] if high is None else float(high))


class Numbers:
    """Arrays of a page, each stored once and referred to by place and length.

    Curves are stored as whole numbers from 0 to 65534 between their least and greatest value, 65535 where there is no
    number; short arrays, and arrays with infinite ends, in single precision.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[bytes]] = {"<f4": [], "<u2": []}
        self._places: dict[bytes, list[float]] = {}
        self._ends = dict.fromkeys(self._parts, 0)

    def add(self, values: Any) -> list[float]:
        """Place and length of an array (K,), and of a curve its least and greatest value, too."""
        array = np.asarray(values, "<f4")
        content = array.tobytes()
        if content not in self._places:
            known = array[~np.isnan(array)].astype(float)
            kind, ends = "<f4", list[float]()
            if known.size >= SHORT and np.isfinite(known).all():
                kind, ends = "<u2", [float(f"{end:.8g}") for end in (known.min(), known.max())]
                share = (array - ends[0]) / max(ends[1] - ends[0], np.finfo(float).tiny)
                whole = np.round(np.clip(np.nan_to_num(share), 0.0, 1.0) * MOST)
                array = np.where(np.isnan(array), MOST + 1, whole).astype(kind)
            self._places[content] = [self._ends[kind], array.size, *ends]
            self._parts[kind].append(array.tobytes())
            self._ends[kind] += array.size
        return self._places[content]

    @property
    def texts(self) -> dict[str, str]:
        """All numbers as text: "data" in single precision, "whole" the whole numbers, both little-endian in base 64."""
        return {
            name: base64.b64encode(b"".join(self._parts[kind])).decode("ascii")
            for name, kind in {"data": "<f4", "whole": "<u2"}.items()
        }


def outlined(places: Array, known: Mask, *curves: Array) -> Indices:
    """Points (J,) at increasing places (K,): first, last, least and greatest known ones of `COLUMNS` parts of the axis.

    Between them one point of a gap that is wider than such a part.
    """
    at = np.flatnonzero(known)
    column = (places[at] - places[at[0]]) * (COLUMNS / (places[at[-1]] - places[at[0]]))
    first = np.flatnonzero(np.diff(column.astype(int), prepend=-1))
    part = np.repeat(np.arange(first.size), np.diff(first, append=at.size))
    kept = [first, first - 1]  # the point before the first part is the last one of all
    for curve in curves:
        for extreme in (np.minimum, np.maximum):
            same = np.flatnonzero(curve[at] == extreme.reduceat(curve[at], first)[part])
            kept.append(same[np.diff(part[same], prepend=-1) > 0])
    gaps = at[first[1:]][np.diff(column[first]) > 2.0] - 1
    return np.unique(np.concatenate([at[np.concatenate(kept)], gaps[~known[gaps]]]))


def needed(places: Array, *curves: Array) -> Any:
    """Points (J,) of curves (K,) between which straight lines leave none by more than `EXACT` of its range.

    Every gap, where a curve is no number, keeps one point (Douglas & Peucker 1973, Cartographica 10:112-122).
    """
    if places.size < MANY:
        return slice(None)
    known = np.isfinite(places) & np.all([np.isfinite(curve) for curve in curves], axis=0)
    if not known.any():
        return slice(None)
    if known.sum() > 4 * COLUMNS and (np.diff(places[known]) > 0.0).all():
        at = outlined(places, known, *curves)
        if at.size < places.size:
            return at[needed(places[at], *(curve[at] for curve in curves))]
    spans = [max(float(np.ptp(curve[known])), 1e-12) for curve in curves]
    table = np.stack([curve / span for curve, span in zip(curves, spans, strict=True)])
    kept = ~known & np.roll(known, 1)  # the first point of every gap
    first, last = np.array(true_runs(known)).T
    last -= 1
    while first.size:  # the parts of a level at once
        kept[first] = kept[last] = True
        parted = (last - first > 1) & (places[last] != places[first])
        first, last = first[parted], last[parted]
        size = last - first - 1
        start, part = np.cumsum(size) - size, np.repeat(np.arange(size.size), size)
        at, one, other = np.arange(part.size) + (first + 1 - start)[part], first[part], last[part]
        share = (places[at] - places[one]) / (places[other] - places[one])
        straight = table[:, one] + share * (table[:, other] - table[:, one])
        away = np.abs(table[:, at] - straight).max(axis=0)
        most = np.maximum.reduceat(away, start) if size.size else size
        farthest = np.flatnonzero((away == most[part]) & (away > EXACT))
        farthest = farthest[np.diff(part[farthest], prepend=-1) > 0]  # one of a part
        split, middle = part[farthest], at[farthest]
        first, last = np.concatenate([[first[split], middle], [middle, last[split]]], axis=1)
    return np.flatnonzero(kept)


class Panel:
    """One panel of a described page; calls are as for `matplotlib.axes.Axes`, of which it knows these."""

    def __init__(self, figure: "DescribedSheet", x: Scale, y: Scale) -> None:
        self.figure, self._x, self._y = figure, x, y
        self.marks: list[dict[str, Any]] = []
        self.texts: dict[str, str] = {}
        self.ticks: dict[str, Any] = {}
        self.equal = self.upright_labels = False
        self.visible, self.columns = True, 1
        self.strips: list[tuple[float, float, Panel]] = []  # lower edge, height and content of panels below
        self.transAxes = SHARES

    def plot(self, x: Any, y: Any, *, transform: object = None, **style: Any) -> None:
        """A curve through points (K,), or marks at them; not a number where there is none."""
        places, values = np.broadcast_arrays(np.atleast_1d(np.asarray(x, float)), np.asarray(y, float))
        if transform in (None, ACROSS):
            self._x.take(places[np.isfinite(values)])
        if transform is None:
            self._y.take(values)
        more = {"u": True} if transform == BELOW else {}
        self._line(places, values, style, shares=transform is not None, **more)

    def _line(
        self, places: Array, values: Array, style: Mapping[str, Any], shares: bool = False, **more: Any
    ) -> None:
        known = np.flatnonzero(np.isfinite(values) & np.isfinite(places))
        if not known.size:
            return
        part = slice(known[0], known[-1] + 1)
        places, values = places[part], values[part]
        if not style.get("marker"):
            kept = needed(places, values)
            places, values = places[kept], values[kept]
        dashes = style.get("linestyle", "-")
        dashes = DASHES[dashes] if isinstance(dashes, str) else dashes[1]
        mark: dict[str, Any] = {"k": "line", "x": self.figure.numbers.add(places)}
        mark |= {"y": self.figure.numbers.add(values), "h": shares, "m": style.get("marker", "")}
        mark |= {"d": None if dashes is None else list(dashes), "ms": style.get("markersize", 6.0)}
        mark |= {"w": style.get("markeredgewidth" if dashes is None else "linewidth", 1.5)}
        self._add(mark | more, style)

    def fill_between(self, x: Any, first: Any, second: Any = 0.0, where: Any = None, **style: Any) -> None:
        """An area between two curves (K,), of which one may be a constant, as far as both are numbers."""
        places, low, high = np.broadcast_arrays(
            np.asarray(x, float), np.asarray(first, float), np.asarray(second, float)
        )
        known = np.isfinite(low) & np.isfinite(high)
        known = known if where is None else known & where
        self._x.take(places[known])
        self._y.take([low[known], high[known]])
        for begin, end in true_runs(known):
            part = slice(begin, end)
            kept = needed(places[part], low[part], high[part])
            numbers = [self.figure.numbers.add(line[part][kept]) for line in (places, low, high)]
            self._add({"k": "area", "x": numbers[0], "y": numbers[1], "y2": numbers[2]}, style)

    def axhline(self, y: float, **style: Any) -> None:
        """A line across the panel."""
        self._y.take(y)
        self._rule("y", [y], style)

    def axvline(self, x: float, **style: Any) -> None:
        """A line from the lower to the upper edge."""
        self._rule("x", [x], style)

    def _rule(self, axis: Literal["x", "y"], places: Any, style: Mapping[str, Any]) -> None:
        dashes = style.get("linestyle", "-")
        dashes = DASHES[dashes] if isinstance(dashes, str) else dashes[1]
        mark = {"k": "rule", "of": axis, "at": self.figure.numbers.add(places), "d": list(dashes or "")}
        self._add(mark | {"w": style.get("linewidth", 0.8)}, style)

    def bar(self, x: Any, height: Any, width: float, **style: Any) -> None:
        """Bars upward from zero."""
        places, tops = np.broadcast_arrays(np.asarray(x, float), np.asarray(height, float))
        boxes = np.stack([places - 0.5 * width, 0.0 * tops, places + 0.5 * width, tops], axis=1)
        self._y.zero = True
        self._x.take(boxes[:, [0, 2]])
        self._y.take(boxes[:, [1, 3]])
        self._boxes(boxes, style)

    def barh(self, y: Any, width: Any, height: float, left: Any = 0.0, **style: Any) -> None:
        """Bars to the right of `left`."""
        rows, lengths, begin = np.broadcast_arrays(np.atleast_1d(np.asarray(y, float)), width, left)
        boxes = np.stack([begin, rows - 0.5 * height, begin + lengths, rows + 0.5 * height], axis=1)
        self._x.zero = True
        self._x.take(boxes[:, [0, 2]])
        self._y.take(boxes[:, [1, 3]])
        self._boxes(boxes, style)

    def _boxes(self, corners: Array, style: Mapping[str, Any], shares: bool = False) -> None:
        """Boxes (B, 4): left, lower, right and upper edge."""
        known = corners[~np.isnan(corners).any(axis=1)]
        mark = {"k": "box", "at": self.figure.numbers.add(known.ravel()), "h": shares}
        mark |= {"f": style.get("facecolor", ""), "w": style.get("linewidth", 0.0)}
        mark |= {"edge": style.get("edgecolor", ""), "hatch": "hatch" in style}
        if known.size:
            self._add(mark, style)

    def text(self, x: float, y: float, text: str, *, transform: object = None, **style: Any) -> None:
        """A text at a place of the axes."""
        place = [round(float(x), DECIMALS), round(float(y), DECIMALS)]
        mark: dict[str, Any] = {"k": "text", "at": place, "text": text}
        mark |= {"u": transform == BELOW, "t": transform == SHARES, "to": style.get("ha", "")}
        self._add(mark, style)

    def _add(self, mark: dict[str, Any], style: Mapping[str, Any]) -> None:
        mark |= {"s": str(style.get("label", "")), "c": style.get("color", ""), "a": style.get("alpha", 1.0)}
        mark["z"] = style.get("zorder", {"area": 1.0, "box": 1.0}.get(mark["k"], 2.0))
        absent = [key for key, value in mark.items() if value is None or value is False or value == ""]
        self.marks.append({key: mark[key] for key in mark if key not in absent})

    def set_xlim(self, left: float | None = None, right: float | None = None) -> None:
        """Ends of the horizontal axis."""
        self._x.state(left, right)

    def set_ylim(self, bottom: float | None = None, top: float | None = None) -> None:
        """Ends of the vertical axis."""
        self._y.state(bottom, top)

    def get_xlim(self) -> tuple[float, float]:
        """Ends of the horizontal axis."""
        return self._x.ends

    def get_ylim(self) -> tuple[float, float]:
        """Ends of the vertical axis."""
        return self._y.ends

    def set_aspect(self, aspect: str, adjustable: str = "") -> None:
        """Units of both axes are alike: the shorter axis is extended."""
        self.equal = aspect == "equal"

    def set_xticks(self, places: Any, labels: Sequence[str] | None = None) -> None:
        """Places and labels of the ticks."""
        self._ticks("x", places, labels)

    def set_yticks(self, places: Any, labels: Sequence[str] | None = None) -> None:
        """Places and labels of the ticks."""
        self._ticks("y", places, labels)

    def _ticks(self, axis: str, places: Any, labels: Sequence[str] | None) -> None:
        self.ticks[f"{axis}t"] = [round(float(place), DECIMALS) for place in places]
        self.ticks.pop(f"{axis}tl", None)
        if labels is not None:
            self.ticks[f"{axis}tl"] = list(labels)

    def tick_params(self, axis: str = "both", **style: Any) -> None:
        """Set the direction of the tick labels; the browser draws the ticks."""
        self.upright_labels = self.upright_labels or bool(style.get("labelrotation"))

    def locator_params(self, **style: Any) -> None:
        """Ignored: the browser chooses the steps of the ticks."""

    def grid(self, *style: Any, **more: Any) -> None:
        """Ignored: the browser draws the grid."""

    def set_xlabel(self, text: str) -> None:
        """Label of the horizontal axis."""
        self.texts["xl"] = text

    def set_ylabel(self, text: str) -> None:
        """Label of the vertical axis."""
        self.texts["yl"] = text

    def get_xaxis_transform(self) -> str:
        """Return the transform with x in units of the axis and y in shares of the height."""
        return ACROSS

    def set_visible(self, visible: bool) -> None:
        """Show or hide the panel."""
        self.visible = bool(visible)

    def described(self) -> dict[str, Any] | None:
        """Return the panel as data for a browser; None where the panel is hidden."""
        if not self.visible:
            return None
        ends = {"x": self._x.ends, "y": self._y.ends}
        panel: dict[str, Any] = {key: [float(f"{end:.7g}") for end in pair] for key, pair in ends.items()}
        panel |= self.ticks
        panel |= {"equal": True} if self.equal else {}
        panel |= {"upright": True} if self.upright_labels else {}
        panel |= {"columns": self.columns} if self.columns > 1 else {}
        if self.strips:
            panel["strips"] = [
                {"bottom": bottom, "height": height} | (strip.described() or {})
                for bottom, height, strip in self.strips
            ]
        order = sorted(self.marks, key=lambda mark: float(mark["z"]))
        marks = [{key: value for key, value in mark.items() if key != "z"} for mark in order]
        return panel | self.texts | {"marks": marks}


class DescribedSheet:
    """A page as data, made by `page` in a `BrowserStyle`; the methods are as in `DrawnSheet`."""

    def __init__(self, style: PageStyle, grid: Arrangement, sharey: Any = False) -> None:
        self.style, self.grid, self.numbers = style, grid, Numbers()
        self._title, self._notes, self._labels = "", list[str](), dict[str, str]()
        self._legend: list[dict[str, Any]] = []
        self._rows: list[list[Panel]] = []
        shared: Scale | None = None
        for _ in range(grid.rows):
            if sharey != True or shared is None:  # noqa: E712  it may be "row"
                shared = Scale(MARGINS["y"])
            scales = [shared if sharey else Scale(MARGINS["y"]) for _ in range(grid.columns)]
            self._rows.append([Panel(self, Scale(MARGINS["x"]), scale) for scale in scales])

    @property
    def panels(self) -> np.ndarray:
        """The grid of panels, (rows, columns)."""
        return np.array(self._rows, dtype=object)

    def add_header(self, text: str, points: float, color: str = "black") -> None:
        """Add a line of the header; the first one is the title."""
        if self._title:
            self._notes.append(text)
        else:
            self._title = text

    def add_note(self, text: str) -> None:
        """Add a smaller note."""
        self._notes.append(text)

    def add_legend(self, entries: Mapping[str, Any]) -> None:
        """Add the legend, text -> `Key` or several."""
        for text, entry in entries.items():
            keys: tuple[Key, ...] = entry if isinstance(entry, tuple) else (entry,)
            samples = [_sample(key) for key in keys]
            self._legend.append({"text": text, "of": keys[0].of if len(keys) == 1 else "", "keys": samples})

    def label_axes(self, x: str, y: str) -> None:
        """Label the axes of all panels together."""
        self._labels = {"xl": x, "yl": y}

    def label_below(self, axes: Panel, text: str) -> None:
        """Label the horizontal axis of a panel."""
        axes.set_xlabel(text)

    def one_panel(self, row: np.ndarray) -> Panel:
        """Return a panel that takes the place of the panels of a row (columns,)."""
        first: Panel = row[0]
        for other in row[1:]:
            other.set_visible(False)
        first.columns = len(row)
        return first

    def panel_width(self, axes: Panel) -> float:
        """Width of a panel [inch], as on paper: the browser leaves ticks out where it is narrow."""
        return self.style.width

    def set_texts(self, axes: Panel, name: str | None = None, note: str = "", right: str = "") -> None:
        """Set the name of a panel, a smaller note below it, and a note above its right end; None changes nothing."""
        texts = {"name": name, "note": note or None, "right": right or None}
        axes.texts |= {key: re.sub(r"\s*\n\s*", " ", text) for key, text in texts.items() if text is not None}

    def fit(self) -> None:
        """Ignored: the browser chooses the sizes."""

    def off_scale(self, axes: Panel, place: Array, curve: Array, **style: Any) -> None:
        """Draw a curve without effect on the scale of its panel."""
        axes._line(place, curve, style, out=True)

    def upright(self, axes: Panel, places: Array, **style: Any) -> None:
        """Draw lines from the lower to the upper edge of a panel."""
        axes._rule("x", places, style)

    def bars(
        self, axes: Panel, stretches: Sequence[tuple[float, float]], rows: tuple[float, float], **style: Any
    ) -> None:
        """Draw bars over stretches of the axis, between two shares of the height of a panel."""
        corners = np.array([(first, rows[0], last, rows[1]) for first, last in stretches])
        axes._boxes(corners, style, shares=True)

    def below(self, axes: Panel) -> str:
        """Return the transform with shares across a panel, and inches upward from its lower edge."""
        return BELOW

    def strip_below(self, axes: Panel, bottom: float, height: float) -> Panel:
        """A small panel below another one, as `below` measures."""
        strip = Panel(self, Scale(MARGINS["x"]), Scale(MARGINS["y"]))
        axes.strips.append((bottom, height, strip))
        return strip

    def described(self) -> dict[str, Any]:
        """The page as data for a browser."""
        rows = [[panel.described() for panel in row] for row in self._rows]
        for row in rows:  # the label of an axis stands once in a row
            label = ""
            for panel in row:
                if panel is not None:
                    label = panel.setdefault("yl", label)
        panels = [panel for row in rows for panel in row]
        while panels and panels[-1] is None:
            panels.pop()
        height = max(self.grid.panel_height, self.grid.least)
        sheet = {"title": self._title, "notes": self._notes, "legend": self._legend, "height": height}
        return sheet | self._labels | {"columns": self.grid.columns, "panels": panels} | self.numbers.texts


def _sample(key: Key) -> dict[str, Any]:
    """A sample of the legend: the style of a line or an area in the form of `Panel`."""
    sample = Panel(DescribedSheet(BROWSER, Arrangement(0, 0, 1.0)), Scale(0.0), Scale(0.0))
    if key.kind == "line":
        sample.plot([0.0, 1.0], [0.5, 0.5], **key.style)
    else:
        sample.barh(0.5, 1.0, 1.0, **key.style)
    (mark,) = sample.marks
    return {name: value for name, value in mark.items() if name not in ("x", "y", "at", "h", "s", "z")}


BROWSER = BrowserStyle()
"""Style of pages that a browser draws."""


def described(draw: Callable[[], Any]) -> dict[str, Any]:
    """Return a figure as data.

    Args:
        draw: draws the figure, a function of this package.

    Returns:
        title, notes, legend, labels and panels, as `charts.js` takes them, and their numbers (`Numbers`): "data" and
        "whole", in which marks have the place and length of their arrays.
    """
    style = current_style()
    with page_style(replace(BROWSER, norms=style.norms, norm_file=style.norm_file)):
        sheet: DescribedSheet = draw()
    return sheet.described()
