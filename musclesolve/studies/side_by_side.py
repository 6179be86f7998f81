"""Results of one trial side by side along a new axis: costs, solvers or scenarios."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve.results.comparison_facts import agreement
from musclesolve.results.dataset.quantities import QUANTITIES, following
from musclesolve.results.dataset.result_quantities import is_elastic

Stacked = tuple[tuple[str, ...], AnyArray, dict[str, Any]]
RENAMED = {"cost": "least_cost"}
"""Name of the variable of costs: `cost` is already the name of the dimension."""

OF_SOLUTION = (
    *("activation", "muscle_force", "reserve_moment", "multiplier", "status", "valid", "kkt_residual"),
    *("least_cost", "cost_value", "time_per_frame", "iterations"),
)
"""Variables that depend on cost and solver."""


def side_by_side(results: Sequence[xr.Dataset], names: Sequence[str]) -> xr.Dataset:
    """Results of one trial under several costs, of the same legs and frames, with co-contraction and agreement."""
    first = results[0]
    # with elastic tendons the state of the muscles depends on the cost, too
    concerned = following("solution", "solver") + (following("state") if is_elastic(first) else [])
    variables = stacked(results, concerned, "cost")
    if "least_cost" in variables:
        variables["least_cost"][2]["units"] = "unit of the cost"
    shared = first.drop_vars([name for name in concerned if name in first])
    result = shared.assign(variables).assign_coords(cost=list(names))
    solvers = dict.fromkeys(str(each.attrs["solver"]) for each in results if "solver" in each.attrs)
    result.attrs |= {"cost": ", ".join(names)} | ({"solver": ", ".join(solvers)} if solvers else {})
    return result.assign(co_contraction(result)).assign(agreement(result))


def stacked(results: Sequence[xr.Dataset], names: Iterable[str], dim: str) -> dict[str, Stacked]:
    """Variables of results of one trial along a new dimension, NaN in results that do not have them."""
    variables = dict[str, Stacked]()
    for name in names:
        if there := [result for result in results if name in result]:
            one = there[0][name]
            unknown = np.full(one.shape, np.nan) if len(there) < len(results) else one.values
            values = np.stack([result[name].values if name in result else unknown for result in results])
            variables[RENAMED.get(name, name)] = (dim, *map(str, one.dims)), values, one.attrs
    return variables


def joined_along(parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    """Datasets along a new dimension, except the arrays of the problem."""
    same = parts[0].drop_vars([name for name in OF_SOLUTION if name in parts[0]])
    own = [part[list(OF_SOLUTION)] for part in parts]
    return xr.concat(own, dim, combine_attrs="override", join="exact").assign(same.data_vars)


LEAST_MOMENT = 1e-6
"""Least muscle moment of which co-contraction is computed [N m]."""


def co_contraction(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Compute the share of the muscle moments about each degree of freedom that cancels, 0 to 1.

        2 M_antagonists / (M_agonists + M_antagonists)

    with the sums of the moments of the contractile elements in the direction of their total and against it
    (Falconer and Winter 1985, Electromyogr Clin Neurophysiol 25:135-149; Winter, Biomechanics and Motor Control of
    Human Movement). Passive forces are left out. A muscle that crosses several joints counts about each of them.

    Only for the moments that the muscles have to produce (the attribute shared_dofs, where there is one): about the
    other axes bones and ligaments produce an unknown part. A dimension `cost` is kept.

    Returns:
        co_contraction (..., time, dof); NaN elsewhere, without a solution, and without muscle moment.
    """
    force = result["muscle_force"] - result["passive_force"]
    each = result["moment_arm"] * force.clip(min=0.0)
    # a muscle of the other leg adds zeros, but its NaN must not
    forward = each.clip(min=0.0).sum("muscle", skipna=True)
    backward = (-each).clip(min=0.0).sum("muscle", skipna=True)
    total, less = forward + backward, xr.where(forward < backward, forward, backward)
    reaches = result["moment_arm"] != 0
    shared = result["dof"].isin(np.atleast_1d(result.attrs.get("shared_dofs", result["dof"].values)))
    known = shared & (force.notnull() | ~reaches).all("muscle") & (total > LEAST_MOMENT)
    index = (2.0 * less / total.where(known)).transpose(..., "time", "dof")
    return {"co_contraction": index.assign_attrs(QUANTITIES["co_contraction"].attrs)}
