"""Check that several trials are different ones of the same subject."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from musclesolve.errors import file_error
from musclesolve.recording.data import Trial

PERSON = ("mass_kg", "stature_m", "sex")
"""Keys of [subject] that describe a person."""
BODY = (*PERSON, "shoe_mass_kg", "segments")
"""Further keys of the recorded body, such as shoes."""


def check_one_subject(trials: Sequence[Trial], keys: Sequence[str] = PERSON) -> None:
    """Refuse trials whose subject differs from the subject of the first trial.

    Args:
        trials: of recordings.
        keys: of [subject], those in which the trials must agree.
    """
    for trial in trials[1:]:
        one, other = _stated(trial), _stated(trials[0])
        for key in keys:
            if one[key] != other[key]:
                raise trial.document.fault(
                    "conflict",
                    ("subject", key),
                    f"{key} is {one[key]} here and {other[key]} in {trials[0].path.name}",
                    "trials of one subject",
                    "calibrate each subject by itself, or correct the trial file",
                )


def check_different(trials: Iterable[tuple[Path, tuple[float, float]]]) -> None:
    """Refuse a trial that is given twice: the path of a trial file with the first and the last time [s]."""
    listed = [(path.resolve(), *span) for path, span in trials]
    if twice := [each[0] for each in listed if listed.count(each) > 1]:
        problem, remedy = "the trial is given twice", "leave one of them out"
        raise file_error("duplicate_name", twice[0], problem, "every trial once", remedy)


def _stated(trial: Trial) -> dict[str, object]:
    subject = trial.subject
    numbers = subject.mass, subject.stature, subject.sex, subject.shoe_mass, dict(subject.segments)
    return dict(zip(BODY, numbers, strict=True))
