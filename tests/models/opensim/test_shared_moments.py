"""Moments of shared coordinates from the columns that OpenSim's inverse dynamics writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from joined_legs import OLD_PATH, reversed_joint
from opensim_answers import answers, task
from refusals import refused
from small_model import save_model
from small_model_motion import HIP, TIME, small_motion

from musclesolve import read_osim
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.inverse_dynamics import model_motion
from musclesolve.models.opensim.kinematics import coordinate_values
from musclesolve.models.opensim.moments import shared_moments
from musclesolve.tables import Table

SHARED = ("hip_a_r", "hip_b_r", "hip_c_r", "knee_r", "ankle_a_r", "ankle_b_r")
FEW = slice(0, 61, 12)


def at_rest(model) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Poses without speed, and the moments of gravity in them about all coordinates, couplings included."""
    pose = {name: values[FEW] for name, values in small_motion(model).items() if name != "time"}
    none = {name: np.zeros(6) for name in pose}
    motion = model_motion(model, TIME[FEW], pose, none, none)
    dynamics = inverse_dynamics(model, motion)
    return {"time": TIME[FEW], **pose}, np.stack([dynamics.column(name) for name in SHARED], axis=1)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("reverse", ["", "hip_r", "knee_joint_r", "ankle_r"])
def test_columns_of_opensim_are_the_moments_of_rates_and_couplings(tmp_path: Path, reverse: str) -> None:
    """OpenSim's own inverse dynamics under gravity, of each joint alone and about the axes of the pelvis at the hip."""
    text = reversed_joint(reverse) if reverse else OLD_PATH
    model = read_osim(save_model(tmp_path, text))
    pose, expected = at_rest(model)
    names = list(model.coordinates)
    values = coordinate_values(model, {name: column for name, column in pose.items() if name != "time"})
    still = np.zeros_like(values)
    (columns,) = answers(task("inverse", model.file, names, values, still, still))
    table = Table(
        TIME[FEW], tuple(f"{name}_moment" for name in names), np.array(columns), False, tmp_path / "id.sto"
    )
    found = shared_moments(model, table, SHARED, coordinate_motion(model, pose, None))
    assert np.abs(expected).max() > 10.0
    np.testing.assert_allclose(found.moment, expected, atol=1e-7)
    own = table.values[:, [names.index(name) for name in SHARED]]
    assert (
        np.abs(own - expected).max(axis=0)[[1, 3]].min() > 0.1
    )  # of the hip, and of the knee that drives the patella
    assert any("beta_r" in note for note in found.notes) and any("hip_r" in note for note in found.notes)


def test_arrays_belong_to_the_rates(tmp_path: Path) -> None:
    model = read_osim(save_model(tmp_path))
    pose, _ = at_rest(model)
    given = {"time": TIME[FEW], **{name: np.full(6, 2.0 + k) for k, name in enumerate(SHARED)}}
    found = shared_moments(model, given, SHARED, coordinate_motion(model, pose, None))
    np.testing.assert_allclose(found.moment, np.tile(2.0 + np.arange(6.0), (6, 1)))
    (note,) = found.notes
    assert "beta_r" in note and "zero" in note


def test_a_ball_joint_needs_all_three_columns(tmp_path: Path) -> None:
    model = read_osim(save_model(tmp_path))
    pose, _ = at_rest(model)
    table = Table(
        TIME[FEW], tuple(f"{name}_moment" for name in HIP[:2]), np.ones((6, 2)), False, tmp_path / "id.sto"
    )
    with refused("missing_column", "id.sto", "hip_c_r"):
        shared_moments(model, table, ["hip_a_r"], coordinate_motion(model, pose, None))


def test_ground_reactions_in_place_of_moments_are_loads(tmp_path: Path) -> None:
    model = read_osim(save_model(tmp_path))
    names = tuple(f"ground_force_{end}" for end in ("vx", "vy", "vz", "px", "py", "pz"))
    table = Table(TIME[FEW], names, np.ones((6, 6)), False, tmp_path / "grf.mot")
    with refused("missing_column", "--loads"):
        shared_moments(model, table, ["hip_a_r"], coordinate_motion(model, at_rest(model)[0], None))


def test_a_hole_concerns_what_it_moves_alone(tmp_path: Path) -> None:
    model = read_osim(save_model(tmp_path))
    pose, _ = at_rest(model)
    given = {"time": TIME[FEW], **{name: np.ones(6) for name in SHARED}, "beta_r": np.full(6, np.nan)}
    found = shared_moments(model, given, SHARED, coordinate_motion(model, pose, None))
    assert np.isnan(found.moment).all(axis=0).tolist() == [False, False, False, True, False, False]
