"""Consistent positions, velocities and accelerations, and the drivers that lead to them."""

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import Targets, fit_pose, load_topology, segment_motion
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.rotations import from_cardan
from musclesolve.errors import MuscleSolveError


def targets_of(model, q, points=None):
    count, names = model.topology.point_count, model.topology.coordinate_names
    chosen = {n: q[:, i] for i, n in enumerate(names[:count]) if points is None or n in points}
    return Targets.build(
        model, chosen, {n: q[:, count + i] for i, n in enumerate(names[count:]) if points is None}
    )


def test_poses_satisfy_every_constraint(model, motion):
    assert np.abs(model.constraints.violation(motion.q)).max() < 1e-14


def test_velocities_and_accelerations_satisfy_theirs(model, motion):
    jacobian = model.constraints.jacobian(motion.q)
    assert np.abs(np.einsum("tcnx,tnx->tc", jacobian, motion.qd)).max() < 1e-13
    residual = np.einsum("tcnx,tnx->tc", jacobian, motion.qdd) - model.constraints.gamma(motion.qd)
    assert np.abs(residual).max() < 1e-12


def test_velocities_are_the_derivative_of_positions(model, motion):
    step = 1e-6
    ahead, behind = (
        motion_from(
            model, motion.time, motion.coordinates + s * step * motion.rates, motion.rates, motion.second
        )
        for s in (1, -1)
    )
    np.testing.assert_allclose((ahead.q - behind.q) / (2 * step), motion.qd, atol=1e-8)


def test_accelerations_are_the_derivative_of_velocities(model, motion):
    step = 1e-6
    ahead, behind = (
        motion_from(
            model,
            motion.time,
            motion.coordinates + s * step * motion.rates + 0.5 * step**2 * motion.second,
            motion.rates + s * step * motion.second,
            motion.second,
        )
        for s in (1, -1)
    )
    np.testing.assert_allclose((ahead.qd - behind.qd) / (2 * step), motion.qdd, atol=1e-6)


def test_constraint_jacobian_is_the_derivative_of_the_constraints(model):
    rng = np.random.default_rng(3)
    q, direction = rng.normal(size=(2, 4, 47, 3))
    step = 1e-6
    change = (
        model.constraints.value(q + step * direction) - model.constraints.value(q - step * direction)
    ) / (2 * step)
    np.testing.assert_allclose(
        np.einsum("tcnx,tnx->tc", model.constraints.jacobian(q), direction), change, atol=1e-8
    )


def test_driver_rows_hold_in_the_motion(model, motion):
    rows = driver_rows(model, motion)
    assert np.abs(rows.value).max() < 1e-14
    assert np.abs(np.einsum("tcnx,tnx->tc", rows.jacobian, motion.qd) - rows.nu).max() < 1e-13
    assert np.abs(np.einsum("tcnx,tnx->tc", rows.jacobian, motion.qdd) - rows.gamma).max() < 1e-12


def test_driven_newton_iteration_finds_the_pose_from_an_inconsistent_start(model, motion):
    """Positions driven by joint angles (5.7), an independent route to forward kinematics."""
    rng = np.random.default_rng(4)
    few = motion.frames(slice(0, 5))
    q = few.q + 0.01 * rng.normal(size=few.q.shape)
    for _ in range(8):
        rows = driver_rows(model, few, q=q)
        value = np.concatenate([model.constraints.value(q), rows.value], axis=1)
        jacobian = np.concatenate([model.constraints.jacobian(q), rows.jacobian], axis=1).reshape(
            len(q), 141, 141
        )
        q = q - np.linalg.solve(jacobian, value[..., None]).reshape(q.shape)
    np.testing.assert_allclose(q, few.q, atol=1e-12)


def test_fit_recovers_a_motion_from_its_own_points(model, motion):
    fit = fit_pose(model, targets_of(model, motion.q))
    np.testing.assert_allclose(fit.q, motion.q, atol=1e-9)
    assert fit.locked == ()


def test_fit_is_the_nearest_consistent_pose(model, motion):
    """At the optimum the misfit is orthogonal to every allowed direction."""
    rng = np.random.default_rng(5)
    noisy = motion.q + 0.01 * rng.normal(size=motion.q.shape)
    targets = targets_of(model, noisy)
    fit = fit_pose(model, targets, tolerance=1e-11)
    origin = fit.coordinates[:, 38:41]
    misfit = (targets.values - fit.q[:, targets.slots]) * targets.weights[:, None]
    slope = np.einsum("tnxk,tnx->tk", model.tree.allowed(fit.q, origin)[:, targets.slots], misfit)
    assert np.abs(slope).max() < 1e-9
    assert np.abs(model.constraints.violation(fit.q)).max() < 1e-14


def test_what_no_target_informs_is_locked_and_named(model, motion):
    legs = [
        n
        for n in model.topology.coordinate_names
        if n.startswith(("hip", "knee", "ankle", "heel", "toe", "back"))
    ]
    count = model.topology.point_count
    points = {n: motion.q[:, model.slot(n)] for n in legs if model.slot(n) < count}
    vectors = {n: motion.q[:, model.slot(n)] for n in legs if model.slot(n) >= count}
    fit = fit_pose(model, Targets.build(model, points, vectors))
    assert (
        "neck_flexion" in fit.locked
        and "elbow_flexion_r" in fit.locked
        and "knee_flexion_r" not in fit.locked
    )
    assert (fit.coordinates[:, model.dof("neck_flexion")] == 0.0).all()


