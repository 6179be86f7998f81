"""How far the muscles and the ground fall short of the motion: reserves, and the residual at the pelvis."""

from __future__ import annotations

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.page.abscissa import Abscissa, time_axis
from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.style import NOTE_COLOR, SMALL, TEXT, heading, page
from musclesolve.results.dataset.direction_names import OPPOSITE
from musclesolve.results.dataset.pelvis_residual import pelvis_residual
from musclesolve.results.dataset.subject_variables import body_weight

SMALLEST = 1.0
"""Reserves are drawn to a scale of this much at least [N m]: none look like none."""


def reserves_and_residual(result: xr.Dataset) -> Figure:
    """Moments that the muscles leave to reserves [N m], and the residual at the pelvis, over time."""
    legs = Legs.of(result, time_axis(result))
    shared = [str(dof) for dof in result.attrs.get("shared_dofs", result["dof"].values)]
    dofs = [dof for dof in OPPOSITE if any(f"{dof}_{side}" in shared for side in legs.sides)]
    rows = -(-len(dofs) // 2) + 1
    figure, panels = page(
        result, "Reserve moments and residual at the pelvis", rows, 2, height=0.25 * rows, labels=True
    )
    for axes, dof in zip(panels[:-1].flat, dofs, strict=False):
        for side in legs.sides:
            legs.draw(axes, side, result["reserve_moment"].sel(dof=f"{dof}_{side}").values)
        heading(axes, f"{dof.replace('_', ' ')}: moment that the muscles do not produce")
        axes.set_ylabel("[N m]", fontsize=TEXT)
        axes.axhline(0.0, color="black", linewidth=0.4, zorder=1)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -SMALLEST), max(high, SMALLEST))
        legs.x.apply(axes, labelled=False)
    for axes in panels[:-1].flat[len(dofs) :]:
        axes.set_visible(False)
    _residual(result, legs.x, *panels[-1])
    legs.legend(figure)
    return figure


def _residual(result: xr.Dataset, x: Abscissa, left: Axes, right: Axes) -> None:
    """Magnitude of the residual force in per cent of body weight, with its limit, and of the moment."""
    force, moment = pelvis_residual(result)
    left.plot(result["time"].values, 100.0 * force / body_weight(result), color="black", linewidth=1.0)
    right.plot(result["time"].values, moment, color="black", linewidth=1.0)
    if (limit := result.attrs.get("balance_limit")) is not None:
        left.axhline(100.0 * float(limit), color=NOTE_COLOR, linewidth=0.8, linestyle="--")
        left.text(
            1.0,
            100.0 * float(limit),
            "frames above it are not valid ",
            transform=left.get_yaxis_transform(),
            ha="right",
            va="bottom",
            fontsize=SMALL - 1,
            color=NOTE_COLOR,
        )
    heading(left, "force that the pelvis lacks, magnitude")
    heading(right, "moment that the pelvis lacks, magnitude")
    left.set_ylabel("[% of body weight]", fontsize=TEXT)
    right.set_ylabel("[N m]", fontsize=TEXT)
    for axes in (left, right):
        axes.set_ylim(bottom=0.0)
        x.apply(axes, labelled=True)
