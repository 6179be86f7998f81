"""A motion that cannot be the subject's is reported as such, before anything that follows from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from said import summary

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import differentiate, projected_moments
from musclesolve.dynamics.inverse.force_balance import BALANCE_LIMIT, balanced
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.motion import motion_plausibility as plausibility
from musclesolve.laboratory.motion.motion_plausibility import REACH, foot_warnings, jumps, without_joint_jump
from musclesolve.laboratory.results.dataset import frame_validity as frames

STRIDE = Path(ms.__file__).with_name("data") / "reference_stride" / "trial.toml"
POINTS = ("ankle_r", "heel_r", "toe_r", "ankle_l", "heel_l", "toe_l")


def warnings_of(trial: Trial) -> list[plausibility.MotionWarning]:
    return mechanics(trial).warnings(trial)


@pytest.fixture(scope="module")
def stride():
    trial = read_trial(STRIDE)
    return trial, mechanics(trial)


def test_a_knee_turns_by_what_its_angle_changes(stride) -> None:
    _, recorded = stride
    angle = recorded.motion.coordinates[:, recorded.model.dof("knee_flexion_r")]
    np.testing.assert_allclose(recorded.joint_rotations["knee_r"], np.abs(np.diff(angle)), atol=1e-12)


def test_a_walk_leaps_nowhere_and_keeps_its_feet(stride) -> None:
    trial, recorded = stride
    assert recorded.warnings(trial) == []
    assert without_joint_jump(recorded.joint_rotations, recorded.motion.time).all()


def test_a_leg_that_leaps_is_told_with_joint_time_and_markers(stride) -> None:
    trial, recorded = stride
    time, coordinates = recorded.motion.time, recorded.motion.coordinates.copy()
    coordinates[30:, recorded.model.dof("hip_internal_rotation_l")] += np.radians(80.0)
    broken = replace(recorded, motion=differentiate(recorded.model, time, coordinates))
    (warning,) = broken.warnings(trial)
    assert warning.code == "joint_leap"
    assert warning.times == ((time[29], time[30]),)
    assert f"left leg jumps from {time[29]:.3f} to {time[30]:.3f} s" in warning.what
    assert "the hip rotates by 8" in warning.what and "knee rotates" not in warning.what
    assert "knee_lateral_l (" in warning.remedy and "_r" not in warning.remedy
    lost = np.flatnonzero(~without_joint_jump(broken.joint_rotations, time))
    assert lost.tolist() == list(range(30 - REACH, 30 + REACH))


@pytest.mark.parametrize("side", "rl")
def test_an_arm_that_turns_over_is_reported_with_markers_and_cost(stride, side: str) -> None:
    """The other pose of the same shoulder, elbow and wrist: (phi + 180, -theta), in one frame."""
    trial, recorded = stride
    model, time, coordinates = recorded.model, recorded.motion.time, recorded.motion.coordinates.copy()
    coordinates[30, model.dof(f"shoulder_internal_rotation_{side}")] += np.pi
    coordinates[30, model.dof(f"elbow_flexion_{side}")] *= -1.0
    coordinates[30, model.dof(f"forearm_pronation_{side}")] -= np.pi
    slots = [model.slot(f"{name}_{side}") for name in ("shoulder", "elbow", "wrist", "hand_radial")]
    broken = replace(recorded, motion=differentiate(model, time, coordinates))
    np.testing.assert_allclose(broken.motion.q[:, slots], recorded.motion.q[:, slots], atol=1e-9)
    (warning,) = broken.warnings(trial)
    assert warning.code == "pose_ambiguous"
    assert warning.times == ((time[29], time[31]),)
    assert np.pi - broken.hidden_rotations[side].max() < np.radians(5.0)
    assert f"elbow_lateral_{side}" in warning.markers and f"wrist_{side}" in warning.markers
    joints, weight = model.tree.joint_count, model.mass.total * STANDARD_GRAVITY
    lacking = projected_moments(model, broken.motion, broken.wrenches)[:, joints : joints + 3]
    greatest = np.linalg.norm(lacking, axis=1).max() / weight
    assert warning.residual == pytest.approx(greatest, rel=0.01) and greatest > BALANCE_LIMIT


def test_an_arm_that_is_thrown_is_seen_to_rotate(stride) -> None:
    """The forearm of a bent elbow shows how the upper arm rotates, however fast."""
    trial, recorded = stride
    model, time, coordinates = recorded.model, recorded.motion.time, recorded.motion.coordinates.copy()
    coordinates[:, model.dof("elbow_flexion_r")] = 0.5 * np.pi
    coordinates[30:, model.dof("shoulder_internal_rotation_r")] += np.radians(90.0)
    thrown = replace(recorded, motion=differentiate(model, time, coordinates))
    assert thrown.warnings(trial) == []


def test_how_far_a_joint_may_turn_depends_on_the_time_it_has() -> None:
    turn = np.radians([9.0, 35.0, 35.0])
    assert jumps(turn, np.array([0.001, 0.01, 0.02])).tolist() == [False, True, False]


@pytest.mark.parametrize(("mm", "says"), [(29, None), (31, "off accordingly"), (120, "2 of 5 frames")])
def test_a_displaced_foot_is_told_and_beyond_the_limit_not_valid(mm: float, says: str | None) -> None:
    shift = np.zeros((5, 6))
    shift[1:3, 3:] = 0.001 * mm
    found = foot_warnings(POINTS, shift, np.arange(5.0), "nearest")
    assert [warning.code for warning in found] == ([] if says is None else ["foot_displaced"])
    for warning in found:
        assert says in warning.what and f"left foot lies up to {mm} mm" in warning.what
        (without_plates,) = foot_warnings(POINTS, shift, np.arange(5.0), "nearest", predicted=True)
        assert "plate" in warning.what and "plate" not in without_plates.what
        assert warning.times == ((1.0, 2.0),)


@pytest.mark.thorough
def test_feet_of_the_recorded_walk(
    recorded_walk_trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearest motion keeps them, the one by joint angles loses some centimeters: reported, by check too."""
    assert mechanics(recorded_walk_trial).warnings(recorded_walk_trial) == []
    driven = recorded_walk_trial.with_settings(consistency={"method": "joint_angles"})
    assert [warning.code for warning in warnings_of(driven)] == ["foot_displaced"] * 2
    file = tmp_path / "driven.toml"
    text = recorded_walk_trial.path.read_text(encoding="utf-8")
    file.write_text(text + '\n[consistency]\nmethod = "joint_angles"\n', encoding="utf-8")
    found = [f for f in examined(file).findings if f.code == "foot_displaced"]
    assert [f.severity for f in found] == ["warning"] * 2 and "joint_angles" in found[0].remedy
    # Were the limit lower, frames would be lost, and both check and the result would say so.
    monkeypatch.setattr(plausibility, "FOOT_LIMIT", 0.05)
    monkeypatch.setattr("musclesolve.laboratory.results.dataset.recording_labels.FOOT_LIMIT", 0.05)
    assert "error" in [f.severity for f in examined(file).findings if f.code == "foot_displaced"]
    result = ms.run(driven, side="r")
    lost = frames.reason_names(result, "r") == frames.DISPLACED
    assert lost.any() and not lost.all() and not frames.credible(result, "r")[lost].any()
    assert not result["valid"].sel(side="r").values[lost].any()
    assert any("right foot lies up to" in each for each in result.attrs["warnings"])
    assert "the foot lies far from where it was measured" in summary(result)


@pytest.mark.parametrize(("lost", "carried"), [(0.4, True), (0.6, False)])
def test_frames_without_a_residual_share_the_verdict_of_most(lost: float, carried: bool) -> None:
    residual = np.full(100, np.nan)
    residual[:50] = np.where(np.arange(50) < 50 * lost, 0.9, 0.1)
    found = balanced(residual, 0.25)
    np.testing.assert_array_equal(found[:50], residual[:50] < 0.25)
    assert (found[50:] == carried).all()
    assert balanced(residual[50:], 0.25).all()
