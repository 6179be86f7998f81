"""The cycles of one result as a file beside it, which whoever computes the trial writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve.recording.data import SIDES
from musclesolve.results.cycles.gait_cycles import cycles
from musclesolve.results.dataset.frame_validity import sides
from musclesolve.results.files.result_netcdf import netcdf_bytes

CYCLES = "cycles.nc"


def cycles_file(result: xr.Dataset, path: Path) -> bytes:
    """Return the content of cycles.nc: the cycles of both legs of a result, names without side, in SI units."""
    del path
    return netcdf_bytes(cycles_of_trial(result))


def cycles_of_trial(result: xr.Dataset) -> xr.Dataset:
    """Return the cycles of both legs of a result along `cycle`, names without side, in single precision."""
    legs = [cycles(result, side, without_side=True) for side in SIDES if side in sides(result)]
    sentences = {
        key: [text for leg in legs for text in leg.attrs[key]] for key in ("left_out", "invalid", "reserves")
    }
    together = xr.concat(legs, "cycle", join="outer", combine_attrs="drop_conflicts")
    if "group" in together.coords:  # a subject has a group as well
        together = together.rename(group="function_group")
    for name, variable in together.data_vars.items():
        if variable.dtype == np.float64:
            together[name] = variable.astype(np.float32)
    return together.assign_attrs(sentences)
