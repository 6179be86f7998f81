"""Planar bodies in flight and on the ground: what moves them, what the ground bears, what two feet share."""

import numpy as np
import pytest
from planar_bodies import planar_motion, random_motion

from benchmarks.planar import (
    Load,
    PlanarMotion,
    Support,
    constraint_force,
    foot_support,
    inverse_dynamics,
    planar_body,
    supported_inverse,
    total_reaction,
)
from benchmarks.planar.planar_dynamics import (
    accelerate,
    equations,
    support_bias,
    support_position,
    support_rows,
    torque_matrix,
)
from benchmarks.planar.planar_tree import place
from benchmarks.sagittal_muscles import sagittal_muscles
from musclesolve import Problem, solve

LEG = ("thigh", "shank", "foot")


def test_flight_keeps_linear_and_angular_momentum():
    """Muscles of a body in the air move nothing as a whole: the center falls, the angular momentum stays."""
    tree = planar_body("nine_segment")
    muscles = sagittal_muscles(tree)
    start = random_motion(tree)
    q, qd = np.concatenate([start.q[:, :2], 0.3 * start.q[:, 2:] + tree.rest], axis=1), start.qd
    p = place(tree, q)
    control = muscles.control_matrix(tree, p, LEG)
    u = 300.0 * np.random.default_rng(12).uniform(size=(len(q), 20))
    force = np.einsum("tim,tm->ti", control, u)
    motion = PlanarMotion(q, qd, accelerate(tree, q, qd, force))
    p, _, pdd = motion.absolute(tree)
    by_segment = pdd.reshape(len(q), -1, 3)
    center = np.einsum("b,tbx->tx", tree.mass, by_segment[..., :2]) / tree.mass.sum()
    np.testing.assert_allclose(center, np.broadcast_to([0.0, -tree.gravity], center.shape), atol=1e-8)
    r = p.reshape(len(q), -1, 3)[..., :2]
    r = r - np.einsum("b,tbx->tx", tree.mass, r)[:, None] / tree.mass.sum()
    turn = r[..., 0] * by_segment[..., 1] - r[..., 1] * by_segment[..., 0]
    scale = np.abs(tree.inertia * by_segment[..., 2]).sum(axis=1)
    change = (tree.mass * turn).sum(axis=1) + by_segment[..., 2] @ tree.inertia
    assert (np.abs(change) < 1e-9 * scale).all()
    # Inverse dynamics finds the torques that the muscles make, and nothing for the base.
    found = inverse_dynamics(tree, motion)
    torque = np.einsum("tjn,tn->tj", muscles.moment_arms(tree, q, p), u[:, :15])
    torque[:, 3:] += u[:, 15:]
    np.testing.assert_allclose(found.torque, torque, atol=1e-7)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-7)
    np.testing.assert_allclose(total_reaction(tree, motion).force, 0.0, atol=1e-7)


def held_motion(tree, support):
    """Random angles and rates; H, clamped rate and accelerations follow from the support."""
    free = random_motion(tree)
    q, qd, qdd = free.q.copy(), free.qd.copy(), free.qdd.copy()
    clamped = 2 + tree.segment(support.clamped)
    q[:, clamped], qd[:, clamped], qdd[:, clamped] = 0.5 * np.pi, 0.0, 0.0
    rows = support_rows(tree, q, support)[:, :2, 2:]
    qd[:, :2] = -np.einsum("tcn,tn->tc", rows, qd[:, 2:])
    xi = support_bias(tree, q, qd, support)[:, :2]
    qdd[:, :2] = xi - np.einsum("tcn,tn->tc", rows, qdd[:, 2:])
    return PlanarMotion(q, qd, qdd)


