"""Sensitivity of joint moments to errors of the inputs: joints against sources, in newton metres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from musclesolve.dynamics.sensitivity.moment_sensitivity import Sensitivity
from musclesolve.errors import InputError
from musclesolve.plotting.page.style import A4, SMALL, caption, cell_borders, color_bar

ERROR_SIZE = {
    "segment mass": 1.0,
    "measured point": 0.010,
    "force": 10.0,
    "point of application": 0.005,
    "free moment": 1.0,
}
"""How large an error of each kind is drawn, in the unit of its source (kg, m, N, m, N m)."""

_EDGE = {"left": 0.16, "right": 0.92, "bottom": 0.14, "top": 0.87, "wspace": 0.06}  # shares of the figure
_CELL = 3.8  # points
_SMALLEST = 0.01  # N m: smaller values are drawn as this


def sensitivity_map(
    sensitivities: Sequence[Sensitivity], errors: Mapping[str, float] | None = None, base: bool = False
) -> Figure:
    """Largest change of every joint moment over the frames for one error of each source [N m].

    Errors of measured points are drawn in their worst direction, the others by component. An empty cell is an exact
    zero: that moment does not depend on that input at all.

    Args:
        sensitivities: what the functions of `musclesolve.dynamics.sensitivity` give, of one motion.
        errors: size of the error by kind, in the unit of its source; `ERROR_SIZE` where absent.
        base: whether the force and moment that the base would need are drawn too.

    Raises:
        InputError: nothing to draw, an error of no known size, or sensitivities of different models.
    """
    sizes = ERROR_SIZE | dict(errors or {})
    _check(sensitivities, sizes)
    rows = _rows(sensitivities[0].dofs, base)
    drawn = [each.worst_direction() if each.kind == "measured point" else each for each in sensitivities]
    changes = [sizes[each.kind] * each.largest()[rows] for each in drawn]
    figure = Figure(figsize=(A4[1], A4[0]))
    widths = [max(len(each.sources), 3) for each in drawn]
    panels = figure.subplots(1, len(changes), squeeze=False, gridspec_kw={**_EDGE, "width_ratios": widths})[0]
    norm = LogNorm(_SMALLEST, max(10.0 * _SMALLEST, *(float(values.max()) for values in changes)), clip=True)
    for axes, values, each in zip(panels, changes, drawn, strict=True):
        image = _panel(axes, values, each.sources, norm)
        unit = {"m": "mm"}.get(each.unit, each.unit)
        size = sizes[each.kind] * (1000.0 if each.unit == "m" else 1.0)
        axes.set_title(f"{each.kind}\n{size:g} {unit}", fontsize=SMALL)
    labels = [drawn[0].dofs[row].replace("_", " ") for row in rows]
    panels[0].set_yticks(range(len(labels)), labels, fontsize=SMALL - 1)
    for axes in panels[1:]:
        axes.tick_params(labelleft=False)
    note = "largest change of the moment in the recording; an empty cell is exactly zero"
    caption(figure, "Sensitivity of joint moments to errors of the inputs", note, (0.02, 0.97, 0.935))
    color_bar(figure, image, (0.94, _EDGE["bottom"], 0.012, 0.73), "[N m]")
    return figure


def _rows(dofs: Sequence[str], base: bool) -> list[int]:
    """Joints limb by limb: legs, trunk and head, arms, then the base."""

    def limb(row: int) -> tuple[int, int]:
        name = dofs[row]
        leg = name.startswith(("hip", "knee", "ankle"))
        return {"_r": 0 if leg else 3, "_l": 1 if leg else 4}.get(name[-2:], 2), row

    joints = len(dofs) - 6
    return sorted(range(joints), key=limb) + (list(range(joints, len(dofs))) if base else [])


def _panel(axes: Axes, values: np.ndarray, columns: Sequence[str], norm: LogNorm) -> AxesImage:
    """Colored cells with their numbers; cells of exact zeros stay empty."""
    image = axes.imshow(np.ma.masked_equal(values, 0.0), aspect="auto", cmap="YlOrBr", norm=norm)
    for (row, column), value in np.ndenumerate(values):
        if value >= 0.5 * _SMALLEST:
            color = "white" if norm(value) > 0.6 else "black"
            axes.text(column, row, _number(value), fontsize=_CELL, ha="center", va="center", color=color)
    labels = [column.replace("_", " ") for column in columns]
    axes.set_xticks(range(len(labels)), labels, rotation=90, fontsize=SMALL - 1)
    axes.set_yticks(range(len(values)))
    cell_borders(axes, len(values), len(labels))
    return image


def _number(value: float) -> str:
    """Two digits are enough to compare, and fit a cell."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"[1:]


def _check(sensitivities: Sequence[Sensitivity], sizes: Mapping[str, float]) -> None:
    if not sensitivities:
        raise InputError("there are no sensitivities to draw", code="missing_argument")
    for each in sensitivities:
        if each.kind not in sizes:
            problem = f"no size is given for an error of {each.kind!r}"
            raise InputError(problem, code="missing_argument", expected="an entry in `errors`")
        if each.dofs != sensitivities[0].dofs:
            raise InputError("the sensitivities are those of different models", code="not_comparable")
