"""What the analysis itself would refuse or warn of: its own checks, run one by one on the mended recording."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve.checking.case.case import Case, stretches
from musclesolve.checking.case.containment import contained
from musclesolve.checking.finding import Severity
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.anatomy import Anatomy, anatomy
from musclesolve.motion.anatomy.proportions import OFF_STATURE, fitting_stature
from musclesolve.motion.events.force_events import FootLoads
from musclesolve.motion.motion_warnings import USUAL_CUTOFF_HZ, cutoff_with_flight
from musclesolve.pipeline.mechanics import MARGIN, mechanics_of
from musclesolve.pipeline.run_options import find_options
from musclesolve.recording.data import SIDE_NAMES
from musclesolve.recording.plates.plate_checks import check_any_load, plate_error
from musclesolve.recording.trial.recording_checks import check_cutoff, check_heading, check_size
from musclesolve.recording.trial.trial_file import read_trial

# Too little to measure a person on [s].
SHORTEST = 0.2
# The tests of plates that the analysis makes, and what they find.
PLATE_CODES = {
    "sign": "force_sign",
    "size": "force_units",
    "sideways": "plate_axes",
    "leaps": "force_leap",
    "moments": "moment_units",
    "nearness": "plates_swapped",
    "strays": "pressure_outside",
}
# Why a motion cannot be that of the person, and what that finds.
WARNING_CODES = {"jump": "joint_leap", "foot": "foot_displaced"}
# Faults of markers and of their filter that make points of one body move apart.
MARKER_CODES = {
    "cutoff", "marker_units", "sides_swapped", "pair_swapped", "labels_exchanged", "landmark_order", "noise", "frozen",
    "markers_merged", "leap", "marker_slipped", "segment_length", "static_of_another", "marker_moved", "proportions",
}  # fmt: skip


def cutoff(case: Case) -> None:
    """Look at the cut-off of the filter."""
    low, high = USUAL_CUTOFF_HZ
    chosen = case.trial.filter.cutoff_hz
    if chosen is not None and not low <= chosen <= high:
        case.tell(
            "cutoff",
            "warning",
            f"the cut-off is {chosen:g} Hz, which "
            + ("takes away part of the motion" if chosen < low else "leaves noise in the accelerations")
            + f"; usual are {low:g} to {high:g} Hz",
            "write cutoff_hz = 6 for walking, 10 to 20 for running",
            key=("filter", "cutoff_hz"),
        )
        return
    if (found := cutoff_with_flight(case.trial, chosen, FootLoads.of(case.trial))) is not None:
        case.tell("cutoff", "warning", *found, key=("filter", "cutoff_hz"))


def options(case: Case) -> None:
    """Look up what the trial file asks of the computation by name: muscles, cost, solver, degrees of freedom."""
    try:
        find_options(case.trial, None, None, "both")
    except InputError as error:
        case.refuse("trial_file", error)


def own_checks(case: Case) -> None:
    """Run the checks of reading and of motion one by one; what they refuse and nobody told yet is told."""
    trial, document = case.trial, case.document
    if not all(np.isfinite([trial.subject.mass, trial.subject.stature])):
        return
    checks: list[tuple[str, Callable[[], None]]] = [
        ("marker_units", partial(check_size, trial, document)),
        ("walking_direction", partial(check_heading, trial, document)),
    ]
    if trial.forces:
        checks.append(("cutoff", partial(check_cutoff, trial, document)))
        checks.append(("force_units", partial(check_any_load, trial, document)))
    for code, check in checks:
        with contained(case.findings, f"check of {code}", case):
            _own_check(case, code, check)


def _own_check(case: Case, code: str, check: Callable[[], None]) -> None:
    try:
        check()
    except InputError as error:
        if not any(f.code == code and f.severity == "error" for f in case.findings):
            case.refuse(code, error)


def own_plate_checks(case: Case) -> None:
    """Test every plate of which nothing is known to be wrong: a fault that was told may be why."""
    blamed = {f.where.plate for f in case.findings if f.severity == "error"}
    for index, plate in enumerate(case.trial.forces):
        found = plate_error(case.trial, plate, index, case.document)
        if found is not None and SIDE_NAMES[plate.side] not in blamed:
            case.refuse(PLATE_CODES[found[0]], found[1])


def measured_anatomy(case: Case) -> None:
    """Measure the person on the mended recording: what is refused, the stature that fits, and what is warned of."""
    trial = case.trial
    known = np.isfinite([trial.subject.mass, trial.subject.stature]).all()
    # Where landmarks or files are missing, all that could be measured would be their want.
    if not known or not trial.forces or {f.code for f in case.findings} & {"mapping", "unreadable"}:
        return
    stretch = _seen_stretch(case)
    if stretch is None:
        return
    case.mend(time_range=stretch)
    found = _measured(case)
    if found is None:
        return
    for about, tell in (
        ("stature", _stature),
        ("proportions", _proportions),
        ("rigid bodies", _uncertain),
        ("pose", _consistent),
        ("warnings of the analysis", _remarks),
    ):
        with contained(case.findings, f"check of {about}", case):
            tell(case, found)


def _measured(case: Case) -> Anatomy | None:
    try:
        return anatomy(case.trial, MARGIN)
    except InputError as error:
        code = _code(error)
        if not any(f.code in (code, "landmark_order") and f.severity == "error" for f in case.findings):
            case.refuse(code, error)
        return None


def _proportions(case: Case, found: Anatomy) -> None:
    """Report lengths that few people have; no more than notes where a stature that was reported is why."""
    severity: Severity = "note" if any(f.code == "stature" for f in case.findings) else "warning"
    for unusual in found.unusual:
        case.tell(
            "proportions",
            severity,
            f"{unusual.what} (expected: {unusual.expected})",
            unusual.remedy,
            key=("mapping", unusual.landmark),
        )


def _remarks(case: Case, found: Anatomy) -> None:
    """Report what else the analysis would warn of, unless it was reported in another form."""
    known = {*found.uncertain, *(str(unusual) for unusual in found.unusual)}
    told = {f.code for f in case.findings}
    for note in found.notes:
        if note in known:
            continue
        about = "mass" if "body weight" in note else "stature" if "stature_m" in note else "cutoff"
        if about not in told or (about == "cutoff" and not note.startswith("The cut-off")):
            case.tell("caution", "note", note, "keep it in mind when reading the results")


def _uncertain(case: Case, found: Anatomy) -> None:
    """Tell which joints stand on points that do not move as a body: a warning unless what was told may be why."""
    known = {f.code for f in case.findings if f.severity != "note"} & MARKER_CODES
    for sentence in found.uncertain:
        case.tell(
            "uncertain_joint",
            "note" if known else "warning",
            sentence,
            "check that these markers sit where they sat in the standing trial; or let other points lead the joint: "
            "a cluster of three or more markers of one segment, or a medial marker in the motion",
        )


def _consistent(case: Case, found: Anatomy) -> None:
    """Make the motion consistent, and tell what is refused or cannot be unless markers were told that may be why."""
    try:
        recorded = mechanics_of(case.trial, found)
    except InputError as error:
        case.refuse("trial_file" if "[consistency]" in (error.where or "") else "refused", error)
        return
    if any(f.code in MARKER_CODES and f.severity == "error" for f in case.findings):
        return
    for warning in recorded.warnings(case.trial.mapping, case.trial.consistency.method):
        severity: Severity = "error" if warning.invalid else "warning"
        case.tell(WARNING_CODES[warning.kind], severity, warning.what, warning.remedy, times=warning.times)


def _code(error: InputError) -> str:
    """Return what a refusal of the anatomy is about."""
    place = error.where or ""
    if error.code == "not_rigid":
        return "marker_moved"
    if "[filter]" in place:
        return "cutoff"
    return "mass" if "mass_kg" in place else "stature" if "stature_m" in place else "proportions"


def _seen_stretch(case: Case) -> tuple[float, float] | None:
    """Return the longest part of the time range in which every needed marker is seen, None where it is too short."""
    markers, inside = case.trial.markers, np.zeros(case.trial.markers.time.size, bool)
    inside[case.trial.frames()] = True
    for name in case.trial.used_markers:
        inside &= np.isfinite(markers[name]).all(axis=1)
    spans = stretches(inside, markers.time)
    longest = max(spans, key=lambda span: span[1] - span[0], default=(0.0, 0.0))
    return longest if longest[1] - longest[0] > SHORTEST else None


def _stature(case: Case, found: Anatomy) -> None:
    fitting, given = fitting_stature(found.offsets), case.trial.subject.stature
    off = fitting / given - 1.0
    if abs(off) > OFF_STATURE:
        case.tell(
            "stature",
            "warning",
            f"thighs, shanks and trunk are those of a person about {fitting:.2f} m tall, stature_m is {given:g} "
            f"({100 * off:+.0f} %, expected within {100 * OFF_STATURE:.0f} %)",
            "measure the stature again; masses and lengths of unmeasured segments depend on it",
            key=("subject", "stature_m"),
        )


def refusal(path: Path) -> InputError | None:
    """Return why the analysis would refuse a trial, None where it would not."""
    try:
        anatomy(read_trial(path), MARGIN)
    except InputError as error:
        return error
    return None
