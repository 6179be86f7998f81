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
    has_status = "status" in result and "side" in result["status"].dims
    flags = set(result["status"].attrs) if has_status else set()
    if "valid" in result or not {"flag_values", "flag_meanings"} <= flags:
        return result
    result = result.copy()
    if "reserve_moment" in result and "shared_dofs" in result.attrs:
        # Reserves are of the degrees of freedom that were shared, unassigned moments of the others.
        reserve = result["reserve_moment"]
        shared = reserve["dof"].isin(np.atleast_1d(np.asarray(result.attrs["shared_dofs"], dtype=str)))
        zero = xr.zeros_like(reserve).where(reserve.notnull())
        unassigned = reserve.where(~shared, zero).assign_attrs(reserve.attrs)
        result = result.assign(reserve_moment=reserve.where(shared, zero), unassigned_moment=unassigned)

    # `valid`, and the status with the flag of an invalid motion
    status = result["status"]
    values = np.atleast_1d(status.attrs["flag_values"])
    names = str(status.attrs["flag_meanings"]).split()
    credible = xr.ones_like(status, dtype=bool)
    for name in frames.MOTION_FAULTS:
        if name in result:
            credible = credible & result[name]
    solved = [code for code, name in zip(values, names, strict=False) if name.lower() in frames.VALID]
    since = [member for member in Status if member.name not in names]
    judged = status.where(credible, int(Status.INVALID_MOTION)).astype(np.int8).transpose(*status.dims)
    judged.attrs = status.attrs | {
        "flag_values": np.append(values, since).astype(np.int8),
        "flag_meanings": " ".join([*names, *(member.name for member in since)]),
    }
    valid = (status.isin(solved) & credible).transpose(*status.dims)

    # NaN where the leg has no valid solution
    always = xr.ones_like(valid.isel(side=0, drop=True))
    by_leg = {str(side): valid.sel(side=side, drop=True) for side in valid["side"].values}
    blanked = {}
    for name in (name + suffix for name in (*OF_LEG, *OF_SIDE) for suffix in SUFFIXES):
        if name in result:
            variable, known = result[name], valid
            if name not in OF_SIDE:
                last = next(str(dim) for dim in variable.dims if dim in ("muscle", "joint", "dof"))
                known = xr.concat(
                    [by_leg.get(str(label)[-1], always) for label in variable[last].values], last
                )
            blanked[name] = variable.where(known).transpose(*variable.dims)
    return result.assign({"valid": valid, "status": judged, **blanked})
