"""Findings of `check` in a recording, without the forces that it shares to judge them: a third of its time."""

from __future__ import annotations

from pathlib import Path

from musclesolve.checking.check import findings_of_file
from musclesolve.results.judgement import Report


def examined(path: Path) -> Report:
    """The findings on the recording of a trial file, as `check` reports them where the forces can be shared."""
    return Report(path, findings_of_file(path))
