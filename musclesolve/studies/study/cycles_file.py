"""The cycles of one result as a file beside it, which whoever computes the trial writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve.constants import DESIGNED, FAST
from musclesolve.plotting.figure_names import UNCERTAINTY
from musclesolve.recording.data import SIDES
from musclesolve.results.cycles.gait_cycles import SPREAD, cycles
from musclesolve.results.dataset.frame_validity import sides
from musclesolve.results.dataset.quantities import in_set, with_formulas
from musclesolve.results.files.result_netcdf import netcdf_bytes, read_result, result_attributes

CYCLES, TRIAL_FILE = "cycles.nc", "trial.toml"


def cycles_file(result: xr.Dataset, path: Path) -> bytes:
    """Return the content of cycles.nc: the cycles of both legs of a result, names without side, in SI units.

    Where uncertainty.nc is beside it, they have its standard deviations, as NAME_uncertainty_sd.
    """
    beside = path.with_name(UNCERTAINTY)
    return netcdf_bytes(
        cycles_of_trial(_with_uncertainty(result, read_result(beside)) if beside.is_file() else result)
    )


class UncertaintyFile:
    """Makes uncertainty.nc of a trial from its trial file, beside the result; samples as in `uncertainty`."""

    def __init__(self, samples: int | str) -> None:
        self.samples = samples

    def made(self, path: Path) -> bool:
        """Return whether a file has these samples."""
        stored = result_attributes(path)
        if stored.get("sampling") == DESIGNED:
            return self.samples == FAST
        return stored.get("samples") == str(self.samples)

    def __call__(self, result: xr.Dataset, path: Path) -> bytes:
        """The content of the file."""
        from musclesolve.studies.uncertainty.monte_carlo import uncertainty

        legs = sides(result)
        side = legs[0] if len(legs) == 1 and legs[0] in SIDES else "both"
        how: dict[str, Any] = {"workers": 1, "contributions": False}
        return netcdf_bytes(uncertainty(path.with_name(TRIAL_FILE), self.samples, side=side, **how))


def _with_uncertainty(result: xr.Dataset, found: xr.Dataset) -> xr.Dataset:
    """A result with the standard deviations of its quantities."""
    more = {}
    for name in in_set("uncertainty"):
        if name in result and f"{name}_sd" in found:
            spread = found[f"{name}_sd"].reindex_like(result[name])
            more[name + SPREAD] = result[name].copy(data=spread.transpose(*result[name].dims).values)
    return result.assign(more)


def cycles_of_trial(result: xr.Dataset) -> xr.Dataset:
    """Return the cycles of both legs of a result along `cycle`, names without side, in single precision."""
    legs = [cycles(result, side, without_side=True) for side in SIDES if side in sides(result)]
    sentences = {
        key: [text for leg in legs for text in leg.attrs[key]] for key in ("left_out", "invalid", "reserves")
    }
    together = legs[0]
    if len(legs) > 1:
        together = xr.concat(legs, "cycle", join="outer", combine_attrs="drop_conflicts")
    if "group" in together.coords:  # a subject has a group as well
        together = together.rename(group="function_group")
    single = {
        name: variable.variable.astype(np.float32)
        for name, variable in together.data_vars.items()
        if variable.dtype == np.float64
    }
    return with_formulas(together.assign(single), "study").assign_attrs(sentences)
