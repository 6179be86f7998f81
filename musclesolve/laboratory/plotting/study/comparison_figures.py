"""Figures of averages over gait cycles, and of comparisons: of costs, one page per leg; of results, by their means."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_integer
from musclesolve._util.messages import count_of
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, joint_kind, side_of, split_side, with_side
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.figure_names import CONTACT_TITLE
from musclesolve.laboratory.plotting.page import page_style
from musclesolve.laboratory.plotting.page.chart import Chart, Panel
from musclesolve.laboratory.plotting.page.chart_figure import charted_data
from musclesolve.laboratory.plotting.page.curves import (
    EVENT_NAMES,
    EVENT_STYLE,
    FAILED,
    ON_GROUND,
    ON_GROUND_PREDICTED,
    RESERVE,
    SPREAD,
    TOE_OFF,
    Abscissa,
    Legs,
    Validity,
    abscissa,
    curves_by_kind,
    cycle_axis,
    side_key,
    with_neighbors,
)
from musclesolve.laboratory.plotting.page.marks import Area, Line, Mark, Points, Uprights
from musclesolve.laboratory.plotting.page.page_style import (
    APART,
    BAND,
    FAILED_MARK,
    NOTE_COLOR,
    REPEATED,
    RESERVE_STYLE,
    SIDE_COLOR,
    STANCE_COLOR,
    area,
    height_for,
    line,
    series,
    space_for,
)
from musclesolve.laboratory.plotting.page.panels import ACTIVATION, FORCE, muscles_by_group, with_senses
from musclesolve.laboratory.plotting.page.sheet import Sheet, as_result, heading, native, page
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.result_quantities import (
    OPPOSITE,
    drawn_joints,
    force_unit,
    listed,
    magnitude,
)
from musclesolve.sharing.solution import Solution

if TYPE_CHECKING:
    pass


FEWER, WITH_RESERVE, TOE_OFF_LABEL = "fewer cycles", "a cycle with reserve", EVENT_NAMES[TOE_OFF]
UNBOUNDED = (-np.inf, np.inf)


@charted_data
def average_angles_and_moments(average: xr.Dataset) -> Chart:
    """Angle [deg] and internal moment of the degrees of freedom, per body mass or in a chosen unit."""
    shared = [dof for dof in listed(average, "shared_dofs") if dof not in OPPOSITE]  # names of a model
    dofs = [dof for dof in (*OPPOSITE, *shared) if dof in average["dof"].values]
    mass, unit = average.attrs.get("subject_mass_kg"), average["joint_moment"].attrs.get("units", "N m")
    degrees = 1.0 if average["joint_angle"].attrs.get("units") == "deg" else 180.0 / np.pi
    factor, unit = (1.0 / float(mass), "N m/kg") if unit == "N m" and mass is not None else (1.0, unit)
    shown = list[Panel]()
    for dof in dofs:
        angle = _mean_marks(average, "joint_angle", {"dof": dof}, factor=degrees)
        moment = _mean_marks(average, "joint_moment", {"dof": dof}, factor=factor)
        shown += [Panel(with_senses(dof), angle, "deg"), Panel(with_senses(dof, " moment"), moment, unit)]
    chart = Chart(
        _axis_of(average, " of each leg"),
        average,
        "Mean joint angles and internal joint moments",
        shown,
        row=0.125,
    )
    chart.add_legend(_entries(average, ("joint_angle", "joint_moment")))
    return chart


@charted_data
def average_activations(average: xr.Dataset) -> Chart:
    """Activation of each muscle, 0 to 1."""
    return every_muscle(average, "activation", "Mean muscle activation", ACTIVATION)


@charted_data
def average_muscle_forces(average: xr.Dataset) -> Chart:
    """Force of each muscle in newton or the unit of the average, every panel with its own scale."""
    unit = average["muscle_force"].attrs.get("units", "N")
    label = {"N": FORCE, "%": "force [% of maximum isometric force]"}.get(unit, f"force [{unit}]")
    return every_muscle(average, "muscle_force", "Mean muscle force", label)


def every_muscle(average: xr.Dataset, name: str, title: str, vertical: str) -> Chart:
    """The chart of a quantity of every muscle, whose bands end at zero and at full activation."""
    share = name == "activation"
    limits, high, least = (0.0, 1.0 if share else np.inf), 1.05 if share else None, 0.0 if share else 1.0
    muscles = muscles_by_group(*([str(name) for name in average[key].values] for key in ("muscle", "group")))
    shown = [
        Panel(
            muscle.replace("_", " "),
            _mean_marks(average, name, {"muscle": muscle}, limits),
            note=group.replace("_", " "),
            low=0.0,
            high=high,
            least=least,
        )
        for muscle, group in muscles.items()
    ]
    chart = Chart(_axis_of(average, " of each leg"), average, title, shown, abreast=5, vertical=vertical)
    chart.add_legend(_entries(average, (name,)))
    return chart


def _mean_marks(
    average: xr.Dataset,
    name: str,
    where: dict[str, str],
    limits: tuple[float, float] = UNBOUNDED,
    factor: float = 1.0,
) -> list[Mark]:
    """Mean, band within the limits, and toe-off of each leg.

    The mean is pale where it includes fewer cycles than elsewhere, dotted where a cycle needed a reserve.
    """
    marks = list[Mark]()
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
        band = {"color": color, "alpha": BAND, "linewidth": 0.0}
        marks.append(Area(series(side, SPREAD), band, percent, low, high))
        full, reserve = number == count.max(), needed > 0.0
        kinds = {"": ("-", ~reserve), WITH_RESERVE: (RESERVE_STYLE, with_neighbors(reserve))}
        marks += curves_by_kind(side, percent, mean, full, ~full, FEWER, kinds)
        if _has_toe_off(leg):
            at = np.array([float(leg["stance_percent"])])
            marks.append(Uprights(series(side, TOE_OFF_LABEL), EVENT_STYLE[TOE_OFF] | {"color": color}, at))
    return marks


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
        text = ", ".join(filter(None, [SIDE_NAMES.get(side), count_of(cycles, "cycle")]))
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


# None is near the blue and orange of the legs; the first curve is the widest.
COST_COLORS = ("#6A3D9A", "#009E73", "#CC79A7", "#8C510A", "#4D4D4D", "#B2182B")
WIDTHS = (2.0, 0.8)  # points, of the first curve and the last
DASHES: tuple[Any, ...] = (
    *("-", (0, (5, 1.2)), (0, (9, 1.2, 1.2, 1.2, 1.2, 1.2)), (0, (7, 1.5, 1.5, 1.5))),
    *("-", (0, (3, 1))),
)
"""Dashes of curves with similar gray. Dots mean a reserve."""
UNITS = {"BW": "body weights", "N": "N"}
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


@charted_data
def compare_activations(comparison: xr.Dataset, side: str | None = None) -> Chart:
    """Activation of each muscle of a leg, 0 to 1."""
    chart = _of_costs(comparison, "muscle", side, ("Muscle activation", ACTIVATION), "activation", 1.05)
    return replace(chart, abreast=5)


@charted_data
def compare_muscle_forces(comparison: xr.Dataset, side: str | None = None) -> Chart:
    """Force of each muscle of a leg [N], every panel with its own scale."""
    return _of_costs(comparison, "muscle", side, ("Muscle force", FORCE), "muscle_force")


@charted_data
def compare_group_forces(comparison: xr.Dataset, side: str | None = None) -> Chart:
    """Sum of the forces of the muscles of each function group [N], every panel with its own scale."""
    titles = ("Force of function groups", FORCE)
    return _of_costs(comparison, "function_group", side, titles, "group_force")


@charted_data
def compare_co_contraction(comparison: xr.Dataset, side: str) -> Chart:
    """Share of the contractile muscle moments about each degree of freedom that cancel each other, 0 to 1."""
    known = comparison["co_contraction"].notnull().any(["cost", "time"])
    titles = ("Co-contraction", "2 antagonist moment / (agonist + antagonist) [1]")
    return _of_costs(comparison.sel(dof=known), "dof", side, titles, "co_contraction", 1.05)


@charted_data
def compare_contact_forces(comparison: xr.Dataset, side: str) -> Chart:
    """Magnitude of the contact force at the joints of a side."""
    weight, unit = force_unit(comparison)
    data = comparison.assign(contact=magnitude(comparison["joint_reaction"]) / weight)
    data = data.sel(joint=[names[side] for names in drawn_joints(data).values() if side in names])
    chart = _of_costs(data, "joint", side, (CONTACT_TITLE, f"[{unit}]"), "contact")
    return replace(chart, columns=3, abreast=1)


def _of_costs(
    comparison: xr.Dataset,
    dim: str,
    side: str | None,
    titles: tuple[str, str],
    variable: str,
    high: float | None = None,
) -> Chart:
    """A panel for each entry of a dimension that belongs to a leg, in it a curve for each cost.

    side: the first one of the comparison unless given; high: upper end of all scales.
    """
    comparison = as_result(comparison)
    if comparison.sizes["time"] < 2:
        raise input_error("too_few_frames", problem="a comparison of a single frame has no curves to draw")
    side = side or frames.sides(comparison)[0]
    # The frames are the same under every cost; the first cost decides which pass of several is drawn first.
    first = comparison.isel(cost=0)
    legs = Legs.from_result(first, abscissa(first, averaged=False))
    costs = [str(cost) for cost in comparison["cost"].values]
    parts = [comparison.sel(cost=cost) for cost in comparison["cost"].values]
    validity = [Validity.from_result(part, side) for part in parts]
    styles = [line_style(number, len(costs), cost) for number, cost in enumerate(costs)]
    # Names of the leg, without side, in the order in which they are on every page: muscles group by group.
    ours = [side_of(str(name)) == side for name in comparison[dim].values]
    names = [split_side(str(name))[0] for name in comparison[dim].values[ours]]
    if dim in ("muscle", "function_group"):
        groups = names if dim == "function_group" else list(map(str, comparison["group"].values[ours]))
        names = list(muscles_by_group(names, groups))
    shown, bars = list[Panel](), legs.stance_bars(side)
    for name in names:
        marks = list(bars)
        for number, part in enumerate(parts):
            values = part[variable].sel({dim: with_side(name, side)}).values
            row = 0.03 + 0.06 * number
            marks += _of_cost(legs, side, values, validity[number], costs[number], styles[number], row)
        shown.append(Panel(name.replace("_", " "), marks, low=0.0, high=high, least=1e-3))
    title = f"{titles[0]}: {frames.part_names(comparison)[side]}, one color per cost"
    chart = Chart(legs.x, comparison, title, shown, abreast=3, vertical=titles[1])
    entries = {cost: line(of=cost, **style) for cost, style in zip(costs, styles, strict=True)}
    if any(leg.reserve.any() for leg in validity):
        entries[RESERVE] = line(page_style.NOTE_COLOR, linestyle=page_style.RESERVE_STYLE)
    if any(leg.failed.any() for leg in validity):
        entries[FAILED] = line(page_style.NOTE_COLOR, **page_style.FAILED_MARK)
    stances = zip(legs.stances.get(side, ()), (ON_GROUND, ON_GROUND_PREDICTED), strict=False)
    entries |= {what: area(color=STANCE_COLOR[side]) for stretches, what in stances if stretches}
    chart.add_legend(entries)
    for sentence in comparison.attrs.get("needless_reserves", "").splitlines():
        chart.add_note(sentence)
    return chart


def _of_cost(
    legs: Legs, side: str, values: Array, validity: Validity, cost: str, style: dict[str, Any], row: float
) -> list[Mark]:
    """A curve: solid where solved, dotted with a reserve, a cross in a row without a valid solution.

    Only the longest pass is drawn: further gait cycles of several costs could not be distinguished.
    """
    marks = list[Mark]()
    for part in legs.x.passes[side]:
        curve, fresh = values[part.index], ~part.repeated
        failed = validity.failed[part.index]
        dotted = with_neighbors(validity.reserve[part.index]) & ~failed
        solid = validity.solved[part.index]
        marks.append(Line(cost, style, part.place, np.where(solid & fresh, curve, np.nan)))
        if dotted.any():
            reserve = style | {"linestyle": page_style.RESERVE_STYLE}
            values_of = np.where(dotted & fresh, curve, np.nan)
            marks.append(Line(f"{cost}{APART}{RESERVE}", reserve, part.place, values_of))
        if failed.any():
            look = {"color": style["color"], **FAILED_MARK}
            marks.append(Points(f"{cost}{APART}{FAILED}", look, part.place[failed], row))
    return marks


def line_style(number: int, count: int, name: str = "") -> dict[str, Any]:
    """Color, width and dashes of the curve of a cost: what the user chose, or the usual ones."""
    width = WIDTHS[0] + (WIDTHS[1] - WIDTHS[0]) * number / max(1, count - 1)
    colors, width = curve_colors(), width * page_style.line_scale()
    dashes = DASHES[(number + number // len(colors)) % len(DASHES)]  # another one where a color comes again
    usual = {"color": colors[number % len(colors)], "linewidth": width, "linestyle": dashes}
    chosen = page_style.current_style().chosen(name)
    return usual | {key: value for key, value in chosen.items() if key in usual}


def curve_colors() -> Sequence[str]:
    """Colors of compared curves: the usual ones, or of "axes.prop_cycle" where a user has changed it."""
    cycle = page_style.changed_setting("axes.prop_cycle")
    return cycle.by_key().get("color", COST_COLORS) if cycle else COST_COLORS


@charted_data
def compared_group_forces(compared: xr.Dataset, side: str) -> Chart:
    """Sum of the forces of the muscles of each function group, every panel with its own scale."""
    groups = [str(name) for name in compared["function_group"].values]
    names = list(muscles_by_group(groups, groups))
    return _of_cycles(compared, side, "group_force", "function_group", "Force of function groups", names)


@charted_data
def compared_contact_forces(compared: xr.Dataset, side: str) -> Chart:
    """Magnitude of the contact force at hip, knee and ankle, or at the joints of a model without legs."""
    every = [str(name) for name in compared["joint"].values]
    names = [name for name in every if joint_kind(name) in LEG_JOINTS] or every
    chart = _of_cycles(compared, side, "contact_force", "joint", CONTACT_TITLE, names)
    return replace(chart, columns=3, abreast=1)


def _axis_of(means: xr.Dataset, of_legs: str = "") -> Abscissa:
    """Per cent of the cycle that mean curves have; of_legs: words behind a gait cycle."""
    cycle = str(means["percent"].attrs.get("long_name", "gait cycle"))
    return replace(cycle_axis(), label=f"{cycle}{of_legs * (cycle == 'gait cycle')} [%]")


def _of_cycles(
    compared: xr.Dataset, side: str, variable: str, dim: str, title: str, names: list[str]
) -> Chart:
    """A panel for each name, with a curve for each result."""
    results = [str(name) for name in compared["result"].values]
    styles = [line_style(number, len(results), name) for number, name in enumerate(results)]
    curves, percent = compared[variable].sel(side=side), compared["percent"].values.astype(float)
    shown = [
        Panel(
            name.replace("_", " "),
            [
                Line(result, style, percent, curves.sel({"result": result, dim: name}).values)
                for result, style in zip(results, styles, strict=True)
            ],
            low=0.0,
            least=1e-3,
        )
        for name in names
    ]
    axis, unit = _axis_of(compared), UNITS[compared[variable].attrs["units"]]
    limb = f": {SIDE_NAMES[side]} {frames.limb_name(compared)}" if side in SIDE_NAMES else ""
    heading = f"{title}{limb}, mean of the cycles"
    chart = Chart(axis, compared, heading, shown, abreast=3, vertical=f"[{unit}]")
    counts = compared["cycles"].sel(side=side).values
    entries = {
        f"{name} ({count_of(count, 'cycle')})": line(of=name, **style)
        for name, count, style in zip(results, counts, styles, strict=True)
    }
    chart.add_legend(entries)
    return chart


@native
def pose_activations(data: xr.Dataset | Solution, frame: int = 0) -> Sheet:
    """Activation of every muscle in one frame, 0 to 1; of a comparison a mark for each cost and solver.

    A muscle without a mark has no certified activation. `frame` counts from 0.
    """
    result = as_result(data, least_frames=0)
    if "time" in result.dims:
        last = result.sizes["time"] - 1
        result = result.isel(time=check_integer(frame, "frame", -last - 1, last))
    compared = [str(cost) for cost in result["cost"].values] if "cost" in result.dims else ["activation"]
    sides = frames.sides(result)
    muscles: dict[str, list[str]] = {side: [] for side in sides}
    groups = dict(zip(map(str, result["muscle"].values), map(str, result["group"].values), strict=True))
    for name in muscles_by_group(list(groups), list(groups.values())):
        muscles[frames.muscle_sides(result)[name]].append(name)
    labels = [[split_side(name)[0].replace("_", " ") for name in of_side] for of_side in muscles.values()]
    most, alike = max(map(len, labels)), all(of_side == labels[0] for of_side in labels)
    wide = space_for(list(chain(*labels)))
    space = {"left": wide, "right": 0.0 if alike else wide, "least": height_for(most)}
    sheet, panels = page(
        result, "Muscle activation in one pose", 1, len(sides), height=0.25 + 0.013 * most, space=space
    )
    entries = {}
    for side, axes, names in zip(sides, panels[0], labels, strict=True):
        places = np.arange(len(names))[::-1]
        for number, cost in enumerate(compared):
            part = result.isel(cost=number) if "cost" in result.dims else result
            color, mark = COST_COLORS[number % len(COST_COLORS)], MARKS[number % len(MARKS)]
            style: dict[str, Any] = {"color": color, "marker": mark}
            values = part["activation"].sel(muscle=muscles[side]).values
            axes.plot(values, places, label=cost, linestyle="", markersize=3.0, **style)
            entries[cost] = line(of=cost, linestyle="", **style)
        axes.set_yticks(places, names)
        axes.tick_params(labelleft=not alike or side == sides[0])
        axes.set_xlim(-0.02, max(1.02, float(axes.get_xlim()[1])))
        axes.set_ylim(-1.0, float(len(places)))
        heading(axes, frames.part_names(result)[side])
    sheet.label_axes("activation [1]", "")
    if len(compared) > 1:
        sheet.add_legend(entries)
    return sheet
