"""The horizontal axis: per cent of the gait cycle where that is known for every leg drawn, otherwise time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from numpy.typing import NDArray

from musclesolve.plotting.style import TEXT
from musclesolve.results import frames

Segment = tuple[NDArray[np.intp], NDArray[np.float64]]


@dataclass(frozen=True)
class Abscissa:
    """Where the frames of each leg lie on the horizontal axis.

    Attributes:
        label: text below the axis.
        limits: ends of the axis.
        segments: by side, the curves to draw: frame numbers and their places; one curve per gait cycle.
    """

    label: str
    limits: tuple[float, float]
    segments: dict[str, list[Segment]]

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
    cycles = {side: frames.gait_cycles(result, side) for side in sides}
    if all(cycles.values()):
        return Abscissa("gait cycle of each leg [%]", (0.0, 100.0), cycles)
    time = np.asarray(result["time"].values, dtype=float)
    segments: dict[str, list[Segment]] = {side: [(np.arange(time.size), time)] for side in sides}
    return Abscissa("time [s]", (float(time[0]), float(time[-1])), segments)
