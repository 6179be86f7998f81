"""What the analysis itself would analyse and refuse: its own range and checks, one by one on the repaired recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.case.containment import contained
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.anatomy import anatomy
from musclesolve.motion.events.force_events import FootLoads
from musclesolve.motion.motion_warnings import USUAL_CUTOFF_HZ, cutoff_with_flight
from musclesolve.pipeline.mechanics import MARGIN
from musclesolve.pipeline.run_options import find_options
from musclesolve.recording.data import SIDE_NAMES
from musclesolve.recording.plates.plate_checks import check_any_load, plate_error
from musclesolve.recording.trial.analysed_range import finds_range
from musclesolve.recording.trial.recording_checks import check_cutoff, check_heading, check_size
from musclesolve.recording.trial.trial_file import ranged, read_trial, recorded_range

# The tests of plates that the analysis makes, and what they find.
PLATE_CODES = {
    "sign": "force_sign",
    "size": "force_units",
    "sideways": "plate_axes",
    "jumps": "force_leap",
    "moments": "moment_units",
    "nearness": "plates_swapped",
    "strays": "pressure_outside",
}


def refusal(path: Path) -> InputError | None:
    """Return why the analysis would refuse a trial, None where it would not."""
    try:
        anatomy(read_trial(path), MARGIN)
    except InputError as error:
        return error
    return None


@asked_at(Stage.SUPPORT)
def filter_cutoff(case: Case) -> Iterator[Finding]:
    """Look at the cut-off of the filter."""
    (low, high), place = USUAL_CUTOFF_HZ, case.key("filter", "cutoff_hz")
    chosen = case.trial.filter.cutoff_hz
    if chosen is not None and not low <= chosen <= high:
        effect = "takes away part of the motion" if chosen < low else "leaves noise in the accelerations"
        values = {"chosen": chosen, "effect": effect, "low": low, "high": high}
        yield finding("cutoff", "warning", values, place)
    elif (found := cutoff_with_flight(case.trial, chosen, FootLoads.of(case.trial))) is not None:
        yield Finding("cutoff", "warning", *found, place)


@asked_at(Stage.SUPPORT)
def named_options(case: Case) -> Iterator[Finding]:
    """Look up what the trial file asks of the computation by name: muscles, cost, solver, degrees of freedom."""
    try:
        find_options(case.trial, None, None, "both")
    except InputError as error:
        yield finding_of("trial_file", error)


@asked_at(Stage.ANALYSIS)
def refusals_of_reading(case: Case) -> Iterator[Finding]:
    """Run the checks of reading and of motion one by one, and report what they refuse and no finding covers yet."""
    trial, document = case.trial, case.document
    if not np.isfinite([trial.subject.mass, trial.subject.stature]).all():
        return
    checks: list[tuple[str, Callable[[], None]]] = [
        ("marker_units", partial(check_size, trial, document)),
        ("walking_direction", partial(check_heading, trial, document)),
    ]
    if trial.forces:
        checks.append(("cutoff", partial(check_cutoff, trial, document)))
        checks.append(("force_units", partial(check_any_load, trial, document)))
    for code, check in checks:
        refused: list[Finding] = []
        with contained(refused, f"check of {code}", case, code):
            check()
        yield from (f for f in refused if not case.found(f.code, severity="error"))


@asked_at(Stage.ANALYSIS)
def refused_plates(case: Case) -> Iterator[Finding]:
    """Test every plate of which nothing is known to be wrong: an error that was found may be why."""
    faulty = {f.where.plate for f in case.findings if f.severity == "error"}
    for index, plate in enumerate(case.trial.forces):
        found = plate_error(case.trial, plate, index, case.document)
        if found is not None and SIDE_NAMES[plate.side] not in faulty:
            yield finding_of(PLATE_CODES[found[0]], found[1])


def find_time_range(case: Case) -> Case:
    """Return the case with the range that the recording allows as far as it is repaired."""
    if not finds_range(case.content) or not case.trial.forces:
        return case
    start, end = recorded_range(case.trial.markers, case.trial.forces)
    if end <= start:
        return case
    whole = replace(case.trial, time_range=(start, end), legs={}, analysed=())
    return case.with_trial(ranged(whole, case.content))


@asked_at(Stage.PLATE_POSITION, needs=["plates", "mapping"])
def analysed_range(case: Case) -> Iterator[Finding]:
    """Report what is analysed, and why not more."""
    if case.trial.analysed:
        values = {"sentences": "; ".join(case.trial.analysed)}
        yield finding("analysed", "note", values, Where(case.trial.markers.path))
