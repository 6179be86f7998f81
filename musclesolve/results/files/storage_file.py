"""STO files as OpenSim's static optimization writes them, of a result with the names of an OpenSim model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve.recording.data import Table
from musclesolve.recording.text.mot_file import mot_text

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
    files = {}
    for ending, (title, columns, values) in tables.items():
        path = Path(f"{stem}_{ending}.sto")
        table = Table(time, tuple(columns), values, False, path)
        files[path.name] = "".join(mot_text(path, table, decimals=8, title=title)).encode()
    return files