@pytest.mark.parametrize("mode", ["flat", "toes"])
def test_support_by_projection_agrees_with_the_residual_of_the_base(mode):
    """(15) and (16) give the ground reaction and the torques that balance of the whole body gives."""
    tree = planar_body("nine_segment")
    support = foot_support(tree, mode)
    motion = held_motion(tree, support)
    found = supported_inverse(tree, motion, support)
    total = total_reaction(tree, motion)
    scale = np.abs(total.force).max()
    np.testing.assert_allclose(found.force, total.force, atol=1e-9 * scale)
    x, y, _ = support_position(tree, motion.q, support).T
    about = total.moment - x * total.force[:, 1] + y * total.force[:, 0]
    np.testing.assert_allclose(found.moment, about, atol=1e-9 * scale)
    ground = Load(support.clamped, total.force, total.moment)
    known = inverse_dynamics(tree, motion, [ground])
    # The reaction is reduced to the clamped segment: with the foot clamped the toes bear nothing.
    np.testing.assert_allclose(found.torque, known.torque, atol=1e-9 * scale)
    np.testing.assert_allclose(known.residual, 0.0, atol=1e-9 * scale)


def moved_on_supports(tree, q, qd, force, supports):
    """Accelerations (T, n) and multipliers (T, 3s) of (16) under forces (T, 3B), feet held by the ground."""
    system = equations(tree, q, qd)
    multiplier = constraint_force(tree, q, qd, system.project(force), supports)
    rows = np.concatenate([support_rows(tree, q, support) for support in supports], axis=1)
    right = system.project(force) + system.weight - system.bias - np.einsum("tcn,tc->tn", rows, multiplier)
    return np.linalg.solve(system.mass, right[..., None])[..., 0], multiplier


def test_a_foot_that_slides_is_reported():
    tree = planar_body("nine_segment")
    support = foot_support(tree, "flat")
    motion = held_motion(tree, support)
    qdd = motion.qdd.copy()
    qdd[:, 0] += 0.7
    found = supported_inverse(tree, PlanarMotion(motion.q, motion.qd, qdd), support)
    expected = np.broadcast_to([0.7, 0.0, 0.0], found.violation.shape)
    np.testing.assert_allclose(found.violation, expected, atol=1e-10)


def test_single_support_of_a_walker():
    """One foot stands, the other leg swings."""
    tree = planar_body("two_leg")
    support = Support("foot_r", np.array([0.06, -0.066]), "foot_r")
    motion = held_motion(tree, support)
    found, total = supported_inverse(tree, motion, support), total_reaction(tree, motion)
    np.testing.assert_allclose(found.force, total.force, rtol=1e-9, atol=1e-8)
    known = inverse_dynamics(tree, motion, [Load("foot_r", total.force, total.moment)])
    np.testing.assert_allclose(found.torque, known.torque, rtol=1e-9, atol=1e-8)


def squat(tree, support, heel_rise):
    """A squat of two seconds that keeps the ground point and the clamped angle exactly."""
    time = np.linspace(0.0, 2.0, 31)
    bend = 0.25 * (1.0 - np.cos(np.pi * time))[:, None]
    angles = tree.rest + bend * [0.7, -0.5, 0.0, 0.0, -0.5, -0.5, -0.4, 0.5, 0.8]
    angles[:, 2] -= heel_rise
    q = np.column_stack([np.zeros((31, 2)), angles])
    q[:, :2] -= support_position(tree, q, support)[:, :2]
    splined = planar_motion(tree, time, q)
    rows = support_rows(tree, q, support)[:, :2, 2:]
    qd, qdd = splined.qd.copy(), splined.qdd.copy()
    qd[:, :2] = -np.einsum("tcn,tn->tc", rows, qd[:, 2:])
    qdd[:, :2] = support_bias(tree, q, qd, support)[:, :2] - np.einsum("tcn,tn->tc", rows, qdd[:, 2:])
    return PlanarMotion(q, qd, qdd)


@pytest.mark.parametrize(("mode", "heel_rise"), [("flat", 0.0), ("toes", 0.5)])
def test_shared_muscle_forces_drive_the_squat_that_required_them(mode, heel_rise):
    """Inverse dynamics on the ground, force sharing, and forward again with B u and the ground reaction of (16)."""
    tree = planar_body("nine_segment")
    muscles, support = sagittal_muscles(tree), foot_support(tree, mode)
    motion = squat(tree, support, heel_rise)
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    torque, p = supported_inverse(tree, motion, support).torque, place(tree, q)
    problem = Problem(
        moment_arm=muscles.moment_arms(tree, q, p)[:, :3],
        moment=torque[:, :3],
        force_capacity=np.broadcast_to(muscles.max_force, (31, 15)).copy(),
        max_isometric_force=muscles.max_force,
        muscle=muscles.names,
        dof=LEG,
    )
    shared = solve(problem, "stress_cubed")
    assert shared.solved.all()
    assert (shared.force >= 0.0).all() and (shared.force <= muscles.max_force).all()
    u = np.column_stack([shared.force, torque[:, 3:]])
    force = np.einsum("tim,tm->ti", muscles.control_matrix(tree, p, LEG), u)
    found, _ = moved_on_supports(tree, q, qd, force, [support])
    np.testing.assert_allclose(found, qdd, atol=1e-4 * np.abs(qdd).max())


