"""Figures of results beside each other: the mean curves of their cycles, one color per result, one page per leg."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import xarray as xr

from musclesolve._util.message_text import count_of
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, joint_kind
from musclesolve.plotting.figure_names import CONTACT_TITLE
from musclesolve.plotting.page.curves import cycle_axis
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.panels import Grid, muscles_by_group, small_multiples
from musclesolve.plotting.page.sheet import Sheet, native
from musclesolve.plotting.study.comparison_figures import line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNITS = {"BW": "body weights", "N": "N"}


@native
def compared_group_forces(compared: xr.Dataset, side: str) -> Sheet:
    """Draw the sum of the forces of the muscles of each function group, every panel with its own scale."""
    groups = [str(name) for name in compared["function_group"].values]
    names = muscles_by_group(groups, groups)
    return _page(compared, side, "group_force", "function_group", "Force of function groups", list(names), 3)


@native
def compared_contact_forces(compared: xr.Dataset, side: str) -> Sheet:
    """Draw the magnitude of the contact force at hip, knee and ankle."""
    names = [str(name) for name in compared["joint"].values if joint_kind(str(name)) in LEG_JOINTS]
    return _page(compared, side, "contact_force", "joint", CONTACT_TITLE, names, 1)


def _page(
    compared: xr.Dataset, side: str, variable: str, dim: str, title: str, names: list[str], columns: int
) -> Sheet:
    """Draw a panel for each name, with a curve for each result."""
    results = [str(name) for name in compared["result"].values]
    styles = [line_style(number, len(results), name) for number, name in enumerate(results)]

    def fill(axes: Axes, name: str) -> None:
        for result, style in zip(results, styles, strict=True):
            curve = compared[variable].sel({"result": result, "side": side, dim: name})
            axes.plot(compared["percent"].values, curve.values, label=result, **style)

    cycle = str(compared["percent"].attrs.get("long_name", "gait cycle"))
    axis = replace(cycle_axis(), label=f"{cycle} [%]")
    unit = UNITS[compared[variable].attrs["units"]]
    heading = f"{title}: {SIDE_NAMES[side]} leg, mean of the cycles"
    grid = Grid(columns, least=1e-3, above=0.05, low=True)
    sheet = small_multiples(compared, (heading, f"[{unit}]"), axis, dict.fromkeys(names, ""), fill, grid)
    counts = compared["cycles"].sel(side=side).values
    entries = {
        f"{name} ({count_of(count, 'cycle')})": line(of=name, **style)
        for name, count, style in zip(results, counts, styles, strict=True)
    }
    sheet.add_legend(entries)
    return sheet
