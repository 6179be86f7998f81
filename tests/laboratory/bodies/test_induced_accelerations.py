"""Induced accelerations: the parts add up, and each is that of the constrained equations in natural coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.data import reference_stride
from musclesolve.dynamics import JointMoments, Wrench, joint_loads, mass_matrix, segment_motion, simulate
from musclesolve.dynamics.forward.accelerations import direct
from musclesolve.dynamics.inverse.induced_accelerations import (
    CONTACTS,
    Footing,
    InducedAccelerations,
    LinkedBodies,
    LoadedJoint,
    induced_accelerations,
)
from musclesolve.dynamics.inverse.inverse_dynamics import external_force
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import mass_weighted
from musclesolve.dynamics.model.rigid_body import weight_force
from musclesolve.laboratory.forces import prepare

FRAMES = (5, 20, 45)
LOADED = ("hip_flexion_r", "knee_flexion_r", "ankle_dorsiflexion_l")


def induced_of(model, motion, wrenches, forces) -> dict[str, InducedAccelerations]:
    """Induced accelerations and loads of LOADED joints of a model of natural coordinates."""
    bodies = LinkedBodies.from_motion(model, motion)
    feet = [Footing.from_wrench(model, motion, wrench) for wrench in wrenches]
    joints = []
    for dof in LOADED:
        beyond = np.zeros(len(bodies.mass), bool)
        beyond[model.distal_bodies(dof)] = True
        joints.append(LoadedJoint(beyond, motion.q[:, model.tree.pivot[model.joint(dof)]]))
    return induced_accelerations(bodies, feet, forces, joints)


@pytest.fixture(scope="module")
def walk():
    """Model, motion, wrenches of the bundled stride, and the moment of the right knee as an actuator."""
    mechanics = prepare(reference_stride()).mechanics
    knee = np.zeros((len(mechanics.motion.q), mechanics.model.tree.joint_count + 6))
    knee[:, mechanics.model.dof("knee_flexion_r")] = 10.0
    return mechanics.model, mechanics.motion, list(mechanics.wrenches), {"knee": knee}


@pytest.fixture(scope="module", params=CONTACTS)
def induced(walk, request):
    return request.param, induced_of(*walk)[request.param]


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


def test_loads_of_joints_add_up_to_those_of_newton_and_euler(walk, induced):
    model, motion, wrenches, _ = walk
    _, found = induced
    whole = joint_loads(model, motion, segment_motion(model, motion), wrenches, LOADED)
    for k, dof in enumerate(LOADED):
        np.testing.assert_allclose(found.load_force[:, :, k].sum(axis=1), whole[dof].force, atol=1e-7)
        np.testing.assert_allclose(found.load_moment[:, :, k].sum(axis=1), whole[dof].moment, atol=1e-7)


def test_the_free_moment_acts_where_the_foot_may_turn(walk):
    """The measured moment about the center of pressure is vertical: a rocker and a foot bear all of it."""
    found = induced_of(*walk)
    turning = {
        name: np.abs(each.joint[:, each.parts.index("free_moment")]).max() for name, each in found.items()
    }
    assert turning["point"] > 1.0
    assert turning["rocker"] < 1e-6
    assert turning["foot"] == 0.0


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
        ahead = model.rigid_bodies.subset(np.array([model.body(wrench.body)])).rotation(q)[:, 0, :, 0]
        ahead = ahead * [1.0, 1.0, 0.0] / np.linalg.norm(ahead[:, :2], axis=1)[:, None]
        about = {
            "point": (),
            "rocker": (ahead, units[2] + none),
            "foot": tuple(unit + none for unit in units),
        }
        for axis in about[contact]:
            of_turning = external_force(model, q, [Wrench(wrench.body, none, axis)])
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
    found = induced_of(model, motion, free, forces)["point"]
    assert not found.touching.any()
    gravity = found.joint[:, found.parts.index("gravity")]
    joints = model.tree.joint_count
    np.testing.assert_allclose(gravity[:, :joints], 0.0, atol=1e-7)
    np.testing.assert_allclose(
        gravity[:, joints : joints + 3], np.tile(model.gravity, (len(gravity), 1)), atol=1e-8
    )


STEP = 1e-3
"""Simulated time [s]."""
HELD = {"point": ("toe_r",), "foot": ("heel_r", "toe_r", "ankle_r", "ankle_axis_r")}


@pytest.mark.parametrize("contact", HELD)
def test_a_simulated_step_without_a_force_lacks_its_induced_acceleration(walk, contact):
    """Compare with the change of velocity within 1 ms from rest, with all moments less without one; the ground is a
    hinge.

    The body stands on its right toe, or on its whole right foot; `simulate` integrates the equations in natural
    coordinates and knows nothing of parts.
    """
    model, motion, _, _ = walk
    frame = np.array([20])
    toe = motion.q[frame, model.slot("toe_r")]
    lift = np.zeros_like(motion.q[frame])
    lift[:, : model.tree.point_count, 2] = -toe[:, 2:]
    placed = motion.coordinates[frame].copy()
    placed[:, model.tree.joint_count + 2] -= toe[:, 2]
    rest = dict.fromkeys(("rates", "second", "speeds", "speed_rates"), 0.0 * placed)
    rest |= dict.fromkeys(("qd", "qdd"), 0.0 * lift)
    still = Motion(time=motion.time[frame], coordinates=placed, q=motion.q[frame] + lift, **rest)
    push = np.array([[0.0, 0.0, 700.0]])
    wrench = Wrench("foot_r", push, np.cross(toe * [1.0, 1.0, 0.0], push))
    moments = {"knee_flexion_r": -60.0, "ankle_dorsiflexion_r": -80.0, "hip_adduction_r": -50.0}
    forces = {name: np.zeros((1, model.tree.joint_count + 6)) for name in moments}
    for name, value in moments.items():
        forces[name][:, model.dof(name)] = value
    found = induced_of(model, still, [wrench], forces)[contact]

    def step(acting: dict[str, float]) -> np.ndarray:
        """Velocities [m/s] after a millisecond, over that time."""
        simulated = simulate(
            model,
            still.q[0],
            still.qd[0],
            np.array([0.0, STEP]),
            [JointMoments.build(model, acting)] if acting else [],
            held=HELD[contact],
        )
        return simulated.qd[-1] / STEP

    directions = model.tree.allowed(still.q, still.origin)[0]
    whole = step(moments)
    for name in moments:
        lost = whole - step({other: value for other, value in moments.items() if other != name})
        induced = directions @ found.joint[0, found.parts.index(name)]
        np.testing.assert_allclose(lost, induced, atol=2e-3 * np.abs(induced).max())
    gravity = directions @ found.joint[0, found.parts.index("gravity")]
    np.testing.assert_allclose(step({}), gravity, atol=2e-3 * np.abs(gravity).max())
