"""Mean and spread over gait cycles, both legs in one panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from musclesolve._util.message_text import count_of
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.plotting.page.curves import (
    EVENT_NAMES,
    EVENT_STYLE,
    SPREAD,
    TOE_OFF,
    cycle_axis,
    draw_kinds,
    side_key,
    with_neighbors,
)
from musclesolve.plotting.page.keys import area, line, series
from musclesolve.plotting.page.page_style import BAND, NOTE_COLOR, REPEATED, RESERVE_STYLE, SIDE_COLOR
from musclesolve.plotting.page.panels import (
    ACTIVATION,
    FORCE,
    OWN_SCALES,
    Grid,
    dof_rows,
    muscles_by_group,
    small_multiples,
)
from musclesolve.plotting.page.sheet import Sheet, native, page
from musclesolve.results.dataset.result_quantities import OPPOSITE, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWER, WITH_RESERVE, TOE_OFF_LABEL = "fewer cycles", "a cycle with reserve", EVENT_NAMES[TOE_OFF]
UNBOUNDED = (-np.inf, np.inf)


@native
def average_angles_and_moments(average: xr.Dataset) -> Sheet:
    """Draw angle [deg] and internal moment of the degrees of freedom of the legs, per body mass or in a chosen unit."""
    shared = [dof for dof in listed(average, "shared_dofs") if dof not in OPPOSITE]  # names of a model
    dofs = [dof for dof in (*OPPOSITE, *shared) if dof in average["dof"].values]
    mass, unit = average.attrs.get("subject_mass_kg"), average["joint_moment"].attrs.get("units", "N m")
    degrees = 1.0 if average["joint_angle"].attrs.get("units") == "deg" else 180.0 / np.pi
    factor, unit = (1.0 / float(mass), "N m/kg") if unit == "N m" and mass is not None else (1.0, unit)
    sheet, panels = page(average, "Mean joint angles and internal joint moments", len(dofs), 2, labels=True)
    for row, dof in dof_rows(panels, cycle_axis(), dofs, f"[{unit}]"):
        _draw(row[0], average, "joint_angle", {"dof": dof}, factor=degrees)
        _draw(row[1], average, "joint_moment", {"dof": dof}, factor=factor)
    sheet.add_legend(_entries(average, ("joint_angle", "joint_moment")))
    return sheet


@native
def average_activations(average: xr.Dataset) -> Sheet:
    """Draw the activation of each muscle, 0 to 1."""
    titles = ("Mean muscle activation", ACTIVATION)
    return every_muscle(average, "activation", titles, Grid(top=1.0))


@native
def average_muscle_forces(average: xr.Dataset) -> Sheet:
    """Draw the force of each muscle in newton or the unit of the average, every panel with its own scale."""
    unit = average["muscle_force"].attrs.get("units", "N")
    labels = {"N": FORCE, "%": "force [% of maximum isometric force]"}
    label = labels.get(unit, f"force [{unit}]")
    return every_muscle(average, "muscle_force", ("Mean muscle force", label), OWN_SCALES)


def every_muscle(average: xr.Dataset, name: str, titles: tuple[str, str], grid: Grid) -> Sheet:
    """Draw a quantity of every muscle, whose bands end at zero and at full activation."""
    limits = (0.0, 1.0 if name == "activation" else np.inf)
    muscles = muscles_by_group(*([str(name) for name in average[key].values] for key in ("muscle", "group")))

    def fill(axes: Axes, muscle: str) -> None:
        _draw(axes, average, name, {"muscle": muscle}, limits)

    sheet = small_multiples(average, titles, cycle_axis(), muscles, fill, grid)
    sheet.add_legend(_entries(average, (name,)))
    return sheet


def _draw(
    axes: Axes,
    average: xr.Dataset,
    name: str,
    where: dict[str, str],
    limits: tuple[float, float] = UNBOUNDED,
    factor: float = 1.0,
) -> None:
    """Draw mean, band within the limits, and toe-off of each leg.

    The mean is pale where it includes fewer cycles than elsewhere, dotted where a cycle needed a reserve.
    """
    for side in map(str, average["side"].values):
        leg = average.sel({"side": side, **where})
        count, color = leg[f"{name}_count"].values, SIDE_COLOR[side]
        curves = (factor * leg[name].values, factor * leg[f"{name}_std"].values, count, _reserves(leg, name))
        # Split by NaN where the number of cycles changes: a jump of the mean there is no motion.
        changes = np.flatnonzero(np.diff(count)) + 1
        percent, mean, spread, number, needed = (
            np.insert(curve.astype(float), changes, np.nan) for curve in (average["percent"].values, *curves)
        )
        low, high = (np.clip(mean + sign * spread, *limits) for sign in (-1.0, 1.0))
        label = series(side, SPREAD)
        axes.fill_between(percent, low, high, alpha=BAND, linewidth=0.0, color=color, label=label)
        full, reserve = number == count.max(), needed > 0.0
        kinds = {"": ("-", ~reserve), WITH_RESERVE: (RESERVE_STYLE, with_neighbors(reserve))}
        draw_kinds(axes, side, percent, mean, full, ~full, FEWER, kinds)
        if _has_toe_off(leg):
            upright = EVENT_STYLE[TOE_OFF] | {"color": color, "label": series(side, TOE_OFF_LABEL)}
            axes.axvline(float(leg["stance_percent"]), **upright)


def _reserves(average: xr.Dataset, name: str) -> NDArray[np.int_]:
    """Number of cycles whose values needed a reserve, zero for a quantity that does not depend on the muscles."""
    needed: NDArray[np.int_] = average["cycles_with_reserve"].values
    return 0 * needed if name == "joint_angle" else needed


def _has_toe_off(leg: xr.Dataset) -> bool:
    return "stance_percent" in leg and bool(np.isfinite(leg["stance_percent"]))


def _entries(average: xr.Dataset, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the entries of the legend for the lines that are drawn."""
    entries: dict[str, Any] = {}
    sides = [str(side) for side in average["side"].values]
    for side in sides:
        cycles = int(average["cycles"].sel(side=side))
        text = f"{SIDE_NAMES[side]}, {count_of(cycles, 'cycle')}"
        entries[text] = side_key(side)
    counts = [average[f"{name}_count"] for name in names]
    if any(int(count.max()) > 1 for count in counts):
        entries[SPREAD] = area(color=NOTE_COLOR, alpha=BAND, linewidth=0.0)
    if any(bool(((0 < count) & (count < count.max("percent"))).any()) for count in counts):
        entries[FEWER] = line(NOTE_COLOR, **REPEATED)
    if any(_reserves(average, name).any() for name in names):
        entries[WITH_RESERVE] = line(NOTE_COLOR, linestyle=RESERVE_STYLE)
    if any(_has_toe_off(average.sel(side=side)) for side in sides):
        entries[TOE_OFF_LABEL] = line(NOTE_COLOR, **EVENT_STYLE[TOE_OFF])
    return entries
