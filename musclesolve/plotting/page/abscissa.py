"""The horizontal axis: per cent of the gait cycle where that is known for every leg drawn, otherwise time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.plotting.page.panel import Panel
from musclesolve.results.dataset import frame_validity as frames

NARROW = 1.05
"""Below this width of a panel there is not enough space for five numbers [inch]."""


@dataclass(frozen=True)
class Pass:
    """One curve: frames (K,), their places on the axis, and which places an earlier pass shows already."""

    index: NDArray[np.intp]
    place: Array
    repeated: Mask


@dataclass(frozen=True)
class Abscissa:
    """Where the frames of each leg lie on the horizontal axis."""

    label: str  # text below the axis
    limits: tuple[float, float]  # ends of the axis
    passes: dict[str, list[Pass]]  # by side, one curve per gait cycle, that with the most valid frames first
    is_cycle: bool = False  # whether it is the gait cycle of each leg, not time

    def apply(self, axes: Axes, *, labelled: bool, with_label: bool = True) -> None:
        """Set limits and ticks of a panel; on the lowest one of a column also numbers and label."""
        axes.set_xlim(*self.limits)
        if self.is_cycle:
            axes.xaxis.set_major_locator(FixedLocator(percents(axes)))
        axes.tick_params(labelbottom=labelled)
        if labelled and with_label:
            axes.set_xlabel(self.label)


def percents(axes: Axes) -> list[int]:
    """Ticks of a gait cycle, fewer where the numbers would touch."""
    width = axes.panel_width / axes.style.scale if isinstance(axes, Panel) else NARROW
    return [0, 25, 50, 75, 100] if width >= NARROW else [0, 50, 100] if width >= 0.5 * NARROW else [0, 100]


def cycle_axis(passes: dict[str, list[Pass]] | None = None) -> Abscissa:
    """Per cent of the gait cycle, each leg from its own heel strike."""
    return Abscissa("gait cycle of each leg [%]", (0.0, 100.0), passes or {}, is_cycle=True)


def abscissa(result: xr.Dataset) -> Abscissa:
    """`cycle_axis` if all legs have a gait cycle, else `time_axis`."""
    sides = [str(side) for side in result["side"].values]
    cycles = {side: frames.cycles(result, side) for side in sides}
    if not all(cycles.values()):
        return time_axis(result)
    return cycle_axis({side: _passes(cycles[side], frames.failed(result, side)) for side in sides})


def time_axis(result: xr.Dataset) -> Abscissa:
    """Time [s], the same for both legs."""
    time = np.asarray(result["time"].values, dtype=float)
    whole = Pass(np.arange(time.size), time, np.zeros(time.size, dtype=bool))
    sides = [str(side) for side in result["side"].values]
    return Abscissa("time [s]", (float(time[0]), float(time[-1])), {side: [whole] for side in sides})


def _passes(cycles: list[frames.Cycle], failed: Mask) -> list[Pass]:
    passes: list[Pass] = []
    for cycle in sorted(cycles, key=lambda each: -int((~failed[each.index]).sum())):
        place = cycle.percent
        shown = [(place >= other.place[0]) & (place <= other.place[-1]) for other in passes]
        repeated = np.any(shown, axis=0) if shown else np.zeros(place.size, dtype=bool)
        passes.append(Pass(cycle.index, place, repeated))
    return passes
