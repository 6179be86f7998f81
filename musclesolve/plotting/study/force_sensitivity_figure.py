"""Sensitivity of the forces of all muscles to a parameter of every muscle, at an instant."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.plotting.page.style import A4, SMALL, TEXT, caption, cell_borders, color_bar
from musclesolve.results.dataset.frame_validity import SIDE_NAMES
from musclesolve.sharing.status import Status

PERCENT = 0.01
_HEIGHT = 7.9  # inch
_PLACE = (0.245, 0.05, 0.64, 0.64 * A4[0] / _HEIGHT)  # shares of the figure: a square
_SMALLEST = 0.05  # N per cent: smaller changes are drawn as zero
_WORDS = {
    "max_isometric_force": "maximum isometric force",
    "optimal_fiber_length": "optimal fiber length",
    "tendon_slack_length": "tendon slack length",
}


def force_sensitivity_map(
    found: xr.Dataset, parameter: str = "max_isometric_force", side: str = "r", time: float | None = None
) -> Figure:
    """Change of every muscle force for 1 % more of a parameter of one muscle [N].

    Args:
        found: what `force_sensitivity` gives.
        parameter: max_isometric_force, optimal_fiber_length or tendon_slack_length.
        side: whose muscles.
        time: the instant [s], or the nearest one that has a derivative; unless given, that of the largest sum of
            muscle forces without reserves.

    Raises:
        InputError: there is no such parameter or side, or no frame with a derivative.
    """
    if f"by_{parameter}" not in found:
        raise unknown_name(parameter, "parameter", _WORDS)
    sides = [str(name) for name in found["side"].values]
    if side not in sides:
        raise unknown_name(side, "side", sides)
    leg = found.sel(side=side)
    frame = _frame(leg, time)
    leg = leg.isel(time=frame)
    values = PERCENT * leg[f"by_{parameter}"].values
    figure = Figure(figsize=(A4[0], _HEIGHT))
    axes = figure.add_axes(_PLACE)
    largest = max(float(np.abs(values).max()), 10.0 * _SMALLEST)
    norm = SymLogNorm(_SMALLEST, vmin=-largest, vmax=largest)
    image = axes.imshow(values, cmap="RdBu_r", norm=norm, aspect="equal")
    _label(axes, leg)
    title = f"Sensitivity of muscle forces to the {_WORDS[parameter]} of each muscle"
    note = (
        f"change of the muscle force for 1 % more of one muscle, {SIDE_NAMES[side]} leg at "
        f"{float(leg['time']):.3f} s, cost {found.attrs['cost']}"
    )
    caption(figure, title, note, (0.06, 0.975, 0.945))
    color_bar(figure, image, (0.9, _PLACE[1], 0.013, _PLACE[3]), "[N]")
    return figure


def _frame(leg: xr.Dataset, time: float | None) -> int:
    """The number of the frame to draw."""
    there = leg["unique"].values
    if not there.any():
        remedy = "see `margin` and the status of the run"
        raise InputError("no frame of this leg has a derivative", code="bad_result", remedy=remedy)
    if time is None:
        alone = there & (leg["status"].values == Status.SOLVED)
        total = np.nan_to_num(leg["muscle_force"].values).sum(axis=1)
        return int(np.where(alone if alone.any() else there, total, -1.0).argmax())
    return int(np.where(there, np.abs(leg["time"].values - time), np.inf).argmin())


def _label(axes: Axes, leg: xr.Dataset) -> None:
    muscles = [str(name).replace("_", " ") for name in leg["muscle"].values]
    changed = [str(name).replace("_", " ") for name in leg["changed"].values]
    forces = leg["muscle_force"].values
    rows = [f"{name}, {force:.0f} N" for name, force in zip(muscles, forces, strict=True)]
    axes.set_yticks(range(len(rows)), rows, fontsize=SMALL - 1)
    axes.set_xticks(range(len(changed)), changed, rotation=90, fontsize=SMALL - 1)
    axes.xaxis.tick_top()
    axes.set_ylabel("muscle and its force", fontsize=TEXT)
    axes.set_xlabel("changed muscle", fontsize=TEXT)
    cell_borders(axes, len(rows), len(changed))
