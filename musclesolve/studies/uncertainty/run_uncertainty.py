"""The files that `musclesolve run --uncertainty` adds to the result of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import xarray as xr

from musclesolve._util.progress import Progress
from musclesolve.plotting.figure_names import UNCERTAINTY
from musclesolve.plotting.study.uncertainty_figures import uncertainty_figures
from musclesolve.recording.data import Trial
from musclesolve.results.files.result_netcdf import netcdf_bytes
from musclesolve.studies.uncertainty.monte_carlo import uncertainty


@dataclass
class UncertaintyFiles:
    """Makes further files of the result of a trial, and keeps what they are made of."""

    samples: int  # how many
    seed: int  # of the random numbers
    figures: bool  # whether they are drawn
    options: Mapping[str, Any]  # keyword arguments of `run`
    progress: Progress  # as in `run`
    found: xr.Dataset | None = None  # what `uncertainty` returned

    def __call__(self, trial: Trial) -> dict[str, bytes]:
        """The content of every file, by its name."""
        found = uncertainty(trial, self.samples, self.seed, progress=self.progress, **self.options)
        self.found = found
        drawn = uncertainty_figures(found, self.progress) if self.figures else {}
        return {UNCERTAINTY: netcdf_bytes(found), **drawn}
