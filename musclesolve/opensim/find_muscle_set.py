"""A muscle set by its name or file: bundled, a TOML file, or an OpenSim model."""

from pathlib import Path

import muscle_db
from musclesolve.muscles.muscle_set import load_muscle_set

MODEL = ".osim"
"""Suffix of OpenSim models."""


def find_muscle_set(name: str | Path) -> muscle_db.MuscleDatabase:
    """One of `muscle_db.available()`, or the set of a file: TOML, or a model (leg_muscle_set.py)."""
    if Path(name).suffix.casefold() == MODEL:
        from musclesolve.opensim import leg_muscle_set  # loads scipy: only where a model is read

        return leg_muscle_set.leg_muscle_set(name)
    return load_muscle_set(name)
