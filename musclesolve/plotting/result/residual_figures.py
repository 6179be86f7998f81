"""How far points, muscles and ground fall short of the motion: marker residuals, reserves, residual at the pelvis."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from musclesolve.plotting.page.abscissa import time_axis
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.style import (
    NOTE_COLOR,
    SIDE_COLOR,
    heading,
    height_for,
    page,
    place_legend,
    space_for,
)
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import (
    CONSISTENCY_METHODS,
    OPPOSITE,
    body_weight,
    moved_points,
    pelvis_residual,
)

_MIDDLE = ""


def consistency_shift(result: xr.Dataset) -> Figure:
    """Distance between consistent and measured position of each point [mm]: a bar to its rms, a line to its worst.

    A row for each joint or landmark, right and left together, the toes at the bottom.
    """
    names, rms, worst = moved_points(result)
    side = [name[-1] if name[-2:] in ("_r", "_l") else _MIDDLE for name in names]
    stem = [name.removesuffix(f"_{s}") for name, s in zip(names, side, strict=True)]
    rows = list(dict.fromkeys(stem))
    labels = [row.replace("_", " ") for row in rows]
    size, space = 0.2 + 0.02 * len(rows), {"left": space_for(labels), "least": height_for(len(rows))}
    figure, panels = page(result, "Residuals of the measured points", 1, 1, height=size, space=space)
    axes = panels[0, 0]
    for place, name in enumerate(stem):
        row = rows.index(name) + {"r": 0.2, "l": -0.2, _MIDDLE: 0.0}[side[place]]
        color = SIDE_COLOR.get(side[place], NOTE_COLOR)
        length, most = 1000.0 * rms[place], 1000.0 * worst[place]
        axes.barh(row, length, height=0.36, color=color)
        axes.plot([length, most], [row, row], color=color, linewidth=0.8)
        axes.plot(most, row, color=color, marker="|", markersize=4)
    axes.set_yticks(np.arange(len(rows)), labels)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(left=0.0)
    axes.grid(False, axis="y")
    method = CONSISTENCY_METHODS[str(result.attrs.get("consistency_method", "nearest"))]
    axes.set_xlabel(f"distance from the measured point, {method} [mm]")
    _legend(figure, [s for s in ("r", "l", _MIDDLE) if s in side])
    return figure


def _legend(figure: Figure, sides: list[str]) -> None:
    handles: list[Patch | Line2D] = [
        Patch(color=SIDE_COLOR.get(side, NOTE_COLOR), label=frames.SIDE_NAMES.get(side, "middle"))
        for side in sides
    ]
    handles.append(Patch(color=NOTE_COLOR, alpha=0.5, label="bar: root mean square over the frames"))
    handles.append(
        Line2D([], [], color=NOTE_COLOR, linewidth=0.8, marker="|", label="line: to the worst frame")
    )
    place_legend(figure, handles)


SMALLEST = 1.0
"""Reserves are drawn to a scale of this much at least [N m]: none look like none."""


def reserves_and_residual(result: xr.Dataset) -> Figure:
    """Moments that the muscles leave to reserves [N m], and the residual at the pelvis, over time.

    Where every frame is solved without a reserve, only the residual.
    """
    legs = Legs.of(result, time_axis(result))
    if not any(each.reserve.any() or each.failed.any() for each in legs.validity.values()):
        figure, panels = page(
            result, "Residual at the pelvis; no frame needs a reserve", 1, 2, height=0.35, labels=True
        )
        _residual(result, legs, *panels[0])
        legs.legend(figure, measured=True, events=True)
        return figure
    shared = [str(dof) for dof in result.attrs.get("shared_dofs", result["dof"].values)]
    dofs = [dof for dof in OPPOSITE if any(f"{dof}_{side}" in shared for side in legs.sides)]
    rows = -(-len(dofs) // 2) + 1
    figure, panels = page(
        result, "Reserve moments and residual at the pelvis", rows, 2, height=0.25 * rows, labels=True
    )
    for axes, dof in zip(panels[:-1].flat, dofs, strict=False):
        for side in legs.sides:
            legs.draw(axes, side, result["reserve_moment"].sel(dof=f"{dof}_{side}").values)
            legs.mark_events(axes, side)
        heading(axes, f"{dof.replace('_', ' ')} reserve")
        axes.set_ylabel("[N m]")
        axes.axhline(0.0, color="black", linewidth=0.4, zorder=1)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -SMALLEST), max(high, SMALLEST))
        legs.x.apply(axes, labelled=False)
    for axes in panels[:-1].flat[len(dofs) :]:
        axes.set_visible(False)
    _residual(result, legs, *panels[-1])
    legs.legend(figure, events=True)
    return figure


def _residual(result: xr.Dataset, legs: Legs, left: Axes, right: Axes) -> None:
    """Magnitude of the residual force in per cent of body weight, with its limit, and of the moment."""
    (force, moment), beyond = pelvis_residual(result), ""
    left.plot(result["time"].values, 100.0 * force / body_weight(result), color="black", linewidth=1.0)
    right.plot(result["time"].values, moment, color="black", linewidth=1.0)
    if (limit := result.attrs.get("balance_limit")) is not None:
        left.axhline(100.0 * float(limit), color=NOTE_COLOR, linewidth=0.8, linestyle="--")
        beyond = "frames above the dashed line are not valid"
    heading(left, "pelvis residual: force, magnitude", beyond)
    heading(right, "pelvis residual: moment, magnitude")
    left.set_ylabel("[% of body weight]")
    right.set_ylabel("[N m]")
    for axes in (left, right):
        axes.set_ylim(bottom=0.0)
        for side in legs.sides:
            legs.mark_events(axes, side)
        legs.x.apply(axes, labelled=True)
