"""A B3D file as a folder: loads and moments that agree, frames without ground forces, trials that cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from b3d_files import FEET, MODEL, Pass, TrialOnDisk, plates, walker, write_b3d
from refusals import refused

import musclesolve as ms
from musclesolve import read_osim
from musclesolve.laboratory import read_b3d, unpack_b3d
from musclesolve.laboratory.files.b3d import B3DSubject, B3DTrial, coordinate_order
from musclesolve.laboratory.files.service_folders import NO_FORCES, service_trials
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import ExternalLoad, load_wrench, read_external_loads
from musclesolve.models.opensim.inverse_dynamics import model_motion
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import BodyMass, OpenSimModel
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.models.opensim.moments import due_moments
from musclesolve.tables import read_mot

MISSING = [0] * 30 + [5] * 12 + [0] * 38


def one_trial(folder: Path, missing: list[int] | None = None, gravity: np.ndarray | None = None) -> Path:
    """The file of the small walker, processed once."""
    _, only = walker(folder, gravity=gravity)
    flags = missing or [0] * len(only.fields[1])
    trial = TrialOnDisk("walk/1", [only], flags, sensors=plates(only.fields[5], 0.02))
    return write_b3d(folder / "s.b3d", [trial], [MODEL], 12, mass=70.0, sex="female", age=30)


def test_loads_and_moments_are_those_of_the_file(tmp_path: Path) -> None:
    subject = read_b3d(one_trial(tmp_path))
    (trial,) = unpack_b3d(subject, tmp_path / "out").trials
    assert trial.reason == "" and trial.notes == () and set(trial.source) == {"model", "coordinates", "loads"}
    assert trial.subject == {"mass_kg": 70.0, "sex": "female", "age_years": 30.0}
    model, stated = read_osim(trial.model), subject.trials[0].passes[0]
    order = coordinate_order(model, subject)
    table = read_mot(trial.coordinates)
    assert table.names == order and table.in_degrees is False
    np.testing.assert_array_equal(table.values, stated.position)
    # every wrench comes back about the origin of the ground, however it was written
    pose = body_motion(model, coordinate_values(model, dict(zip(order, stated.position.T, strict=True))))
    loads = read_external_loads(trial.loads, model)
    assert [load.body for load in loads] == list(FEET)
    found = load_wrench(model, loads, table.time, pose)[:, [model.body_number[foot] for foot in FEET]]
    np.testing.assert_allclose(found, stated.wrench, atol=1e-9)
    for k, load in enumerate(loads):
        carries = stated.wrench[:, k, 4] > 20.0
        np.testing.assert_allclose(load.point[carries, 1], 0.02, atol=1e-12)
        np.testing.assert_allclose(load.moment[carries][:, [0, 2]], 0.0, atol=1e-9)
    # and the moments that follow are those of the service, at the frames that it states
    parts = (
        dict(zip(order, part.T, strict=True))
        for part in (stated.position, stated.velocity, stated.acceleration)
    )
    own = inverse_dynamics(model, model_motion(model, table.time, *parts), loads)
    moments = read_mot(tmp_path / "out" / "ID" / "walk_1_id.sto")
    assert len(moments.time) == len(table.time) - 2
    for name in order:
        end = "force" if name in ("pelvis_tx", "pelvis_ty", "pelvis_tz") else "moment"
        np.testing.assert_allclose(moments[f"{name}_{end}"], own.column(name)[1:-1], atol=1e-8)


def test_the_folder_is_one_of_the_service(tmp_path: Path) -> None:
    unpacked = unpack_b3d(one_trial(tmp_path), tmp_path / "out")
    (again,) = service_trials(unpacked.folder)
    assert again == replace(unpacked.trials[0], name="walk_1")
    assert json.loads((tmp_path / "out" / "_subject.json").read_text())["massKg"] == 70.0


def test_frames_without_ground_forces_are_not_measured(tmp_path: Path) -> None:
    (trial,) = unpack_b3d(one_trial(tmp_path, MISSING), tmp_path / "out").trials
    assert "12 of 80" in trial.notes[0] and "beside the plates: 12" in trial.notes[0]
    model = read_osim(trial.model)
    motion = coordinate_motion(model, trial.coordinates)
    settings = model_settings(loads=trial.loads)
    due, _ = due_moments(model, motion, ["knee_angle_r", "hip_flexion_l"], None, settings)
    np.testing.assert_array_equal(np.isnan(due.moment).all(axis=1), np.array(MISSING) > 0)
    missing = np.array(MISSING)[1:-1]
    assert len(read_mot(tmp_path / "out" / "ID" / "walk_1_id.sto").time) == np.sum(missing == 0)


def test_moments_under_another_gravity_are_left_out(tmp_path: Path) -> None:
    """Some files of the service were computed with the gravity along z: the root then holds the weight."""
    (trial,) = unpack_b3d(one_trial(tmp_path, None, np.array([0.0, 0.0, -9.80665])), tmp_path / "out").trials
    assert trial.reason == "" and "141 % of the weight" in trial.notes[0]
    assert not (tmp_path / "out" / "ID" / "walk_1_id.sto").exists()


def test_trials_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    _, good = walker(tmp_path)
    frames = len(good.fields[1])
    still = Pass(0, good.fields | {5: np.zeros((frames, 12))})
    trials = [
        TrialOnDisk("both", [still, good], [0] * frames, original="first"),
        TrialOnDisk("kinematics", [good], [0] * frames),
        TrialOnDisk("forceless", [good, still], [0] * frames),
        TrialOnDisk("missing", [good, good], [2] * frames),
        TrialOnDisk("short", [*[Pass(k, {n: c[:1] for n, c in good.fields.items()}) for k in (0, 1)]], [0]),
    ]
    path = write_b3d(tmp_path / "s.b3d", trials, ["<early/>", MODEL], 12)
    reasons = {trial.name: trial.reason for trial in unpack_b3d(path, tmp_path / "out").trials}
    assert reasons.pop("both") == "" and reasons["forceless"] == NO_FORCES
    assert "pass 1 of 2" in reasons["kinematics"] and "1 frame" in reasons["short"]
    assert "in every frame" in reasons["missing"]
    # one trial by the name of its recording
    (one,) = unpack_b3d(path, tmp_path / "one", ["first"]).trials
    assert one.name == "both" and one.coordinates.is_file()
    with refused("unknown_name", "frist", "both"):
        unpack_b3d(path, tmp_path / "one", ["frist"])


def test_models_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    _, only = walker(tmp_path)
    trial = TrialOnDisk("walk", [only], [0] * len(only.fields[1]))
    fewer = Pass(1, {n: c[:, :11] if n < 5 else c for n, c in only.fields.items()})
    with refused("bad_model", "11", "12"):
        other = TrialOnDisk("walk", [fewer], trial.missing)
        unpack_b3d(write_b3d(tmp_path / "s.b3d", [other], [MODEL], 11), tmp_path / "a")
    ball = MODEL.replace('<CustomJoint name="ground_pelvis"', '<FreeJoint name="ground_pelvis"', 1)
    ball = ball.replace("</CustomJoint>", "</FreeJoint>", 1)
    with refused("unsupported", "ground_pelvis", "FreeJoint"):
        unpack_b3d(write_b3d(tmp_path / "s.b3d", [trial], [ball], 12), tmp_path / "a")
    with refused("bad_model", "s.b3d"):
        unpack_b3d(write_b3d(tmp_path / "s.b3d", [trial], [""], 12), tmp_path / "b")
    with refused("unknown_name", "calcn_x"):
        unpack_b3d(
            write_b3d(tmp_path / "s.b3d", [trial], [MODEL], 12, ("calcn_r", "calcn_x")), tmp_path / "c"
        )
    (tmp_path / "d").write_text("a file")
    with refused("not_writable"):
        unpack_b3d(write_b3d(tmp_path / "s.b3d", [trial], [MODEL], 12), tmp_path / "d")


LEGS = [
    f"{name}_{side}"
    for side in "rl"
    for name in (
        "hip_flexion",
        "hip_adduction",
        "hip_rotation",
        "knee_angle",
        "ankle_angle",
        "subtalar_angle",
        "mtp_angle",
    )
]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("number", [0, 1])
def test_moments_of_the_real_file_follow_under_its_gravity(
    number: int, real: B3DSubject, tmp_path: Path
) -> None:
    """With the accelerations of the file, gravity along -z and no patella its moments follow; up is y in its model.

    With the gravity of the model the adduction moments of the hips differ by more than 40 N m: the file states those of
    a body that lies on its side.
    """
    unpacked = unpack_b3d(real, tmp_path)
    assert all("138 % of the weight" in trial.notes[0] for trial in unpacked.trials)
    model = read_osim(unpacked.trials[number].model)
    assert model.gravity[1] < -9.8
    trial = real.trials[number]
    none = BodyMass(0.0, np.zeros(3), np.zeros((3, 3)))
    masses = {body: none if body.startswith("patella") else mass for body, mass in model.masses.items()}
    lying = replace(model, gravity=np.array([0.0, 0.0, -9.81]))
    of_service, with_patella, upright = (
        _moments(each, real, trial) for each in (replace(lying, masses=masses), lying, model)
    )
    stated = trial.passes[0].computed
    for name, own in zip(coordinate_order(model, real), trial.passes[0].moment.T, strict=True):

        def rms(moments: dict[str, np.ndarray], name: str = name, own: np.ndarray = own) -> float:
            return float(np.sqrt(np.mean((moments[name] - own)[stated] ** 2)))

        assert rms(of_service) < (0.05 if name in LEGS else 0.12), name
        assert name not in LEGS or rms(with_patella) < 1.0, name
        assert not name.startswith("hip_adduction") or rms(upright) > 40.0, name


def _moments(model: OpenSimModel, subject: B3DSubject, trial: B3DTrial) -> dict[str, np.ndarray]:
    order, only = coordinate_order(model, subject), trial.passes[0]
    parts = (
        dict(zip(order, part.T, strict=True)) for part in (only.position, only.velocity, only.acceleration)
    )
    loads = [
        ExternalLoad(
            body, body, trial.time, only.wrench[:, k, 3:], 0.0 * only.wrench[:, k, 3:], only.wrench[:, k, :3]
        )
        for k, body in enumerate(subject.contact_bodies)
    ]
    found = inverse_dynamics(model, model_motion(model, trial.time, *parts), loads)
    return {name: found.column(name) for name in order}


@pytest.mark.thorough
def test_what_is_shared_of_the_real_file_is_its_inverse_dynamics(real: B3DSubject, tmp_path: Path) -> None:
    """`share_model` on the unpacked folder: the moments of the loads of the file, and muscles that make them."""
    trial = unpack_b3d(real, tmp_path).trials[0]
    result = ms.share_model(trial.model, trial.coordinates, loads=trial.loads)
    own = _moments(read_osim(trial.model), real, real.trials[0])
    inner = slice(6, -6)
    for name in ("knee_angle_r", "ankle_angle_r", "knee_angle_l", "ankle_angle_l"):
        difference = result["joint_moment"].sel(dof=name).values[inner] - own[name][inner]
        # the accelerations of the file are second differences of what is filtered at 6 Hz here
        assert np.sqrt(np.nanmean(difference**2)) < 6.0, name
    assert float(result["valid"].mean()) > 0.9
    # and the same by a trial file
    lines = [f"{key} = {path.relative_to(tmp_path).as_posix()!r}" for key, path in trial.source.items()]
    (tmp_path / "trial.toml").write_text("\n".join(["[files]", *lines]), encoding="utf-8")
    np.testing.assert_array_equal(ms.run(tmp_path / "trial.toml")["joint_moment"], result["joint_moment"])


def test_a_motion_that_no_pass_fitted_to_the_ground_forces_is_noted(tmp_path: Path) -> None:
    _, good = walker(tmp_path)
    trial = TrialOnDisk("walk", [replace(good, kind=0)], [0] * len(good.fields[1]))
    (unpacked,) = unpack_b3d(write_b3d(tmp_path / "s.b3d", [trial], [MODEL], 12), tmp_path / "out").trials
    assert unpacked.reason == "" and "its last pass is kinematics" in unpacked.notes[-1]
