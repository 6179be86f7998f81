"""Figures of a comparison: one colour per cost, one page per leg."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import InputError
from musclesolve.plotting.page.abscissa import Abscissa, abscissa
from musclesolve.plotting.page.curves import Validity, mark_stance
from musclesolve.plotting.page.png import Progress, png_files
from musclesolve.plotting.page.style import (
    FAILED_MARK,
    NOTE_COLOR,
    RESERVE_STYLE,
    TEXT,
    heading,
    page,
    place_legend,
)
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.subject_variables import body_weight

# Okabe & Ito (2008) without black and yellow, the darkest first; what comes first is drawn widest.
COST_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
WIDTHS = (2.0, 0.8)  # points, of the first curve and the last
COLUMNS, GROUP_COLUMNS = 5, 3
NEEDED = (
    "cost",
    "activation",
    "group_force",
    "co_contraction",
    "joint_reaction",
    "status",
    "group",
    "least_cost",
)


def comparison_files(
    comparison: xr.Dataset, progress: Progress = lambda stage, fraction: None
) -> dict[str, bytes]:
    """The content of the file of every figure, by its name.

    Args:
        comparison: what ``musclesolve.compare`` returns.
        progress: called before every figure with "drawing" and the share of the figures that is done.

    Raises:
        InputError: the dataset is not a comparison, or of more costs than can be told apart by colour.
    """
    _check(comparison)
    pages = {
        f"{name}_{side}": partial(draw, comparison, side)
        for name, draw in FIGURES.items()
        for side in frames.sides(comparison)
    }
    return png_files(pages, progress)


def activations(comparison: xr.Dataset, side: str) -> Figure:
    """Activation of each muscle of a leg, 0 to 1."""
    names = [str(name) for name in comparison["muscle"].values if str(name).endswith(f"_{side}")]
    titles = {name: name[:-2].replace("_", " ") for name in names}
    figure = _panels(comparison, side, "Muscle activation", "activation", "muscle", titles, COLUMNS, 1.0)
    figure.supylabel("activation [1]", fontsize=TEXT)
    return figure


def group_forces(comparison: xr.Dataset, side: str) -> Figure:
    """Sum of the forces of the muscles of each function group [N], every panel with its own scale."""
    names = [str(name) for name in comparison["function_group"].values if str(name).endswith(f"_{side}")]
    titles = {name: name[:-2].replace("_", " ") for name in names}
    title = "Force of function groups"
    figure = _panels(comparison, side, title, "group_force", "function_group", titles, GROUP_COLUMNS)
    figure.supylabel("force [N]  (each panel has its own scale)", fontsize=TEXT)
    return figure


def co_contractions(comparison: xr.Dataset, side: str) -> Figure:
    """Share of the contractile muscle moments about each degree of freedom that cancel each other, 0 to 1."""
    known = comparison["co_contraction"].notnull().any(["cost", "time"])
    names = [
        str(name)
        for name in comparison["dof"].values
        if str(name).endswith(f"_{side}") and known.sel(dof=name)
    ]
    titles = {name: name[:-2].replace("_", " ") for name in names}
    figure = _panels(comparison, side, "Co-contraction", "co_contraction", "dof", titles, GROUP_COLUMNS, 1.0)
    figure.supylabel("2 antagonist moment / (agonist + antagonist) [1]", fontsize=TEXT)
    return figure


def contact_forces(comparison: xr.Dataset, side: str) -> Figure:
    """Size of the contact force at hip, knee and ankle of a leg, in body weights."""
    size = (comparison["joint_reaction"] ** 2).sum("axis", skipna=False) ** 0.5
    data = comparison.assign(contact=size / body_weight(comparison))
    titles = {f"{joint}_{side}": joint for joint in ("hip", "knee", "ankle")}
    figure = _panels(data, side, "Joint contact force, magnitude", "contact", "joint", titles, 1)
    figure.supylabel("[body weights]", fontsize=TEXT)
    return figure


FIGURES: dict[str, Callable[[xr.Dataset, str], Figure]] = {
    "compare_activations": activations,
    "compare_group_forces": group_forces,
    "compare_contact_forces": contact_forces,
    "compare_co_contraction": co_contractions,
}
FILES = tuple(f"{name}_{side}.png" for name in FIGURES for side in frames.SIDE_NAMES)
"""Every figure of a comparison that there may be."""


def _panels(
    comparison: xr.Dataset,
    side: str,
    title: str,
    variable: str,
    dim: str,
    titles: dict[str, str],
    columns: int,
    most: float | None = None,
) -> Figure:
    """A panel for each entry of a dimension, in it a curve for each cost."""
    # The frames lie where they lie under every cost; which pass is drawn first, the first cost decides.
    x = abscissa(comparison.isel(cost=0))
    rows = max(1, -(-len(titles) // columns))
    leg = f"{title}: {frames.SIDE_NAMES[side]} leg, one colour per cost"
    figure, panels = page(
        comparison, leg, rows, columns, height=min(1.0, 0.16 + 0.21 * rows), sharey=most is not None
    )
    costs = [str(name) for name in comparison["cost"].values]
    parts = {cost: comparison.sel(cost=cost) for cost in costs}
    validity = {cost: Validity.of(part, side) for cost, part in parts.items()}
    for axes, (name, label) in zip(panels.flat, titles.items(), strict=False):
        for number, cost in enumerate(costs):
            values = parts[cost][variable].sel({dim: name}).values
            _curve(axes, x, side, values, validity[cost], number, len(costs))
        heading(axes, label)
        mark_stance(axes, x, side, frames.stance(comparison, side))
        top = most or max(axes.get_ylim()[1], 1e-3)
        axes.set_ylim(-0.03 * top, 1.05 * top)
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(titles))
        x.apply(axes, labelled=number + columns >= len(titles))
        axes.set_xlabel("")
    figure.supxlabel(x.label, fontsize=TEXT)
    _legend(figure, costs, validity.values())
    return figure


def _curve(
    axes: Axes,
    x: Abscissa,
    side: str,
    values: Array,
    validity: Validity,
    number: int,
    count: int,
) -> None:
    """Solid where solved, dotted with a reserve, nothing and a cross where there is no valid solution.

    Only what the longest pass shows is drawn: further gait cycles of several costs could not be told apart.
    """
    style: dict[str, Any] = {"color": COST_COLORS[number], "linewidth": _width(number, count)}
    for part in x.passes[side]:
        curve, fresh = values[part.index], ~part.again
        failed = validity.failed[part.index]
        dotted = _and_before(validity.reserve[part.index]) & ~failed
        solid = validity.solved[part.index]
        axes.plot(part.place, np.where(solid & fresh, curve, np.nan), linestyle="-", **style)
        if dotted.any():
            axes.plot(part.place, np.where(dotted & fresh, curve, np.nan), linestyle=RESERVE_STYLE, **style)
        height = np.full(int(failed.sum()), 0.03 + 0.06 * number)
        mark = FAILED_MARK | {"color": COST_COLORS[number]}
        axes.plot(part.place[failed], height, transform=axes.get_xaxis_transform(), clip_on=False, **mark)


def _and_before(mask: Mask) -> Mask:
    wider = mask.copy()
    wider[1:] |= mask[:-1]
    wider[:-1] |= mask[1:]
    return wider


def _width(number: int, count: int) -> float:
    return WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * number / max(1, count - 1)


def _legend(figure: Figure, costs: list[str], verdicts: Iterable[Validity]) -> None:
    handles = [
        Line2D([], [], color=COST_COLORS[number], linewidth=_width(number, len(costs)), label=cost)
        for number, cost in enumerate(costs)
    ]
    verdicts = list(verdicts)
    if any(each.reserve.any() for each in verdicts):
        handles.append(Line2D([], [], color=NOTE_COLOR, linestyle=":", label="with reserve"))
    if any(each.failed.any() for each in verdicts):
        cross: dict[str, Any] = FAILED_MARK | {"color": NOTE_COLOR}
        handles.append(Line2D([], [], **cross, label="no valid solution"))
    place_legend(figure, handles, ncols=4)


def _check(comparison: xr.Dataset) -> None:
    missing = [name for name in NEEDED if name not in comparison.variables]
    if missing:
        raise InputError(
            f"this is not a comparison of musclesolve: it has no {', '.join(missing)}",
            file=comparison.encoding.get("source"),
            expected="a dataset written by `musclesolve compare`",
        )
    if comparison.sizes["cost"] > len(COST_COLORS):
        raise InputError(
            f"{comparison.sizes['cost']} costs cannot be told apart by colour",
            expected=f"at most {len(COST_COLORS)} costs in one comparison",
            remedy="compare them in several runs",
        )
    if comparison.sizes["time"] < 2:
        raise InputError("a comparison of a single frame has no curves to draw")
