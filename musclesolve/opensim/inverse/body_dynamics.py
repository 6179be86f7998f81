"""Twists, accelerations and inertial wrenches of the bodies of an OpenSim model.

All spatial vectors are about the origin of the ground and in its axes: twist (omega, v), wrench (moment, force). The
acceleration is the time derivative of the twist (Featherstone 2008, Rigid Body Dynamics Algorithms, 2.10).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.opensim.inverse.model_motion import ModelMotion
from musclesolve.opensim.kinematics import AxisMotion, BodyMotion, body_motion, joint_motion
from musclesolve.opensim.model import GROUND, Joint, OpenSimModel


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
    (Featherstone 2008, 5.3).
    """
    pose = body_motion(model, motion.value)
    twist = np.zeros((*pose.position.shape[:2], 6))
    acceleration = np.zeros_like(twist)
    axes = []
    for joint, parent, child in _numbered(model):
        base = pose.rotation[:, parent]
        start = pose.position[:, parent] + base @ joint.parent.position
        moved = joint_motion(model, joint, motion.value, base @ joint.parent.rotation, start)
        v, a = twist[:, parent], acceleration[:, parent]
        for axis in moved.axes:
            rate, change = _time_derivatives(model, axis, motion)
            a = a + axis.unit * change[:, None] + cross_motion(v, axis.unit) * rate[:, None]
            v = v + axis.unit * rate[:, None]
        twist[:, child], acceleration[:, child] = v, a
        axes.append(moved.axes)
    return BodyDynamics(pose, twist, acceleration, tuple(axes))


def _numbered(model: OpenSimModel) -> Iterator[tuple[Joint, int, int]]:
    """Joints with the numbers of parent and child body, from the ground outward."""
    for joint in model.joints:
        yield joint, model.body_number[joint.parent.body], model.body_number[joint.child.body]


def _time_derivatives(model: OpenSimModel, axis: AxisMotion, motion: ModelMotion) -> tuple[Array, Array]:
    """First and second time derivative (T,) of the function of an axis."""
    columns = [model.coordinate_number[name] for name in axis.axis.coordinates]
    function, speed = axis.axis.function, motion.speed[:, columns]
    slope, bend = function.derivative(axis.x), function.curvature(axis.x)
    change = slope * motion.acceleration[:, columns] + bend * speed**2
    return (slope * speed).sum(axis=1), change.sum(axis=1)


def cross_motion(twist: Array, moving: Array) -> Array:
    """V x s: the rate of a motion vector s (..., 6) fixed in a frame with the twist V (..., 6)."""
    omega, v = twist[..., :3], twist[..., 3:]
    spin, shift = moving[..., :3], moving[..., 3:]
    return np.concatenate([np.cross(omega, spin), np.cross(omega, shift) + np.cross(v, spin)], axis=-1)


def inertial_wrench(model: OpenSimModel, bodies: BodyDynamics) -> Array:
    """What must act on every body beside gravity, (T, B, 6).

    With the mass center at c: force m (a_c - g), moment about the origin I alpha + omega x I omega + c x force.

    Raises:
        InputError: a body has no mass properties, or no supported joint leads to it.
    """
    _require_masses(model)
    mass = np.array([0.0, *(model.masses[body].mass for body in model.bodies[1:])])
    local = np.array([np.zeros(3), *(model.masses[body].center for body in model.bodies[1:])])
    tensor = np.array([np.zeros((3, 3)), *(model.masses[body].inertia for body in model.bodies[1:])])
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


def _require_masses(model: OpenSimModel) -> None:
    for body in model.bodies:
        problem = None
        if body not in model.reachable:
            problem, code = f"no supported joint leads to body {body}", "unsupported"
        elif body != GROUND and body not in model.masses:
            problem, code = f"body {body} has no mass", "bad_model"
        if problem:
            raise InputError(
                problem,
                code=code,
                file=model.file,
                expected="joints of supported kinds, and <mass>, <mass_center> and <inertia> of every body",
                remedy="complete the model in OpenSim, or give joint moments instead of loads",
            )
