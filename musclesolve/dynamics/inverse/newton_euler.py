"""Inverse dynamics by Newton and Euler: loads pass from joint to joint, from the ends of the body to its base.

The motion of the bodies follows from the joint coordinates and their derivatives. Each body needs m (a - g) and
d(I w)/dt; a joint carries what all bodies beyond it need less the external forces on them (Silva 2003, 5.10-5.14). The
component of its moment about the axis of a degree of freedom is the net joint moment. The moments of a run and the
loads of its joints come from this one recursion.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, vector_product
from musclesolve._util.checks import check_type, one_or_several
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kernel.arrays import MovingTree, SegmentArrays
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, PointMotion, check_fits, moving_bodies
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames


@dataclass(frozen=True)
class JointLoad:
    """Load on the distal segment by the proximal one: force (T, 3) [N], moment about the center (T, 3) [N m]."""

    force: Array
    moment: Array


def segment_motion(model: Model, motion: Motion) -> SegmentArrays:
    """Motion of every body as a rigid segment, from the joint coordinates of a motion and their derivatives.

    Args:
        motion: its motion over T frames.

    Returns:
        Rotations (T, B, 3, 3), angular velocities and accelerations [rad/s, rad/s2], centers of mass [m] and their
        accelerations [m/s2], (T, B, 3) each.

    Raises:
        InputError: the motion belongs to another model.

    Examples:
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> ms.dynamics.segment_motion(stride.model, stride.motion(time)).center.shape
        (11, 33, 3)
    """
    check_fits(model, motion)
    return moving_bodies(model, motion.time, motion.coordinates, motion.rates, motion.second)[1]


def turned_inertia(model: Model, segments: SegmentArrays, bodies: Indices) -> Array:
    """Inertia (T, b, 3, 3) [kg m2] of some bodies about their centers of mass, in global axes."""
    rotation = segments.rotation[:, bodies]
    return np.asarray(rotation @ model.mass.inertia[bodies] @ np.swapaxes(rotation, -1, -2))


def angular_momentum_rate(model: Model, segments: SegmentArrays, bodies: Indices) -> Array:
    """d(I w)/dt = I alpha + w x I w of some bodies, (T, b, 3) [N m], about their centers of mass (5.11).

    The rate is in global axes, as the moments are; the print has the axes of the body (D3 in docs/corrections.md).
    """
    inertia = turned_inertia(model, segments, bodies)
    spin, twist = segments.velocity[:, bodies], segments.acceleration[:, bodies]
    momentum = np.einsum("tbxy,tby->tbx", inertia, spin)
    return np.einsum("tbxy,tby->tbx", inertia, twist) + vector_product(spin, momentum)


def joint_loads(
    model: Model,
    motion: Motion,
    segments: SegmentArrays,
    wrenches: list[Wrench],
    dofs: Sequence[str] | None = None,
) -> dict[str, JointLoad]:
    """Net load at the pivot of every joint degree of freedom, from the ends to the base (Silva 2003, 5.12-5.14).

    F = m (a - g) - F_ext + sum F_distal
    M = d(I w)/dt + (r - p) x m (a - g) - M_ext + sum [M_distal + (p_distal - p) x F_distal]

    p is the pivot, M_ext the moment of the external forces about it with the free moment of the plate, which 5.12
    leaves out (correction D3), and `distal` the joints on the other end of the body.

    Args:
        motion: its motion over T frames.
        segments: motion of its bodies, from `segment_motion`.
        wrenches: external forces on its bodies.
        dofs: names; all joint degrees of freedom unless given.

    Returns:
        Degree of freedom -> force (T, 3) [N] and moment (T, 3) [N m] on the distal segment.

    Raises:
        InputError: no such degree of freedom, or one of the base; wrenches that do not fit the model and the motion.

    Examples:
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> model, motion = stride.model, stride.motion(time)
        >>> segments = ms.dynamics.segment_motion(model, motion)
        >>> loads = ms.dynamics.joint_loads(model, motion, segments, stride.wrenches(time), ["knee_flexion_r"])
        >>> loads["knee_flexion_r"].force.shape
        (11, 3)
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.q))
    tree = model.tree
    check_type(segments, SegmentArrays, "segments", "the motion of the bodies, from segment_motion()")
    names = model.topology.dof_names[: tree.joint_count] if dofs is None else tuple(one_or_several(dofs))
    joints = [model.joint(name) for name in names]
    sums = distal_loads(model, segments, wrenches)
    force, moment = sums.at(tree.child[joints], motion.q[:, tree.pivot[joints]])
    return {name: JointLoad(force[:, k], moment[:, k]) for k, name in enumerate(names)}


@dataclass(frozen=True)
class DistalLoads:
    """Loads (T, F, 3) on the bodies distal to each frame of the tree from the proximal side: force [N], moment about
    the global origin [N m].
    """

    force: Array
    moment: Array

    def at(self, frames: Indices, points: Array) -> tuple[Array, Array]:
        """Force [N] on some frames (j,) and its moment about points (T, j, 3) [m], (T, j, 3) [N m]."""
        force = self.force[:, frames]
        return force, self.moment[:, frames] - vector_product(points, force)


def distal_loads(model: Model, segments: SegmentArrays, wrenches: list[Wrench] | Array) -> DistalLoads:
    """Loads summed from the ends of the tree to its base (5.12-5.14).

    wrenches: a list, or force [N] and moment about the global origin [N m] on every body, (T, B, 6).
    """
    from musclesolve.dynamics.kernel.entry import LOAD_TREE

    frames, bodies = segments.center.shape[:2]
    if not isinstance(wrenches, np.ndarray):
        check_frames(wrenches, frames)
        external = np.zeros((frames, bodies, 6))
        for wrench in wrenches:
            external[:, model.body(wrench.body), :3] += wrench.force
            external[:, model.body(wrench.body), 3:] += wrench.moment
    else:
        external = wrenches
    force, moment = np.empty((2, frames, len(model.tree.distal_frames), 3))
    work = MovingTree.allocate(len(model.tree.distal_frames))
    LOAD_TREE.load()(model.tree.compiled, model.masses, segments, external, (force, moment), work)
    return DistalLoads(force, moment)


def net_moments(model: Model, motion: Motion, wrenches: list[Wrench]) -> Array:
    """The generalized forces (T, K+6) of `projected_moments` by the recursion.

    A `PointMotion` is projected: its natural coordinates enter the equations unchanged.
    """
    if isinstance(motion, PointMotion):
        return projected_moments(model, motion, wrenches)
    moments = np.empty((len(motion.time), model.tree.joint_count + 6))
    for block, some, acting in motion.blocks(wrenches):
        loads = distal_loads(model, segment_motion(model, some), acting)
        moments[block] = generalized_loads(model, some, loads)
    return moments


def generalized_loads(model: Model, motion: Motion, loads: DistalLoads) -> Array:
    """The generalized forces (T, K+6) of `inverse_dynamics.projected_moments` from the loads of the bodies.

    tau = a . M about the pivot of the joint; then force and moment on the base about `Topology.origin`.
    """
    tree = model.tree
    points = np.concatenate([motion.q[:, tree.pivot], motion.origin[:, None]], axis=1)
    force, moment = loads.at(np.append(tree.child, tree.root), points)
    return np.hstack([np.vecdot(motion.axes(tree), moment[:, :-1]), force[:, -1], moment[:, -1]])