@pytest.mark.parametrize("mode", ["flat", "toes"])
def test_ground_reaction_of_known_muscle_forces_keeps_the_foot_on_the_ground(mode):
    """(16) with u = muscle forces and torques: the accelerations that follow obey the support."""
    tree = planar_body("nine_segment")
    support, muscles = foot_support(tree, mode), sagittal_muscles(tree)
    motion = held_motion(tree, support)
    q, qd = motion.q, motion.qd
    p = place(tree, q)
    u = 400.0 * np.random.default_rng(13).uniform(size=(len(q), 20))
    force = np.einsum("tim,tm->ti", muscles.control_matrix(tree, p, LEG), u)
    qdd, multiplier = moved_on_supports(tree, q, qd, force, [support])
    back = supported_inverse(tree, PlanarMotion(q, qd, qdd), support)
    assert np.abs(back.violation).max() < 1e-9 * np.abs(qdd).max()
    scale = np.abs(multiplier).max()
    np.testing.assert_allclose(np.column_stack([back.force, back.moment]), -multiplier, atol=1e-8 * scale)


def test_two_feet_share_by_known_torques_and_only_so():
    """Double support: any moment between the legs goes with the same motion; the sum does not change, the shares do."""
    tree = planar_body("two_leg")
    q = np.concatenate([[0.0, 0.9], tree.rest])[None].copy()
    q[0, 3:6] += [0.4, 0.2, 0.3]
    q[0, 6:] += [-0.3, -0.5, -0.2]
    still = 0.0 * q
    feet = [Support(f"foot_{side}", np.array([0.06, -0.066]), f"foot_{side}") for side in "rl"]
    weight = tree.mass.sum() * tree.gravity
    needed = inverse_dynamics(tree, PlanarMotion(q, still, still))
    # Reactions that balance the body's weight about both feet: one share for each way to split them.
    shares = []
    for part in (0.3, 0.8):
        points = [support_position(tree, q, foot)[0] for foot in feet]
        at = [Load.at(foot.segment, w * np.array([[0.0, weight]]), np.array([point[:2]]))
              for foot, w, point in zip(feet, (part, 1.0 - part), points, strict=True)]  # fmt: skip
        left = inverse_dynamics(tree, PlanarMotion(q, still, still), at)
        at[0] = Load(at[0].segment, at[0].force, at[0].moment + left.residual[:, 2])
        torque = inverse_dynamics(tree, PlanarMotion(q, still, still), at).torque
        drive = equations(tree, q, still).project(torque @ torque_matrix(tree).T)
        shares.append(-constraint_force(tree, q, still, drive, feet)[0])
    first, second = (share.reshape(2, 3) for share in shares)
    np.testing.assert_allclose(first[:, 1], [0.3 * weight, 0.7 * weight], rtol=1e-9)
    np.testing.assert_allclose(second[:, 1], [0.8 * weight, 0.2 * weight], rtol=1e-9)
    np.testing.assert_allclose(first[:, :2].sum(axis=0), [0.0, weight], atol=1e-8)
    np.testing.assert_allclose(needed.residual[0, :2], [0.0, weight], atol=1e-9)
    # Known torques, whatever they are, give the force under each foot; their sum is what moves the body.
    torque = 60.0 * np.random.default_rng(14).normal(size=(1, 6))
    qdd, multiplier = moved_on_supports(tree, q, still, torque @ torque_matrix(tree).T, feet)
    total = total_reaction(tree, PlanarMotion(q, still, qdd))
    np.testing.assert_allclose(-multiplier.reshape(2, 3)[:, :2].sum(axis=0), total.force[0], atol=1e-8)
