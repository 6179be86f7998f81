"""The small model, and a subject of AddBiomechanics."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_model import save_model

from musclesolve import read_osim
from musclesolve.laboratory import read_b3d


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory):
    """The small model."""
    return read_osim(save_model(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="session")
def real(addbiomechanics: Path):
    """A subject of AddBiomechanics in one file."""
    return read_b3d(addbiomechanics / "results.b3d")
