"""A subject of AddBiomechanics."""

from __future__ import annotations

from pathlib import Path

import pytest

from musclesolve.laboratory import read_b3d


@pytest.fixture(scope="session")
def real(addbiomechanics: Path):
    """A subject of AddBiomechanics in one file."""
    return read_b3d(addbiomechanics / "results.b3d")
