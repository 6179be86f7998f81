"""Check that the trial files of several trials state the same subject."""

from collections.abc import Sequence

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


def _stated(trial: Trial) -> dict[str, object]:
    subject = trial.subject
    numbers = subject.mass, subject.stature, subject.sex, subject.shoe_mass, dict(subject.segments)
    return dict(zip(BODY, numbers, strict=True))
