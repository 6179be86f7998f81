"""What of a recording is analysed where the trial file has no [time]: found as the analysis finds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from musclesolve.checking.case.case import Case
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.trial.analysed_range import finds_range
from musclesolve.recording.trial.trial_file import ranged, recorded_range


def find_time_range(case: Case) -> Case:
    """Return the case with the range that the recording allows as far as it is repaired."""
    if not finds_range(case.content) or not case.trial.forces:
        return case
    start, end = recorded_range(case.trial.markers, case.trial.forces)
    if end <= start:
        return case
    whole = replace(case.trial, time_range=(start, end), legs={}, analysed=())
    return case.with_trial(ranged(whole, case.content))


@asked_at(Stage.PLATE_POSITION)
def analysed_range(case: Case) -> Iterator[Finding]:
    """Report what is analysed, and why not more."""
    if case.trial.analysed:
        values = {"sentences": "; ".join(case.trial.analysed)}
        yield finding("analysed", "note", values, Where(case.trial.markers.path))
