"""Generalized forces of an OpenSim model from its motion and external loads, by recursive Newton-Euler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.inverse.body_dynamics import BodyDynamics, body_dynamics, inertial_wrench
from musclesolve.opensim.inverse.external_load import ExternalLoad, load_wrench
from musclesolve.opensim.inverse.model_motion import ModelMotion
from musclesolve.opensim.model import OpenSimModel


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """What muscles, ligaments and joints must produce, over time (T).

    force (T, K): generalized forces of all coordinates [N m; N where the coordinate is a length], couplings included:
    those of coupled coordinates act on the coordinates that drive them, and are zero themselves.
    joint_force (T, K): the same before that, each joint by itself.
    NaN where mass properties of a body that the coordinate moves cannot be used (`OpenSimModel.mass_faults`).
    wrench (T, B, 6): moment about the origin of the ground [N m] and force [N] that every body must receive from
    joints and muscles; bodies: their motion.
    """

    coordinates: tuple[str, ...]
    time: Array
    force: Array
    joint_force: Array
    wrench: Array
    bodies: BodyDynamics

    def column(self, name: str) -> Array:
        """Generalized force (T,) of a coordinate."""
        return self.force[:, self.coordinates.index(name)]


def inverse_dynamics(
    model: OpenSimModel, motion: ModelMotion, loads: Sequence[ExternalLoad] = ()
) -> InverseDynamics:
    """Generalized forces that produce a motion under gravity and external loads.

    From the last body inward, the joint of a body transmits the wrench that the body and all bodies beyond it need;
    the power of that wrench on the joint's axes is the generalized force (Featherstone 2008, 5.3). It belongs to the
    rate of the coordinate; OpenSim's of the angles of free and ball joints belong to components of angular velocity.

    Args:
        model: with mass properties.
        motion: of all its coordinates, from `model_motion`.
        loads: from `read_external_loads`; interpolated to the times of the motion.

    Raises:
        InputError: joints are missing, a load acts on an unknown body, or ends too early.
    """
    bodies = body_dynamics(model, motion)
    wrench = inertial_wrench(model, bodies) - load_wrench(model, loads, motion.time, bodies.pose)
    joint_force = joint_forces(model, bodies, wrench)
    force = _by_couplers(model, motion, joint_force)
    return InverseDynamics(tuple(model.coordinates), motion.time, force, joint_force, wrench, bodies)


def joint_forces(model: OpenSimModel, bodies: BodyDynamics, wrench: Array) -> Array:
    """Generalized forces (T, K) by which each joint for itself transmits what the bodies need, wrench (T, B, 6)."""
    transmitted = carried_by_joints(model, wrench)
    joint_force = np.zeros((len(wrench), len(model.coordinates)))
    for joint, axes in zip(model.joints, bodies.axes, strict=True):
        carried = transmitted[:, model.body_number[joint.outboard.body]]
        on_child = -carried if joint.is_reversed else carried
        for axis in axes:
            for name, twist in axis.by_coordinate():
                joint_force[:, model.coordinate_number[name]] += (twist * on_child).sum(axis=1)
    return joint_force


def carried_by_joints(model: OpenSimModel, wrench: Array) -> Array:
    """Wrench (T, B, 6) that each body and all bodies beyond it need, from that of every body."""
    total = wrench.copy()
    for joint in reversed(model.joints):
        inner, outer = joint.inboard.body, joint.outboard.body
        total[:, model.body_number[inner]] += total[:, model.body_number[outer]]
    return total


def _by_couplers(model: OpenSimModel, motion: ModelMotion, joint_force: Array) -> Array:
    """Generalized forces (T, K) of the independent coordinates: tau_i + sum_d tau_d dq_d/dq_i."""
    force, number = joint_force.copy(), model.coordinate_number
    for coupler in reversed(model.couplers):
        columns = [number[name] for name in coupler.independent]
        slope = coupler.function.derivative(motion.value[:, columns])
        force[:, columns] += slope * force[:, [number[coupler.dependent]]]
        force[:, number[coupler.dependent]] = 0.0
    return force
