"""Findings on a recording, of its file or of a state of it in memory, without the forces that `check` shares."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from musclesolve.laboratory.checks.case import Case, checks_of, examine, load
from musclesolve.laboratory.checks.check import all_checks, examined_file
from musclesolve.laboratory.results.finding import Finding, sorted_findings
from musclesolve.laboratory.results.judgement import Report


def examined(path: Path) -> Report:
    """The findings on the recording of a trial file, as `check` reports them where the forces can be shared."""
    return Report(path, sorted_findings(examined_file(path, all_checks())))


def loaded(path: str | Path) -> Case:
    """Read a recording for checks; it must be readable."""
    case, findings = load(Path(path))
    assert case is not None, findings
    return case


def found(case: Case, *kinds: ModuleType) -> list[Finding]:
    """The errors and warnings of some kinds of checks, of all where none is named."""
    checks = checks_of(*kinds) if kinds else all_checks()
    return [entry for entry in examine(case, checks) if entry.severity != "note"]
