"""Results of earlier versions, in which frames that cannot be used have no status of their own."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.results.dataset import frame_validity as frames
from musclesolve.sharing.status import Status

OF_LEG = (
    *("activation", "muscle_force", "joint_reaction", "contact_force"),
    *("reserve_moment", "unassigned_moment"),
)
OF_SIDE = ("kkt_residual", "cost", "least_cost")
"""What is NaN in frames without a valid solution: over muscles, joints or degrees of freedom, and over sides."""
SUFFIXES = ("", "_mean", "_sd", "_quantile", "_first_order_sd", "_contribution")
"""Of the same in uncertainty.nc."""


def updated(result: xr.Dataset) -> xr.Dataset:
    """The same with `strength`, `valid`, INVALID_MOTION and reserves apart from unassigned moments, where these lack.

    A dataset that is no result, or whose status has no flags, stays as it is.
    """
    if "strength_factor" in result.attrs and "strength" not in result.attrs:
        result = result.assign_attrs(strength=result.attrs["strength_factor"])
    if "valid" in result or not {"flag_values", "flag_meanings"} <= set(_status(result).attrs):
        return result
    result = result.copy()
    if "reserve_moment" in result and "shared_dofs" in result.attrs:
        result = result.assign(_parted(result["reserve_moment"], result.attrs["shared_dofs"]))
    result = result.assign(_verdicts(result))
    return result.assign({name: _blanked(result, name) for name in _concerned(result)})


def _status(result: xr.Dataset) -> xr.DataArray:
    return result["status"] if "status" in result and "side" in result["status"].dims else xr.DataArray()


def _verdicts(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """`valid`, and the status with the flag of an invalid motion."""
    status = result["status"]
    values = np.atleast_1d(status.attrs["flag_values"])
    names = str(status.attrs["flag_meanings"]).split()
    credible = xr.ones_like(status, dtype=bool)
    for name in frames.MOTION_FAULTS:
        if name in result:
            credible = credible & result[name]
    solved = [code for code, name in zip(values, names, strict=False) if name.lower() in frames.VALID]
    since = [own for own in Status if own.name not in names]
    flags = {
        "flag_values": np.append(values, since).astype(np.int8),
        "flag_meanings": " ".join([*names, *(own.name for own in since)]),
    }
    judged = status.where(credible, int(Status.INVALID_MOTION)).astype(np.int8).transpose(*status.dims)
    judged.attrs = status.attrs | flags
    valid = (status.isin(solved) & credible).transpose(*status.dims)
    return {"valid": valid, "status": judged}


def _parted(reserve: xr.DataArray, shared: object) -> dict[str, xr.DataArray]:
    """Reserves of the degrees of freedom that were shared, unassigned moments of the others."""
    own = reserve["dof"].isin(np.atleast_1d(np.asarray(shared, dtype=str)))
    none = xr.zeros_like(reserve).where(reserve.notnull())
    return {
        "reserve_moment": reserve.where(own, none),
        "unassigned_moment": reserve.where(~own, none).assign_attrs(reserve.attrs),
    }


def _concerned(result: xr.Dataset) -> list[str]:
    given = (name + suffix for name in (*OF_LEG, *OF_SIDE) for suffix in SUFFIXES)
    return [name for name in given if name in result]


def _blanked(result: xr.Dataset, name: str) -> xr.DataArray:
    """NaN where the leg has no valid solution."""
    variable, valid = result[name], result["valid"]
    if name not in OF_SIDE:
        last = next(str(dim) for dim in variable.dims if dim in ("muscle", "joint", "dof"))
        legs = [str(each)[-1] for each in variable[last].values]
        none = xr.ones_like(valid.isel(side=0, drop=True))
        known = set(map(str, valid["side"].values))
        columns = [valid.sel(side=leg, drop=True) if leg in known else none for leg in legs]
        valid = xr.concat(columns, last)
    return variable.where(valid).transpose(*variable.dims)
