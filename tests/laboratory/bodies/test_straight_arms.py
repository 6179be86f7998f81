"""Arms that pass through straight cost the balance of the legs nothing, offline and live, and nothing is found."""

from __future__ import annotations

import numpy as np
import pytest
from examined import examined
from straight_arms import write_straight_arms

from musclesolve import read_trial
from musclesolve.apps.live import Live
from musclesolve.laboratory.bodies.mechanics import TIME_MARGIN, measured_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.motion.anatomy.landmark_positions import filtered_markers


def arm_angles(recorded, coordinates):
    dofs = [f"{dof}_{side}" for side in "rl" for dof in ("elbow_flexion", "shoulder_internal_rotation")]
    return coordinates[:, [recorded.model.dof(dof) for dof in dofs]]


@pytest.mark.parametrize("seed", [4, 19, 22, 35])
def test_the_balance_is_kept_and_no_frame_is_lost(tmp_path, seed):
    """Frame by frame, arms turn over here: by up to 151 degrees, 565 % of body weight, or no pose is found at all."""
    trial = read_trial(write_straight_arms(tmp_path, seed))
    recorded = mechanics(trial)
    moments = measured_moments(trial, recorded.model, recorded.motion, recorded.wrenches)
    validity, joints = recorded.validity(moments), recorded.model.tree.joint_count
    residual = np.linalg.norm(moments[:, joints : joints + 3], axis=1) / recorded.model.mass.total / 9.80665
    assert np.nanmax(residual) < 0.1
    assert validity.with_feet("rl").all()
    steps = np.abs(np.diff(arm_angles(recorded, recorded.fit.coordinates), axis=0))
    assert np.degrees(steps.max()) < 15.0
    assert recorded.warnings(trial) == []


def test_nothing_is_found_on_straight_arms(tmp_path):
    report = examined(write_straight_arms(tmp_path, 19))
    assert not {"pose", "pose_ambiguous", "joint_leap", "refused"} & {found.code for found in report.findings}


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", [19, 35])
def test_arms_go_on_live_as_offline(tmp_path, seed):
    """Computed from the past alone, a straight arm lags behind its pose in the whole motion; the legs hardly differ."""
    live = Live(write_straight_arms(tmp_path, seed))
    recorded, near, poses = live.body.mechanics, None, []
    for position in filtered_markers(live.trial, recorded.measured.filter, TIME_MARGIN).position:
        near, _ = live.pose(position, near)
        poses.append(near)
    coordinates, fit = np.array(poses), recorded.fit
    steps = np.abs(np.diff(arm_angles(recorded, coordinates), axis=0))
    assert np.degrees(steps.max()) < 25.0  # where it catches up with what is shown again
    legs = [recorded.model.dof(f"{dof}_{side}") for side in "rl" for dof in ("hip_flexion", "knee_flexion")]
    np.testing.assert_allclose(coordinates[:, legs], fit.coordinates[:, legs], atol=np.radians(0.2))
    shown = (fit.rest.weights == 0.0).all(axis=1)
    off = arm_angles(recorded, coordinates - fit.coordinates)[shown]
    assert shown.any() and not shown.all()
    np.testing.assert_allclose(np.exp(1j * off), 1.0, atol=1e-9)
