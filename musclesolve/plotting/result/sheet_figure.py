"""The clinical sheet: angles in three planes, moments and powers of both legs on one page, beside norms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.errors import input_error
from musclesolve.plotting.page.curves import PERCENTS, Abscissa, Legs, cycle_axis, side_key
from musclesolve.plotting.page.keys import line, series
from musclesolve.plotting.page.norm_bands import NormBands
from musclesolve.plotting.page.page_style import NOTE_COLOR, SIDE_COLOR, SIDE_WIDTH
from musclesolve.plotting.page.sheet import Sheet, heading, native, page, zero_line
from musclesolve.plotting.study.group_figures import DASHES
from musclesolve.results.cycles.gait_scores import Curve, SheetPanel, leg_curves, panels
from musclesolve.results.dataset.checked import MODEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW_HEIGHT = 0.125
"""Height of a row, as a share of an upright A4 page."""


@native
def clinical_sheet(results: xr.Dataset | Mapping[str, xr.Dataset]) -> Sheet:
    """Angles of pelvis, hip, knee, ankle and foot in three planes, internal moments and powers; norms of level walking.

    Angles in degrees, moments in N m/kg, powers in W/kg; the named direction is positive. Several strides are drawn
    as their mean, with a band of one standard deviation. Rows without any curve are left out.

    Args:
        results: a result of `musclesolve.run` or on an OpenSim model; or name -> result, such as the trials of a person
            or two sessions. Each of several results is drawn as the mean of its strides: the color says the leg, the
            dashes say the result.
    """
    named = results if isinstance(results, Mapping) and not isinstance(results, xr.Dataset) else {"": results}
    beside = len(named) > 1
    every = {name: Legs.from_result(each, analyzed=False) for name, each in named.items()}
    legs = {
        name: replace(own, sides=[side for side in own.sides if side in SIDE_NAMES])
        for name, own in every.items()
        if own.x.is_cycle or not beside
    }
    if not 1 <= len(legs) <= len(DASHES):
        raise input_error(
            "bad_number",
            problem=f"{len(legs)} of {len(named)} results have a stride of each leg",
            expected=f"1 to {len(DASHES)} of them on one sheet, each with its own dashes",
        )
    first = next(iter(legs.values()))
    curves = {name: {side: leg_curves(own.result, side) for side in own.sides} for name, own in legs.items()}
    known = {key for own in curves.values() for leg in own.values() for key in leg}
    rows = [row for row in panels() if any(panel.curve in known for panel in row)]
    title = "Gait: angles, internal moments, powers"
    height = min(1.0, 0.1 + ROW_HEIGHT * len(rows))
    alike = xr.merge(
        [xr.Dataset(attrs=own.result.attrs) for own in legs.values()], combine_attrs="drop_conflicts"
    )
    drawn, grid = page(alike, title, max(len(rows), 1), 3, height=height, labels=True)
    x = first.x if not beside else cycle_axis()
    norms = NormBands.from_result(first.result, x)
    for axes in grid.flat:
        axes.set_visible(False)
    for number, row in enumerate(rows):
        lowest = number + 1 == len(rows)
        for axes, panel in zip(grid[number], row, strict=True):
            if panel.curve not in known:
                continue
            axes.set_visible(True)
            norms.draw(axes, *panel.curve, crowded=True)
            if beside:
                _of_several(axes, panel.curve, legs, curves)
            else:
                _of_one(axes, panel, first, next(iter(curves.values())))
            zero_line(axes)
            low, high = axes.get_ylim()
            if high - low < panel.least:
                axes.set_ylim(0.5 * (low + high - panel.least), 0.5 * (low + high + panel.least))
            heading(axes, panel.title)
            axes.set_ylabel(f"[{panel.unit}]")
            below = lowest or rows[number + 1][row.index(panel)].curve not in known
            x.apply(axes, labeled=below, with_label=False)
    drawn.label_axes(x.label, "")
    if beside:
        _legend(drawn, legs)
        for name in filter(lambda name: name not in legs, named):
            drawn.add_note(f"{name} is not drawn: it has no stride of each leg")
    else:
        first.legend(drawn, measured=MODEL in first.result.attrs, events=first.x.is_cycle)
    norms.explain(drawn)
    curves_of_sheet = {*known, *(panel.curve for row in panels() for panel in row)}
    norms.name_unknown(drawn, curves_of_sheet, map(str, first.result["muscle"].values))
    return drawn


def _of_one(axes: Axes, panel: SheetPanel, legs: Legs, curves: Mapping[str, Mapping[Curve, Array]]) -> None:
    """Draw a curve of both legs of a result; angles, and all of a model, do not depend on the solution."""
    measured = panel.quantity.endswith("_angle") or MODEL in legs.result.attrs
    for side, own in curves.items():
        if panel.curve in own:
            legs.draw(axes, side, own[panel.curve], measured=measured)
    if legs.x.is_cycle:
        legs.mark_events(axes)


def _of_several(
    axes: Axes,
    key: Curve,
    legs: Mapping[str, Legs],
    curves: Mapping[str, Mapping[str, Mapping[Curve, Array]]],
) -> None:
    """Draw the mean curve of each leg of each result."""
    for (name, own), dashes in zip(legs.items(), DASHES, strict=False):
        for side, of_leg in curves[name].items():
            if key in of_leg:
                style: dict[str, Any] = {"color": SIDE_COLOR[side], "linewidth": 0.75 * SIDE_WIDTH[side]}
                place, values = _mean(own.x, side, of_leg[key])
                axes.plot(place, values, linestyle=dashes, label=series(side, name), **style)


def _mean(x: Abscissa, side: str, values: Array) -> tuple[Array, Array]:
    """Places and values of the mean of the strides of a leg, or of its most complete stride."""
    if side in x.strides:
        return PERCENTS, x.strides[side].mean(values)
    first = x.passes[side][0]
    return np.asarray(first.place), values[first.index]


def _legend(sheet: Sheet, legs: Mapping[str, Legs]) -> None:
    """The legs by color, the results by dashes."""
    entries: dict[str, Any] = {
        SIDE_NAMES[side]: side_key(side)
        for side in SIDE_NAMES
        if any(side in own.sides for own in legs.values())
    }
    for name, dashes in zip(legs, DASHES, strict=False):
        entries[name] = line(NOTE_COLOR, 1.2, linestyle=dashes, of=name)
    sheet.add_legend(entries)
