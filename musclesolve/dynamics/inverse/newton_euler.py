"""Newton-Euler along a chain: joint forces and moments from the segments distal to a joint (Silva 2003, 5.10-5.14).

A third route, free of natural coordinates beyond the pose itself: it uses rotation matrices, angular velocities and
the acceleration of centers of mass, and needs only the segments on the distal side of the joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan


@dataclass(frozen=True)
class JointLoad:
    """What the distal segment receives from the proximal one: force (T, 3) [N], moment about the center (T, 3) [N
    m].
    """

    force: Array
    moment: Array


@dataclass(frozen=True)
class SegmentMotion:
    """Rotation (T, B, 3, 3), angular velocity and acceleration, center of mass and its acceleration, all (T, B, 3)."""

    rotation: Array
    velocity: Array
    acceleration: Array
    center: Array
    center_acceleration: Array


def segment_motion(model: Model, motion: Motion) -> SegmentMotion:
    """Motion of every body as a rigid segment.

    Raises:
        InputError: the motion is that of another model.
    """
    check_fits(model, motion)
    tree, joints, bodies = model.tree, model.tree.joint_count, len(model.topology.bodies)
    axes = tree.axes(motion.q)
    spin = tree.angular_velocity(motion.q, motion.speeds)
    each = axes * motion.speed_rates[:, :joints, None]
    each += np.cross(spin[:, tree.parent], axes) * motion.speeds[:, :joints, None]
    twist = tree.distal_frames @ each + motion.speed_rates[:, None, joints + 3 :]
    base = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    rotation = tree.frames(motion.coordinates[:, :joints], motion.origin, base)[0][:, :bodies]
    spin, twist = spin[:, :bodies], twist[:, :bodies]
    near = model.rigid_bodies.slots[:, 0]
    arm = np.einsum("tbxy,by->tbx", rotation, model.mass.center - model.standing[near])
    pull = np.cross(twist, arm) + np.cross(spin, np.cross(spin, arm))
    return SegmentMotion(rotation, spin, twist, motion.q[:, near] + arm, motion.qdd[:, near] + pull)


def angular_momentum_rate(model: Model, segments: SegmentMotion, bodies: Indices) -> Array:
    """d(I w)/dt = I alpha + w x I w of some bodies, (T, b, 3) [N m], about their centers of mass (5.11).

    In global axes, where the moments are, while the print leaves it in those of the body (correction D3).
    """
    rotation = segments.rotation[:, bodies]
    inertia = rotation @ model.mass.inertia[bodies] @ np.swapaxes(rotation, -1, -2)
    spin, twist = segments.velocity[:, bodies], segments.acceleration[:, bodies]
    momentum = np.einsum("tbxy,tby->tbx", inertia, spin)
    return np.einsum("tbxy,tby->tbx", inertia, twist) + np.cross(spin, momentum)


def joint_loads(
    model: Model,
    motion: Motion,
    segments: SegmentMotion,
    wrenches: list[Wrench],
    dofs: Sequence[str] | None = None,
) -> dict[str, JointLoad]:
    """Net load at the pivot of every joint degree of freedom (or of `dofs`), in one pass from the ends to the base.

    Raises:
        InputError: no such degree of freedom, or one of the base; wrenches that do not fit the model and the motion.
    """
    tree = model.tree
    names = model.topology.dof_names[: tree.joint_count] if dofs is None else tuple(dofs)
    chosen = [model.joint(name) for name in names]
    beyond = np.flatnonzero(tree.distal_frames[tree.child][:, chosen].any(axis=1))
    loads = _recursion(model, motion, segments, wrenches, beyond)
    return {name: loads[int(tree.child[k])] for name, k in zip(names, chosen, strict=True)}


def _recursion(
    model: Model, motion: Motion, segments: SegmentMotion, wrenches: list[Wrench], joints: Indices
) -> dict[int, JointLoad]:
    """Loads of the frames beyond some joints, by frame, each passed on to the frame before it (5.12-5.14).

    F = m (a - g) - F_ext + sum F_distal
    M = d(I w)/dt + (r - p) x m (a - g) - M_ext + sum [M_distal + (p_distal - p) x F_distal]

    p is the pivot, M_ext the moment of the external forces about it with the free moment of the plate, which 5.12
    leaves out (correction D3), and `distal` the joints on the other end of the body.
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.q))
    tree = model.tree
    pivot = {int(tree.child[k]): motion.q[:, tree.pivot[k]] for k in joints}
    parent = {int(tree.child[k]): int(tree.parent[k]) for k in joints}
    zero = np.zeros((len(motion.q), 3))
    force, moment = dict.fromkeys(pivot, zero), dict.fromkeys(pivot, zero)
    bodies = np.array([frame for frame in pivot if frame < len(model.topology.bodies)])
    push = model.mass.mass[bodies, None] * (segments.center_acceleration[:, bodies] - model.gravity)
    angular = angular_momentum_rate(model, segments, bodies)
    for place, body in enumerate(bodies.tolist()):
        arm = segments.center[:, body] - pivot[body]
        force[body] = push[:, place]
        moment[body] = angular[:, place] + np.cross(arm, push[:, place])
    for wrench in wrenches:
        if (body := model.body(wrench.body)) in pivot:
            force[body] = force[body] - wrench.force
            moment[body] = moment[body] - wrench.about(pivot[body])
    for frame in reversed(pivot):
        if (before := parent[frame]) in pivot:
            arm = pivot[frame] - pivot[before]
            force[before] = force[before] + force[frame]
            moment[before] = moment[before] + moment[frame] + np.cross(arm, force[frame])
    return {frame: JointLoad(force[frame], moment[frame]) for frame in pivot}
