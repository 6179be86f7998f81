"""A muscle set by its name or file: bundled, a TOML file, or an OpenSim model."""

from __future__ import annotations

from pathlib import Path

import muscle_db
from musclesolve.errors import InputError

MODEL = ".osim"
"""Suffix of OpenSim models."""


def find_muscle_set(name: str | Path) -> muscle_db.MuscleDatabase:
    """One of `muscle_db.available()`, or the set of a file: TOML, or a model (leg_muscle_set.py).

    Raises:
        InputError: there is no such set or file, or it is wrong; it says where and why.
    """
    if Path(name).suffix.casefold() == MODEL:
        from musclesolve.opensim.leg import leg_muscle_set  # loads scipy: only where a model is read

        return leg_muscle_set.leg_muscle_set(name)
    try:
        return muscle_db.load(name)
    except muscle_db.MuscleDatabaseError as error:
        where = ", ".join(part for part in (error.line and f"line {error.line}", error.field) if part) or None
        texts = {"expected": error.expected, "remedy": error.remedy}
        raise InputError(error.problem, code=error.code, file=error.file, where=where, **texts) from error
