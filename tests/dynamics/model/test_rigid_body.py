"""Every kind of rigid body against a cloud of point masses (virtual power), spinning and accelerating."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import MassProperties, mass_matrix
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.dynamics.model.rigid_body import RigidBodies, basic_mass_matrix, inertia_force
from musclesolve.dynamics.model.topology import Point, RigidBody, Topology

KINDS = {
    "two points, two vectors": (2, 2),
    "three points, one vector": (3, 1),
    "two points, one vector": (2, 1),
    "three points": (3, 0),
    "four points": (4, 0),
}


def lone_body(points: int, vectors: int) -> tuple[Topology, np.ndarray]:
    rng = np.random.default_rng(points * 10 + vectors)
    names = tuple(f"p{k}" for k in range(points))
    axes = {f"v{k}": tuple(x / np.linalg.norm(x)) for k, x in enumerate(rng.normal(size=(vectors, 3)))}
    body = RigidBody(1, "body", names, tuple(axes), "body", 1.0)
    placed = tuple(Point(k, name, "origin", (0.0, 0.0, 0.0), "body") for k, name in enumerate(names))
    topology = Topology("lone", "body", "origin", placed, axes, (body,), (), ())
    return topology, np.vstack([0.3 * rng.normal(size=(points, 3)), *axes.values()])


def rigid_motion(standing, points):
    """Coordinates, velocities and accelerations of a body that turns and shifts."""
    rng = np.random.default_rng(7)
    spin, twist, velocity, acceleration = 3.0 * rng.normal(size=(4, 3))
    free = np.arange(len(standing)) < points
    qd = np.cross(spin, standing) + free[:, None] * velocity
    qdd = np.cross(twist, standing) + np.cross(spin, np.cross(spin, standing)) + free[:, None] * acceleration
    return standing[None], qd[None], qdd[None], (spin, twist, velocity, acceleration)


def cloud():
    rng = np.random.default_rng(8)
    masses, places = rng.uniform(0.2, 1.0, 12), 0.2 * rng.normal(size=(12, 3))
    center = masses @ places / masses.sum()
    arm = places - center
    inertia = np.einsum(
        "p,pxy->xy", masses, (arm**2).sum(1)[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None]
    )
    properties = MassProperties(np.array([masses.sum()]), center[None], inertia[None])
    return masses, places, properties


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_inertia_force_does_the_power_of_point_masses(kind):
    topology, standing = lone_body(*kind)
    rigid_bodies = RigidBodies.build(topology, standing)
    masses, places, properties = cloud()
    q, qd, qdd, (spin, twist, velocity, acceleration) = rigid_motion(standing, kind[0])
    force = inertia_force(rigid_bodies, basic_mass_matrix(rigid_bodies, properties), q, qd, qdd)
    moving = np.cross(spin, places) + velocity
    accelerating = np.cross(twist, places) + np.cross(spin, np.cross(spin, places)) + acceleration
    power = np.einsum("p,px,px->", masses, moving, accelerating)
    assert np.einsum("tnx,tnx->", force, qd) == pytest.approx(power, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_mass_matrix_gives_the_kinetic_energy_of_point_masses(kind):
    topology, standing = lone_body(*kind)
    rigid_bodies = RigidBodies.build(topology, standing)
    masses, places, properties = cloud()
    q, qd, _, (spin, _, velocity, _) = rigid_motion(standing, kind[0])
    matrix = mass_matrix(rigid_bodies, basic_mass_matrix(rigid_bodies, properties), q)[0]
    moving = np.cross(spin, places) + velocity
    energy = 0.5 * np.einsum("p,px,px->", masses, moving, moving)
    assert 0.5 * qd.ravel() @ matrix @ qd.ravel() == pytest.approx(energy, rel=1e-12)
    assert np.linalg.eigvalsh(matrix)[0] > -1e-12


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_constraints_leave_six_degrees_of_freedom(kind):
    topology, standing = lone_body(*kind)
    constraints = Constraints.build(topology, standing)
    jacobian = constraints.jacobian(standing[None])[0].reshape(len(constraints.names), -1)
    assert np.linalg.matrix_rank(jacobian) == len(jacobian) == jacobian.shape[1] - 6
    q, qd, qdd, _ = rigid_motion(standing, kind[0])
    np.testing.assert_allclose(jacobian @ qd.ravel(), 0.0, atol=1e-12)
    np.testing.assert_allclose(jacobian @ qdd.ravel(), constraints.gamma(qd)[0], atol=1e-11)
    assert np.abs(constraints.value(q)).max() == 0.0


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_couples_do_their_full_work(kind):
    topology, standing = lone_body(*kind)
    rigid_bodies = RigidBodies.build(topology, standing)
    q, qd, _, (spin, *_) = rigid_motion(standing, kind[0])
    line = standing[1] - standing[0]
    for couple in (*np.eye(3), line / np.linalg.norm(line)):
        force = rigid_bodies.generalized(q, rigid_bodies.moment_forces(q, couple[None, None]))
        assert np.einsum("tnx,tnx->", force, qd) == pytest.approx(couple @ spin, abs=1e-12)


def test_a_flat_body_is_refused():
    topology, standing = lone_body(3, 1)
    standing[3] = (standing[1] - standing[0]) / np.linalg.norm(standing[1] - standing[0])
    with refused("bad_model"):
        RigidBodies.build(topology, standing)
