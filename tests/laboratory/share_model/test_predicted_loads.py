"""Loads on the feet of OpenSim models without plates: beside plates and laws, trial files, refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from measured_model import measured_model
from recorded_data import recorded
from refusals import refused
from replays import replay_of
from small_model_motion import DOFS, small_motion

import musclesolve as ms
from musclesolve import read_osim
from musclesolve.laboratory.trial.dependent_settings import with_paths
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import foot_of_side, load_wrench, read_external_loads
from musclesolve.models.opensim.inverse_dynamics import ModelMotion, body_dynamics
from musclesolve.models.opensim.kinematics import coordinate_values
from musclesolve.models.opensim.load_dynamics import load_dynamics, whole_motion
from musclesolve.models.opensim.loads_without_plates import predicted_loads, sole_points


def walk() -> tuple[Path, Path, Path]:
    """Model, coordinates and plates of the recorded walk."""
    folder = recorded("rajagopal_walk")
    reference = folder / "reference"
    model = reference / "rajagopal_lai_uhlrich_2023_scaled.osim"
    return model, reference / "opensim_ik.mot", folder / "walk_grf.mot"


def drop_jump() -> tuple[Path, Path]:
    """Model and coordinates of a jump from a box that no plate measured, and from the floor."""
    folder = recorded("addbiomechanics") / "opencap_subject"
    return folder / "Models" / "optimized_scale_and_markers.osim", folder / "IK" / "DJ1_ik.mot"


def knee() -> tuple[Path, Path]:
    folder = recorded("instrumented_knee")
    return folder / "Rajagopal2015-scaled.osim", folder / "PS_ngait_og_ss1_kinematics.mot"


def test_hidden_plates_of_the_recorded_walk() -> None:
    model_file, coordinates, plates = walk()
    model = read_osim(model_file)
    motion = coordinate_motion(model, coordinates)
    hidden = predicted_loads(model, whole_motion(model, motion))
    between = motion.frames((motion.time > 0.5) & (motion.time < 1.75))  # both feet were measured
    pose = load_dynamics(model, between, hidden).dynamics.bodies.pose
    measured = read_external_loads(plates, model, between.time, pose)
    ours, theirs = (load_wrench(model, loads, between.time, pose) for loads in (hidden, measured))
    weight = 9.80665 * model.mass
    for side in "rl":
        foot = model.body_number[foot_of_side(model, side)]
        off = np.sqrt(np.mean((ours - theirs)[:, foot, 3:] ** 2, axis=0)) / weight
        assert (off < (0.03, 0.06, 0.02)).all(), (side, off)  # forward, up, right
        upward = ours[:, foot, 4]
        assert upward.min() > -1e-5 * weight
        assert (np.abs(ours[:, foot, [3, 5]]) <= 0.5 * upward[:, None] + 1e-5 * weight).all()


def test_who_stands_still_is_carried_below_the_center_of_mass() -> None:
    model = read_osim(walk()[0])
    time = np.arange(60) / 100.0
    value = np.repeat(coordinate_values(model, {}), 60, axis=0)
    still = ModelMotion(time, value, np.zeros_like(value), np.zeros_like(value))
    bodies = body_dynamics(model, still)
    loads = predicted_loads(model, still)
    wrench = load_wrench(model, loads, time, bodies.pose).sum(axis=1)[30]
    weight = 9.80665 * model.mass
    np.testing.assert_allclose(wrench[3:], [0.0, weight, 0.0], atol=0.02 * weight)
    center = sum(
        body.mass * (bodies.pose.position[0, k] + bodies.pose.rotation[0, k] @ body.center)
        for name, body in model.masses.items()
        for k in [model.body_number[name]]
    )
    assert abs(wrench[2] / wrench[4] - np.asarray(center)[0] / model.mass) < 0.03
    # heel behind the ankle, toes ahead of their joint, the sole below both
    points = sole_points(model, bodies, "r")[0]
    place = {name: bodies.pose.position[0, model.body_number[name]] for name in ("talus_r", "toes_r")}
    assert points[:, 0].min() < place["talus_r"][0] - 0.05 and points[:, 0].max() > place["toes_r"][0] + 0.04
    assert points[:, 1].max() < min(each[1] for each in place.values()) - 0.003


def test_who_sits_is_not_carried_by_the_feet() -> None:
    model, rest = read_osim(walk()[0]), {"time": np.arange(60) / 100.0}
    pose = {name: np.full(60, each.default) for name, each in model.coordinates.items() if not each.locked}
    for side in "rl":
        pose |= {f"hip_flexion_{side}": np.full(60, 1.5), f"knee_angle_{side}": np.full(60, 1.5)}
    found = ms.share_model(model, rest | pose, loads="predicted", cutoff_hz=None)
    assert not found["balanced"].values.any() and "not_carried" in found.attrs["findings"]


@pytest.fixture(scope="module")
def shared() -> xr.Dataset:
    return ms.share_model(*knee(), loads="predicted")


def test_a_result_says_that_loads_are_predicted(shared: xr.Dataset) -> None:
    assert shared.attrs["ground_reactions"] == "predicted"
    assert any("predicted" in note for note in shared.attrs["notes"])
    assert "predicted_forces" in str(shared.attrs["findings"])
    assert not any(line.startswith("loads") for line in shared.attrs["inputs"])
    measured = ms.share_model(*knee(), loads=recorded("instrumented_knee") / "loads_ss1.xml")
    assert measured.attrs["ground_reactions"] == "measured"


@pytest.mark.thorough
def test_the_floor_is_where_the_feet_stand(shared: xr.Dataset) -> None:
    """The origin of the ground lies elsewhere: 40 mm lower, forces stay what they are and act 40 mm lower."""
    model, coordinates = knee()
    motion = coordinate_motion(read_osim(model), coordinates, None)
    lower = {**motion.by_name(motion.value), "time": motion.time}
    lower["pelvis_ty"] = lower["pelvis_ty"] - 0.04
    moved = ms.share_model(model, lower, loads="predicted")
    force = "ground_reaction_force"
    np.testing.assert_allclose(moved[force].values, shared[force].values, atol=0.5)
    off = (moved["center_of_pressure"] - shared["center_of_pressure"]).values
    off = off[(shared[force][..., 2] > 100.0).values]
    np.testing.assert_allclose(off, np.broadcast_to([0.0, 0.0, -0.04], off.shape), atol=2e-3)


def test_a_trial_file_asks_for_predicted_loads(tmp_path: Path) -> None:
    model, coordinates = knee()
    path = tmp_path / "trial.toml"
    text = f'[files]\nmodel = "{model}"\ncoordinates = "{coordinates}"\nloads = "predicted"\n'
    path.write_text(text)
    found = ms.check(path)
    assert "predicted_forces" in {each.code for each in found.findings} and found.judgement is not None
    with refused("conflict", "both moments and loads"):
        path.write_text(text + 'moments = "id.sto"\n')
        (tmp_path / "id.sto").write_text("")
        ms.read_trial(path)
    path.write_text(text.replace('"predicted"', '"predictd"'))
    with refused("missing_file", 'did you mean "predicted"'):
        ms.read_trial(path)


def test_a_study_keeps_the_word(tmp_path: Path) -> None:
    content = {"files": {"markers": "walk.trc", "forces": "predicted"}}
    moved = with_paths(content, tmp_path, tmp_path / "out" / "walk" / "trial.toml")["files"]
    assert moved["forces"] == "predicted" and moved["markers"] == "../../walk.trc"


def test_frames_that_the_feet_do_not_carry_are_not_valid() -> None:
    """On the box, 0.6 m above the floor, the feet are not on the ground; then they are, and land on it."""
    found = ms.share_model(*drop_jump(), loads="predicted", cutoff_hz=15.0, side="r")
    carried, time = found["balanced"].values, found["time"].values
    assert not carried[time < 0.7].any()
    assert carried[(time > 0.95) & (time < 1.05)].all()  # flight needs nothing
    assert carried[(time > 1.495) & (time < 1.6)].all()
    assert "not_carried" in str(found.attrs["findings"])


def test_models_that_no_ground_reaction_can_be_predicted_for(small) -> None:
    with refused("unknown_name", "talus_r"):
        ms.share_model(small, small_motion(small), dofs=DOFS, loads="predicted")
    model_file, coordinates = knee()
    floating = replace(read_osim(model_file), gravity=np.zeros(3))
    with refused("conflict", "gravity"):
        ms.share_model(floating, coordinates, loads="predicted")


@pytest.mark.thorough
def test_samples_predict_the_loads_anew_with_their_errors() -> None:
    """Without errors the moments of the result; a wrong mass scales all; errors of the prediction widen the moments."""
    model, coordinates, _ = walk()
    body = measured_model(model, coordinates, loads="predicted", start_s=0.9, end_s=1.2)
    replay = replay_of(body)
    none = replay.parameters.errors(np.zeros(replay.parameters.count))
    np.testing.assert_array_equal(replay.body(none).moment, body.moment)
    turned = none | {"joint_angle": np.full_like(none["joint_angle"], 1e-9)}
    np.testing.assert_allclose(replay.body(turned).moment, body.moment, atol=1e-3)
    heavier = replay.body(none | {"body_mass": np.array([np.log(1.1)])})
    np.testing.assert_allclose(heavier.moment, 1.1 * body.moment)
    off = none | {"predicted_force": np.full_like(none["predicted_force"], 0.02)}
    assert np.abs(replay.body(off).moment - body.moment).max() > 5.0  # [N m]
