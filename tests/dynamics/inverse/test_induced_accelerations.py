"""Induced accelerations: the parts add up, and each is that of the constrained equations in natural coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.data import reference_stride
from musclesolve.dynamics.forward.accelerations import direct
from musclesolve.dynamics.inverse.external_wrenches import Wrench, external_force
from musclesolve.dynamics.inverse.induced_accelerations import (
    CONTACTS,
    induced_accelerations,
)
from musclesolve.dynamics.inverse.newton_euler import center_of_pressure
from musclesolve.dynamics.model.mass_center import mass_weighted
from musclesolve.dynamics.model.mass_matrix import mass_matrix, weight_force
from musclesolve.pipeline.run import prepare

FRAMES = (5, 20, 45)


@pytest.fixture(scope="module")
def walk():
    """Model, motion, wrenches of the bundled stride, and the moment of the right knee as an actuator."""
    mechanics = prepare(reference_stride()).mechanics
    knee = np.zeros((len(mechanics.motion.q), mechanics.model.tree.joint_count + 6))
    knee[:, mechanics.model.dof("knee_flexion_r")] = 10.0
    return mechanics.model, mechanics.motion, list(mechanics.wrenches), {"knee": knee}


@pytest.fixture(scope="module", params=CONTACTS)
def induced(walk, request):
    return request.param, induced_accelerations(*walk)[request.param]


def test_parts_add_up_to_what_was_recorded(walk, induced):
    model, motion, wrenches, _ = walk
    _, found = induced
    np.testing.assert_allclose(found.joint.sum(axis=1), motion.speed_rates, atol=1e-9)
    for k, wrench in enumerate(wrenches):
        loaded = found.touching[:, k]
        np.testing.assert_allclose(found.ground[loaded].sum(axis=1)[:, k], wrench.force[loaded], atol=1e-8)
        assert (found.ground[~loaded, :, k] == 0.0).all()
    bodies = model.rigid_bodies
    center = mass_weighted(model, bodies.basic(motion.q, motion.qd, motion.qdd)) / model.mass.total
    np.testing.assert_allclose(found.center.sum(axis=1), center, atol=1e-9)


@pytest.mark.parametrize("part", ["gravity", "knee"])
def test_the_equations_in_natural_coordinates_give_the_same(walk, induced, part):
    """M qdd + Phi_q^T lambda = g with Phi_q qdd = 0 and the ground contact as further rows, solved by null space."""
    model, motion, wrenches, _ = walk
    contact, found = induced
    frames = np.array(FRAMES)
    q, origin = motion.q[frames], motion.origin[frames]
    mass = mass_matrix(model.rigid_bodies, model.basic_mass, q)
    size = mass.shape[1]
    units, none = np.eye(3), np.zeros((len(frames), 3))
    rows = []
    for wrench in wrenches:
        point = np.nan_to_num(center_of_pressure(wrench.force, wrench.moment))[frames]
        loaded = (wrench.force[frames, 2] > 20.0)[:, None]
        for unit in units:
            force = np.broadcast_to(unit, (len(frames), 3))
            of_point = external_force(model, q, [Wrench(wrench.body, force, np.cross(point, force))])
            rows.append(of_point.reshape(len(frames), -1) * loaded)
            if contact == "foot":
                of_turning = external_force(model, q, [Wrench(wrench.body, none, force)])
                rows.append(of_turning.reshape(len(frames), -1) * loaded)
    touching = np.stack(rows, axis=1)
    constraints = model.constraints.jacobian(q).reshape(len(frames), -1, size)
    directions = model.tree.allowed(q, origin).reshape(len(frames), size, -1)
    if part == "gravity":
        acting = weight_force(model.rigid_bodies, model.mass, q, model.gravity).reshape(len(frames), size)
    else:  # a couple of 10 N m about the axis of the knee, on the shank and back on the thigh
        axis = 10.0 * motion.axes(model.tree)[frames, model.dof("knee_flexion_r")]
        couple = [Wrench("shank_r", none, axis), Wrench("thigh_r", none, -axis)]
        acting = external_force(model, q, couple).reshape(len(frames), size)
    place = found.parts.index(part)
    for k, frame in enumerate(FRAMES):
        jacobian = np.vstack([constraints[k], touching[k]])
        expected = direct(mass[k], jacobian, acting[k], np.zeros(len(jacobian))).qdd
        own = directions[k] @ found.joint[frame, place]
        np.testing.assert_allclose(own, expected, atol=1e-6 * np.abs(expected).max())


def test_without_contact_gravity_is_free_fall(walk):
    model, motion, wrenches, forces = walk
    free = [Wrench(each.body, 0.0 * each.force, 0.0 * each.moment) for each in wrenches]
    found = induced_accelerations(model, motion, free, forces)["point"]
    assert not found.touching.any()
    gravity = found.joint[:, found.parts.index("gravity")]
    joints = model.tree.joint_count
    np.testing.assert_allclose(gravity[:, :joints], 0.0, atol=1e-7)
    np.testing.assert_allclose(
        gravity[:, joints : joints + 3], np.tile(model.gravity, (len(gravity), 1)), atol=1e-8
    )
