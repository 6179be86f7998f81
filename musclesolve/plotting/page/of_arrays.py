"""Solutions and comparisons of arrays in the form that figures draw: with sides, groups and a status of each side."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.sides import ALL_SIDES, has_side, side_of, split_side
from musclesolve.errors import InputError
from musclesolve.opensim.muscle_set import long_name
from musclesolve.results.tables.comparison_tables import agreement
from musclesolve.sharing.solution import Solution

OF_EACH_SIDE = ("status", "valid", "kkt_residual", "cost", "least_cost")
"""Variables of a frame, which a result has for each side."""


def as_result(data: xr.Dataset | Solution, *needed: str, least_frames: int = 2) -> xr.Dataset:
    """A result as it is; a solution, its Dataset, or a comparison of a problem with the parts that figures read.

    Muscles have the side of their name and, where the name is known, its function group. A comparison of several costs
    and several solvers has a curve for each pair.

    needed: variables of the figure; least_frames: that it draws.
    """
    result = data.to_dataset() if isinstance(data, Solution) else data
    if "side" in result.coords or "muscle" not in result.coords:
        return result
    if lacking := [name for name in needed if name not in result]:
        raise InputError(
            f"the solution has no {', '.join(lacking)}",
            code="missing_argument",
            expected="the arrays of the problem",
            remedy="draw solution.to_dataset(problem)",
        )
    if result.sizes.get("time", 1) < least_frames:
        raise InputError(
            "a single frame has no curves to draw",
            code="too_few_frames",
            expected="two frames or more",
            remedy="draw ms.plotting.pose_activations",
        )
    if "solver" in result.dims:
        result = _pairs(result)
    muscles = list(map(str, result["muscle"].values))
    found = {side_of(name) for name in muscles}
    sides = [side for side in ALL_SIDES if side in found]
    groups = [long_name(split_side(name)[0])[1] for name in muscles]
    result = result.assign_coords(side=sides, group=("muscle", groups))
    for name in OF_EACH_SIDE:
        if name in result.data_vars:
            each = result[name].expand_dims(side=sides).transpose(*result[name].dims, "side")
            result[name] = each.copy(data=np.array(each.values)).assign_attrs(result[name].attrs)
    if {"cost", "time"} <= set(result.dims) and all(map(has_side, muscles)):
        result = result.assign(agreement(result)[["group_force"]].data_vars)
    return result


def _pairs(comparison: xr.Dataset) -> xr.Dataset:
    """A comparison with one axis, `cost`, for costs and solvers, named by what differs."""
    costs, solvers = (list(map(str, comparison[dim].values)) for dim in ("cost", "solver"))
    parts = [comparison.sel(cost=cost, solver=solver, drop=True) for cost in costs for solver in solvers]
    labels = [
        solver if len(costs) == 1 else cost if len(solvers) == 1 else f"{cost}, {solver}"
        for cost in costs
        for solver in solvers
    ]
    own = [name for name, variable in comparison.data_vars.items() if {"cost", "solver"} & set(variable.dims)]
    joined = xr.concat([part[own] for part in parts], "cost", combine_attrs="override", join="exact")
    return comparison.drop_vars([*own, "cost", "solver"]).assign(joined.data_vars).assign_coords(cost=labels)
