"""Mean and spread over gait cycles, both legs in one panel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.plotting.page.curves import with_neighbours
from musclesolve.plotting.page.png import Progress, png_files
from musclesolve.plotting.page.style import (
    AGAIN,
    NOTE_COLOR,
    RESERVE_STYLE,
    SIDE_COLOR,
    SIDE_WIDTH,
    TEXT,
    heading,
    page,
    place_legend,
)
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.direction_names import OPPOSITE

COLUMNS = 5
BAND = 0.22
"""Opacity of the band of one standard deviation."""


def average_files(average: xr.Dataset, progress: Progress = lambda stage, fraction: None) -> dict[str, bytes]:
    """The content of the file of every figure, by its name.

    Args:
        average: what ``averaging.average_results`` returns or ``average.nc`` holds.
        progress: called before every figure with "drawing" and the share of the figures that is done.
    """
    return png_files({name: partial(draw, average) for name, draw in FIGURES.items()}, progress)


def angles_and_moments(average: xr.Dataset) -> Figure:
    """Angle [deg] and internal moment of the degrees of freedom of the legs; per body mass if it is one person's."""
    present = [dof for dof in OPPOSITE if dof in average["dof"].values]
    mass = average.attrs.get("subject_mass_kg")
    figure, panels = page(
        average, "Mean joint angles and internal joint moments", len(present), 2, labels=True
    )
    for row, dof in zip(panels, present, strict=True):
        _draw(row[0], average, "joint_angle", {"dof": dof}, 180.0 / np.pi)
        _draw(row[1], average, "joint_moment", {"dof": dof}, 1.0 if mass is None else 1.0 / float(mass))
        heading(row[0], f"{dof.replace('_', ' ')} (+)   {OPPOSITE[dof]} (-)")
        heading(row[1], f"{dof.replace('_', ' ')} moment (+)   {OPPOSITE[dof]} moment (-)")
        row[0].set_ylabel("[deg]", fontsize=TEXT)
        row[1].set_ylabel("[N m]" if mass is None else "[N m/kg]", fontsize=TEXT)
        for axes in row:
            axes.axhline(0.0, color="black", linewidth=0.4)
            _axis(axes, labelled=dof == present[-1])
            if dof == present[-1]:
                axes.set_xlabel(_LABEL, fontsize=TEXT)
    _legend(figure, average, ("joint_angle", "joint_moment"))
    return figure


def activations(average: xr.Dataset) -> Figure:
    """Activation of each muscle, 0 to 1."""
    figure = _small_multiples(average, "activation", "Mean muscle activation", limits=(0.0, 1.0))
    figure.supylabel("activation [1]", fontsize=TEXT)
    return figure


def muscle_forces(average: xr.Dataset) -> Figure:
    """Force of each muscle in newton, every panel with its own scale."""
    figure = _small_multiples(average, "muscle_force", "Mean muscle force", limits=None)
    figure.supylabel("force [N]  (each panel has its own scale)", fontsize=TEXT)
    return figure


FIGURES: dict[str, Callable[[xr.Dataset], Figure]] = {
    "average_angles_and_moments": angles_and_moments,
    "average_activations": activations,
    "average_muscle_forces": muscle_forces,
}
_LABEL = "gait cycle of each leg [%]"


def _small_multiples(
    average: xr.Dataset, name: str, title: str, limits: tuple[float, float] | None
) -> Figure:
    groups = [str(group) for group in average["group"].values]
    order = sorted(range(len(groups)), key=lambda place: groups.index(groups[place]))
    rows = -(-len(order) // COLUMNS)
    figure, panels = page(average, title, rows, COLUMNS, sharey=limits is not None)
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(order))
        if number >= len(order):
            continue
        muscle = str(average["muscle"].values[order[number]])
        _draw(axes, average, name, {"muscle": muscle}, 1.0, limits or (0.0, np.inf))
        heading(axes, muscle.replace("_", " "), groups[order[number]].replace("_", " "))
        low, high = limits or (0.0, max(axes.get_ylim()[1], 1.0))
        axes.set_ylim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        _axis(axes, labelled=number + COLUMNS >= len(order))
    figure.supxlabel(_LABEL, fontsize=TEXT)
    _legend(figure, average, (name,))
    return figure


