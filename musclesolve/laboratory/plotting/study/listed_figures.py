"""Figures of what there is: shapes of costs, passive joint moments beside published ones, times of solvers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.checks import check_type, one_or_several
from musclesolve._util.messages import check_known
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.page.page_style import (
    NOTE_COLOR,
    SIDE_COLOR,
    current_style,
    height_for,
    line,
    space_for,
)
from musclesolve.laboratory.plotting.page.panels import with_panels
from musclesolve.laboratory.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.laboratory.plotting.study.comparison_figures import MARKS, line_style
from musclesolve.muscles.passive.joint_moments import SAGITTAL, PassiveMoments, riener_edrich_1999
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import costs as every_cost

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from musclesolve.sharing.problem import Problem


FORCES = np.linspace(0.0, 1.0, 41)
"""Drawn forces of a muscle, as shares of its force capacity."""
RULE_COLORS = {"calibrated": SIDE_COLOR["r"], "table": SIDE_COLOR["l"], "none": NOTE_COLOR}
AXIS_MULTIPLE = 1.5
"""Range of the axes as a multiple of the published moments; larger moments of a set leave the panel."""
ELSEWHERE = "Riener and Edrich 1999"


@native
def cost_shapes(problem: "Problem", muscles: Sequence[str], costs: Mapping[str, Cost] | None = None) -> Sheet:
    """The cost of each of some muscles over its force while the others rest, a panel for each cost.

    The shapes show why loads are shared as they are. The largest cost of a panel is 1. `problem` gives the muscles in
    one frame; `costs`: by name, every named one that the arrays of the problem suffice for unless given.
    """
    frame = check_problem(problem).frames(slice(0, 1))
    names, muscles = list(problem.muscle or ()), one_or_several(muscles)
    check_known(muscles or [""], "muscle", names, " of the problem")
    expected = "a dict of costs by name, as ms.costs() makes"
    for cost in check_type({} if costs is None else costs, Mapping, "costs", expected).values():
        check_type(cost, Cost, "costs", expected)
    shown = costs or {
        name: record()
        for name, record in every_cost().items()
        if all(getattr(problem, array) is not None for array in record.data)
    }
    columns = 2 if current_style().narrow else 3
    rows = -(-len(shown) // columns)
    title, space = "Cost of a muscle over its force", {"below": 0.2}
    sheet, panels = page(xr.Dataset(), title, rows, columns, height=0.2 * rows, space=space)
    styles = {name: line_style(number, len(muscles), name) for number, name in enumerate(muscles)}
    for axes, (name, cost) in with_panels(panels, shown.items()):
        over = {}
        for muscle in muscles:
            activation = np.zeros((FORCES.size, len(names)))
            activation[:, names.index(muscle)] = FORCES
            values = np.array([cost.value(frame, row[None])[0] for row in activation])
            over[muscle] = values - values[0]
        largest = max(float(values.max()) for values in over.values()) or 1.0
        for muscle, values in over.items():
            capacity = float(frame.force_capacity[0, names.index(muscle)])
            axes.plot(capacity * FORCES, values / largest, label=muscle, **styles[muscle])
        axes.set_ylim(0.0, 1.05)
        heading(axes, name.replace("_", " "), cost.formula)
    sheet.label_axes("tendon force [N]", "cost [1]")
    sheet.add_legend({name.replace("_", " "): line(of=name, **styles[name]) for name in muscles})
    return sheet


@native
def passive_moment_figure(name: str, moments: Mapping[str, Sequence[PassiveMoments]]) -> Sheet:
    """A row of panels for each joint; `moments` by the rule for passive forces, `name` of the muscle set."""
    expected = "lists of PassiveMoments by the rule for passive forces"
    check_type(moments, Mapping, "moments", expected)
    if not moments:
        raise input_error("missing_argument", problem="there are no moments to draw", expected=expected)
    for moment in [moment for part in moments.values() for moment in one_or_several(part)]:
        check_type(moment, PassiveMoments, "moments", expected)
    first = next(iter(moments.values()))
    rows = [[k for k, computed in enumerate(first) if computed.sweep.dof == dof] for dof in SAGITTAL]
    described = xr.Dataset(attrs={"muscle_database": name})
    sheet, panels = page(described, "Passive joint moments", len(rows), max(map(len, rows)), height=0.75)
    for row, numbers in zip(panels, rows, strict=True):
        row[0].set_ylabel("passive moment [N m]")
        for panel, k in with_panels(row, numbers):
            _panel(panel, {rule: computed[k] for rule, computed in moments.items()})
    published = line("black", marker="o", linestyle="", markersize=3)
    entries = {"measured, see panel": published, ELSEWHERE: line(NOTE_COLOR, 1.0, linestyle="--")}
    sheet.add_legend(entries | {f"this set, {rule}": line(RULE_COLORS[rule], 1.6) for rule in moments})
    return sheet


def _panel(axes: "Axes", moments: Mapping[str, PassiveMoments]) -> None:
    sweep = next(iter(moments.values())).sweep
    other = riener_edrich_1999(sweep.dof, sweep.angles())
    axes.plot(sweep.angle, other, color=NOTE_COLOR, linestyle="--", linewidth=1.0)
    for rule, computed in moments.items():
        axes.plot(sweep.angle, computed.moment, color=RULE_COLORS[rule], linewidth=1.6)
    axes.plot(sweep.angle, sweep.moment, color="black", marker="o", linestyle="", markersize=3)
    low, high = min(sweep.moment.min(), other.min(), 0.0), max(sweep.moment.max(), other.max(), 0.0)
    spare = (AXIS_MULTIPLE - 1.0) * max(high - low, 1.0)
    axes.set_ylim(low - spare, high + spare)
    held = ", ".join(f"{dof.partition('_')[0]} {angle:g}" for dof, angle in sweep.fixed.items())
    errors = ", ".join(f"{rule} {computed.rms:.1f}" for rule, computed in moments.items())
    heading(axes, f"{sweep.dof.replace('_', ' ')} [deg] at {held}", f"{sweep.source}; rms: {errors}")


TICKS = {0: "1 µs", 1: "10 µs", 2: "0.1 ms", 3: "1 ms", 4: "10 ms", 5: "0.1 s", 6: "1 s", 7: "10 s"}
"""Powers of ten of a microsecond, in words."""
PARTLY = "not every frame is solved"


@native
def solver_times(table: "pd.DataFrame") -> Sheet:
    """Time per frame of every solver, a panel for each cost; hollow where some frame is not solved.

    Args:
        table: solvers.csv of ``musclesolve benchmark``; failures have no mark.
    """
    rows: list[Any] = list(table.itertuples())
    costs, problems = (
        list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("cost", "problem")
    )
    by_cost = {
        cost: [row for row in rows if row.cost == cost and np.isfinite(row.us_per_frame)] for cost in costs
    }
    names = {
        cost: list(dict.fromkeys(row.solver for row in sorted(rows, key=lambda row: -row.us_per_frame)))
        for cost, rows in by_cost.items()
    }
    most = max(map(len, names.values()), default=1)
    space = {"left": space_for([row.solver for row in rows]), "least": height_for(most)}
    columns = 1 if current_style().narrow else min(2, len(costs))
    lines = -(-len(costs) // columns)
    space |= {"right": space["left"] * (columns > 1), "below": 0.15}  # names of the next column, numbers
    sheet, panels = page(
        xr.Dataset(), "Time of the solvers per frame", lines, columns, height=0.0, space=space
    )
    places = np.log10([row.us_per_frame for rows in by_cost.values() for row in rows] or [1.0])
    ends = float(np.floor(places.min())), float(np.ceil(places.max() + 0.05))
    styles = {name: line_style(number, len(problems), name) for number, name in enumerate(problems)}
    for axes, cost in with_panels(panels, costs):
        for row in by_cost[cost]:
            full = row.solved == row.frames
            mark = _mark(styles[row.problem]["color"], problems.index(row.problem), full)
            axes.plot(np.log10(row.us_per_frame), names[cost].index(row.solver), label=row.problem, **mark)
        axes.set_yticks(np.arange(len(names[cost])), names[cost])
        axes.set_ylim(-0.6, most - 0.4)
        axes.set_xlim(*ends)
        ticks = [tick for tick in TICKS if ends[0] <= tick <= ends[1]]
        axes.set_xticks(ticks, [TICKS[tick] for tick in ticks])
        heading(axes, cost)
    entries: dict[str, Any] = {
        name: line(of=name, **_mark(styles[name]["color"], number, True))
        for number, name in enumerate(problems)
    }
    if any(row.solved < row.frames for rows in by_cost.values() for row in rows):
        entries[PARTLY] = line(**_mark("black", 0, False))
    sheet.add_legend(entries)
    return sheet


def _mark(color: str, number: int, full: bool) -> dict[str, Any]:
    """The mark of a problem."""
    style: dict[str, Any] = {"color": color, "marker": MARKS[number], "linestyle": "", "markersize": 4.0}
    return style if full else style | {"markerfacecolor": "none"}
