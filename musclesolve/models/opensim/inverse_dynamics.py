"""Generalized forces of an OpenSim model from its motion and external loads, by recursive Newton-Euler.

All spatial vectors are about the origin of the ground and in its axes: twist (omega, v), wrench (moment, force). The
acceleration is the time derivative of the twist (Featherstone 2008, Rigid Body Dynamics Algorithms, 2.10).
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, vector_product
from musclesolve._util.checks import check_array, check_increasing, check_type
from musclesolve.errors import file_error, input_error
from musclesolve.models.opensim.devices import device_force
from musclesolve.models.opensim.external_loads import ExternalLoad, load_wrench
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion, coordinate_values, joint_axes
from musclesolve.models.opensim.model import BodyMass, Device, OpenSimModel
from musclesolve.models.opensim.segments import segments


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Generalized forces that muscles, ligaments and joints must produce, over time (T).

    force (T, K): generalized forces of all coordinates [N m; N for a length], couplings included: the forces of coupled
    coordinates are added to the coordinates that drive them, and are then zero. joint_force (T, K): forces without
    couplings. NaN if mass properties of a body that the coordinate moves cannot be used (`OpenSimModel.mass_faults`).
    wrench (T, B, 6): moment about the origin of the ground [N m] and force [N] that every body must receive from
    joints and muscles; bodies: their motion.
    """

    coordinates: tuple[str, ...]
    time: Array
    force: Array
    joint_force: Array
    wrench: Array
    bodies: "BodyDynamics"

    def column(self, name: str) -> Array:
        """Generalized force (T,) of a coordinate."""
        return self.force[:, self.coordinates.index(name)]


def inverse_dynamics(
    model: OpenSimModel, motion: "ModelMotion", loads: Sequence[ExternalLoad] = ()
) -> InverseDynamics:
    """Generalized forces that produce a motion under gravity, external loads and the devices of the model.

    From the last body inward, the joint of a body transmits the wrench that the body and all bodies beyond it need;
    the power of that wrench on the joint's axes is the generalized force (Featherstone 2008, 5.3). It belongs to the
    rate of the coordinate; OpenSim's forces of free and ball joints belong to components of angular velocity.

    Args:
        model: with mass properties.
        motion: of all its coordinates, from `model_motion`.
        loads: from `read_external_loads`; interpolated to the times of the motion.

    Raises:
        InputError: joints are missing, a load acts on an unknown body, or ends too early.
    """
    check_type(model, OpenSimModel, "model", "an OpenSim model, from read_osim()")
    check_type(motion, ModelMotion, "motion", "the motion of all coordinates, from model_motion()")
    for load in check_type(loads, Sequence, "loads", expected := "loads, from read_external_loads()"):
        check_type(load, ExternalLoad, "loads", expected)

    bodies = body_dynamics(model, motion)
    of_devices, on_coordinates = device_forces(model, motion, bodies)
    from_loads = load_wrench(model, loads, motion.time, bodies.pose)
    wrench = inertial_wrench(model, bodies) - from_loads - of_devices
    joint_force = joint_forces(model, bodies.pose, wrench) - on_coordinates
    force = coupled_forces(model, motion.value, joint_force)
    # the axes of the joints, which take as much memory as all other arrays, are not kept
    pose = BodyMotion(bodies.pose.rotation, bodies.pose.position, bodies.pose.twist)
    bodies = replace(bodies, pose=pose)
    return InverseDynamics(tuple(model.coordinates), motion.time, force, joint_force, wrench, bodies)


def device_forces(
    model: OpenSimModel,
    motion: "ModelMotion",
    bodies: "BodyDynamics",
    devices: Sequence[Device] | None = None,
) -> tuple[Array, Array]:
    """Wrenches (T, B, 6) on the bodies and forces (T, K) on the coordinates of some devices of a model, or of all."""
    wrench, force = np.zeros_like(bodies.twist), np.zeros_like(motion.value)
    for device in model.devices if devices is None else devices:
        on_bodies, on_coordinate = device_force(
            model, device, motion.value, motion.speed, bodies.pose, bodies.twist
        )
        wrench, force = wrench + on_bodies, force + on_coordinate
    return wrench, force


def joint_forces(model: OpenSimModel, pose: BodyMotion, wrench: Array) -> Array:
    """Generalized forces (T, K) of each joint, without couplings, from the wrenches (T, B, 6) that the bodies need.

    pose: of `body_motion`, with the values and unit twists of the axes of all joints.
    """
    axes, force = joint_axes(model), np.zeros((len(wrench), len(model.coordinates)))
    joint, sense = axes.joint, np.where(axes.arrays.backward, -1.0, 1.0)
    on_outer = carried_by_joints(model, wrench)[:, axes.arrays.outer[joint]]
    power = sense[joint] * np.einsum("tak,tak->ta", pose.unit, on_outer)
    powers = axes.slopes(pose.value) * power[:, axes.term_axis]
    for coordinate, along in zip(axes.term_coordinate, powers.T, strict=True):
        force[:, coordinate] += along
    return force


