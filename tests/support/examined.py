"""Findings of `check` in a recording, without the forces that it shares to judge them: a third of its time."""

from __future__ import annotations

from pathlib import Path

from musclesolve.laboratory.checks.case import Case, load
from musclesolve.laboratory.checks.check import all_checks, examined_file
from musclesolve.laboratory.results.finding import sorted_findings
from musclesolve.laboratory.results.judgement import Report


def examined(path: Path, costs: bool = True) -> Report:
    """The findings on the recording of a trial file, as `check` reports them where the forces can be shared.

    costs: whether findings have their costs, by which some errors are warnings; a third of the time.
    """
    return Report(path, sorted_findings(examined_file(path, all_checks(), costs)))


def loaded(path: str | Path) -> Case:
    """Read a recording for checks; it must be readable."""
    case, findings = load(Path(path))
    assert case is not None, findings
    return case