def _draw(
    axes: Axes,
    average: xr.Dataset,
    name: str,
    where: dict[str, str],
    factor: float,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Mean, band within the limits, and toe-off of each leg.

    Pale where a cycle that counts elsewhere does not, dotted where the value of one needed a reserve.
    """
    for side in map(str, average["side"].values):
        leg = average.sel({"side": side, **where})
        count = leg[f"{name}_count"].values
        percent, mean, spread, number, needed = _broken(
            count,
            average["percent"].values,
            factor * leg[name].values,
            factor * leg[f"{name}_std"].values,
            count,
            _reserves(leg, name),
        )
        style: dict[str, Any] = {"color": SIDE_COLOR[side]}
        low, high = (np.clip(mean + sign * spread, *limits) for sign in (-1.0, 1.0))
        axes.fill_between(percent, low, high, alpha=BAND, linewidth=0.0, **style)
        full, reserve = number == count.max(), needed > 0.0
        for part, width, alpha in ((full, SIDE_WIDTH[side], 1.0), (~full, AGAIN["width"], AGAIN["alpha"])):
            for kind, dashes in ((~reserve, "-"), (with_neighbours(reserve), RESERVE_STYLE)):
                curve = np.where(part & kind, mean, np.nan)
                axes.plot(percent, curve, linewidth=width, alpha=alpha, linestyle=dashes, **style)
        if _has_toe_off(leg):
            axes.axvline(float(leg["stance_percent"]), linewidth=0.6, linestyle="--", **style)


def _broken(count: NDArray[np.int_], *curves: NDArray[Any]) -> list[Array]:
    """Curves parted by NaN where another number of cycles counts: there the mean of others begins, no motion."""
    changes = np.flatnonzero(np.diff(count)) + 1
    return [np.insert(curve.astype(float), changes, np.nan) for curve in curves]


def _reserves(average: xr.Dataset, name: str) -> NDArray[np.int_]:
    """Of how many cycles the values needed a reserve, as far as a quantity depends on the muscles."""
    needed: NDArray[np.int_] = average["cycles_with_reserve"].values
    return 0 * needed if name == "joint_angle" else needed


def _has_toe_off(leg: xr.Dataset) -> bool:
    return "stance_percent" in leg and bool(np.isfinite(leg["stance_percent"]))


def _axis(axes: Axes, *, labelled: bool) -> None:
    axes.set_xlim(0.0, 100.0)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.tick_params(labelbottom=labelled)


def _legend(figure: Figure, average: xr.Dataset, names: tuple[str, ...]) -> None:
    """What the lines are, of those that are drawn."""
    handles: list[Any] = []
    sides = [str(side) for side in average["side"].values]
    for side in sides:
        own = int(average["cycles"].sel(side=side))
        label = f"{frames.SIDE_NAMES[side]}, {own} cycle{'s' if own != 1 else ''}"
        handles.append(Line2D([], [], color=SIDE_COLOR[side], linewidth=SIDE_WIDTH[side], label=label))
    handles.append(Patch(color=NOTE_COLOR, alpha=BAND, linewidth=0.0, label="± standard deviation"))
    counts = [average[f"{name}_count"] for name in names]
    if any(bool((count < count.max("percent")).any()) for count in counts):
        pale: dict[str, Any] = {"linewidth": AGAIN["width"], "alpha": AGAIN["alpha"]}
        handles.append(Line2D([], [], color=NOTE_COLOR, label="fewer cycles", **pale))
    if any(_reserves(average, name).any() for name in names):
        dotted: dict[str, Any] = {"linestyle": RESERVE_STYLE, "label": "a cycle with reserve"}
        handles.append(Line2D([], [], color=NOTE_COLOR, **dotted))
    if any(_has_toe_off(average.sel(side=side)) for side in sides):
        handles.append(Line2D([], [], color=NOTE_COLOR, linewidth=0.6, linestyle="--", label="toe-off"))
    place_legend(figure, handles)
