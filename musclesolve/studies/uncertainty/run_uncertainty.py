"""The files that `musclesolve run --uncertainty` adds to the result of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from musclesolve._util.progress import Progress
from musclesolve.plotting.figure_names import UNCERTAINTY
from musclesolve.plotting.study.uncertainty_figures import uncertainty_figures
from musclesolve.recording.data import Trial
from musclesolve.results.files.result_netcdf import netcdf_bytes
from musclesolve.results.tables.uncertainty_summary import summary
from musclesolve.studies.uncertainty.monte_carlo import uncertainty


@dataclass
class UncertaintyFiles:
    """Makes further files of the result of a trial, and lines for its summary."""

    samples: int  # how many
    seed: int  # of the random numbers
    figures: bool  # whether they are drawn
    options: Mapping[str, Any]  # keyword arguments of `run`
    progress: Progress  # as in `run`
    lines: list[str] = field(default_factory=list)

    def __call__(self, trial: Trial) -> dict[str, bytes]:
        """The content of every file, by its name."""
        found = uncertainty(trial, self.samples, self.seed, progress=self.progress, **self.options)
        self.lines.append(summary(found))
        drawn = uncertainty_figures(found, self.progress) if self.figures else {}
        return {UNCERTAINTY: netcdf_bytes(found), **drawn}
