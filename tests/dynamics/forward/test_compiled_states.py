"""Compiled evaluations of one state against the plain ones over arrays of frames."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.dynamics import MassProperties, Model, fixed, forward_human_model, human_model
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.forward.accelerations import DAMPING, FREQUENCY, direct
from musclesolve.dynamics.forward.simulate import System

BODY = forward_human_model()
MODELS = {"forward": BODY, "inverse": human_model()}


def states(model, count, spread=0.7):
    """Random poses and velocities that the joints allow."""
    rng, joints = np.random.default_rng(11), model.tree.joint_count
    q = model.tree.pose(
        spread * rng.normal(size=(count, joints)), np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1))
    )
    directions = model.tree.allowed(q, np.zeros((count, 3)))
    return q, np.einsum("tnxk,tk->tnx", directions, rng.normal(size=(count, joints + 6)))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("held", [(), ("hip_r", "hip_l")], ids=["free", "held"])
def test_accelerations_are_those_of_full_matrices(name, held):
    """Sparse rows and elements, bodies with a cross product, and linear rows."""
    model = MODELS[name]
    (q,), (qd,) = states(model, 1)
    rows = model.constraints.with_linear(*fixed(model.topology, q, held))
    system = System(model, rows, (), "augmented_lagrangian")
    jacobian = rows.jacobian(q[None])[0].reshape(len(rows.names), -1)
    right = rows.gamma(qd[None])[0] - FREQUENCY**2 * rows.value(q[None])[0]
    right -= 2.0 * DAMPING * FREQUENCY * jacobian @ qd.ravel()
    force = system.own_force(q, qd).ravel()
    found = system.accelerations(0.0, q, qd)
    plain = direct(system.masses(q)[0], jacobian, force, right)
    assert np.abs(found.qdd - plain.qdd).max() < 1e-9 * np.abs(plain.qdd).max()
    reaction = jacobian.T @ (found.multipliers - plain.multipliers)
    assert np.abs(reaction).max() < 1e-8 * np.abs(force).max()


def _spins(rotation: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Angular velocities (B, 3) of rotations (B, 3, 3) with these rates: dR/dt R^T is the skew matrix of w."""
    skew = rate @ np.swapaxes(rotation, 1, 2)
    return 0.5 * np.stack(
        [skew[:, 2, 1] - skew[:, 1, 2], skew[:, 0, 2] - skew[:, 2, 0], skew[:, 1, 0] - skew[:, 0, 1]], axis=1
    )


@pytest.mark.parametrize("name", MODELS)
def test_bodies_and_their_wrenches_are_those_of_many_frames(name):
    model = MODELS[name]
    q, qd = states(model, 1)
    bodies, moved = model.rigid_bodies, BodyStates.from_models([model], [(q[0], qd[0])])
    step = 1e-30
    complex_rotation = bodies.rotation(q + 1j * step * qd)[0]
    rotation, rate = complex_rotation.real, complex_rotation.imag / step
    np.testing.assert_allclose(moved.motions.rotation[:-1], rotation, atol=1e-13)
    np.testing.assert_allclose(bodies.rotation(q)[0], rotation, atol=1e-13)
    spin = _spins(rotation, rate)
    np.testing.assert_allclose(moved.motions.twist[:-1, :3], spin, atol=1e-12)
    at = bodies.slots[:, 0]
    velocity = qd[0, at] - np.cross(spin, q[0, at])
    np.testing.assert_allclose(moved.motions.twist[:-1, 3:], velocity, atol=1e-12)
    np.testing.assert_allclose(bodies.twists(q, qd)[0], np.hstack([spin, velocity]), atol=1e-12)
    wrench = np.random.default_rng(5).normal(size=(len(bodies.slots) + 1, 6))
    (force,) = moved.generalized(wrench)
    on_bodies = bodies.wrench_forces(q, wrench[None, :-1, 3:], wrench[None, :-1, :3])
    plain = bodies.generalized(q, on_bodies)[0]
    np.testing.assert_allclose(force, plain, atol=1e-12 * np.abs(plain).max())


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_accelerations_do_not_depend_on_the_unit_of_mass(factor):
    """The penalty follows the masses: a body a million times lighter falls alike."""
    mass = BODY.mass
    scaled = MassProperties(factor * mass.mass, mass.center, factor * mass.inertia)
    light = Model(BODY.topology, BODY.standing, scaled)
    (q,), (qd,) = states(BODY, 1)
    one, other = (
        System(m, m.constraints, (), "augmented_lagrangian").accelerations(0.0, q, qd) for m in (BODY, light)
    )
    np.testing.assert_allclose(other.qdd, one.qdd, atol=1e-9 * np.abs(one.qdd).max())
    assert other.iterations == one.iterations
