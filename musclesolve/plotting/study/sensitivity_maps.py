"""Sensitivity as maps: of muscle forces to a parameter of every muscle, of joint moments to errors of the inputs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, SymLogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from musclesolve._util.names import check_known, unknown_name
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES
from musclesolve.dynamics.sensitivity.moment_sensitivity import Sensitivity
from musclesolve.errors import input_error
from musclesolve.plotting.page.arrangement import A4
from musclesolve.plotting.page.page_style import GRID_COLOR, NOTE_COLOR, SMALL, TEXT
from musclesolve.sharing.status import Status

PERCENT = 0.01
MAP_HEIGHT = 7.9  # inch
SMALLEST_CHANGE = 0.05  # N per cent: smaller changes are drawn as zero
PARAMETERS = {
    "max_isometric_force": "maximum isometric force",
    "optimal_fiber_length": "optimal fiber length",
    "tendon_slack_length": "tendon slack length",
}
ERROR_SIZE = {
    "segment mass": 1.0,
    "measured point": 0.010,
    "force": 10.0,
    "point of application": 0.005,
    "free moment": 1.0,
}
"""How large an error of each kind is drawn, in the unit of its source (kg, m, N, m, N m)."""

CELL_TEXT = 3.8  # points
SMALLEST_MOMENT = 0.01  # N m: smaller values are drawn as this


def force_sensitivity_map(
    found: xr.Dataset,
    parameter: str = "max_isometric_force",
    side: str = "r",
    time: float | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Draw the change of every muscle force for 1 % more of a parameter of one muscle [N].

    Args:
        found: what `force_sensitivity` gives.
        parameter: max_isometric_force, optimal_fiber_length or tendon_slack_length.
        side: whose muscles.
        time: the instant [s], or the nearest one that has a derivative; unless given, the instant of the largest sum of
            muscle forces without reserves.
        ax: axes to draw into instead of a page; they are returned.

    Raises:
        InputError: there is no such parameter or side, or no frame with a derivative.
    """
    if f"by_{parameter}" not in found:
        raise unknown_name(parameter, "parameter", PARAMETERS)
    sides = [str(name) for name in found["side"].values]
    check_known([side], "side", sides)
    leg = found.sel(side=side)
    there = leg["unique"].values
    if not there.any():
        raise input_error(
            "bad_result",
            problem="no frame of this leg has a derivative",
            remedy="see `margin` and the status of the run",
        )
    if time is None:
        alone = there & (leg["status"].values == Status.SOLVED)
        total = np.nan_to_num(leg["muscle_force"].values).sum(axis=1)
        frame = int(np.where(alone if alone.any() else there, total, -1.0).argmax())
    else:
        frame = int(np.where(there, np.abs(leg["time"].values - time), np.inf).argmin())
    leg = leg.isel(time=frame)
    values = PERCENT * leg[f"by_{parameter}"].values
    figure, panels = _panels(ax, (A4[0], MAP_HEIGHT), [1])
    (axes,) = panels
    largest = max(float(np.abs(values).max()), 10.0 * SMALLEST_CHANGE)
    norm = SymLogNorm(SMALLEST_CHANGE, vmin=-largest, vmax=largest)
    image = axes.imshow(values, cmap="RdBu_r", norm=norm, aspect="equal")
    named = zip(leg["muscle"].values, leg["muscle_force"].values, strict=True)
    rows = [f"{str(name).replace('_', ' ')}, {force:.0f} N" for name, force in named]
    columns = [str(name).replace("_", " ") for name in leg["changed"].values]
    axes.set_yticks(range(len(rows)), rows, fontsize=SMALL - 1)
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=SMALL - 1)
    axes.xaxis.tick_top()
    axes.set_ylabel("muscle and its force", fontsize=TEXT)
    axes.set_xlabel("changed muscle", fontsize=TEXT)
    _cell_borders(axes, len(rows), len(columns))
    title = f"Sensitivity of muscle forces to the {PARAMETERS[parameter]} of each muscle"
    note = (
        f"change of the muscle force for 1 % more of one muscle, {SIDE_NAMES[side]} leg at "
        f"{float(leg['time']):.3f} s, cost {found.attrs['cost']}"
    )
    return _explained(figure, image, title, note, "[N]") if ax is None else ax


