"""Reading the body of one subject from `calibrate_body`: masses of the segments, shifts of centers of mass."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from musclesolve.recording.data import SubjectBody
from musclesolve.recording.schema import Document, validated
from musclesolve.settings.schema import Settings, same, setting, settings_class, table
from musclesolve.settings.trial import SEGMENTS, SegmentSettings, SubjectSettings

SAME_NUMBER = 1e-6
"""Difference below which two stated numbers are equal [kg, m]."""
SHARED_KEYS = ("mass_kg", "stature_m", "sex", "shoe_mass_kg")
"""Values that must be equal in [subject] of a trial file and in its body file."""


_MASS = same(SegmentSettings, "mass_kg", required=True)
_SHIFT = setting(
    "shift of the center of mass from the inertia table's: forward, left, up in standing [mm]",
    kind="triple",
    within=(-200.0, 200.0),
)
_SubjectOfBody = settings_class("SubjectOfBody", {key: same(SubjectSettings, key) for key in SHARED_KEYS})
_Masses = settings_class("Masses", dict.fromkeys(SEGMENTS, _MASS))
_Shifts = settings_class("Shifts", dict.fromkeys(SEGMENTS, _SHIFT))


class BodySettings(Settings):
    """Settings of a body file; tables for human readers have free keys."""

    body: Mapping[str, Any] = table()
    subject: Settings = table(_SubjectOfBody, required=True)
    mass_kg: Settings = table(_Masses, required=True)
    center_shift_mm: Settings = table(_Shifts)
    session: tuple[Any, ...] = table(one_per="session")
    trial: tuple[Any, ...] = table(one_per="trial")
    parameter: tuple[Any, ...] = table(one_per="parameter")


def read_body(document: Document, subject: SubjectSettings) -> SubjectBody | None:
    """Return the body of [subject] of a trial file; None without one.

    Args:
        document: the trial file.
        subject: its [subject].
    """
    if subject.body is None:
        return None
    file = Document(document.input_file("subject", "body", subject.body), BodySettings)
    settings = validated(file, BodySettings)
    for key in SHARED_KEYS:
        body, trial = settings.subject[key], subject[key]
        if body == trial or (isinstance(body, float) and abs(body - trial) < SAME_NUMBER):
            continue
        raise document.fault(
            "conflict",
            ("subject", "body"),
            f"{key} is {trial}, and {body} in {file.path.name}",
            "the subject of the calibrated body: mass, stature, sex and shoes as in the calibration",
            "name the body of this subject, or calibrate it again: musclesolve calibrate-body",
        )
    shifts = {name: shift for name, shift in settings.center_shift_mm.stated.items()}
    return SubjectBody(
        path=file.path,
        mass=settings.mass_kg.stated,
        center_shift={name: (0.001 * x, 0.001 * y, 0.001 * z) for name, (x, y, z) in shifts.items()},
        stated_mass=subject.mass_kg,
    )


def body_path(document: Document) -> dict[str, Path]:
    """Return the file of the body by its role in the provenance; empty without one."""
    stated = document.content.get("subject", {})
    names = {key: stated.get(key) for key in ("body", "skeleton")}
    return {key: document.path.parent / name for key, name in names.items() if isinstance(name, str)}
