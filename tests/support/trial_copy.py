"""A copy of a trial that a test changes, writes and examines."""

from __future__ import annotations

from pathlib import Path

from examined import examined

from musclesolve.data import reference_stride
from musclesolve.laboratory.results.judgement import Report
from musclesolve.studies.synthetic import trial_copy as files


class TrialCopy(files.Copy):
    """The files of a trial in memory, free to be changed; without a path, of the bundled stride."""

    def __init__(self, trial: Path | None = None) -> None:
        super().__init__(**vars(files.open_copy(reference_stride() if trial is None else trial)))

    def write(self, folder: Path) -> Path:
        """Write all files into a folder; return the trial file."""
        return files.write_copy(self, folder)

    def examined(self, folder: Path, costs: bool = True) -> Report:
        """Write all files into a folder; return what is found in the recording, as `examined` finds it."""
        return examined(self.write(folder), costs)
