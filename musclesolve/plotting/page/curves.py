"""The curves of the legs of a result, drawn so that a frame without a valid solution never looks like a good one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from musclesolve._util.arrays import Array, Mask
from musclesolve.plotting.page.abscissa import Abscissa, Pass, abscissa
from musclesolve.plotting.page.gait_events import EVENT_STYLE, event_places
from musclesolve.plotting.page.gait_events import NAMES as EVENT_NAMES
from musclesolve.plotting.page.style import (
    FAILED_MARK,
    FAILED_ROW,
    NOTE_COLOR,
    REPEATED,
    RESERVE_STYLE,
    SHADE_COLOR,
    SIDE_COLOR,
    SIDE_WIDTH,
    STANCE_BAR,
    STANCE_COLOR,
    place_legend,
)
from musclesolve.results.dataset import frame_validity as frames


@dataclass(frozen=True)
class Validity:
    """Which frames of a leg are solved, solved with a reserve, or have no valid solution, (T,)."""

    solved: Mask
    reserve: Mask
    failed: Mask

    @classmethod
    def of(cls, result: xr.Dataset, side: str) -> Validity:
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

    @classmethod
    def of(cls, result: xr.Dataset, x: Abscissa | None = None, *, analysed: bool = True) -> Legs:
        """Legs whose muscles were analysed, or all that were measured."""
        sides = frames.sides(result) if analysed else [str(side) for side in result["side"].values]
        axis = x or abscissa(result)
        events = {side: event_places(result, side, axis.passes[side], axis.is_cycle) for side in sides}
        validity = {side: Validity.of(result, side) for side in sides}
        return cls(result, axis, sides, validity, events, frames.muscle_sides(result))

    def draw_muscle(self, axes: Axes, name: str, values: Array) -> None:
        """Draw a curve of a muscle in the color of its side, with the verdict of the coordinates that it acts on."""
        verdict, side = self.muscle_sides[name], frames.side_of(name)
        self.draw(axes, side if side in self.sides else verdict, values, verdict=verdict)

    def draw(
        self, axes: Axes, side: str, values: Array, *, measured: bool = False, verdict: str | None = None
    ) -> None:
        """Draw the curves of one leg into a panel.

        Solid where solved, dotted where a reserve was needed, nothing where there is no valid solution: those frames
        get a cross in the color of the leg on the lower edge. Where a further gait cycle covers a part of the axis
        that has its curve, the curve is thin and pale, without crosses. All of what is `measured`, which does not
        depend on the solution, is solid. `verdict`: the side whose frames count, unless that of the leg.
        """
        for part in self.x.passes[side]:
            solid, dotted = np.ones(part.place.size, dtype=bool), np.zeros(part.place.size, dtype=bool)
            if not measured:
                validity = self.validity[verdict or side]
                solid, failed = validity.solved[part.index], validity.failed[part.index]
                dotted = with_neighbors(validity.reserve[part.index]) & ~failed
                cross(axes, part.place[failed & ~part.repeated], FAILED_ROW[side], SIDE_COLOR[side])
            self._curves(axes, side, part, values[part.index], {"-": solid, RESERVE_STYLE: dotted})

    def _curves(self, axes: Axes, side: str, part: Pass, curve: Array, styles: Mapping[str, Mask]) -> None:
        style: dict[str, Any] = {"color": SIDE_COLOR[side]}
        for dashes, shown in styles.items():
            if not shown.any():
                continue
            full = np.where(shown & ~part.repeated, curve, np.nan)
            axes.plot(part.place, full, linestyle=dashes, linewidth=SIDE_WIDTH[side], alpha=1.0, **style)
            if part.repeated.any():
                pale = np.where(shown & with_neighbors(part.repeated), curve, np.nan)
                width = REPEATED["linewidth"] * SIDE_WIDTH[side]
                axes.plot(part.place, pale, linestyle=dashes, **(style | REPEATED | {"linewidth": width}))

    def mark_stance(self, axes: Axes, side: str) -> None:
        """Draw a bar on the upper edge of a panel, over the frames with the foot of a leg on the ground."""
        on_ground = frames.stance(self.result, side)
        for part in self.x.passes[side]:
            axes.fill_between(
                part.place,
                *STANCE_BAR[side],
                where=on_ground[part.index].tolist(),
                transform=axes.get_xaxis_transform(),
                color=STANCE_COLOR[side],
                linewidth=0.0,
                zorder=1.0,
            )

    def mark_events(self, axes: Axes, side: str) -> None:
        """Draw a thin line at every heel strike and toe-off of a leg, for pages without stance bars."""
        for name, places in self.events.get(side, {}).items():
            if places.size:
                ends = [[(place, 0.0), (place, 1.0)] for place in places]
                style = EVENT_STYLE[name] | {"color": SIDE_COLOR[side], "zorder": 0.8, "alpha": 0.8}
                lines = LineCollection(ends, transform=axes.get_xaxis_transform(), **style)
                axes.add_collection(lines, autolim=False)

    def shade(self, axes: Axes, side: str, values: Array) -> None:
        """Fill the area below a measured curve (T,) of one leg, behind the curves; only its first gait cycle."""
        for part in self.x.passes[side]:
            area = np.where(with_neighbors(~part.repeated), values[part.index], np.nan)
            axes.fill_between(part.place, area, color=SHADE_COLOR[side], linewidth=0.0, zorder=0.5)

    def legend(
        self,
        figure: Figure,
        *,
        measured: bool = False,
        stance: bool = False,
        events: bool = False,
        shaded: str = "",
        of: Collection[str] = (),
    ) -> None:
        """Add the legend of the page: the legs, and what occurs of reserves, failures, further cycles and stance bars.

        With `measured` no curve depends on the solution; `shaded` says what the shaded areas of some legs are.
        """
        handles: list[Any] = [
            line(self._name(side), SIDE_COLOR[side], linewidth=SIDE_WIDTH[side]) for side in self.sides
        ]
        validity = {} if measured else self.validity
        if any(each.reserve.any() for each in validity.values()):
            handles.append(line("with reserve", NOTE_COLOR, linestyle=RESERVE_STYLE))
        if any(part.repeated.any() for side in self.sides for part in self.x.passes[side]):
            handles.append(line("further cycle", NOTE_COLOR, **REPEATED))
        occurring = {name for each in self.events.values() for name, places in each.items() if places.size}
        for name in sorted(occurring if events else ()):
            handles.append(line(EVENT_NAMES[name], NOTE_COLOR, **EVENT_STYLE[name]))
        labels = [handle.get_label() for handle in handles]
        if failed := [side for side, each in validity.items() if each.failed.any()]:
            handles.append(tuple(Line2D([], [], color=SIDE_COLOR[side], **FAILED_MARK) for side in failed))
            labels.append("no valid solution")
        if stance:
            handles.append(tuple(Patch(color=STANCE_COLOR[side]) for side in self.sides))
            labels.append("foot on the ground")
        if shaded:
            handles.append(tuple(Patch(color=SHADE_COLOR[side]) for side in self.sides if side in of))
            labels.append(shaded)
        pairs = {tuple: HandlerTuple(ndivide=None, pad=0.0)}
        place_legend(figure, handles, labels=labels, handler_map=pairs)

    def _name(self, side: str) -> str:
        """Name of a leg, and of how many cycles its full curve shows a part."""
        parts = sum(not part.repeated.all() for part in self.x.passes[side])
        return frames.SIDE_NAMES.get(side, side) + (f" (parts of {parts} cycles)" if parts > 1 else "")


def cross(axes: Axes, place: Array, height: float, color: str) -> None:
    """Mark frames without a valid solution, at a share of the height of the panel."""
    if not place.size:
        return
    transform = axes.get_xaxis_transform()
    heights = np.full(place.size, height)
    axes.plot(place, heights, transform=transform, clip_on=False, color=color, **FAILED_MARK)


def with_neighbors(mask: Mask) -> Mask:
    """The frames of a mask and those beside them: a line through a single frame needs a second point."""
    wider = mask.copy()
    wider[1:] |= mask[:-1]
    wider[:-1] |= mask[1:]
    return wider


def line(label: str, color: str, **style: Any) -> Line2D:
    """An entry of a legend."""
    return Line2D([], [], color=color, label=label, **style)
