"""STO files as OpenSim's static optimization writes them, of a result with the names of an OpenSim model."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array

ENDINGS = ("activation", "force", "normalized_fiber_length")


def storage_files(result: xr.Dataset, stem: str) -> dict[str, bytes]:
    """STEM_activation.sto, STEM_force.sto [N; reserves N m] and STEM_normalized_fiber_length.sto.

    Frames without a valid solution hold nan. Reserves are columns NAME_reserve of the forces, where there are any.
    """
    muscles, time = [str(name) for name in result["muscle"].values], result["time"].values
    activation, force = result["activation"].values, result["muscle_force"].values
    names, reserve = list(muscles), result["reserve_moment"].values
    used = np.flatnonzero(np.nan_to_num(reserve).any(axis=0))
    names += [f"{result['dof'].values[k]}_reserve" for k in used]
    force = np.concatenate([force, reserve[:, used]], axis=1)
    normal = (result["fiber_length"] / result["optimal_fiber_length"]).values
    tables = {
        "activation": ("Static Optimization", muscles, activation),
        "force": ("ModelForces", names, force),
        "normalized_fiber_length": ("Normalized Fiber Lengths", muscles, normal),
    }
    return {
        f"{stem}_{ending}.sto": storage_bytes(title, time, columns, values)
        for ending, (title, columns, values) in tables.items()
    }


def storage_bytes(title: str, time: Array, names: list[str], values: Array) -> bytes:
    """Columns (T, k) over time as the content of an STO file."""
    header = [
        title,
        "version=1",
        f"nRows={len(time)}",
        f"nColumns={len(names) + 1}",
        "inDegrees=no",
        "endheader",
    ]
    form = "\t".join(["%16.8f"] * (len(names) + 1))
    rows = (form % (t, *row) for t, row in zip(time.tolist(), values.tolist(), strict=True))
    return "\n".join([*header, "\t".join(("time", *names)), *rows, ""]).encode()
