"""A muscle set by its name or file: bundled, a TOML file, or an OpenSim model."""

from pathlib import Path

import muscle_db
from musclesolve.muscles.muscle_parameters import load_muscle_set
from musclesolve.muscles.scaling.fiber_lengths import operating_range

MODEL = ".osim"
"""Suffix of OpenSim models."""


def find_muscle_set(name: str | Path) -> muscle_db.MuscleDatabase:
    """One of `muscle_db.available()`, or the set of a file: TOML, or a model (leg_muscle_set.py)."""
    if Path(name).suffix.casefold() == MODEL:
        from musclesolve.models.opensim import leg_muscle_set  # loads scipy: only where a model is read

        return leg_muscle_set.leg_muscle_set(name)
    return load_muscle_set(name)


def fitting_muscle_set(name: str, rule: str | None) -> muscle_db.MuscleDatabase:
    """The set of a name or file; refuses a user's set with a muscle that does not fit its own path."""
    database = find_muscle_set(name)
    if name not in muscle_db.available() and (rule or database.fiber_lengths) == "operating_range":
        ranges = operating_range(database)
        ranges.fitted(ranges.length)
    return database