def coupled_forces(model: OpenSimModel, value: Array, joint_force: Array) -> Array:
    """Generalized forces (T, K) of the independent coordinates, tau_i + sum_d tau_d dq_d/dq_i; zero for coupled ones.

    value: (T, K) of all coordinates; joint_force: from `joint_forces`.
    """
    force, number = joint_force.copy(), model.coordinate_number
    for coupler in reversed(model.couplers):
        columns = [number[name] for name in coupler.independent]
        slope = coupler.function.derivative(value[:, columns])
        force[:, columns] += slope * force[:, [number[coupler.dependent]]]
        force[:, number[coupler.dependent]] = 0.0
    return force


def carried_by_joints(model: OpenSimModel, wrench: Array) -> Array:
    """Wrench (T, B, 6) that each body and all bodies beyond it need, from the wrench of every body."""
    total = wrench.copy()
    for joint in reversed(model.joints):
        inner, outer = joint.inboard.body, joint.outboard.body
        total[:, model.body_number[inner]] += total[:, model.body_number[outer]]
    return total


@dataclass(frozen=True, eq=False)
class BodyDynamics:
    """Bodies (B) of a model over time (T): pose, twist and acceleration (T, B, 6)."""

    pose: BodyMotion
    twist: Array
    acceleration: Array


def body_dynamics(model: OpenSimModel, motion: "ModelMotion") -> BodyDynamics:
    """Twists and accelerations of all bodies, from the ground outward.

    An axis with the unit twist s, fixed in a frame that moves with V, adds s f' to the twist and
    s f'' + (V x s) f' to the acceleration, where f' and f'' are time derivatives of its function
    (Featherstone 2008, 5.3). In a reversed joint this motion is subtracted, from child to parent.
    """
    from musclesolve.models.opensim.joint_kernel import MOTIONS

    axes, pose = joint_axes(model), body_motion(model, motion.value)
    rates = axes.rates(motion.value, motion.speed, motion.acceleration)
    twist, acceleration = np.empty((2, *pose.position.shape[:2], 6))
    MOTIONS.load()(axes.arrays, pose.unit, *rates, twist, acceleration, np.empty((2, 6)))
    return BodyDynamics(pose, twist, acceleration)


def inertial_wrench(model: OpenSimModel, bodies: BodyDynamics) -> Array:
    """Return the wrench (T, B, 6) that must act on every body in addition to gravity.

    With the mass center at c: force m (a_c - g), moment about the origin I alpha + omega x I omega + c x force. NaN of
    a body whose mass properties cannot be used.
    """
    mass, center, inertia = body_masses(model, bodies.pose)
    force = mass[:, None] * (center_accelerations(bodies, center) - model.gravity)
    moment = momentum_rates(bodies, inertia) + vector_product(center, force)
    return np.concatenate([moment, force], axis=-1)


def body_masses(model: OpenSimModel, pose: BodyMotion) -> tuple[Array, Array, Array]:
    """Masses (B,) [kg], mass centers (T, B, 3) [m] and inertia (T, B, 3, 3) about them [kg m2], in the ground.

    The mass is NaN for a body whose mass properties cannot be used.
    """
    for body in model.bodies:
        if body not in model.reachable:
            raise file_error(
                "unsupported",
                model.file,
                f"no supported joint leads to body {body}",
                "joints of supported kinds",
                "complete the model in OpenSim, or give joint moments instead of loads",
            )
    none = BodyMass(0.0, np.zeros(3), np.zeros((3, 3)))
    unknown = BodyMass(np.nan, np.zeros(3), np.zeros((3, 3)))
    masses = [unknown if body in model.mass_faults else model.masses.get(body, none) for body in model.bodies]
    local = np.array([body_mass.center for body_mass in masses])
    tensor = np.array([body_mass.inertia for body_mass in masses])
    center = (pose.rotation @ local[..., None])[..., 0] + pose.position
    return (
        np.array([body_mass.mass for body_mass in masses]),
        center,
        pose.rotation @ tensor @ pose.rotation.swapaxes(-1, -2),
    )


def center_accelerations(bodies: BodyDynamics, center: Array) -> Array:
    """Accelerations (T, B, 3) [m/s2] of points (T, B, 3) [m] of the bodies."""
    omega, v = bodies.twist[..., :3], bodies.twist[..., 3:]
    alpha, a = bodies.acceleration[..., :3], bodies.acceleration[..., 3:]
    return np.asarray(
        a + vector_product(alpha, center) + vector_product(omega, v + vector_product(omega, center))
    )


def momentum_rates(bodies: BodyDynamics, inertia: Array) -> Array:
    """I alpha + omega x I omega (T, B, 3) [N m] of the bodies with inertia (T, B, 3, 3) about their mass centers."""
    omega, alpha = bodies.twist[..., :3], bodies.acceleration[..., :3]
    spin = (inertia @ omega[..., None])[..., 0]
    return np.asarray((inertia @ alpha[..., None])[..., 0] + vector_product(omega, spin))


