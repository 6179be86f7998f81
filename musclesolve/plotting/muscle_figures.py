"""Activation and force of every muscle as small multiples, both legs in one panel."""

from __future__ import annotations

import xarray as xr
from matplotlib.figure import Figure

from musclesolve.plotting.page.abscissa import abscissa
from musclesolve.plotting.page.curves import Validity, draw
from musclesolve.plotting.page.legend import legend
from musclesolve.plotting.page.style import TEXT, heading, page
from musclesolve.results.dataset import frame_validity as frames

COLUMNS = 5


def activations(result: xr.Dataset) -> Figure:
    """Activation of each muscle, 0 to 1."""
    figure = _small_multiples(result, "activation", "Muscle activation", limits=(0.0, 1.02))
    figure.supylabel("activation [1]", fontsize=TEXT)
    return figure


def muscle_forces(result: xr.Dataset) -> Figure:
    """Force of each muscle in newton, every panel with its own scale."""
    figure = _small_multiples(result, "muscle_force", "Muscle force", limits=None)
    figure.supylabel("force [N]  (each panel has its own scale)", fontsize=TEXT)
    return figure


def _small_multiples(result: xr.Dataset, name: str, title: str, limits: tuple[float, float] | None) -> Figure:
    x = abscissa(result)
    sides = frames.sides(result)
    validity = {side: Validity.of(result, side) for side in sides}
    groups = muscles_by_group(result)
    rows = -(-len(groups) // COLUMNS)
    figure, panels = page(result, title, rows, COLUMNS, sharey=limits is not None)
    for axes, (muscle, group) in zip(panels.flat, groups.items(), strict=False):
        for side in sides:
            draw(axes, x, side, result[name].sel(muscle=f"{muscle}_{side}").values, validity[side])
        heading(axes, muscle.replace("_", " "), group.replace("_", " "))
        low, high = limits or (0.0, max(axes.get_ylim()[1], 1.0))
        room = 0.03 * (high - low)  # a curve along the edge stays visible
        axes.set_ylim(low - room, high + room)
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(groups))
        lowest = number + COLUMNS >= len(groups)
        x.apply(axes, labelled=lowest)
        axes.set_xlabel("")
    figure.supxlabel(x.label, fontsize=TEXT)
    legend(figure, x, sides, validity=validity)
    return figure


def muscles_by_group(result: xr.Dataset) -> dict[str, str]:
    """Names without side, muscles of one group side by side; the group of each."""
    group_of = {
        str(name)[:-2]: str(group)
        for name, group in zip(result["muscle"].values, result["group"].values, strict=True)
    }
    order = list(dict.fromkeys(group_of.values()))
    names = sorted(group_of, key=lambda name: order.index(group_of[name]))
    return {name: group_of[name] for name in names}