def test_a_fit_that_does_not_converge_is_reported(model, motion):
    with refused(None, "frames", error=MuscleSolveError):
        fit_pose(model, targets_of(model, motion.q), max_iterations=2)


@pytest.mark.parametrize(
    ("dof", "slot", "axis", "sign"),
    [
        ("hip_flexion_r", "knee_r", 0, 1),
        ("hip_flexion_l", "knee_l", 0, 1),
        ("hip_adduction_r", "knee_r", 1, 1),
        ("hip_adduction_l", "knee_l", 1, -1),
        ("hip_internal_rotation_r", "toe_r", 1, 1),
        ("hip_internal_rotation_l", "toe_l", 1, -1),
        ("knee_flexion_r", "ankle_r", 0, -1),
        ("knee_flexion_l", "ankle_l", 0, -1),
        ("ankle_dorsiflexion_r", "toe_r", 2, 1),
        ("ankle_dorsiflexion_l", "toe_l", 2, 1),
        ("ankle_inversion_r", "ankle_axis_r", 2, 1),
        ("ankle_inversion_l", "ankle_axis_l", 2, -1),
        ("ankle_adduction_r", "toe_r", 1, 1),
        ("ankle_adduction_l", "toe_l", 1, -1),
        ("elbow_flexion_r", "wrist_r", 0, 1),
        ("shoulder_flexion_l", "elbow_l", 0, 1),
        ("shoulder_adduction_r", "elbow_r", 1, 1),
        ("trunk_flexion", "neck_base", 0, 1),
        ("trunk_bending_right", "neck_base", 1, -1),
        ("girdle_elevation_r", "shoulder_r", 2, 1),
        ("girdle_elevation_l", "shoulder_l", 2, 1),
        ("girdle_protraction_r", "shoulder_r", 0, 1),
        ("girdle_protraction_l", "shoulder_l", 0, 1),
        ("wrist_flexion_r", "hand_radial_r", 1, 1),
        ("wrist_radial_deviation_l", "hand_radial_l", 0, 1),
        ("forearm_pronation_r", "hand_radial_r", 1, 1),
        ("neck_rotation_left", "head_top", 1, 1),
        ("head_flexion", "head_low", 2, -1),
    ],
)
def test_positive_angles_rotate_in_the_named_direction(model, dof, slot, axis, sign):
    angles = np.zeros((1, 38))
    angles[0, model.dof(dof)] = 0.2
    q = model.tree.pose(angles, np.zeros((1, 3)), np.eye(3)[None])[0]
    moved = (q - model.standing)[model.slot(slot)]
    assert sign * moved[axis] > 0.005


def test_every_body_rotates_as_its_frame(model, motion):
    """Rotation from points and vectors (2.46) equals rotation along the chain."""
    np.testing.assert_allclose(
        model.rigid_bodies.rotation(motion.q), segment_motion(model, motion).rotation, atol=1e-13
    )


def test_projection_without_the_directions_is_projection(model, motion):
    rng = np.random.default_rng(6)
    force, origin = rng.normal(size=motion.q.shape), motion.coordinates[:, 38:41]
    directions = model.tree.allowed(motion.q, origin)
    expected = np.einsum("tnxk,tnx->tk", directions, force)
    np.testing.assert_allclose(model.tree.project(motion.q, origin, force), expected, atol=1e-12)
    np.testing.assert_allclose(
        model.tree.velocity(motion.q, motion.speeds, origin),
        np.einsum("tnxk,tk->tnx", directions, motion.speeds),
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["inverse_human", "forward_human"])
def test_a_slot_needs_its_ancestor_joints_only(name):
    """Its place, and how the speeds that move it do so, do not feel joints off its way; those on it move it."""
    topology = load_topology(name)
    tree = Tree.build(topology, topology.standing_layout())
    rng = np.random.default_rng(40)
    joints = tree.joint_count
    angles, origin = 0.7 * rng.normal(size=(3, joints)), rng.normal(size=(3, 3))
    rotation = from_cardan(*rng.normal(size=(3, 3)))
    q = tree.pose(angles, origin, rotation)
    whole = tree.allowed(q, origin)
    sizes = set()
    for slot in range(q.shape[1]):
        way = tree.distal_slots[slot] > 0.0
        sizes.add(int(way.sum()))
        near = tree.pose(np.where(way, angles, 9.0), origin, rotation, way)
        np.testing.assert_array_equal(near[:, slot], q[:, slot])
        speeds = np.concatenate([way, rng.random(6) < 0.5])
        some = tree.allowed(near, origin, np.array([slot]))[:, 0]
        np.testing.assert_allclose(some[..., speeds], whole[:, slot][..., speeds], atol=1e-13)
        assert not whole[:, slot][..., :joints][..., ~way].any()
    assert sizes >= {0, 3} and max(sizes) < joints
