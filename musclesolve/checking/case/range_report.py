"""What of a recording is analysed where the trial file has no [time]: found as the analysis finds it."""

from __future__ import annotations

from dataclasses import replace

from musclesolve.checking.case.case import Case
from musclesolve.recording.trial.analysed_range import finds_range
from musclesolve.recording.trial.trial_file import ranged, recorded_range


def found_range(case: Case) -> None:
    """Take the range that the recording allows, as far as it is repaired; what lies outside of it is a note."""
    if not finds_range(case.content) or not case.trial.forces:
        return
    start, end = recorded_range(case.trial.markers, case.trial.forces)
    if end > start:
        whole = replace(case.trial, time_range=(start, end), legs={}, analysed=())
        case.trial = ranged(whole, case.content)
        case.demote()


def analysed(case: Case) -> None:
    """Report what is analysed, and why not more."""
    if case.trial.analysed:
        case.tell(
            "analysed",
            "note",
            "; ".join(case.trial.analysed),
            "write [time] to choose another range; both legs are then analysed throughout it",
            file=case.trial.markers.path,
        )
