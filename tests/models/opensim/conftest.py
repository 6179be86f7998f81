"""The small model."""

from __future__ import annotations

import pytest
from small_model import save_model

from musclesolve import read_osim


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory):
    """The small model."""
    return read_osim(save_model(tmp_path_factory.mktemp("small")))
