"""Activation and force of every muscle as small multiples, both legs in one panel."""

from __future__ import annotations

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from musclesolve.plotting.page.curves import Legs
from musclesolve.plotting.page.panels import OWN_SCALES, Grid, muscles_by_group, small_multiples

ACTIVATION = "activation [1]"
FORCE = "force [N]  (each panel has its own scale)"


def activations(result: xr.Dataset) -> Figure:
    """Activation of each muscle, 0 to 1."""
    return _every_muscle(result, "activation", ("Muscle activation", ACTIVATION), Grid(top=1.02))


def muscle_forces(result: xr.Dataset) -> Figure:
    """Force of each muscle in newton, every panel with its own scale."""
    return _every_muscle(result, "muscle_force", ("Muscle force", FORCE), OWN_SCALES)


def _every_muscle(result: xr.Dataset, name: str, titles: tuple[str, str], grid: Grid) -> Figure:
    legs = Legs.of(result)

    def fill(axes: Axes, muscle: str) -> None:
        for side in legs.sides:
            legs.draw(axes, side, result[name].sel(muscle=f"{muscle}_{side}").values)

    figure = small_multiples(result, titles, legs.x, muscles(result), fill, grid)
    legs.legend(figure)
    return figure


def muscles(result: xr.Dataset) -> dict[str, str]:
    """Names without side, muscles of one group side by side; the group of each."""
    names = [str(name)[:-2] for name in result["muscle"].values]
    return muscles_by_group(names, [str(group) for group in result["group"].values])
