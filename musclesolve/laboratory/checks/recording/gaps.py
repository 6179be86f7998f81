"""Gaps of needed markers in the time range: which are filled, and how well, and which are not; a finding a marker."""

from collections.abc import Iterator

from musclesolve._util.arrays import grouped
from musclesolve.laboratory.checks.case import Case, recording_check
from musclesolve.laboratory.markers.gaps.gap_filling import completed_trial
from musclesolve.laboratory.markers.landmarks import upper_markers
from musclesolve.laboratory.results.finding import Finding, Severity, Where, finding
from musclesolve.laboratory.trial.time_range import finds_range


@recording_check()
def gaps(case: Case) -> Iterator[Finding]:
    """Report the gaps of needed markers. One that is not filled is no error where the range waits for the plates."""
    trial, (start, end) = case.trial, case.trial.time_range
    filled, completed = completed_trial(trial, case.settings.gaps)
    above, path = upper_markers(trial), trial.markers.path
    inside = [gap for gap in filled.gaps if gap.last >= start and gap.first <= end]
    needed = [gap for gap in inside if gap.filled or gap.marker not in above]
    is_open = finds_range(case.settings) and bool({"plates", "mapping"} & case.unknown)
    never = [gap.marker for gap in needed if gap.frames == len(trial.markers.time) and not gap.filled]
    if never:
        yield finding(
            "gap.throughout", "error", {"names": ", ".join(never)}, Where(path, markers=tuple(never))
        )
    kinds = grouped(((gap.marker, gap.filled), gap) for gap in needed if gap.marker not in never)
    for (marker, is_filled), of_marker in kinds.items():
        longest, times = (
            max(of_marker, key=lambda gap: gap.frames),
            tuple((g.first, g.last) for g in of_marker),
        )
        values = {"name": marker, "count": sum(gap.frames for gap in of_marker), "account": longest.account}
        values |= {"error": max(gap.error for gap in of_marker)}
        severity: Severity = "note" if is_filled or is_open else "error"
        where = Where(path, markers=(marker,), times=times)
        yield finding("gap_filled" if is_filled else "gap", severity, values, where)
    for lost in completed:
        where = Where(path, markers=(lost.marker,), times=((lost.first, lost.last),))
        yield finding("gap.completed", "note", {"sentence": lost.sentence}, where)
