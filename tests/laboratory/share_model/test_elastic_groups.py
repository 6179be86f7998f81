"""Muscles of an OpenSim model with elastic tendons: the laws of their result, and runs beside rigid ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from said import summary
from small_model import near_optimal_lengths, save_model
from small_model_motion import DOFS, feasible_moments, small_motion
from stored_results import write_result

from musclesolve import Status, read_osim, read_result
from musclesolve.laboratory.run_trial import share_model


def shared(model, **choices: object) -> xr.Dataset:
    """The moments that activations of 0.3 produce behind rigid tendons."""
    moments = feasible_moments(model, passive="none")
    given = {"dofs": DOFS, "tendon": "elastic", "passive": "none", **choices}
    return share_model(model, small_motion(model), moments, "activation_power", **given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory):
    return read_osim(save_model(tmp_path_factory.mktemp("small"), near_optimal_lengths()))


@pytest.fixture(scope="module")
def found(model) -> xr.Dataset:
    return shared(model)


def test_the_groups_are_solved(found: xr.Dataset) -> None:
    assert np.isin(found["status"], [Status.SOLVED, Status.SOLVED_WITH_RESERVE]).all()
    assert (found.attrs["tendon"], found.attrs["solver"]) == ("elastic", "structured")
    assert any(note.endswith("tendons elastic.") for note in found.attrs["notes"])


def test_tendon_forces_give_the_moments(found: xr.Dataset) -> None:
    total = found["activation"] * found["force_capacity"] + found["passive_force"]
    np.testing.assert_allclose(found["muscle_force"], total, rtol=1e-12)
    produced = (found["moment_arm"] * found["muscle_force"]).sum("muscle") + found["reserve_moment"]
    np.testing.assert_allclose(produced.transpose("time", "dof"), found["joint_moment"], atol=1e-4)


def test_tendon_and_fiber_are_as_long_as_the_path(found: xr.Dataset) -> None:
    thickness = found["optimal_fiber_length"] * np.sin(found["pennation_angle"])
    along = np.sqrt(found["fiber_length"] ** 2 - thickness**2)
    np.testing.assert_allclose(found["tendon_length"] + along, found["musculotendon_length"], atol=3e-6)


def test_stiff_tendons_are_almost_rigid(model) -> None:
    rigid = shared(model, tendon="rigid")
    errors = [
        float(np.abs(shared(model, tendon_strain=strain)["fiber_length"] - rigid["fiber_length"]).max())
        for strain in (0.04, 0.004)
    ]
    assert errors[1] < 0.2 * errors[0]


def test_the_result_passes_through_a_file(found: xr.Dataset, tmp_path: Path) -> None:
    write_result(found, tmp_path / "result.nc")
    assert summary(read_result(tmp_path / "result.nc")) == summary(found)
    assert "elastic, with activation dynamics" in summary(found)
