"""Public models, where they are present, and the small one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from small_model import save_model

from musclesolve.opensim.model import OpenSimModel
from musclesolve.opensim.read_model import read_osim

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """Folder of the public models and their sampled geometry; tests that need it are skipped where it is absent."""
    root = Path(os.environ.get("MUSCLESOLVE_DATA", REPOSITORY / ".." / "shared" / "data"))
    folder = root / "opensim_models"
    if not folder.is_dir():
        pytest.skip(f"no models in {folder} (set MUSCLESOLVE_DATA to the folder that holds opensim_models)")
    return folder


@pytest.fixture(scope="session")
def public_model(model_folder: Path) -> Callable[[str], OpenSimModel]:
    """Reads one of the public models, once."""
    found: dict[str, OpenSimModel] = {}

    def read(name: str) -> OpenSimModel:
        if name not in found:
            found[name] = read_osim(model_folder / f"{name}.osim")
        return found[name]

    return read


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> OpenSimModel:
    """The small model."""
    return read_osim(save_model(tmp_path_factory.mktemp("small")))
