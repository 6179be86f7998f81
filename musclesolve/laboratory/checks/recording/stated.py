"""Statements of the trial file: names of options, the cut-off of the filter, the analyzed range, predicted forces."""

from collections.abc import Iterator
from functools import partial

from musclesolve._util.messages import capitalized, count_of
from musclesolve.laboratory.bodies.run_options import find_options
from musclesolve.laboratory.checks.case import Case, recording_check, refusal
from musclesolve.laboratory.checks.observed_body import runs
from musclesolve.laboratory.motion.motion_plausibility import cutoff_with_flight, unusual_cutoff
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES
from musclesolve.laboratory.recording.trial_document import open_decisions
from musclesolve.laboratory.results.finding import Finding, Where, finding
from musclesolve.laboratory.trial.recording_checks import check_cutoff


@recording_check()
def filter_cutoff(case: Case) -> Iterator[Finding]:
    """Check the cut-off frequency of the filter."""
    refused = [*refusal("cutoff", partial(check_cutoff, case.trial, case.document))]
    yield from refused
    if refused or case.settings.filter.cutoff_hz is None:
        return  # the cut-off is chosen from the motion
    place, chosen = case.key("filter", "cutoff_hz"), case.settings.filter.fixed_cutoff
    if (unusual := unusual_cutoff(chosen, not runs(case.trial))) is not None:
        yield finding("cutoff", "warning", unusual, place)
    elif (warning := cutoff_with_flight(case.trial, chosen)) is not None:
        yield Finding("cutoff", "warning", *warning, place)


@recording_check()
def open_todos(case: Case) -> Iterator[Finding]:
    """Note the lines of the trial file that are still marked TODO, in one finding."""
    todos = [
        f"{words.partition(':')[0].rstrip('.')} (line {first + 1})"
        for first, _, words in open_decisions(case.document.lines)
    ]
    if todos:
        yield finding("open_todos", "note", {"todos": "; ".join(todos)}, Where(case.document.path))


@recording_check()
def named_options(case: Case) -> Iterator[Finding]:
    """Look up the names in the trial file: muscles, cost, solver, degrees of freedom."""
    yield from refusal("trial_file", partial(find_options, case.trial, None, None, "both"))


@recording_check("plates", "mapping")
def analyzed_range(case: Case) -> Iterator[Finding]:
    """Note the analyzed range, and the reasons that limit it."""
    if case.trial.analyzed:
        values = {"sentences": ". ".join(map(capitalized, case.trial.analyzed))}
        yield finding("analyzed", "note", values, Where(case.trial.markers.path))


@recording_check()
def predicted_forces(case: Case) -> Iterator[Finding]:
    """Warn of forces that no plate measured."""
    if case.settings.files.predicted:
        yield finding("predicted_forces", "warning", {}, case.key("files", "forces"))
        return
    (start, end), steps = case.trial.time_range, list[str]()
    for side in SIDES:
        spans = (case.trial.predicted_spans or {}).get(side, ())
        inside = [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]
        if inside:
            times = ", ".join(f"{first:.2f} to {last:.2f} s" for first, last in inside)
            steps.append(f"{count_of(len(inside), 'step')} of the {SIDE_NAMES[side]} foot ({times})")
    if steps:
        values = {"steps": " and ".join(steps)}
        yield finding("predicted_forces.steps", "warning", values, case.key("plates", "unmeasured_steps"))
