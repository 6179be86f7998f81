"""Activations of the muscles in one pose, one dot for each cost or solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.sides import split_side
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.of_arrays import as_result
from musclesolve.plotting.page.panels import muscles_by_group
from musclesolve.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.plotting.study.comparison_figures import COST_COLORS
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.sharing.solution import Solution

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


@native
def pose_activations(data: xr.Dataset | Solution, frame: int = 0) -> Sheet:
    """Activation of every muscle in one frame, 0 to 1; of a comparison a mark for each cost and solver.

    A muscle without a mark has no certified activation. `frame` counts from 0.
    """
    result = as_result(data, least_frames=0)
    if "time" in result.dims:
        result = result.isel(time=frame)
    compared = [str(cost) for cost in result["cost"].values] if "cost" in result.dims else ["activation"]
    sides = frames.sides(result)
    muscles: dict[str, list[str]] = {side: [] for side in sides}
    groups = dict(zip(map(str, result["muscle"].values), map(str, result["group"].values), strict=True))
    for name in muscles_by_group(list(groups), list(groups.values())):
        muscles[frames.muscle_sides(result)[name]].append(name)
    most = max(map(len, muscles.values()))
    space = {"left": 1.6}
    sheet, panels = page(
        result, "Muscle activation in one pose", 1, len(sides), height=0.25 + 0.013 * most, space=space
    )
    entries = {}
    for side, axes in zip(sides, panels[0], strict=True):
        places = np.arange(len(muscles[side]))[::-1]
        for number, cost in enumerate(compared):
            part = result.isel(cost=number) if "cost" in result.dims else result
            style: dict[str, Any] = {
                "color": COST_COLORS[number % len(COST_COLORS)],
                "marker": MARKS[number % len(MARKS)],
            }
            values = part["activation"].sel(muscle=muscles[side]).values
            axes.plot(values, places, label=cost, linestyle="", markersize=3.0, **style)
            entries[cost] = line(of=cost, linestyle="", **style)
        axes.set_yticks(places, [split_side(name)[0].replace("_", " ") for name in muscles[side]])
        axes.set_xlim(-0.02, max(1.02, float(axes.get_xlim()[1])))
        axes.set_ylim(-1.0, float(len(places)))
        heading(axes, frames.part_names(result)[side])
    sheet.label_axes("activation [1]", "")
    if len(compared) > 1:
        sheet.add_legend(entries)
    return sheet
