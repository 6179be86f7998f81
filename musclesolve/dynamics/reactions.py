"""Newton-Euler along a chain: joint forces and moments from the segments behind a joint (Silva 2003, 5.10-5.14).

A third route, free of natural coordinates beyond the pose itself: it uses rotation matrices, angular velocities and
the acceleration of mass centres, and asks only for the segments on the far side of the joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.external import Wrench
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import Motion
from musclesolve.dynamics.rotations import from_cardan

Array = np.ndarray


@dataclass(frozen=True)
class JointLoad:
    """What the far segment receives from the near one: force (T, 3) [N], moment about the centre (T, 3) [N m]."""

    force: Array
    moment: Array


@dataclass(frozen=True)
class SegmentMotion:
    """Rotation (T, B, 3, 3), angular velocity and acceleration, mass centre and its acceleration, all (T, B, 3)."""

    rotation: Array
    velocity: Array
    acceleration: Array
    center: Array
    center_acceleration: Array


def segment_motion(model: Model, motion: Motion) -> SegmentMotion:
    """Motion of every body as a rigid segment."""
    tree, joints, bodies = model.tree, model.tree.joint_count, len(model.topology.bodies)
    origin = motion.coordinates[:, joints : joints + 3]
    axes = tree.axes(motion.q)
    spin = tree.angular_velocity(motion.q, motion.speeds)
    each = axes * motion.speed_rates[:, :joints, None]
    each += np.cross(spin[:, tree.parent], axes) * motion.speeds[:, :joints, None]
    twist = np.einsum("tkx,fk->tfx", each, tree.carries) + motion.speed_rates[:, None, joints + 3 :]
    base = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    rotation = tree.frames(motion.coordinates[:, :joints], origin, base)[0][:, :bodies]
    spin, twist = spin[:, :bodies], twist[:, :bodies]
    near = model.elements.slots[:, 0]
    arm = np.einsum("tbxy,by->tbx", rotation, model.mass.center - model.standing[near])
    pull = np.cross(twist, arm) + np.cross(spin, np.cross(spin, arm))
    return SegmentMotion(rotation, spin, twist, motion.q[:, near] + arm, motion.qdd[:, near] + pull)


def joint_load(
    model: Model, motion: Motion, segments: SegmentMotion, wrenches: list[Wrench], dof: str
) -> JointLoad:
    """Net load at the pivot of a degree of freedom, from all bodies that hang behind it.

    F = sum m (a - g) - sum F_ext ;  M = sum [r x m (a - g) + I alpha + w x I w] - sum M_ext, r from the pivot.
    Inertia is turned into global axes and the free moment of the plate is in M_ext (correction D3).
    """
    topology = model.topology
    index = topology.dof_names.index(dof)
    behind = np.flatnonzero(model.tree.carries[: len(topology.bodies), index])
    center = motion.q[:, model.tree.pivot[index]]
    mass, rotation = model.mass.mass[behind], segments.rotation[:, behind]
    push = mass[:, None] * (segments.center_acceleration[:, behind] - model.gravity)
    inertia = rotation @ model.mass.inertia[behind] @ np.swapaxes(rotation, -1, -2)
    spin, twist = segments.velocity[:, behind], segments.acceleration[:, behind]
    angular = np.einsum("tbxy,tby->tbx", inertia, twist)
    angular += np.cross(spin, np.einsum("tbxy,tby->tbx", inertia, spin))
    arm = segments.center[:, behind] - center[:, None]
    force = push.sum(axis=1)
    moment = (np.cross(arm, push) + angular).sum(axis=1)
    for wrench in wrenches:
        if model.body(wrench.body) in behind:
            force = force - wrench.force
            moment = moment - wrench.about(center)
    return JointLoad(force, moment)