def sensitivity_map(
    sensitivities: Sequence[Sensitivity],
    errors: Mapping[str, float] | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Draw the largest change of every joint moment over the frames for one error of each source [N m].

    Errors of measured points are drawn in their worst direction, the others by component. An empty cell is an exact
    zero: that moment does not depend on that input at all.

    Args:
        sensitivities: what the functions of `musclesolve.dynamics.sensitivity` give, of one motion.
        errors: size of the error by kind, in the unit of its source; `ERROR_SIZE` where absent.
        ax: axes to draw into instead of a page, one for each of the sensitivities; they are returned.

    Raises:
        InputError: nothing to draw, an error of no known size, or sensitivities of different models.
    """
    sizes = ERROR_SIZE | dict(errors or {})
    if not sensitivities:
        raise input_error("missing_argument", problem="there are no sensitivities to draw")
    dofs = sensitivities[0].dofs
    for sensitivity in sensitivities:
        if sensitivity.kind not in sizes:
            raise input_error(
                "missing_argument",
                problem=f"no size is given for an error of {sensitivity.kind!r}",
                expected="an entry in `errors`",
            )
        if sensitivity.dofs != dofs:
            raise input_error("not_comparable", problem="the sensitivities belong to different models")

    def limb(row: int) -> tuple[int, int]:
        leg = dofs[row].startswith(LEG_JOINTS)
        return {"_r": 0 if leg else 3, "_l": 1 if leg else 4}.get(dofs[row][-2:], 2), row

    # Joints limb by limb: legs, trunk and head, arms; without the base.
    rows = sorted(range(len(dofs) - 6), key=limb)
    drawn = [
        sensitivity.worst_direction() if sensitivity.kind == "measured point" else sensitivity
        for sensitivity in sensitivities
    ]
    changes = [sizes[sensitivity.kind] * sensitivity.largest()[rows] for sensitivity in drawn]
    widths = [max(len(sensitivity.sources), 3) for sensitivity in drawn]
    figure, panels = _panels(ax, (A4[1], A4[0]), widths)
    norm = LogNorm(
        SMALLEST_MOMENT, max(10.0 * SMALLEST_MOMENT, *(float(values.max()) for values in changes)), clip=True
    )
    for axes, values, sensitivity in zip(panels, changes, drawn, strict=True):
        image = _panel(axes, values, sensitivity.sources, norm)
        unit = {"m": "mm"}.get(sensitivity.unit, sensitivity.unit)
        size = sizes[sensitivity.kind] * (1000.0 if sensitivity.unit == "m" else 1.0)
        axes.set_title(f"{sensitivity.kind}\n{size:g} {unit}", fontsize=SMALL)
    labels = [drawn[0].dofs[row].replace("_", " ") for row in rows]
    panels[0].set_yticks(range(len(labels)), labels, fontsize=SMALL - 1)
    for axes in panels[1:]:
        axes.tick_params(labelleft=False)
    note = "largest change of the moment in the recording; an empty cell is exactly zero"
    title = "Sensitivity of joint moments to errors of the inputs"
    return _explained(figure, image, title, note, "[N m]") if ax is None else ax


def _panel(axes: Axes, values: np.ndarray, columns: Sequence[str], norm: LogNorm) -> AxesImage:
    """Draw colored cells with their numbers; cells of exact zeros stay empty."""
    image = axes.imshow(np.ma.masked_equal(values, 0.0), aspect="auto", cmap="YlOrBr", norm=norm)
    for (row, column), value in np.ndenumerate(values):
        if value >= 0.5 * SMALLEST_MOMENT:
            color = "white" if norm(value) > 0.6 else "black"
            # Two digits are enough to compare, and fit a cell.
            digits = 0 if value >= 9.95 else 1 if value >= 0.95 else 2
            text = f"{value:.{digits}f}"[1 if digits == 2 else 0 :]
            axes.text(column, row, text, fontsize=CELL_TEXT, ha="center", va="center", color=color)
    labels = [column.replace("_", " ") for column in columns]
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=SMALL - 1)
    axes.set_yticks(range(len(values)))
    _cell_borders(axes, len(values), len(labels))
    return image


def _panels(ax: Any, size: tuple[float, float], widths: Sequence[int]) -> tuple[Figure, Sequence[Axes]]:
    """A page of a size [inch] with panels side by side, or the axes of a user."""
    given = [] if ax is None else list(np.ravel(np.array(ax, dtype=object)))
    if given and len(given) != len(widths):
        raise input_error(
            "bad_value",
            where="ax",
            problem=f"this map has {len(widths)} panels, and ax has {len(given)}",
            expected=f"{len(widths)} axes",
            remedy=f"plt.subplots(1, {len(widths)})",
        )
    figure = given[0].figure if given else Figure(figsize=size, layout="constrained")
    ratios = {"width_ratios": widths}
    return figure, given or list(figure.subplots(1, len(widths), squeeze=False, gridspec_kw=ratios)[0])


def _explained(figure: Figure, image: AxesImage, title: str, note: str, unit: str) -> Figure:
    """A page with its title, a smaller note, and the scale of its colors."""
    figure.suptitle(title, fontsize=TEXT + 3, x=0.02, ha="left")
    figure.supxlabel(note, fontsize=SMALL, color=NOTE_COLOR, x=0.02, ha="left")
    bar = figure.colorbar(image, ax=figure.axes, fraction=0.03, pad=0.02)
    bar.set_label(unit, fontsize=TEXT)
    bar.ax.tick_params(labelsize=SMALL)
    return figure


def _cell_borders(axes: Axes, rows: int, columns: int) -> None:
    """Draw thin lines between the cells of a map instead of ticks."""
    axes.set_xticks(np.arange(-0.5, columns), minor=True)
    axes.set_yticks(np.arange(-0.5, rows), minor=True)
    axes.grid(which="minor", color=GRID_COLOR, linewidth=0.3)
    axes.tick_params(which="both", length=0)
