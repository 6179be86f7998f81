"""What the analysis itself would refuse or warn of: its own checks, run one by one on the mended recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from musclesolve.checking.case import Case, filled
from musclesolve.errors import InputError
from musclesolve.motion.cautions import USUAL_CUTOFF_HZ
from musclesolve.motion.proportions import fitting_stature
from musclesolve.motion.targets import anatomy
from musclesolve.recording.checks import check_cutoff, check_heading, check_size
from musclesolve.recording.plate_checks import check_plate
from musclesolve.recording.trial import read_trial

# How far the stature that fits the segments may be from the one given.
STATURE, FAR_STATURE = 0.08, 0.2


def cutoff(case: Case) -> None:
    """Look at the cut-off of the filter."""
    low, high = USUAL_CUTOFF_HZ
    if not low <= case.trial.cutoff_hz <= high:
        case.tell(
            "cutoff",
            "warning",
            f"the cut-off is {case.trial.cutoff_hz:g} Hz, which "
            + (
                "takes away part of the motion"
                if case.trial.cutoff_hz < low
                else "leaves noise in the accelerations"
            )
            + f"; usual are {low:g} to {high:g} Hz",
            "write cutoff_hz = 6 for walking, 10 to 15 for running",
            key=("filter", "cutoff_hz"),
        )


def own_checks(case: Case) -> None:
    """Run the checks of reading and of motion one by one; what they refuse and nobody told yet is told."""
    trial, document = case.trial, case.document
    if not all(np.isfinite([trial.subject.mass, trial.subject.stature])):
        return
    checks: list[tuple[str, Callable[[], None]]] = [
        ("marker_units", lambda: check_size(trial, document)),
        ("walking_direction", lambda: check_heading(trial, document)),
    ]
    if trial.forces:
        checks.append(("cutoff", lambda: check_cutoff(trial, document)))
    for index, plate in enumerate(trial.forces):
        checks.append(
            ("refused", lambda plate=plate, index=index: check_plate(trial, plate, index, document))
        )  # type: ignore[misc]
    for code, check in checks:
        try:
            check()
        except InputError as error:
            if not any(f.code == code and f.severity == "error" for f in case.findings):
                case.refuse(code, error)


def measured_anatomy(case: Case) -> None:
    """Measure the person on the mended recording: what is refused, the stature that fits, and what is warned of."""
    trial = case.trial
    whole = filled(trial.markers)
    lost = [name for name in trial.used_markers if np.isnan(whole[name]).any()]
    ready = not lost and trial.forces and np.isfinite([trial.subject.mass, trial.subject.stature]).all()
    if not ready or {f.code for f in case.findings} & {"mapping", "trial_file"}:
        return
    case.mend(markers=whole)
    try:
        found = anatomy(case.trial)
    except InputError as error:
        place = error.where or ""
        code = "mass" if "mass_kg" in place else "stature" if "stature_m" in place else "proportions"
        if not any(f.code in (code, "landmark_order") and f.severity == "error" for f in case.findings):
            case.refuse(code, error)
        return
    _stature(case, fitting_stature(found.offsets))
    told = {f.code for f in case.findings}
    for note in found.notes:
        about = "mass" if "body weight" in note else "stature" if "stature_m" in note else "cutoff"
        if about not in told or (about == "cutoff" and not note.startswith("The cut-off")):
            case.tell(
                "caution",
                "note",
                note,
                "nothing needs to be done, but keep it in mind when reading the results",
            )


def _stature(case: Case, fitting: float) -> None:
    given = case.trial.subject.stature
    off = fitting / given - 1.0
    if abs(off) > STATURE:
        case.tell(
            "stature",
            "error" if abs(off) > FAR_STATURE else "warning",
            f"thighs, shanks and trunk are those of a person about {fitting:.2f} m tall, stature_m is {given:g} "
            f"({100 * off:+.0f} %, expected within {100 * STATURE:.0f} %)",
            "measure the stature again; masses and lengths of unmeasured segments depend on it",
            key=("subject", "stature_m"),
        )


def refusal(path: Path) -> InputError | None:
    """Return why the analysis would refuse a trial, None where it would not."""
    try:
        anatomy(read_trial(path))
    except InputError as error:
        return error
    return None
