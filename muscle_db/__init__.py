"""Muscles of the human leg as data files, and a loader that checks them. Importable on its own."""

from muscle_db.errors import MuscleDatabaseError
from muscle_db.loader import available, load
from muscle_db.model import ActiveRange, Deviation, Muscle, MuscleDatabase, PathPoint, ReferenceSkeleton
from muscle_db.standing import standing_length

__all__ = [
    "ActiveRange",
    "Deviation",
    "Muscle",
    "MuscleDatabase",
    "MuscleDatabaseError",
    "PathPoint",
    "ReferenceSkeleton",
    "available",
    "load",
    "standing_length",
]
