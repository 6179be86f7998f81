"""Co-contraction: how much of the muscle moments about a joint cancels."""

from __future__ import annotations

import numpy as np
import xarray as xr

LEAST_MOMENT = 1e-6
"""Of smaller muscle moments co-contraction is not computed [N m]."""


def co_contraction(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """The share of the muscle moments about each degree of freedom that cancels, 0 to 1.

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
    index.attrs = {
        "units": "1",
        "long_name": "co-contraction: share of the contractile muscle moments that cancel each other",
    }
    return {"co_contraction": index}
