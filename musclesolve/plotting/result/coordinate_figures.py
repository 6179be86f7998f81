"""Figures of a result on an OpenSim model: its shared coordinates with their moments, and the reserves."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.style import heading, page
from musclesolve.results.dataset.frame_validity import split_side, with_side

SMALLEST = 1.0
"""Reserves are drawn to a scale of this much at least [N m]."""


def coordinates_and_moments(result: xr.Dataset) -> Figure:
    """Each shared coordinate [deg] and its moment [N m], in the sense of the model."""
    legs, stems = Legs.of(result, analysed=False), _stems(result)
    height = min(1.0, 0.12 + 0.15 * len(stems))
    figure, panels = page(result, "Coordinates and moments", len(stems), 2, height=height, labels=True)
    for row, stem in zip(panels, stems, strict=True):
        for axes, name, scale in zip(row, ("joint_angle", "joint_moment"), (180.0 / np.pi, 1.0), strict=True):
            _draw(axes, legs, stem, scale * result[name], measured=True)
            _events(axes, legs)
            axes.axhline(0.0, color="black", linewidth=0.4)
            legs.x.apply(axes, labelled=stem == stems[-1])
        heading(row[0], stem.replace("_", " "))
        heading(row[1], f"{stem.replace('_', ' ')}: moment")
        row[0].set_ylabel("[deg]")
        row[1].set_ylabel("[N m]")
    legs.legend(figure, measured=True, events=True)
    return figure


def reserves(result: xr.Dataset) -> Figure:
    """Moments that the muscles leave to reserves [N m]."""
    legs, stems = Legs.of(result, analysed=False), _stems(result)
    rows = -(-len(stems) // 2)
    height = min(1.0, 0.12 + 0.2 * rows)
    needed = any(each.reserve.any() or each.failed.any() for each in legs.validity.values())
    title = "Reserve moments" if needed else "Reserve moments: no frame needs one"
    figure, panels = page(result, title, rows, 2, height=height, labels=True)
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(stems))
        legs.x.apply(axes, labelled=number + 2 >= len(stems))
    for axes, stem in zip(panels.flat, stems, strict=False):
        _draw(axes, legs, stem, result["reserve_moment"])
        _events(axes, legs)
        heading(axes, f"{stem.replace('_', ' ')} reserve")
        axes.set_ylabel("[N m]")
        axes.axhline(0.0, color="black", linewidth=0.4, zorder=1)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -SMALLEST), max(high, SMALLEST))
    legs.legend(figure, events=True)
    return figure


def _stems(result: xr.Dataset) -> list[str]:
    """The shared coordinates without side."""
    return list(dict.fromkeys(split_side(str(name))[0] for name in result["dof"].values))


def _draw(axes: Axes, legs: Legs, stem: str, values: xr.DataArray, *, measured: bool = False) -> None:
    known = list(map(str, values["dof"].values))
    for side in legs.validity:
        if (name := with_side(stem, side)) in known:
            legs.draw(axes, side, values.sel(dof=name).values, measured=measured)


def _events(axes: Axes, legs: Legs) -> None:
    for side in legs.validity:
        legs.mark_events(axes, side)
