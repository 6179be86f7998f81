"""The curves of the legs of a result, drawn so that a frame without a valid solution never looks like a good one.

The horizontal axis is per cent of the gait cycle where that is known for every leg drawn, otherwise time. Several
complete strides of a leg are drawn as their mean, with a band of one standard deviation and thin single curves; with
fewer strides the longest cycle, and the parts that another cycle adds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import Array, Indices, Mask, true_runs
from musclesolve._util.sides import SIDE_NAMES, side_of, split_side, with_side
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.page.marks import Area, Bars, Line, Mark, Points, Uprights, paint
from musclesolve.laboratory.plotting.page.page_style import (
    BAND,
    FAILED_MARK,
    FAILED_ROW,
    NOTE_COLOR,
    PREDICTED_STYLE,
    REPEATED,
    RESERVE_STYLE,
    SHADE,
    SIDE_COLOR,
    SIDE_DASHES,
    SIDE_WIDTH,
    SINGLE,
    STANCE_BAR,
    STANCE_COLOR,
    STANCE_PREDICTED,
    Key,
    area,
    current_style,
    line,
    series,
)
from musclesolve.laboratory.plotting.page.sheet import Explained, note, sheet_of
from musclesolve.laboratory.results.cycles.gait_scores import NORMS, Norm, norm, norms
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.movement import SeenMotion

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NARROW = 1.3
"""Width of a panel below which there is not enough space for five numbers [inch]."""
HEEL_STRIKE, TOE_OFF = "heel_strike", "toe_off"
EVENT_NAMES = {HEEL_STRIKE: "heel strike", TOE_OFF: "toe-off"}
EVENT_STYLE: dict[str, dict[str, Any]] = {
    HEEL_STRIKE: {"linewidth": 0.6, "linestyle": "-"},
    TOE_OFF: {"linewidth": 0.6, "linestyle": (0, (4, 2))},
}
RESERVE, PREDICTED, FURTHER, FAILED = "with reserve", "predicted", "further cycle", "no valid solution"
SINGLE_STRIDE, SPREAD, FEWER = "single stride", "± standard deviation", "fewer strides"
ON_GROUND, ON_GROUND_PREDICTED = "foot on the ground", "on the ground, force predicted"
"""Names of the parts of the drawing of a leg, for legends and values."""
MOST_EVENTS = 24
"""Number of events of both legs above which none is marked, because their lines would hide the curves."""
EDGE_FRAMES = 3
"""Number of frames at either end of a recording whose values do not affect the scale of a panel if they leave the range
of all others by more than this range: an artifact of the filter, which would hide the curve."""
BEYOND = "first or last three frames that leave the range of the others by more than it do not make the scale"
STEADY_SHARE = 0.5
"""Share of the greatest value by which an end has to leave a nearly constant range."""
MOST_SINGLE = 20
"""Largest number of strides of a leg that are drawn as single curves, evenly over the trial: more would hide others."""
ALONE = "all muscles"
"""Name of the only curve of a model whose names state no side."""
STRIDES = (2, 3)
"""Complete strides of every leg, and of one of them, from which on their mean is drawn."""


SEAM = 2.0
"""Gap between the parts of two cycles that are drawn as one curve [% of the gait cycle]."""


@dataclass(frozen=True)
class Pass:
    """One curve: frames (K,), their places on the axis, and the mask of places that an earlier pass already shows."""

    index: Indices
    place: Array
    repeated: Mask
    apart: Mask  # (K,) places that no earlier pass shows, less a gap beside it, which tells one cycle from another


@dataclass(frozen=True)
class Strides:
    """The complete gait cycles of a leg at 0, 1, ... 100 %."""

    time: Array  # (T,) [s]
    used: Mask  # (T,) the frames in them
    at: Array  # (K, P) the times of the percentages [s]

    @classmethod
    def from_cycles(cls, time: Array, cycles: list[frames.Cycle]) -> Strides:
        """The strides of frames at times (T,) [s]; a strike less than a frame beyond them has the value of the last."""
        ends = [time[cycle.index[[0, -1]]] for cycle in cycles]
        at = [np.linspace(cycle.start, cycle.end, PERCENTS.size) for cycle in cycles]
        used = np.isin(np.arange(time.size), np.concatenate([cycle.index for cycle in cycles]))
        return cls(time, used, np.array([np.clip(span, *end) for span, end in zip(at, ends, strict=True)]))

    def curves(self, values: Array, known: Mask) -> Array:
        """Values (T,) of every stride (K, P), NaN beside frames that are not known (T,) or were left out between."""
        return np.asarray(np.interp(self.at, self.time, np.where(known & self.used, values, np.nan)))

    def mean(self, values: Array) -> Array:
        """Mean over the strides (P,) of values (T,), NaN where one of them is NaN."""
        return np.asarray(self.curves(values, np.ones(values.size, dtype=bool)).mean(axis=0))


PERCENTS = np.arange(101.0)


@dataclass(frozen=True)
class Abscissa:
    """Horizontal axis, with the place of the frames of each leg on it."""

    label: str  # text below the axis
    limits: tuple[float, float]  # ends of the axis
    passes: dict[str, list[Pass]]  # by side, one curve per gait cycle, that with the most valid frames first
    is_cycle: bool = False  # whether it is the gait cycle of each leg, not time
    strides: dict[str, Strides] = field(default_factory=dict)  # by side, where their mean is drawn

    def apply(self, axes: Axes, *, labeled: bool, with_label: bool = True) -> None:
        """Set limits and ticks of a panel; on the lowest one of a column also numbers and label."""
        axes.set_xlim(*self.limits)
        if self.is_cycle:
            axes.set_xticks(percents(axes))
        if not labeled:
            axes.tick_params(labelbottom=False)
        elif with_label:
            sheet_of(axes).label_below(axes, self.label)


def percents(axes: Axes) -> list[int]:
    """Ticks of a gait cycle, fewer where the numbers would touch."""
    sheet = sheet_of(axes)
    width = sheet.panel_width(axes) / sheet.style.scale
    return [0, 25, 50, 75, 100] if width >= NARROW else [0, 50, 100] if width >= 0.5 * NARROW else [0, 100]


def cycle_axis(
    passes: dict[str, list[Pass]] | None = None, strides: dict[str, Strides] | None = None
) -> Abscissa:
    """Per cent of the gait cycle, each leg from its own heel strike."""
    return Abscissa("gait cycle of each leg [%]", (0.0, 100.0), passes or {}, True, strides or {})


def abscissa(result: xr.Dataset, *, averaged: bool = True, of_motion: bool = False) -> Abscissa:
    """`cycle_axis` if all legs have a gait cycle, else `time_axis`.

    Args:
        result: what is drawn.
        averaged: with strides where there are enough.
        of_motion: with the cycles of the motion, also where no force was measured.
    """
    sides = map(str, result["side"].values)
    cycles = {side: frames.cycles(result, side, of_motion=of_motion) for side in sides}
    if not all(cycles.values()):
        return time_axis(result)
    passes: dict[str, list[Pass]] = {}
    time = np.asarray(result["time"].values, float)
    for side, of_leg in cycles.items():
        failed, drawn = frames.failed(result, side), passes.setdefault(side, [])
        spans = list[tuple[float, float]]()  # of the axis that curves cover
        for cycle in sorted(of_leg, key=lambda cycle: -int((~failed[cycle.index]).sum())):
            # with the frames between them that were not measured: a gap of what depends on forces
            index = np.arange(cycle.index[0], cycle.index[-1] + 1)
            place = 100.0 * (time[index] - cycle.start) / (cycle.end - cycle.start)
            shown = [(place >= low) & (place <= high) for low, high in spans]
            beside = [(place > low - SEAM) & (place < high + SEAM) for low, high in spans]
            repeated, close = (
                np.any(each, axis=0) if each else np.zeros(place.size, dtype=bool) for each in (shown, beside)
            )
            if not any(low <= place[0] and place[-1] <= high for low, high in spans):
                spans.append((place[0], place[-1]))
            drawn.append(Pass(index, place, repeated, ~close))
    complete = {side: [cycle for cycle in of_leg if cycle.complete] for side, of_leg in cycles.items()}
    counts = [len(of_leg) for of_leg in complete.values()]
    if not averaged or min(counts) < STRIDES[0] or max(counts) < STRIDES[1]:
        return cycle_axis(passes)
    return cycle_axis(passes, {side: Strides.from_cycles(time, of_leg) for side, of_leg in complete.items()})


def time_axis(result: xr.Dataset) -> Abscissa:
    """Time [s], or the numbers of the frames where no time is known; the same for both legs."""
    time = np.asarray(result["time"].values, dtype=float)
    shown = np.zeros(time.size, dtype=bool)
    whole = Pass(np.arange(time.size), time, shown, ~shown)
    sides = [str(side) for side in result["side"].values]
    label = "time [s]" if result["time"].attrs.get("units", "s") == "s" else "frame"
    return Abscissa(label, (float(time[0]), float(time[-1])), {side: [whole] for side in sides})


def event_places(result: xr.Dataset, side: str, passes: list[Pass], cycle: bool) -> dict[str, Array]:
    """Places of heel strikes and toe-offs of a leg on the axis; of cycles, which begin with heel strikes, the toe-offs.

    The events come from the result, otherwise beginnings and ends of stance.
    """
    time = np.asarray(result.variables["time"].values, dtype=float)
    if "event_kind" in result:
        of_leg, kind, at = (result.variables[f"event_{name}"].values for name in ("side", "kind", "time"))
        of_leg, moments = of_leg == side, np.asarray(at, dtype=float)
        events = {name: moments[of_leg & (kind == name)] for name in EVENT_NAMES}
    elif "ground_reaction_force" in result and side in SIDE_NAMES:
        on_ground = frames.stance(result, side)
        ends = time[1:][on_ground[:-1] & ~on_ground[1:]]
        events = {HEEL_STRIKE: frames.heel_strikes(result, side), TOE_OFF: ends}
    else:
        return {}
    places = {}
    for name, times in events.items():
        if cycle and name == HEEL_STRIKE:
            continue
        shown = [np.empty(0)]
        for part in passes:
            clock = time[part.index]
            inside = times[(times >= clock[0]) & (times <= clock[-1])]
            fresh = np.interp(inside, clock, (~part.repeated).astype(float)) > 0.5
            shown.append(np.interp(inside, clock, part.place)[fresh])
        places[name] = np.concatenate(shown)
    return places


@dataclass(frozen=True)
class Validity:
    """Masks of the frames of a leg that are solved, solved with a reserve, or without a valid solution, (T,)."""

    solved: Mask
    reserve: Mask
    failed: Mask

    @classmethod
    def from_result(cls, result: xr.Dataset, side: str) -> Validity:
        """Read from the status of the result."""
        solved, failed = frames.solved(result, side), frames.unsolved(result, side)
        return cls(solved, ~solved & ~failed & ~frames.not_measured(result, side), failed)


@dataclass(frozen=True)
class Legs:
    """The legs of a result on one horizontal axis."""

    result: xr.Dataset  # what is drawn
    x: Abscissa  # the horizontal axis
    sides: list[str]  # the legs drawn
    validity: Mapping[str, Validity]  # by side
    events: Mapping[str, Mapping[str, Array]]  # by side, places of heel strikes and toe-offs on the axis
    muscle_sides: Mapping[str, str]  # by muscle, the side whose verdict is its own
    # the sides of curves with an end that does not affect the scale
    cut_off: list[str] = field(default_factory=list)
    # by side, where bars of stance were drawn
    stances: dict[str, tuple[list[tuple[float, float]], ...]] = field(default_factory=dict)

    @classmethod
    def from_result(cls, result: xr.Dataset, x: Abscissa | None = None, *, analyzed: bool = True) -> Legs:
        """Legs whose muscles were analyzed, or all that were measured; of one cost."""
        if "cost" in result.dims:
            remedy = (
                "choose one: comparison.sel(cost=...), or draw ms.plotting.compare_activations(comparison)"
            )
            raise input_error("bad_result", problem="these are several costs", expected="one", remedy=remedy)
        sides = frames.sides(result) if analyzed else [str(side) for side in result["side"].values]
        axis = x or abscissa(result)
        events = {side: event_places(result, side, axis.passes[side], axis.is_cycle) for side in sides}
        for side in set(sides) & set(axis.strides):  # one line for all strides
            events[side] = {
                name: np.atleast_1d(np.median(at)) for name, at in events[side].items() if at.size
            }
        if sum(at.size for leg in events.values() for at in leg.values()) > MOST_EVENTS:
            events = {}
        validity = {side: Validity.from_result(result, side) for side in sides}
        return cls(result, axis, sides, validity, events, frames.muscle_sides(result))

    @property
    def incomplete(self) -> bool:
        """Whether a frame of a leg needs a reserve or has no valid solution."""
        return any(leg.reserve.any() or leg.failed.any() for leg in self.validity.values())

    def muscle_curves(self, name: str, values: Array) -> list[Mark]:
        """The curve of a muscle in the color of its side, with the verdict of the coordinates that it acts on."""
        verdict, side = self.muscle_sides[name], side_of(name)
        return self.curves(side if side in self.sides else verdict, values, verdict=verdict)

    def curves(
        self,
        side: str,
        values: Array,
        *,
        measured: bool = False,
        predicted: Mask | None = None,
        verdict: str | None = None,
    ) -> list[Mark]:
        """The curves of one leg.

        In the style of the leg where solved, dotted where a reserve was needed, empty without a valid solution: such
        frames get a cross in the color of the leg on the lower edge. Where a further gait cycle covers a part of the
        axis that already has a curve, the curve is thin and pale, without crosses. A `measured` curve, which does not
        depend on the solution, has the style of the leg, and dashes and dots in the frames (T,) that are `predicted`.
        `verdict`: the side whose frames count, by default the side of the leg.

        Several strides are drawn as their mean, thin and pale where some strides lack a value, with a cross where all
        do.
        """
        if side in self.x.strides:
            validity = None if measured else self.validity[verdict or side]
            return self._strides(side, values, validity, predicted)
        color, width, marks = SIDE_COLOR[side], SIDE_WIDTH[side], list[Mark]()
        transient = self._transient(values, None if measured else self.validity[verdict or side])
        for part in self.x.passes[side]:
            solid, dotted = np.ones(part.place.size, dtype=bool), np.zeros(part.place.size, dtype=bool)
            if not measured:
                validity = self.validity[verdict or side]
                solid, failed = validity.solved[part.index], validity.failed[part.index]
                dotted = with_neighbors(validity.reserve[part.index]) & ~failed
                marks += crosses(side, part.place[failed & ~part.repeated])
            curve = values[part.index]
            if (ends := transient[part.index]).any():
                # drawn without effect on the scale
                self.cut_off.append(side)
                away = np.where(with_neighbors(ends), curve, np.nan)
                style = {"color": color, "linewidth": width, "linestyle": SIDE_DASHES[side]}
                marks.append(Line(series(side), style, part.place, away, is_scaled=False))
                solid, dotted = solid & ~ends, dotted & ~ends
            dashed = np.zeros(part.place.size, dtype=bool)
            if predicted is not None:
                dashed = solid & with_neighbors(predicted[part.index])
                solid = solid & ~predicted[part.index]
            further = with_neighbors(part.repeated) if part.repeated.any() else part.repeated
            marks += curves_by_kind(
                *(side, part.place, curve, part.apart, further, FURTHER),
                {"": ("-", solid), RESERVE: (RESERVE_STYLE, dotted), PREDICTED: (PREDICTED_STYLE, dashed)},
                thin=REPEATED["linewidth"] * width,
            )
        return marks

    def _transient(self, values: Array, validity: Validity | None) -> Mask:
        """Frames (T,) at an end of the recording whose values leave the range of the others by more than it."""
        known = np.isfinite(values)
        if validity is not None:
            known &= validity.solved | validity.reserve
        inner, ends = known.copy(), known.copy()
        inner[:EDGE_FRAMES] = inner[-EDGE_FRAMES:] = False
        ends[EDGE_FRAMES:-EDGE_FRAMES] = False
        if not inner.any() or not ends.any():
            return np.zeros(values.size, dtype=bool)
        low, high = values[inner].min(), values[inner].max()
        away = np.maximum(values - high, low - values)
        return ends & (away > max(high - low, STEADY_SHARE * np.abs(values[known]).max()))

    def _strides(
        self, side: str, values: Array, validity: Validity | None, predicted: Mask | None = None
    ) -> list[Mark]:
        """Mean, standard deviation and single curves of the strides of a leg."""
        strides, color = self.x.strides[side], SIDE_COLOR[side]
        known = np.ones(values.size, dtype=bool) if validity is None else validity.solved | validity.reserve
        curves = strides.curves(values, known)
        some = curves[np.linspace(0, len(curves) - 1, min(len(curves), MOST_SINGLE)).round().astype(int)]
        ends = np.full((len(some), 1), np.nan)  # between the strides, which are one line
        single = np.hstack([some, ends]).ravel()
        places = np.tile([*PERCENTS, np.nan], len(some))
        marks: list[Mark] = [Line(series(side, SINGLE_STRIDE), {"color": color, **SINGLE}, places, single)]
        count = np.isfinite(curves).sum(axis=0)
        of_two = np.maximum(count, 2)
        mean = np.where(count > 1, np.nansum(curves, axis=0) / of_two, np.nan)
        sd = np.sqrt(np.nansum((curves - mean) ** 2, axis=0) / (of_two - 1))
        band = {"color": color, "alpha": BAND, "linewidth": 0.0}
        marks.append(Area(series(side, SPREAD), band, PERCENTS, mean - sd, mean + sd))
        dotted = np.zeros(PERCENTS.size, dtype=bool)
        if validity is not None:
            needed = strides.curves(validity.reserve.astype(float), known)
            dotted = np.asarray((np.nan_to_num(needed) > 0.0).any(axis=0))
            marks += crosses(side, PERCENTS[count == 0])
        dashed = np.zeros(PERCENTS.size, dtype=bool)
        if predicted is not None:
            dashed = strides.mean(predicted.astype(float)) > 0.0
        full = count == count.max()
        return marks + curves_by_kind(
            *(side, PERCENTS, mean, full, with_neighbors(~full), FEWER),
            {
                "": ("-", ~dotted & ~dashed),
                RESERVE: (RESERVE_STYLE, with_neighbors(dotted)),
                PREDICTED: (PREDICTED_STYLE, with_neighbors(dashed)),
            },
        )

    def curves_of_legs(self, curves: Mapping[str, Array], *, measured: bool = False) -> list[Mark]:
        """The curves (T,) of some legs, by side."""
        return [
            mark for side, values in curves.items() for mark in self.curves(side, values, measured=measured)
        ]

    def curves_of_both(self, stem: str, values: xr.DataArray, *, measured: bool = False) -> list[Mark]:
        """The curves of both legs of a quantity over time and names, such as degrees of freedom; stem: a name without
        side.
        """
        (dim,) = (dim for dim in values.dims if dim != "time")
        known, rows = list(map(str, values[dim].values)), values.transpose("time", dim).values
        names = {side: with_side(stem, side) for side in self.sides}
        return [
            mark
            for side, name in names.items()
            if name in known
            for mark in self.curves(side, rows[:, known.index(name)], measured=measured)
        ]

    def place_of_peak(self, curves: Mapping[str, Array]) -> float:
        """The place on the horizontal axis of the highest value of some curves (T,) by leg; NaN without a number."""
        drawn = [
            (part.place, values[part.index])
            for side, values in curves.items()
            for part in self.x.passes[side]
        ]
        for side in set(curves) & set(self.x.strides):
            drawn.append((PERCENTS, self.x.strides[side].mean(curves[side])))
        known = [(places, values) for places, values in drawn if np.isfinite(values).any()]
        if not known:
            return float("nan")
        places, values = max(known, key=lambda pair: float(np.nanmax(pair[1])))
        return float(places[int(np.nanargmax(values))])

    def stance_bars(self, *sides: str) -> list[Mark]:
        """Bars on the upper edge of a panel, over the frames with the foot of a leg on the ground.

        Legs without names are all legs. A predicted force has empty boxes; an unknown force has no bar.
        """
        marks = list[Mark]()
        for side in (sides or self.sides) if "ground_reaction_force" in self.result else ():
            if side not in STANCE_BAR:  # a side that is no leg
                continue
            if side not in self.stances:
                self.stances[side] = self._stances(side)
            full: dict[str, Any] = {"color": STANCE_COLOR[side], "linewidth": 0.0}
            empty = STANCE_PREDICTED | {"edgecolor": STANCE_COLOR[side]}
            styles = (ON_GROUND, full), (ON_GROUND_PREDICTED, empty)
            for stretches, (what, style) in zip(self.stances[side], styles, strict=True):
                if stretches:
                    marks.append(Bars(series(side, what), style, stretches, STANCE_BAR[side]))
        return marks

    def _stances(self, side: str) -> tuple[list[tuple[float, float]], ...]:
        """Stretches of the axis with a foot on the ground, whose force is measured, and whose force is predicted."""
        on_ground, predicted = frames.stance(self.result, side), frames.predicted(self.result, side)
        spans = []
        for standing in (on_ground & ~predicted, on_ground & predicted):
            bars = [(part.place, standing[part.index]) for part in self.x.passes[side]]
            if (strides := self.x.strides.get(side)) is not None:  # of most strides
                bars = [(PERCENTS, strides.mean(standing.astype(float)) > 0.5)]
            ends = [(place, run) for place, shown in bars for run in true_runs(shown)]
            spans.append([(float(place[first]), float(place[last - 1])) for place, (first, last) in ends])
        return tuple(spans)

    def event_lines(self, *sides: str) -> list[Mark]:
        """A thin line at every heel strike and toe-off of these legs, or of all; for pages without stance bars."""
        return [
            Uprights(
                series(side, EVENT_NAMES[name]),
                {**EVENT_STYLE[name], "color": SIDE_COLOR[side], "zorder": 0.8, "alpha": 0.8},
                places,
            )
            for side in sides or self.sides
            for name, places in self.events.get(side, {}).items()
            if places.size
        ]

    def area_below(self, side: str, values: Array, what: str = "") -> list[Mark]:
        """The area below a measured curve (T,) of one leg, behind the curves: its first cycle, or the mean.

        what: the name of the curve.
        """
        areas = [
            (part.place, np.where(with_neighbors(~part.repeated), values[part.index], np.nan))
            for part in self.x.passes[side]
        ]
        if (strides := self.x.strides.get(side)) is not None:
            areas = [(PERCENTS, strides.mean(values))]
        style = {"color": SIDE_COLOR[side], "alpha": SHADE, "linewidth": 0.0, "zorder": 0.5}
        return [Area(series(side, what), style, place, np.zeros(place.size), below) for place, below in areas]

    def legend(
        self,
        sheet: Explained,
        *,
        measured: bool = False,
        stance: bool = False,
        events: bool = False,
        shaded: str = "",
        of: Collection[str] = (),
        further: Mapping[str, Any] | None = None,
    ) -> None:
        """Add the legend of the page: the legs, and what occurs of reserves, failures, further cycles and stance bars.

        With `measured` no curve depends on the solution; `shaded` says what the shaded areas of some legs are; further:
        entries of the figure itself.
        """
        handles: dict[str, Any] = {}
        for side in self.sides:
            parts = sum(not part.repeated.all() for part in self.x.passes[side])
            remarks = [f"parts of {parts} cycles, a gap between them"] if parts > 1 else []
            if (strides := self.x.strides.get(side)) is not None:
                remarks = [f"mean of {len(strides.at)} strides"]
            if not measured and frames.not_measured(self.result, side).any():
                remarks.append("gaps: not measured")
            label = SIDE_NAMES.get(side, ALONE if len(self.sides) == 1 else side) + (
                f" ({', '.join(remarks)})" if remarks else ""
            )
            handles[label] = side_key(side)
        validity = {} if measured else self.validity
        colors = [SIDE_COLOR[side] for side in self.sides]

        def lines(sides: Collection[str] = self.sides, **style: Any) -> tuple[Key, ...]:
            return tuple(line(SIDE_COLOR[side], **style) for side in self.sides if side in sides)

        if self.x.strides:
            handles[SPREAD] = tuple(area(color=color, alpha=BAND, linewidth=0.0) for color in colors)
            many = max(len(strides.at) for strides in self.x.strides.values()) > MOST_SINGLE
            handles[SINGLE_STRIDE + (f" ({MOST_SINGLE} of each leg)" if many else "")] = lines(**SINGLE)
            if any(leg.failed.any() for leg in validity.values()):
                handles[FEWER] = lines(**REPEATED)
        if reserve := [side for side, leg in validity.items() if leg.reserve.any()]:
            handles[RESERVE] = lines(reserve, linestyle=RESERVE_STYLE)
        repeated = [side for side in self.sides if any(part.repeated.any() for part in self.x.passes[side])]
        if repeated and not self.x.strides:
            handles[FURTHER] = lines(repeated, **REPEATED)
        for name in sorted({name for leg in self.events.values() for name, at in leg.items() if at.size}):
            if events:
                marked = [side for side, leg in self.events.items() if leg.get(name, np.empty(0)).size]
                handles[EVENT_NAMES[name]] = lines(marked, **EVENT_STYLE[name])
        if failed := [side for side, leg in validity.items() if leg.failed.any()]:
            handles[FAILED] = lines(failed, **FAILED_MARK)
        if stance and "ground_reaction_force" in self.result:
            feet = [side for side in self.sides if side in STANCE_COLOR]
            predicted = {side: frames.predicted(self.result, side) for side in feet}
            if by_plates := [side for side in feet if not predicted[side].all()]:
                handles[ON_GROUND] = tuple(area(color=STANCE_COLOR[side]) for side in by_plates)
            if of_motion := [side for side in feet if predicted[side].any()]:
                handles[ON_GROUND_PREDICTED] = tuple(
                    area(edgecolor=STANCE_COLOR[side], **STANCE_PREDICTED) for side in of_motion
                )
        if shaded:
            handles[shaded] = tuple(
                area(color=SIDE_COLOR[side], alpha=SHADE, linewidth=0.0) for side in self.sides if side in of
            )
        sheet.add_legend(handles | dict(further or {}))
        if self.cut_off:
            sheet.add_note(BEYOND)


def side_key(side: str) -> Key:
    """The line of a leg in a legend."""
    return line(SIDE_COLOR[side], SIDE_WIDTH[side], of=series(side), linestyle=SIDE_DASHES[side])


def curves_by_kind(
    side: str,
    place: Array,
    curve: Array,
    full: Mask,
    pale: Mask,
    pale_name: str,
    kinds: Mapping[str, tuple[Any, Mask]],
    thin: float = REPEATED["linewidth"],
) -> list[Mark]:
    """The curve (K,) of a leg: full in one part, pale and thin in another, in both with dashes by its kind.

    kinds: name of a kind, "" where solid -> dashes and mask (K,); thin: width of the pale line [points].
    """
    marks = list[Mark]()
    for kind, (dashes, mask) in kinds.items():
        dashes = dashes if kind else SIDE_DASHES[side]
        for part, name, width, alpha in (
            (full, kind, SIDE_WIDTH[side], 1.0),
            (pale, pale_name, thin, REPEATED["alpha"]),
        ):
            if (part & mask).any():
                style = {"color": SIDE_COLOR[side], "linewidth": width, "alpha": alpha, "linestyle": dashes}
                marks.append(Line(series(side, name), style, place, np.where(part & mask, curve, np.nan)))
    return marks


def crosses(side: str, places: Array) -> list[Mark]:
    """Crosses at frames of a leg without a valid solution."""
    style = {"color": SIDE_COLOR[side], **FAILED_MARK}
    return [Points(series(side, FAILED), style, places, FAILED_ROW[side])] if places.size else []


def with_neighbors(mask: Mask) -> Mask:
    """The frames of a mask and their neighbors: a line through a single frame needs a second point."""
    wider = mask.copy()
    wider[1:] |= mask[:-1]
    wider[:-1] |= mask[1:]
    return wider


MARKED = "peaks measured by implants"


def mark_range(axes: Axes, place: float, lowest: float, highest: float) -> None:
    """Draw `measured_range` into a panel."""
    paint(axes, measured_range(place, lowest, highest))


def measured_range(place: float, lowest: float, highest: float, mean: float | None = None) -> list[Mark]:
    """The range of measured peaks at the place of a peak, from zero where the lowest is not known, and their mean."""
    style: dict[str, Any] = {"color": NOTE_COLOR, "linewidth": 1.2, "marker": "_", "markersize": 6.0}
    ends = np.array([lowest if np.isfinite(lowest) else 0.0, highest])
    marks: list[Mark] = [Line(MARKED, {**style, "zorder": 1.5}, np.full(2, place), ends)]
    if mean is not None:
        dot = {"color": NOTE_COLOR, "linewidth": 0.0, "marker": "o", "markersize": 5.0, "zorder": 1.6}
        marks.append(Line(MARKED, dot, np.full(1, place), np.full(1, mean)))
    return marks


BAND_COLOR = "#DCDCDC"
MEAN_COLOR = "#8C8C8C"


WITHOUT_NORM = {"trunk_angle": "trunk angles"}
"""Standard figures of gait without a norm, in words."""


@dataclass
class NormBands:
    """The norms that fit a result, and the norms that were drawn on a page."""

    fitting: tuple[Norm, ...]  # in the order of preference
    why_not: str = ""  # reason without norms, where the axis is the gait cycle
    drawn: list[str] = field(default_factory=list)  # their sentences
    less: dict[str, list[str]] = field(default_factory=dict)  # the curves of every subtracted offset

    @classmethod
    def from_result(cls, result: xr.Dataset, x: Abscissa) -> NormBands:
        """Norms that fit a result; none on an axis of time, for a leg that does not walk, or in a style without."""
        if MODEL in result.attrs and "time" in result.dims:
            return cls.at_speed(SeenMotion(result).speed, x.is_cycle)
        speeds = np.asarray(result["walking_speed"].values if "walking_speed" in result else (), dtype=float)
        known = speeds[np.isfinite(speeds)]
        return cls.at_speed(float(known.mean()) if known.size else float("nan"), x.is_cycle)

    @classmethod
    def at_speed(cls, speed: float, walks: bool) -> NormBands:
        """Norms of walking at a speed [m/s], NaN where not known; none of another movement, or in a style without."""
        if not current_style().norms or not walks:
            return cls(())
        if not np.isfinite(speed):
            return cls((), "no normative bands: the walking speed is not known")
        every = norms(current_style().norm_file)
        fitting = [
            published for published in every if published.speed_range[0] <= speed <= published.speed_range[1]
        ]
        low, high = every[0].speed_range
        why = "" if fitting else f"no normative bands: {speed:.2f} m/s is not within {low:g} to {high:g} m/s"
        return cls(tuple(fitting), why)

    def draw(self, axes: Axes, quantity: str, name: str, scale: float = 1.0, crowded: bool = False) -> None:
        """Draw `band` into a panel.

        crowded: note the subtracted offset below the title, not at the panel.
        """
        marks, offset = self.band(quantity, name, scale)
        paint(axes, marks)
        if offset and not crowded:
            note(axes, offset)
        elif offset:
            self.note_offset(name, offset)

    def note_offset(self, name: str, offset: str) -> None:
        """Note the subtracted offset of a curve below the title."""
        if (words := name.replace("_", " ")) not in (names := self.less.setdefault(offset, [])):
            names.append(words)

    def band(self, quantity: str, name: str, scale: float = 1.0) -> tuple[list[Mark], str]:
        """The band of a quantity, or the mean alone where no spread was published; words on a subtracted offset."""
        for published in self.fitting:
            if (curve := published.curves.get((quantity, name))) is None:
                continue
            place, mean = published.percent, scale * curve.mean
            dashed = {"color": MEAN_COLOR, "linewidth": 0.9, "linestyle": "--", "zorder": 0.4}
            filled = {"color": BAND_COLOR, "linewidth": 0.0, "zorder": 0.3}
            mark: Mark = Line(published.name, dashed, place, mean)
            if curve.sd is not None:
                mark = Area(
                    *(published.name, filled, place, mean - scale * curve.sd, mean + scale * curve.sd)
                )
            if published.sentence not in self.drawn:
                self.drawn.append(published.sentence)
            if quantity.endswith("_angle") and name in published.standing_deg:
                tilt = f"{published.standing_deg[name]:g} deg, the tilt of the pelvis in standing"
                return [mark], f"band lowered by {tilt}"
            return [mark], ""
        if self.fitting and quantity in WITHOUT_NORM:
            self.why_not = (
                f"no normative bands: no published curve of the {WITHOUT_NORM[quantity]} states its axes"
            )
        return [], ""

    def name_unknown(
        self, sheet: Explained, known: Iterable[tuple[str, str]], muscles: Iterable[str]
    ) -> None:
        """Note the curves of a norm file that are of no figure, such as misspelt ones.

        known: quantity and name of the curves of a page; muscles: with side or without.
        """
        shown = {*known, *(key for name in NORMS for key in norm(name).curves)}
        stems = {split_side(muscle)[0] for muscle in muscles}
        for published in self.fitting if current_style().norm_file else ():
            lost = [key for key in published.curves if key not in shown and key[1] not in stems]
            for quantity, name in lost:
                near = suggestion(name, [*(other for kind, other in shown if kind == quantity), *stems])
                words = f"{published.name}: no curve is named {quantity} {name}"
                sheet.add_note(f"{words}; {near}" if near else words)

    def explain(self, sheet: Explained) -> None:
        """Explain the bands on the page, or the reason of their absence."""
        offsets = [f"{' and '.join(names)}: {less}" for less, names in self.less.items()]
        if text := "; ".join([*self.drawn, *offsets]) or self.why_not:
            sheet.add_note(text)
