"""A muscle set by its name or path, with the errors of this package."""

from pathlib import Path

import muscle_db
from musclesolve.errors import InputError


def load_muscle_set(name_or_path: str | Path) -> muscle_db.MuscleDatabase:
    """Read a muscle set: a bundled one by its name, or a TOML file."""
    try:
        return muscle_db.load(name_or_path)
    except muscle_db.MuscleDatabaseError as error:
        where = ", ".join(part for part in (error.line and f"line {error.line}", error.field) if part) or None
        texts = {"expected": error.expected, "remedy": error.remedy}
        raise InputError(error.problem, code=error.code, file=error.file, where=where, **texts) from error
