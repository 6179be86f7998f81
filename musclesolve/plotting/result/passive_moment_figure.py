"""Passive joint moments of a muscle set over their ranges, compared with published ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import xarray as xr

from musclesolve.muscles.passive.joint_moments import SAGITTAL, PassiveMoments, riener_edrich_1999
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.page_style import NOTE_COLOR, SIDE_COLOR
from musclesolve.plotting.page.sheet import Sheet, heading, native, page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = "passive_moments"
COLORS = {"calibrated": SIDE_COLOR["r"], "table": SIDE_COLOR["l"], "none": NOTE_COLOR}
AXIS_MULTIPLE = 1.5
"""Range of the axes as a multiple of the published moments; larger moments of a set leave the panel."""
ELSEWHERE = "Riener and Edrich 1999"


@native
def passive_moment_figure(name: str, moments: Mapping[str, Sequence[PassiveMoments]]) -> Sheet:
    """A row of panels for each joint; `moments` by the rule for passive forces, `name` of the muscle set."""
    first = next(iter(moments.values()))
    rows = [[k for k, computed in enumerate(first) if computed.sweep.dof == dof] for dof in SAGITTAL]
    columns = max(map(len, rows))
    described = xr.Dataset(attrs={"muscle_database": name})
    sheet, panels = page(described, "Passive joint moments", len(rows), columns, height=0.75)
    for panel in panels.flat:
        panel.set_visible(False)
    for row, numbers in zip(panels, rows, strict=True):
        row[0].set_ylabel("passive moment [N m]")
        for panel, k in zip(row, numbers, strict=False):
            _panel(panel, {rule: computed[k] for rule, computed in moments.items()})
    published = line("black", marker="o", linestyle="", markersize=3)
    entries = {"measured, see panel": published, ELSEWHERE: line(NOTE_COLOR, 1.0, linestyle="--")}
    sheet.add_legend(entries | {f"this set, {rule}": line(COLORS[rule], 1.6) for rule in moments})
    return sheet


def _panel(axes: Axes, moments: Mapping[str, PassiveMoments]) -> None:
    axes.set_visible(True)
    sweep = next(iter(moments.values())).sweep
    other = riener_edrich_1999(sweep.dof, sweep.angles())
    axes.plot(sweep.angle, other, color=NOTE_COLOR, linestyle="--", linewidth=1.0)
    for rule, computed in moments.items():
        axes.plot(sweep.angle, computed.moment, color=COLORS[rule], linewidth=1.6)
    axes.plot(sweep.angle, sweep.moment, color="black", marker="o", linestyle="", markersize=3)
    low, high = min(sweep.moment.min(), other.min(), 0.0), max(sweep.moment.max(), other.max(), 0.0)
    spare = (AXIS_MULTIPLE - 1.0) * max(high - low, 1.0)
    axes.set_ylim(low - spare, high + spare)
    held = ", ".join(f"{dof.partition('_')[0]} {angle:g}" for dof, angle in sweep.fixed.items())
    errors = ", ".join(f"{rule} {computed.rms:.1f}" for rule, computed in moments.items())
    heading(axes, f"{sweep.dof.replace('_', ' ')} [deg] at {held}", f"{sweep.source}; rms: {errors}")
