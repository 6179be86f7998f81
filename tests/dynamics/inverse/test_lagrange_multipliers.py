"""Actuators as drivers, as unknown couples, and as a mixture: the same moments, whichever leads what."""

import numpy as np
import pytest
from refusals import refused
from small_models import laid_out, random_chain, random_motion

from musclesolve.dynamics import MassProperties, Model, Wrench, lagrange_multipliers, projected_moments
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples, actuated_moments, couple_rows, undriven
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.topology import Dof

X, Y, Z = np.eye(3)


def relative(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


@pytest.mark.parametrize("share", ["drivers", "couples", "mixture", "base driven", "part of the base driven"])
def test_drivers_and_couples_give_the_same_moments(model, motion, wrenches, share):
    names = model.topology.dof_names
    drivers = {
        "drivers": names,
        "couples": (),
        "mixture": names[:38:2],
        "base driven": names[38:],
        "part of the base driven": (*names[3:20], names[39], names[43]),
    }[share]
    found = actuated_moments(model, motion, wrenches, drivers=drivers)
    assert relative(found.moments, projected_moments(model, motion, wrenches)) < 1e-11


def test_multipliers_of_an_all_driven_model_are_those_of_the_square_system(model, motion, wrenches):
    found = actuated_moments(model, motion, wrenches, drivers=model.topology.dof_names)
    assert relative(found.constraint, lagrange_multipliers(model, motion, wrenches).constraint) < 1e-11


@pytest.mark.parametrize("slant", [0.0, 0.6], ids=["square cross", "slanted cross"])
@pytest.mark.parametrize("seed", range(4))
def test_random_chains(seed, slant):
    chain = random_chain(5, seed, slant)
    moving = random_motion(chain, seed)
    size = (len(moving.time), 3)
    rng = np.random.default_rng(seed)
    push = [Wrench("hand", 50.0 * rng.normal(size=size), 5.0 * rng.normal(size=size))]
    found = actuated_moments(chain, moving, push)
    assert relative(found.moments, projected_moments(chain, moving, push)) < 1e-11


def test_each_actuator_works_on_its_own_degree_of_freedom_alone(model, motion):
    """Gamma D = 1, the massless crosses of universal joints included."""
    directions = model.tree.allowed(motion.q, motion.coordinates[:, 38:41])
    power = np.einsum("tknx,tnxl->tkl", couple_rows(model, motion), directions)
    np.testing.assert_allclose(power, np.broadcast_to(np.eye(44), power.shape), atol=1e-12)


@pytest.mark.parametrize("slant", [0.0, 0.6], ids=["square cross", "slanted cross"])
def test_couples_do_the_work_of_joint_moments_and_give_the_joint_rates(slant):
    chain = random_chain(5, 2, slant)
    moving, couples = random_motion(chain, 2), Couples.build(chain)
    joints = chain.tree.joint_count
    np.testing.assert_allclose(couples.rates(moving.q, moving.qd), moving.speeds[:, :joints], atol=1e-11)
    moments = np.random.default_rng(3).normal(size=(len(moving.time), joints))
    force = couples.force(moving.q, moments)
    power = np.einsum("tnx,tnx->t", force, moving.qd)
    np.testing.assert_allclose(power, (moments * moving.speeds[:, :joints]).sum(axis=1), atol=1e-10)
    rows = couple_rows(chain, moving)[:, :joints]
    np.testing.assert_allclose(force, np.einsum("tknx,tk->tnx", rows, moments), atol=1e-11)


def test_undriven_directions_are_found_from_the_rows_themselves(model, motion):
    names = model.topology.dof_names
    directions = model.tree.allowed(motion.q, motion.coordinates[:, 38:41])
    rows = couple_rows(model, motion)
    assert undriven(rows, directions, names) == ()
    short = np.delete(rows, model.dof("knee_flexion_r"), axis=1)
    assert undriven(short, directions, names) == ("knee_flexion_r",)


def test_an_unknown_driver_is_refused(model, motion, wrenches):
    with refused("unknown_name", "knee"):
        actuated_moments(model, motion, wrenches, drivers=("knee",))


def leg():
    """Two rods in the sagittal plane, hip and knee about y; the inner knee angle is pi plus the knee coordinate."""
    points = {"hip": 0 * X, "low": -0.2 * Z, "knee": -0.45 * Z, "ankle": -0.9 * Z}
    vectors = {"axis": Y, "front": X, "thigh_front": X, "shin": X}
    bodies = {
        "base": (("hip", "low"), ("axis", "front")),
        "thigh": (("hip", "knee"), ("axis", "thigh_front")),
        "shank": (("knee", "ankle"), ("axis", "shin")),
    }
    dofs = [
        Dof("hip", "base", "thigh", (None, "axis"), 1, "hip", ("hip", "low"), ("hip", "knee")),
        Dof("knee", "thigh", "shank", (None, "axis"), 1, "knee", ("knee", "hip"), ("knee", "ankle")),
    ]
    topology, standing = laid_out("leg", points, vectors, bodies, (), dofs)
    mass = MassProperties(
        np.array([1.0, 8.0, 3.0]),
        np.array([0 * X, -0.2 * Z, -0.65 * Z]),
        np.array([0.01 * np.eye(3), np.diag([0.12, 0.12, 0.02]), np.diag([0.05, 0.05, 0.005])]),
    )
    return Model(topology, standing, mass)


def double_pendulum(hip, knee):
    """Moments of a double pendulum in closed form; angle, rate and acceleration of hip and knee (T, 3) each.

    Positive about +y turns the leg backward: a point -l z goes to -l (sin a x + cos a z).
    """
    l1, c1, c2, m1, m2, i1, i2, g = 0.45, 0.2, 0.2, 8.0, 3.0, 0.12, 0.05, 9.80665
    a1, a2 = hip[:, 0], hip[:, 0] + knee[:, 0]
    w1, w2 = hip[:, 1], hip[:, 1] + knee[:, 1]
    e1, e2 = hip[:, 2], hip[:, 2] + knee[:, 2]
    shank = (i2 + m2 * c2**2) * e2 + m2 * l1 * c2 * (np.cos(a2 - a1) * e1 + np.sin(a2 - a1) * w1**2)
    shank += m2 * g * c2 * np.sin(a2)
    thigh = (i1 + m1 * c1**2 + m2 * l1**2) * e1
    thigh += m2 * l1 * c2 * (np.cos(a2 - a1) * e2 - np.sin(a2 - a1) * w2**2)
    thigh += (m1 * c1 + m2 * l1) * g * np.sin(a1)
    return thigh + shank, shank


def test_a_knee_driven_through_straight_has_the_right_smooth_moment():
    """Inner knee angle from 170 to 190 degrees and back, against the closed form, by driver and by couple."""
    time = np.linspace(0.0, 1.0, 401)
    turn, speed = np.radians(10.0), 2.0 * np.pi
    knee = turn * np.stack(
        [-np.cos(speed * time), speed * np.sin(speed * time), speed**2 * np.cos(speed * time)], axis=1
    )
    hip = 0.5 * np.stack([np.sin(3 * time), 3 * np.cos(3 * time), -9 * np.sin(3 * time)], axis=1)
    model = leg()
    still = np.zeros((len(time), 6))
    moving = motion_from(model, time, *(np.column_stack([hip[:, k], knee[:, k], still]) for k in range(3)))
    line = np.arccos(
        np.clip(np.einsum("tx,tx->t", *(_direction(model, moving.q, end) for end in ("hip", "ankle"))), -1, 1)
    )
    assert np.degrees(line.min()) == pytest.approx(170.0) and np.degrees(line.max()) > 179.99
    expected = np.stack(double_pendulum(hip, knee), axis=1)
    for drivers in ((), ("knee",), ("hip", "knee")):
        found = actuated_moments(model, moving, [], drivers=drivers).moments[:, :2]
        np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
        rough = np.abs(np.diff(found[:, 1], 3)).max()
        assert rough < 2.0 * np.abs(np.diff(expected[:, 1], 3)).max() + 1e-9


def _direction(model, q, end):
    line = q[:, model.slot(end)] - q[:, model.slot("knee")]
    return line / np.linalg.norm(line, axis=1)[:, None]
