"""How large the force and moment are that would have to act on the pelvis for the motion to be exact."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array


def pelvis_residual(result: xr.Dataset) -> tuple[Array, Array]:
    """Magnitude of the residual force [N] and of the residual moment [N m], each of shape (T,)."""
    residual = result["pelvis_residual"].transpose("time", "component").values
    is_force = np.array([str(name).startswith("f") for name in result["component"].values])
    return np.linalg.norm(residual[:, is_force], axis=1), np.linalg.norm(residual[:, ~is_force], axis=1)
