"""What was done to the measured motion to make it fit the model, and how far that moved the points."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array

METHOD = {"nearest": "nearest pose", "joint_angles": "driven by measured joint angles"}
MOST_MOVED = 3


def moved_points(result: xr.Dataset) -> tuple[list[str], Array, Array]:
    """Names of the measured points (n), root mean square and largest distance (n,) [m] that each was moved."""
    shift = result["consistency_shift"].transpose("time", "point").values
    return (
        [str(name) for name in result["point"].values],
        np.sqrt(np.mean(shift**2, axis=0)),
        shift.max(axis=0),
    )


def sentences(result: xr.Dataset) -> list[str]:
    """How the motion was made consistent, where not as usual, and what that moved."""
    given = result.attrs
    found = [_moved(result)]
    if weights := _listed(given.get("consistency_weights")):
        found.append(f"measured points weighted: {weights}")
    if borrowed := _listed(given.get("borrowed_dofs")):
        found.append(f"angles that no body shows are those of the nearest pose: {borrowed}")
    if given.get("consistency_derivatives") == "splines":
        velocity, acceleration = (
            float(result[f"{rate}_violation"].max()) for rate in ("velocity", "acceleration")
        )
        found.append(
            f"derivatives by splines of the points: constraints violated by up to {velocity:.1g} m/s "
            f"and {acceleration:.1g} m/s2"
        )
    return found


def _moved(result: xr.Dataset) -> str:
    names, rms, worst = moved_points(result)
    most = np.argsort(-rms, kind="stable")[:MOST_MOVED]
    method = METHOD[str(result.attrs.get("consistency_method", "nearest"))]
    return (
        f"{method}, {1000.0 * np.sqrt(np.mean(rms**2)):.1f} mm rms from the measured points "
        f"(worst {1000.0 * worst.max():.1f} mm); most moved: "
        + ", ".join(f"{names[k]} {1000.0 * rms[k]:.1f}" for k in most)
        + " mm rms"
    )


def _listed(names: object) -> str:
    """An attribute that holds names: a list, or one text where there is only one (as NetCDF likes it)."""
    return "" if names is None else ", ".join(str(name) for name in np.atleast_1d(np.asarray(names)).tolist())
