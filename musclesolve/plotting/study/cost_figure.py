"""The shapes of costs: what the force of a single muscle costs, which is why loads are shared as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from musclesolve._util.names import unknown_name
from musclesolve.plotting.page.keys import line
from musclesolve.plotting.page.page_style import current_style
from musclesolve.plotting.page.sheet import Sheet, heading, native, page
from musclesolve.plotting.study.comparison_figures import line_style
from musclesolve.sharing.cost.cost_registry import costs as every_cost

if TYPE_CHECKING:
    from musclesolve.sharing.cost.cost_base import Cost
    from musclesolve.sharing.problem import Problem

FORCES = np.linspace(0.0, 1.0, 41)
"""Drawn forces of a muscle, as shares of its force capacity."""


@native
def cost_shapes(problem: Problem, muscles: Sequence[str], costs: Mapping[str, Cost] | None = None) -> Sheet:
    """The cost of each of some muscles over its force while the others rest, a panel for each cost.

    The largest cost of a panel is 1. `problem` gives the muscles in one frame; `costs`: by name, every named one that
    the arrays of the problem suffice for unless given.
    """
    frame, names = problem.frames(slice(0, 1)), list(problem.muscle or ())
    for muscle in muscles or [""]:
        if muscle not in names:
            raise unknown_name(muscle, "muscle", names, " of the problem")
    shown = costs or {
        name: record()
        for name, record in every_cost().items()
        if all(getattr(problem, array) is not None for array in record.data)
    }
    columns = 2 if current_style().narrow else 3
    rows = -(-len(shown) // columns)
    sheet, panels = page(
        xr.Dataset(),
        "Cost of a muscle over its force",
        rows,
        columns,
        height=0.2 * rows,
        space={"below": 0.2},
    )
    styles = {name: line_style(number, len(muscles), name) for number, name in enumerate(muscles)}
    for number, axes in enumerate(panels.flat):
        axes.set_visible(number < len(shown))
    for axes, (name, cost) in zip(panels.flat, shown.items(), strict=False):
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
