"""The horizontal axis: per cent of the gait cycle where that is known for every leg drawn, otherwise time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.plotting.page.style import TEXT
from musclesolve.results.dataset import frame_validity as frames


@dataclass(frozen=True)
class Pass:
    """A curve to draw: frames (K,), their places on the axis, and which places an earlier pass has shown already."""

    index: NDArray[np.intp]
    place: Array
    again: frames.Mask


@dataclass(frozen=True)
class Abscissa:
    """Where the frames of each leg lie on the horizontal axis.

    Attributes:
        label: text below the axis.
        limits: ends of the axis.
        passes: by side, the curves to draw, the one with the most valid frames first; one per gait cycle.
    """

    label: str
    limits: tuple[float, float]
    passes: dict[str, list[Pass]]

    def apply(self, axes: Axes, *, labelled: bool) -> None:
        """Set limits, ticks and, on request, the label of a panel."""
        axes.set_xlim(*self.limits)
        if self.limits == (0.0, 100.0):
            axes.set_xticks([0, 25, 50, 75, 100])
        axes.tick_params(labelbottom=labelled)
        if labelled:
            axes.set_xlabel(self.label, fontsize=TEXT)


def abscissa(result: xr.Dataset) -> Abscissa:
    """Per cent of the gait cycle, each leg from its own heel strike, if all legs have one; else time [s]."""
    sides = [str(side) for side in result["side"].values]
    cycles = {side: frames.cycles(result, side) for side in sides}
    if not all(cycles.values()):
        return time_axis(result)
    return Abscissa(
        "gait cycle of each leg [%]",
        (0.0, 100.0),
        {side: _passes(cycles[side], frames.failed(result, side)) for side in sides},
    )


def time_axis(result: xr.Dataset) -> Abscissa:
    """Time [s], the same for both legs."""
    time = np.asarray(result["time"].values, dtype=float)
    whole = Pass(np.arange(time.size), time, np.zeros(time.size, dtype=bool))
    sides = [str(side) for side in result["side"].values]
    return Abscissa("time [s]", (float(time[0]), float(time[-1])), {side: [whole] for side in sides})


def _passes(cycles: list[frames.Cycle], failed: frames.Mask) -> list[Pass]:
    passes: list[Pass] = []
    for cycle in sorted(cycles, key=lambda each: -int((~failed[each.index]).sum())):
        place = cycle.percent
        shown = [(place >= other.place[0]) & (place <= other.place[-1]) for other in passes]
        again = np.any(shown, axis=0) if shown else np.zeros(place.size, dtype=bool)
        passes.append(Pass(cycle.index, place, again))
    return passes