def require_masses(model: OpenSimModel, names: Sequence[str], force: Array) -> None:
    """Refuse generalized forces (T, m) of coordinates if mass properties of bodies beyond their joints are unknown."""
    lost = [name for name, column in zip(names, force.T, strict=True) if np.isnan(column).all()]
    if lost and model.mass_faults:
        raise input_error(
            "models.opensim.impossible_mass",
            file=model.file,
            where=", ".join(lost[:8]),
            faults="; ".join(map(str, model.mass_faults.values())),
        )


@dataclass(frozen=True, eq=False)
class JointReactions:
    """Reactions on the distal body of each joint (J) from the proximal one over time (T), in the axes of the ground.

    force (T, J, 3) [N]; moment (T, J, 3) [N m] about the point; point (T, J, 3) [m]: origin of the joint's frame on
    the distal body, whichever of its bodies is the child.
    """

    joints: tuple[str, ...]
    force: Array
    moment: Array
    point: Array


def distal_reactions(model: OpenSimModel, dynamics: InverseDynamics) -> JointReactions:
    """Joint reactions without muscle forces.

    A joint supplies the wrench that the bodies from it outward need.
    """
    parts = segments(model)
    on = [parts.distal(joint) for joint in model.joints]
    pose = dynamics.bodies.pose
    body = [model.body_number[frame.body] for frame in on]
    outer = [model.body_number[joint.outboard.body] for joint in model.joints]
    sense = np.array([1.0 if parts.is_outward(joint) else -1.0 for joint in model.joints])[:, None]
    offset = np.array([frame.position for frame in on])

    carried = carried_by_joints(model, dynamics.wrench)
    point = (pose.rotation[:, body] @ offset[..., None])[..., 0] + pose.position[:, body]
    force, about_origin = sense * carried[:, outer, 3:], sense * carried[:, outer, :3]
    names = tuple(joint.name for joint in model.joints)
    return JointReactions(names, force, about_origin - vector_product(point, force), point)


@dataclass(frozen=True, eq=False)
class ModelMotion:
    """All K coordinates of a model at times (T,) [s]: value, speed and acceleration (T, K) [rad or m, s]."""

    time: Array
    value: Array
    speed: Array
    acceleration: Array

    def frames(self, some: slice) -> "ModelMotion":
        """The motion in some frames."""
        return ModelMotion(self.time[some], self.value[some], self.speed[some], self.acceleration[some])


def needed_coordinates(model: OpenSimModel, known: Container[str]) -> list[str]:
    """The known coordinates, and those that a motion must have: the model neither locks nor couples them."""
    coupled = {coupler.dependent for coupler in model.couplers}
    return [
        name
        for name, coordinate in model.coordinates.items()
        if name in known or (not coordinate.locked and name not in coupled)
    ]


def model_motion(
    model: OpenSimModel,
    time: Array,
    value: Mapping[str, Array],
    speed: Mapping[str, Array],
    acceleration: Mapping[str, Array],
) -> ModelMotion:
    """The motion of all coordinates from the motion of some.

    Locked coordinates without values stay at their default. Coupled ones always follow from the others: value c(q),
    speed c' qd, acceleration c' qdd + c'' qd^2.

    Args:
        model: from `read_osim`.
        time: (T,) [s].
        value: (T,) of coordinates by name [rad or m]. speed, acceleration: (T,) of the same coordinates.

    Raises:
        InputError: a name is unknown, the motion of a free coordinate is missing, or arrays are of other shapes.
    """
    time = check_increasing(time, where="time")
    parts = (value, speed, acceleration)
    for what, part in zip(("value", "speed", "acceleration"), parts, strict=True):
        check_type(part, Mapping, what, "a dict of arrays by the names of coordinates")
    free = needed_coordinates(model, value)
    if missing := [name for name in free if any(name not in part for part in parts)]:
        raise file_error(
            "missing_column",
            model.file,
            f"the motion of {', '.join(map(str, missing[:8]))} is not given ({len(missing)} coordinate(s))",
            "every coordinate that the model neither locks nor couples",
            "give all coordinates of inverse kinematics, or lock these in the model",
        )
    for name, column in ((name, column) for part in parts for name, column in part.items()):
        check_array(column, f"coordinate {name}", (len(time),), axis=0, real=True)
    complete, number = coordinate_values(model, value), model.coordinate_number
    whole = np.broadcast_to(complete, (len(time), complete.shape[1])).copy()
    motion = ModelMotion(time, whole, np.zeros_like(whole), np.zeros_like(whole))
    for name in value:
        motion.speed[:, number[name]] = speed[name]
        motion.acceleration[:, number[name]] = acceleration[name]
    for coupler in model.couplers:
        columns = [number[name] for name in coupler.independent]
        x, rate = motion.value[:, columns], motion.speed[:, columns]
        slope, dependent = coupler.function.derivative(x), number[coupler.dependent]
        change = (slope * motion.acceleration[:, columns]).sum(axis=1)
        motion.speed[:, dependent] = (slope * rate).sum(axis=1)
        motion.acceleration[:, dependent] = change + coupler.function.bend(x, rate)
    return motion
