"""Reading the body of one subject that `calibrate_body` wrote: masses of the segments, shifts of centers of mass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from musclesolve.recording.data import SubjectBody
from musclesolve.recording.schema import Document, described_keys, validated

SAME = 1e-6
"""Two numbers that differ by less are the same statement [kg, m]."""
STATED = ("mass_kg", "stature_m", "sex", "shoe_mass_kg")
"""What [subject] of a trial file and of its body must have alike."""


def body_keys() -> dict[str, Any]:
    """Return the tables and keys of a body file, see `Document`; tables that only people read are free."""
    trial, segments = described_keys("trial_keys.toml"), described_keys("segment_keys.toml")
    mass = segments["keys"]["mass_kg"] | {"required": True}
    shift = {"type": "triple", "minimum": -200.0, "maximum": 200.0}
    shift["about"] = (
        "shift of the center of mass from the inertia table's: forward, left, up in standing [mm]"
    )
    of_subject = trial["subject"]["keys"]
    return {
        "body": {"free": True},
        "subject": {"required": True, "keys": {key: of_subject[key] for key in STATED}},
        "mass_kg": {"required": True, "keys": dict.fromkeys(segments["segments"], mass)},
        "center_shift_mm": {"keys": dict.fromkeys(segments["segments"], shift)},
        "session": {"free": True, "list": True},
        "trial": {"free": True, "list": True},
        "parameter": {"free": True, "list": True},
    }


def read_body(document: Document, table: Mapping[str, Any]) -> SubjectBody | None:
    """Return the body that [subject] of a trial file names, None where it names none.

    Args:
        document: the trial file.
        table: its [subject], with defaults.

    Raises:
        InputError: a file that is missing or no body file, or the body of another subject.
    """
    if table["body"] is None:
        return None
    file = Document(document.input_file("subject", "body", table["body"]), body_keys())
    content = validated(file)
    for key in STATED:
        body, trial = content["subject"][key], table[key]
        if body == trial or (isinstance(body, float) and abs(body - trial) < SAME):
            continue
        problem = f"{key} is {trial}, and {body} in {file.path.name}"
        expected = "the subject whose body it is: mass, stature, sex and shoes as the calibration had them"
        remedy = "name the body of this subject, or calibrate it again: musclesolve calibrate-body"
        raise document.error(problem, "subject", "body", 0, expected, remedy, code="conflict")
    shifts = {name: shift for name, shift in content["center_shift_mm"].items() if shift is not None}
    return SubjectBody(
        path=file.path,
        mass=content["mass_kg"],
        center_shift={name: (0.001 * x, 0.001 * y, 0.001 * z) for name, (x, y, z) in shifts.items()},
        stated_mass=table["mass_kg"],
    )


def body_path(document: Document) -> dict[str, Path]:
    """Return the file of the body by its role in the provenance; nothing without one."""
    name = document.content.get("subject", {}).get("body")
    return {"body": document.path.parent / name} if isinstance(name, str) else {}
