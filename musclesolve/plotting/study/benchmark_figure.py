"""Times of solvers side by side, as `musclesolve benchmark` measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve.plotting.page.arrangement import height_for, space_for
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.panels import with_panels
from musclesolve.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.plotting.study.comparison_figures import MARKS, line_style

if TYPE_CHECKING:
    import pandas as pd

TICKS = {0: "1 µs", 1: "10 µs", 2: "0.1 ms", 3: "1 ms", 4: "10 ms", 5: "0.1 s", 6: "1 s", 7: "10 s"}
"""Powers of ten of a microsecond, in words."""
PARTLY = "not every frame is solved"


@native
def solver_times(table: pd.DataFrame) -> Sheet:
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
        cost: list(dict.fromkeys(row.solver for row in sorted(own, key=lambda row: -row.us_per_frame)))
        for cost, own in by_cost.items()
    }
    most = max(map(len, names.values()), default=1)
    space = {"left": space_for([row.solver for row in rows]), "least": height_for(most)}
    columns = 1 if current_style().narrow else min(2, len(costs))
    lines = -(-len(costs) // columns)
    space |= {"right": space["left"] * (columns > 1), "below": 0.15}  # names of the next column, numbers
    sheet, panels = page(
        xr.Dataset(), "Time of the solvers per frame", lines, columns, height=0.0, space=space
    )
    places = np.log10([row.us_per_frame for own in by_cost.values() for row in own] or [1.0])
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
    if any(row.solved < row.frames for own in by_cost.values() for row in own):
        entries[PARTLY] = line(**_mark("black", 0, False))
    sheet.add_legend(entries)
    return sheet


def _mark(color: str, number: int, full: bool) -> dict[str, Any]:
    """The mark of a problem."""
    style: dict[str, Any] = {"color": color, "marker": MARKS[number], "linestyle": "", "markersize": 4.0}
    return style if full else style | {"markerfacecolor": "none"}
