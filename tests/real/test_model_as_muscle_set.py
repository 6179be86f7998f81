"""The recorded walk with the muscles of OpenSim models: `[muscles] database = "model.osim"`."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.results.dataset.result_quantities import inputs_of

SCALED = "rajagopal_walk/reference/rajagopal_lai_uhlrich_2023_scaled.osim"
MODELS = ("opensim_models/gait2392.osim", "opensim_models/rajagopal_2016.osim", SCALED)


def walk_with(text: str, database: str, folder: Path):
    file = folder / "walk.toml"
    file.write_text(text.replace('database = "gait2392_hip"', f'database = "{database}"'), encoding="utf-8")
    return ms.run(file)


@pytest.fixture(scope="module", params=MODELS)
def model(request) -> Path:
    return recorded(request.param)


@pytest.fixture(scope="module")
def result(model: Path, recorded_walk_text: str, tmp_path_factory):
    return walk_with(recorded_walk_text, model.as_posix(), tmp_path_factory.mktemp("walk"))


@pytest.mark.in_part(2)
def test_every_frame_is_solved_without_reserves(result) -> None:
    assert (result.status == ms.Status.SOLVED).all()
    assert float(result.gap.max()) <= 1e-9


def test_activations_agree_with_emg(result) -> None:
    """Muscles that walk most: calf, shin, vasti, gluteals."""
    r = result.emg_correlation.sel(channel=["SOL", "GAS", "TA", "VL", "VM", "GMAX", "GMED"])
    assert float(r.min()) > 0.55
    assert float(r.sel(channel=["SOL", "VL", "VM"]).min()) > 0.83


def test_the_model_is_part_of_the_provenance(result, model: Path) -> None:
    (name, sha), *_ = [(name, sha) for role, name, sha in inputs_of(result) if role == "muscles"]
    assert (Path(result.attrs["trial_file"]).parent / name).samefile(model)
    assert sha == hashlib.sha256(model.read_bytes()).hexdigest()
    assert any(str(each).startswith("knee_flexion ") for each in result.attrs["muscle_coordinates"])


def test_exported_files_are_in_the_names_of_the_model(result, model: Path, tmp_path: Path) -> None:
    ms.export(result, tmp_path / "walk.sto")
    names = set(ms.read_osim(model).muscles)
    assert set(ms.tables.read_mot(tmp_path / "walk_force.sto").names) <= names


@pytest.mark.thorough
def test_the_model_of_the_default_set_gives_its_forces(
    recorded_walk: Path, recorded_walk_text: str, tmp_path_factory
) -> None:
    """But for pelvis and foot, which grow by 0.8 % of the generic model instead of 1.7 %."""
    path = recorded(MODELS[0])
    own = walk_with(recorded_walk_text, path.as_posix(), tmp_path_factory.mktemp("own"))
    bundled = walk_with(recorded_walk_text, "gait2392", tmp_path_factory.mktemp("bundled"))
    assert list(own.muscle.values) == list(bundled.muscle.values)
    difference = np.sqrt(float(((own.muscle_force - bundled.muscle_force) ** 2).mean()))
    assert 0.0 < difference < 0.05 * float(bundled.muscle_force.max("time").mean())
    assert any("ercspn_r" in note for note in own.attrs["notes"])
