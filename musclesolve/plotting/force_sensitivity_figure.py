"""Which muscle answers to which: forces of all muscles against a parameter of every muscle, at an instant."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

from musclesolve.errors import InputError
from musclesolve.plotting.page.style import A4, GRID_COLOR, NOTE_COLOR, SMALL, TEXT
from musclesolve.results.dataset.frame_validity import SIDE_NAMES
from musclesolve.sharing.status import Status

PERCENT = 0.01
_HEIGHT = 7.9  # inch
_PLACE = (0.245, 0.05, 0.64, 0.64 * A4[0] / _HEIGHT)  # shares of the figure: a square
_SMALLEST = 0.05  # N per cent: paler than this is not told apart
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
        time: the instant [s], or the nearest one that has a derivative; unless given, that at which the muscles pull
            most without the help of reserves.

    Raises:
        InputError: there is no such parameter or side, or no frame with a derivative.
    """
    if f"by_{parameter}" not in found:
        known = ", ".join(_WORDS)
        raise InputError(f"no parameter {parameter!r}", where="parameter", expected=f"one of {known}")
    sides = [str(name) for name in found["side"].values]
    if side not in sides:
        raise InputError(f"there is no side {side!r}", where="side", expected="one of " + ", ".join(sides))
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
    figure.text(0.06, 0.975, f"Who feels whose {_WORDS[parameter]}", fontsize=TEXT + 3, va="top")
    note = (
        f"change of the muscle force for 1 % more of one muscle, {SIDE_NAMES[side]} leg at "
        f"{float(leg['time']):.3f} s, cost {found.attrs['cost']}"
    )
    figure.text(0.06, 0.945, note, fontsize=SMALL, color=NOTE_COLOR, va="top")
    bar = figure.colorbar(image, cax=figure.add_axes((0.9, _PLACE[1], 0.013, _PLACE[3])))
    bar.set_label("[N]", fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)
    return figure


def _frame(leg: xr.Dataset, time: float | None) -> int:
    """The number of the frame to draw."""
    there = leg["unique"].values
    if not there.any():
        raise InputError(
            "no frame of this leg has a derivative", remedy="see `margin` and the status of the run"
        )
    if time is None:
        alone = there & (leg["status"].values == Status.SOLVED)
        total = np.nan_to_num(leg["muscle_force"].values).sum(axis=1)
        return int(np.where(alone if alone.any() else there, total, -1.0).argmax())
    return int(np.where(there, np.abs(leg["time"].values - time), np.inf).argmin())


def _label(axes: Axes, leg: xr.Dataset) -> None:
    answers = [str(name).replace("_", " ") for name in leg["muscle"].values]
    changed = [str(name).replace("_", " ") for name in leg["changed"].values]
    forces = leg["muscle_force"].values
    rows = [f"{name}, {force:.0f} N" for name, force in zip(answers, forces, strict=True)]
    axes.set_yticks(range(len(rows)), rows, fontsize=SMALL - 1)
    axes.set_xticks(range(len(changed)), changed, rotation=90, fontsize=SMALL - 1)
    axes.xaxis.tick_top()
    axes.set_ylabel("muscle and its force", fontsize=TEXT)
    axes.set_xlabel("changed muscle", fontsize=TEXT)
    axes.tick_params(length=0)
    for which, count in ((axes.set_xticks, len(changed)), (axes.set_yticks, len(rows))):
        which(np.arange(-0.5, count), minor=True)
    axes.grid(which="minor", color=GRID_COLOR, linewidth=0.3)
    axes.tick_params(which="minor", length=0)
