"""Files of one person's muscles for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.muscles.person import FittedParameter, PersonMuscles

Factor = tuple[str, tuple[str, ...], float]
"""Quantity, muscles and factor of a fitted parameter."""


def person(
    parent: str | Path, factors: Sequence[Factor], covariance: np.ndarray | None = None, tendon: str = "rigid"
) -> PersonMuscles:
    """Muscles of one person; the factors are certain unless a covariance is given."""
    matrix = np.zeros((len(factors), len(factors))) if covariance is None else np.asarray(covariance)
    fitted = [
        FittedParameter(
            f"{quantity} of {muscles[0]}", quantity, muscles, factor, float(np.sqrt(matrix[k, k])), 0.2
        )
        for k, (quantity, muscles, factor) in enumerate(factors)
    ]
    return PersonMuscles("S01", str(parent), None, (), tendon, tuple(fitted), matrix)


def person_file(folder: Path, *given: object, **more: object) -> Path:
    """The file of such a person, person.toml in a folder."""
    path = folder / "person.toml"
    ms.models.write_person(person(*given, **more), path)  # type: ignore[arg-type]
    return path
