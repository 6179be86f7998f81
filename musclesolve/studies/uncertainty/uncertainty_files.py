"""Files of an uncertainty that are written beside its result."""

from dataclasses import dataclass

import xarray as xr

from musclesolve._util.progress import Progress
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.recorded_body import RecordedBody
from musclesolve.plotting.figure_names import UNCERTAINTIES, UNCERTAINTY, pages_of
from musclesolve.plotting.page.page_style import figures_of
from musclesolve.results.files.result_netcdf import netcdf_bytes
from musclesolve.results.plausibility import with_uncertainty
from musclesolve.studies.uncertainty.monte_carlo import uncertainty


@dataclass
class UncertaintyFiles:
    """A maker of the uncertainty files of a trial, which keeps the computed uncertainty."""

    samples: int | str  # how many, or "fast"
    seed: int  # of the random numbers
    figures: bool  # whether they are drawn
    progress: Progress  # as in `run`
    found: xr.Dataset | None = None  # what `uncertainty` returned

    def __call__(self, body: RecordedBody | ModelBody, result: xr.Dataset) -> dict[str, bytes]:
        """The content of every file, by its name, of a body and its result."""
        self.found = uncertainty(body, self.samples, self.seed, progress=self.progress, result=result)
        pages = pages_of(self.found, UNCERTAINTIES) if self.figures else {}
        drawn = figures_of(self.found, pages, self.progress)
        return {UNCERTAINTY: netcdf_bytes(self.found), **drawn}

    def judged(self, result: xr.Dataset) -> xr.Dataset:
        """The result of the trial, judged by the uncertainty that was found for it."""
        if self.found is None or "joint" not in result.coords or "joint" not in self.found.coords:
            return result
        return with_uncertainty(result, self.found)
