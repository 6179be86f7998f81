"""Laws that inverse dynamics must obey, and three routes that must agree."""

import numpy as np
import pytest
from poses import motion_through

from musclesolve.dynamics import (
    Wrench,
    joint_loads,
    lagrange_multipliers,
    mass_matrix,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.inverse.inverse_dynamics import external_force
from musclesolve.dynamics.model.rigid_body import inertia_force, weight_force


def test_multipliers_agree_with_projection(model, motion, wrenches):
    projected = projected_moments(model, motion, wrenches)
    multiplied = lagrange_multipliers(model, motion, wrenches).moments
    assert np.abs(projected - multiplied).max() / np.abs(projected).max() < 1e-12


def test_newton_euler_agrees_with_projection_at_every_joint(model, motion, wrenches):
    projected = projected_moments(model, motion, wrenches)
    segments, axes = segment_motion(model, motion), model.tree.axes(motion.q)
    for k, dof in enumerate(model.topology.dof_names[:38]):
        load = joint_loads(model, motion, segments, wrenches, [dof])[dof]
        about = np.einsum("tx,tx->t", load.moment, axes[:, k])
        assert np.abs(about - projected[:, k]).max() < 1e-12 * np.abs(projected).max(), dof


def test_kinetic_energy_of_natural_coordinates_is_that_of_rigid_bodies(model, motion):
    flat = motion.qd.reshape(len(motion.time), -1)
    matrix = mass_matrix(model.rigid_bodies, model.basic_mass, motion.q)
    energy = 0.5 * np.einsum("ti,tij,tj->t", flat, matrix, flat)
    seg = segment_motion(model, motion)
    arm = seg.center - motion.q[:, model.rigid_bodies.slots[:, 0]]
    velocity = motion.qd[:, model.rigid_bodies.slots[:, 0]] + np.cross(seg.velocity, arm)
    inertia = seg.rotation @ model.mass.inertia @ np.swapaxes(seg.rotation, -1, -2)
    rigid = 0.5 * np.einsum("b,tbx,tbx->t", model.mass.mass, velocity, velocity)
    rigid += 0.5 * np.einsum("tbx,tbxy,tby->t", seg.velocity, inertia, seg.velocity)
    np.testing.assert_allclose(energy, rigid, rtol=1e-12)


def test_power_balances(model, motion, wrenches):
    """Moments and outside forces together do the work that changes kinetic and potential energy."""
    moments = projected_moments(model, motion, wrenches)
    outside = external_force(model, motion.q, wrenches) + weight_force(
        model.rigid_bodies, model.mass, motion.q, model.gravity
    )
    supplied = np.einsum("tk,tk->t", moments, motion.speeds) + np.einsum("tnx,tnx->t", outside, motion.qd)
    inertial = inertia_force(model.rigid_bodies, model.basic_mass, motion.q, motion.qd, motion.qdd)
    np.testing.assert_allclose(supplied, np.einsum("tnx,tnx->t", inertial, motion.qd), rtol=1e-9, atol=1e-9)


def test_inertia_force_is_mass_times_acceleration_at_rest(model, motion):
    still = np.zeros_like(motion.qd)
    matrix = mass_matrix(model.rigid_bodies, model.basic_mass, motion.q)
    expected = np.einsum("tij,tj->ti", matrix, motion.qdd.reshape(len(motion.qdd), -1))
    force = inertia_force(model.rigid_bodies, model.basic_mass, motion.q, still, motion.qdd)
    np.testing.assert_allclose(force.reshape(expected.shape), expected, atol=1e-11)


def standing(model):
    zero = np.zeros((1, 44))
    return motion_through(model, zero)


def test_standing_without_ground_the_base_bears_the_weight(model):
    residual = projected_moments(model, standing(model), [])[0, 38:]
    weight = model.mass.total * 9.80665
    np.testing.assert_allclose(residual[:3], [0.0, 0.0, weight], atol=1e-9)


def test_quiet_standing_on_two_feet_needs_no_residual(model):
    still = standing(model)
    center = np.einsum("b,bx->x", model.mass.mass, segment_motion(model, still).center[0]) / model.mass.total
    half = np.array([[0.0, 0.0, 0.5 * model.mass.total * 9.80665]])
    feet = []
    for side, y in (("r", -0.1), ("l", 0.1)):
        point = np.array([[center[0], y, model.standing[model.slot(f"heel_{side}"), 2]]])
        feet.append(Wrench(f"foot_{side}", half, np.cross(point, half)))
    residual = projected_moments(model, still, feet)[0, 38:]
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


def test_a_force_in_front_of_the_ankle_needs_plantarflexion(model):
    still = standing(model)
    force = np.array([[0.0, 0.0, 1000.0]])
    point = model.standing[model.slot("ankle_r")] + np.array([0.1, 0.0, -0.07])
    load = Wrench("foot_r", force, np.cross(point[None], force))
    moments = projected_moments(model, still, [load])[0] - projected_moments(model, still, [])[0]
    assert moments[model.dof("ankle_dorsiflexion_r")] == pytest.approx(-100.0)


def test_couples_do_their_full_work_about_every_axis(model, motion):
    """Power of a couple is m.w on every kind of body, along its long axis as well (correction B4)."""
    rng = np.random.default_rng(8)
    seg = segment_motion(model, motion)
    for body in ("foot_r", "thigh_r", "head", "pelvis", "forearm_l"):
        couple = 30.0 * rng.normal(size=(len(motion.time), 3))
        force = external_force(model, motion.q, [Wrench(body, np.zeros_like(couple), couple)])
        power = np.einsum("tnx,tnx->t", force, motion.qd)
        np.testing.assert_allclose(
            power, np.einsum("tx,tx->t", couple, seg.velocity[:, model.body(body)]), atol=1e-10
        )


def test_moments_do_not_know_where_the_origin_is(model, motion, wrenches):
    """Walking elsewhere, facing elsewhere, the same joint moments."""
    shift, turn = np.array([3.0, -2.0, 0.5]), 0.7
    moved = motion.coordinates.copy()
    rotation = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    moved[:, 38:41] = moved[:, 38:41] @ rotation.T + shift
    moved[:, 43] += turn
    rates, second = motion.rates.copy(), motion.second.copy()
    rates[:, 38:41], second[:, 38:41] = rates[:, 38:41] @ rotation.T, second[:, 38:41] @ rotation.T
    there = motion_through(model, moved, rates, second, time=motion.time)
    carried = [
        Wrench(w.body, w.force @ rotation.T, w.moment @ rotation.T + np.cross(shift, w.force @ rotation.T))
        for w in wrenches
    ]
    here = projected_moments(model, motion, wrenches)[:, :38]
    np.testing.assert_allclose(projected_moments(model, there, carried)[:, :38], here, atol=1e-9)
