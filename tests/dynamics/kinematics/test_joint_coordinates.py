"""Angles go on through time, raised arms and straight elbows included."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import Targets, fit_pose
from musclesolve.dynamics.kinematics.motion_derivatives import continuous_branch
from musclesolve.errors import MuscleSolveError

FRAMES = 60


def arm_motion(model, dof, peak_deg):
    """Standing, with one arm raised and lowered smoothly."""
    angles = np.zeros((FRAMES, 38))
    wave = 0.5 * (1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, FRAMES)))
    angles[:, model.dof("elbow_flexion_r")] = 0.6
    angles[:, model.dof("shoulder_internal_rotation_r")] = 0.3
    angles[:, model.dof("shoulder_flexion_r")] = 0.2
    angles[:, model.dof(dof)] += np.deg2rad(peak_deg) * wave
    base = np.broadcast_to(np.eye(3), (FRAMES, 3, 3))
    return angles, model.tree.pose(angles, np.zeros((FRAMES, 3)), base)


def point_targets(model, q, points):
    names = model.topology.coordinate_names[: model.topology.point_count]
    vectors = ("pelvis_forward", "knee_axis_r", "knee_axis_l", "ankle_axis_r", "ankle_axis_l")
    return Targets.build(
        model,
        {
            name: points(name, q[:, model.slot(name)])
            for name in names
            if not name.startswith(("hand", "head"))
        },
        {name: q[:, model.slot(name)] for name in vectors},
    )


@pytest.mark.parametrize(("dof", "peak"), [("shoulder_flexion_r", 170.0), ("shoulder_adduction_r", -80.0)])
def test_a_raised_arm_is_followed_without_jumps(model, dof, peak):
    angles, q = arm_motion(model, dof, peak)
    fit = fit_pose(model, point_targets(model, q, lambda name, value: value))
    shoulder = [model.dof(f"shoulder_{turn}_r") for turn in ("flexion", "adduction", "internal_rotation")]
    np.testing.assert_allclose(fit.coordinates[:, shoulder], angles[:, shoulder], atol=0.15)


def test_the_two_angle_branches_of_a_pose_are_distinguished(model):
    """Frames written in the other way come back as they were."""
    angles, q = arm_motion(model, "shoulder_adduction_r", -70.0)
    first, second, third = (
        model.dof(f"shoulder_{turn}_r") for turn in ("flexion", "adduction", "internal_rotation")
    )
    other = angles.copy()
    half = slice(20, 45)
    other[half, first] += np.pi
    other[half, second] = np.pi - angles[half, second]
    other[half, third] += np.pi
    base = np.broadcast_to(np.eye(3), (FRAMES, 3, 3))
    kept = np.arange(47) != model.slot("upper_arm_forward_r")  # the vector between the joints is turned over
    np.testing.assert_allclose(
        model.tree.pose(other, np.zeros((FRAMES, 3)), base)[:, kept], q[:, kept], atol=1e-12
    )
    np.testing.assert_allclose(continuous_branch(model, other), angles, atol=1e-12)


def test_a_straight_elbow_does_not_let_the_arm_spin(model):
    """Three millimeters of noise on an arm that hangs straight."""
    rng = np.random.default_rng(50)
    angles, _ = arm_motion(model, "shoulder_flexion_r", 10.0)
    angles[:, model.dof("elbow_flexion_r")] = 0.0
    q = model.tree.pose(angles, np.zeros((FRAMES, 3)), np.broadcast_to(np.eye(3), (FRAMES, 3, 3)))
    fit = fit_pose(
        model, point_targets(model, q, lambda name, value: value + 0.003 * rng.normal(size=value.shape))
    )
    turn = fit.coordinates[:, model.dof("shoulder_internal_rotation_r")]
    assert np.abs(turn).max() < np.deg2rad(45.0)


def test_where_the_elbow_axis_is_measured_the_arm_is_not_drawn_to_rest(model):
    angles, q = arm_motion(model, "shoulder_flexion_r", 30.0)
    targets = point_targets(model, q, lambda name, value: value)
    slot = model.slot("elbow_axis_r")
    with_axis = Targets(
        np.append(targets.slots, slot),
        np.concatenate([targets.values, q[:, [slot]]], axis=1),
        np.append(targets.weights, 0.01),
    )
    fit = fit_pose(model, with_axis)
    turn = model.dof("shoulder_internal_rotation_r")
    np.testing.assert_allclose(fit.coordinates[:, turn], angles[:, turn], atol=1e-6)


def test_a_hopeless_frame_is_named_with_its_worst_point(model):
    _, q = arm_motion(model, "shoulder_flexion_r", 30.0)
    targets = point_targets(model, q, lambda name, value: value)
    with refused(None, "0.000", "knee_l", error=MuscleSolveError):
        knee = int(np.flatnonzero(targets.slots == model.slot("knee_l"))[0])
        values = targets.values.copy()
        values[:, knee] += 0.9
        fit_pose(
            model,
            Targets(targets.slots, values, targets.weights),
            np.arange(FRAMES) / 100.0,
            max_iterations=3,
        )
