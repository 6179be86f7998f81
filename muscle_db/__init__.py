"""Muscles as data files, and a loader that checks them. Importable on its own."""

from muscle_db.errors import MuscleDatabaseError
from muscle_db.loader import DEFAULT, available, load
from muscle_db.model import (
    ActiveRange,
    Deviation,
    MovingFrame,
    MovingPosition,
    Muscle,
    MuscleDatabase,
    PassiveStrain,
    PathPoint,
    PathWrap,
    ReferenceSkeleton,
    Segment,
    WrapObject,
    leg_segments,
    standing_length,
)
from muscle_db.toml_text import to_toml

__all__ = [
    "DEFAULT",
    "ActiveRange",
    "Deviation",
    "MovingFrame",
    "MovingPosition",
    "Muscle",
    "MuscleDatabase",
    "MuscleDatabaseError",
    "PassiveStrain",
    "PathPoint",
    "PathWrap",
    "ReferenceSkeleton",
    "Segment",
    "WrapObject",
    "available",
    "leg_segments",
    "load",
    "standing_length",
    "to_toml",
]
