"""The command share with external loads instead of moments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from small_model import save_model
from small_model_motion import DOFS, save_inputs
from typer.testing import Result

from musclesolve import read_osim, read_result
from musclesolve.tables import Table, write_mot


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    model = save_model(tmp_path)
    coordinates, moments = save_inputs(tmp_path, read_osim(model))
    time, names = np.linspace(0.0, 1.0, 11), ("ground_force_vx", "ground_force_vy", "ground_force_vz")
    points = ("ground_force_px", "ground_force_py", "ground_force_pz")
    path = tmp_path / "grf.mot"
    write_mot(path, Table(time, (*names, *points), np.zeros((11, 6)), False, path))
    assert moments.exists()
    chosen = [part for dof in DOFS for part in ("--coordinate", dof)]
    return ["share", "--model", str(model), "--coordinates", str(coordinates), *chosen]


def run(inputs: list[str], folder: Path, *more: str) -> Result:
    return typed(*inputs, "--no-figures", "-o", folder / "out", *more)


def test_contact_forces_are_stored_where_plates_carry_nothing(inputs: list[str], tmp_path: Path) -> None:
    done = run(inputs, tmp_path, "--loads", str(tmp_path / "grf.mot"))
    assert done.exit_code == 3 and "No load exceeds 20 N" in done.output, done.output
    assert "internal error" not in done.output
    assert "inverse dynamics" in done.output and "Residual force" in done.output
    result = read_result(tmp_path / "out" / "result.nc")
    assert np.isfinite(result["joint_reaction"]).all()
    assert any("loads grf.mot sha256" in text for text in result.attrs["inputs"])


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        ([], ["neither moments nor loads"]),
        (["--loads", "predicted", "--moments", "{0}/id.sto"], ["both moments and loads"]),
        (["--loads", "{0}/none.mot"], ["none.mot"]),
        (["--loads", "{0}/ik.mot"], ["ground_force_vx"]),
    ],
)
def test_input_at_fault_ends_with_two(
    inputs: list[str], tmp_path: Path, more: list[str], parts: list[str]
) -> None:
    done = run(inputs, tmp_path, *[text.format(tmp_path) for text in more])
    assert done.exit_code == 2 and "Traceback" not in done.output
    for part in parts:
        assert part in " ".join(done.output.split())


def test_an_option_with_one_value_is_refused_where_it_is_given_twice(
    inputs: list[str], tmp_path: Path
) -> None:
    done = run(inputs, tmp_path, "--loads", "none", "--loads", str(tmp_path / "grf.mot"))
    assert done.exit_code == 2 and "--loads is given 2 times" in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()
