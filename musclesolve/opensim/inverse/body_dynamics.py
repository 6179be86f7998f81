"""Twists, accelerations and inertial wrenches of the bodies of an OpenSim model.

All spatial vectors are about the origin of the ground and in its axes: twist (omega, v), wrench (moment, force). The
acceleration is the time derivative of the twist (Featherstone 2008, Rigid Body Dynamics Algorithms, 2.10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.opensim.inverse.model_motion import ModelMotion
from musclesolve.opensim.kinematics import AxisMotion, BodyMotion, body_motion, joint_motion
from musclesolve.opensim.model import BodyMass, OpenSimModel


@dataclass(frozen=True, eq=False)
class BodyDynamics:
    """Bodies (B) of a model over time (T): pose, twist and acceleration (T, B, 6); axes of every joint."""

    pose: BodyMotion
    twist: Array
    acceleration: Array
    axes: tuple[list[AxisMotion], ...]


def body_dynamics(model: OpenSimModel, motion: ModelMotion) -> BodyDynamics:
    """Twists and accelerations of all bodies, from the ground outward.

    An axis with the unit twist s, fixed in a frame that moves with V, adds s f' to the twist and
    s f'' + (V x s) f' to the acceleration, where f' and f'' are time derivatives of its function
    (Featherstone 2008, 5.3). A reversed joint takes from its child to its parent what it adds from parent to child.
    """
    pose = body_motion(model, motion.value)
    twist = np.zeros((*pose.position.shape[:2], 6))
    acceleration = np.zeros_like(twist)
    axes = []
    for joint in model.joints:
        parent, child = (model.body_number[frame.body] for frame in (joint.parent, joint.child))
        base = pose.rotation[:, parent]
        start = pose.position[:, parent] + base @ joint.parent.position
        moved = joint_motion(model, joint, motion.value, base @ joint.parent.rotation, start)
        rates = [_time_derivatives(model, axis, motion) for axis in moved.axes]
        v = twist[:, child] if joint.is_reversed else twist[:, parent]
        if joint.is_reversed:
            for axis, (rate, _) in zip(moved.axes, rates, strict=True):
                v = v - axis.unit * rate[:, None]
            twist[:, parent] = v
        gained = np.zeros_like(v)
        for axis, (rate, change) in zip(moved.axes, rates, strict=True):
            gained += axis.unit * change[:, None] + cross_motion(v, axis.unit) * rate[:, None]
            v = v + axis.unit * rate[:, None]
        if joint.is_reversed:
            acceleration[:, parent] = acceleration[:, child] - gained
        else:
            twist[:, child], acceleration[:, child] = v, acceleration[:, parent] + gained
        axes.append(moved.axes)
    return BodyDynamics(pose, twist, acceleration, tuple(axes))


def _time_derivatives(model: OpenSimModel, axis: AxisMotion, motion: ModelMotion) -> tuple[Array, Array]:
    """First and second time derivative (T,) of the function of an axis."""
    columns = [model.coordinate_number[name] for name in axis.axis.coordinates]
    function, speed = axis.axis.function, motion.speed[:, columns]
    slope = function.derivative(axis.x)
    change = (slope * motion.acceleration[:, columns]).sum(axis=1) + function.bend(axis.x, speed)
    return (slope * speed).sum(axis=1), change


def cross_motion(twist: Array, moving: Array) -> Array:
    """V x s: the rate of a motion vector s (..., 6) fixed in a frame with the twist V (..., 6)."""
    omega, v = twist[..., :3], twist[..., 3:]
    spin, shift = moving[..., :3], moving[..., 3:]
    return np.concatenate([np.cross(omega, spin), np.cross(omega, shift) + np.cross(v, spin)], axis=-1)


def inertial_wrench(model: OpenSimModel, bodies: BodyDynamics) -> Array:
    """What must act on every body beside gravity, (T, B, 6).

    With the mass center at c: force m (a_c - g), moment about the origin I alpha + omega x I omega + c x force. NaN of
    a body whose mass properties cannot be used.

    Raises:
        InputError: no supported joint leads to a body.
    """
    _require_joints(model)
    none = BodyMass(0.0, np.zeros(3), np.zeros((3, 3)))
    unknown = BodyMass(np.nan, np.zeros(3), np.zeros((3, 3)))
    known = [unknown if body in model.mass_faults else model.masses.get(body, none) for body in model.bodies]
    mass = np.array([each.mass for each in known])
    local = np.array([each.center for each in known])
    tensor = np.array([each.inertia for each in known])
    rotation = bodies.pose.rotation
    center = (rotation @ local[..., None])[..., 0] + bodies.pose.position
    omega, v = bodies.twist[..., :3], bodies.twist[..., 3:]
    alpha, a = bodies.acceleration[..., :3], bodies.acceleration[..., 3:]
    at_center = a + np.cross(alpha, center) + np.cross(omega, v + np.cross(omega, center))
    force = mass[:, None] * (at_center - model.gravity)
    inertia = rotation @ tensor @ rotation.swapaxes(-1, -2)
    spin = (inertia @ omega[..., None])[..., 0]
    moment = (inertia @ alpha[..., None])[..., 0] + np.cross(omega, spin) + np.cross(center, force)
    return np.concatenate([moment, force], axis=-1)


def _require_joints(model: OpenSimModel) -> None:
    for body in model.bodies:
        if body not in model.reachable:
            raise InputError(
                f"no supported joint leads to body {body}",
                code="unsupported",
                file=model.file,
                expected="joints of supported kinds",
                remedy="complete the model in OpenSim, or give joint moments instead of loads",
            )


def require_masses(model: OpenSimModel, names: Sequence[str], force: Array) -> None:
    """Refuse generalized forces (T, m) of some coordinates where mass properties beyond their joints are unknown."""
    lost = [name for name, column in zip(names, force.T, strict=True) if np.isnan(column).all()]
    if lost and model.mass_faults:
        raise InputError(
            "; ".join(model.mass_faults.values()),
            code="bad_model",
            file=model.file,
            where=", ".join(lost[:8]),
            expected="mass properties that a body can have, of every body that these coordinates move",
            remedy="correct the body in OpenSim, or give joint moments instead of loads",
        )
