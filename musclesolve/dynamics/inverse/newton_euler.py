"""Joint forces and moments from the segments distal to a joint: along the chain, and explicitly.

Two routes, free of natural coordinates beyond the pose itself: they use rotation matrices, angular velocities and the
acceleration of centers of mass, and need only the segments on the distal side of the joint. Newton-Euler passes loads
on from joint to joint (Silva 2003, 5.10-5.14). Hof's explicit moment (Hof 1992, J Biomech 25:1209-11) needs no
recursion: it follows from all distal bodies, taken about the joint, term by term, and gives the center of pressure.
His equations as in correction E1, for the joints and bodies of any model of this core.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import UP, Array, Indices, contiguous, vector_product
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.checks import check_number
from musclesolve.dynamics.inverse.inverse_dynamics import Wrench, check_frames
from musclesolve.dynamics.kernel.arrays import MovingTree, SegmentArrays
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan


@dataclass(frozen=True)
class JointLoad:
    """Load on the distal segment by the proximal one: force (T, 3) [N], moment about the center (T, 3) [N m]."""

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

    Args:
        motion: its motion over T frames.

    Returns:
        Rotations (T, B, 3, 3), angular velocities and accelerations [rad/s, rad/s2], centers of mass [m] and their
        accelerations [m/s2], (T, B, 3) each.

    Raises:
        InputError: the motion belongs to another model.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> ms.dynamics.segment_motion(stride.model, stride.motion(time)).center.shape
        (11, 33, 3)
    """
    check_fits(model, motion)
    tree, joints, bodies = model.tree, model.tree.joint_count, len(model.topology.bodies)
    axes = tree.axes(motion.q)
    spin = tree.angular_velocity(motion.q, motion.speeds)
    change = axes * motion.speed_rates[:, :joints, None]
    change += vector_product(spin[:, tree.parent], axes) * motion.speeds[:, :joints, None]
    twist = tree.distal_frames @ change + motion.speed_rates[:, None, joints + 3 :]
    base = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    rotation = tree.frames(motion.coordinates[:, :joints], motion.origin, base)[0][:, :bodies]
    spin, twist = spin[:, :bodies], twist[:, :bodies]
    near = model.rigid_bodies.slots[:, 0]
    arm = np.einsum("tbxy,by->tbx", rotation, model.mass.center - model.standing[near])
    pull = vector_product(twist, arm) + vector_product(spin, vector_product(spin, arm))
    return SegmentMotion(rotation, spin, twist, motion.q[:, near] + arm, motion.qdd[:, near] + pull)


def turned_inertia(model: Model, segments: SegmentMotion, bodies: Indices) -> Array:
    """Inertia (T, b, 3, 3) [kg m2] of some bodies about their centers of mass, in global axes."""
    rotation = segments.rotation[:, bodies]
    return np.asarray(rotation @ model.mass.inertia[bodies] @ np.swapaxes(rotation, -1, -2))


def angular_momentum_rate(model: Model, segments: SegmentMotion, bodies: Indices) -> Array:
    """d(I w)/dt = I alpha + w x I w of some bodies, (T, b, 3) [N m], about their centers of mass (5.11).

    The rate is in global axes, as the moments are; the print leaves it in the axes of the body (correction D3).
    """
    inertia = turned_inertia(model, segments, bodies)
    spin, twist = segments.velocity[:, bodies], segments.acceleration[:, bodies]
    momentum = np.einsum("tbxy,tby->tbx", inertia, spin)
    return np.einsum("tbxy,tby->tbx", inertia, twist) + vector_product(spin, momentum)


def joint_loads(
    model: Model,
    motion: Motion,
    segments: SegmentMotion,
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
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> model, motion = stride.model, stride.motion(time)
        >>> segments = ms.dynamics.segment_motion(model, motion)
        >>> loads = ms.dynamics.joint_loads(model, motion, segments, stride.wrenches(time), ["knee_flexion_r"])
        >>> loads["knee_flexion_r"].force.shape
        (11, 3)
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.q))
    tree = model.tree
    names = model.topology.dof_names[: tree.joint_count] if dofs is None else tuple(dofs)
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


def distal_loads(
    model: Model, segments: SegmentMotion | SegmentArrays, wrenches: list[Wrench] | Array
) -> DistalLoads:
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
    moved = SegmentArrays(*(contiguous(getattr(segments, name)) for name in SegmentArrays._fields))
    work = MovingTree.allocate(len(model.tree.distal_frames))
    LOAD_TREE.load()(model.tree.compiled, model.masses, moved, external, (force, moment), work)
    return DistalLoads(force, moment)


def generalized_loads(model: Model, motion: Motion, loads: DistalLoads) -> Array:
    """The generalized forces (T, K+6) of `inverse_dynamics.projected_moments` from the loads of the bodies.

    tau = a . M about the pivot of the joint; then force and moment on the base about the origin of the layout.
    """
    from musclesolve.dynamics.kernel.entry import GENERALIZE

    tree, sums = model.tree, (loads.force, loads.moment)
    out = np.empty((len(motion.q), tree.joint_count + 6))
    placed = contiguous(motion.q), contiguous(motion.origin)
    GENERALIZE.load()(tree.compiled, tree.pivot, contiguous(motion.axes(tree)), *placed, sums, out)
    return out


@dataclass(frozen=True)
class IntersegmentalMoment:
    """Moment that the distal side of a joint receives from the proximal one, by origin; all (T, 3) [N m] but force [N].

    ground: minus the moment of the ground forces at their centers of pressure; free_moment: minus the moment of the
    plates about the vertical; gravity, linear, angular: weights, accelerated centers of mass, angular momentum. force:
    the net force, Hof's (8).
    """

    ground: Array
    free_moment: Array
    gravity: Array
    linear: Array
    angular: Array
    force: Array

    @property
    def total(self) -> Array:
        """Intersegmental moment: the sum of all terms of (7)."""
        return self.quasi_static + self.linear + self.angular

    @property
    def quasi_static(self) -> Array:
        """Quasi-static part of (7), without the accelerations: ground force, free moment and weights."""
        return self.ground + self.free_moment + self.gravity

    def about(self, axis: Array) -> dict[str, Array]:
        """Every term about an axis (T, 3) of unit length, (T,) each, by name."""
        names = ("ground", "free_moment", "gravity", "linear", "angular", "quasi_static", "total")
        return {name: np.einsum("tx,tx->t", getattr(self, name), axis) for name in names}


def intersegmental_moment(
    model: Model,
    motion: Motion,
    segments: SegmentMotion,
    wrenches: list[Wrench],
    dof: str,
    height: float = 0.0,
) -> IntersegmentalMoment:
    """Moment and force at the pivot of a degree of freedom, explicitly, the bodies i distal to it together (Hof 1992).

    M = -(r_r - r_lk) x F_r - sum (r_i - r_lk) x m_i g + sum (r_i - r_lk) x m_i a_i + sum d(I_i w_i)/dt - T_z e_z  (7)
    F = -F_r - sum m_i g + sum m_i a_i                                                                            (8)

    External forces on other bodies do not count. Where the vertical force is below 20 N all its moment is in `ground`.
    height: of the plates [m]; divides the moment into ground and free moment. Other arguments as in `joint_loads`.

    Raises:
        InputError: no such joint degree of freedom; wrenches that do not fit the model and the motion.
    """
    check_fits(model, motion)
    check_frames(wrenches, len(motion.q))
    height = check_number(height, "height", "a height [m]")
    distal, center = model.distal_bodies(dof), motion.q[:, model.tree.pivot[model.joint(dof)]]
    arm = segments.center[:, distal] - center[:, None]
    mass, weight = model.mass.mass[distal, None], model.mass.mass[distal, None] * model.gravity
    push = mass * segments.center_acceleration[:, distal]
    ground, free, force = np.zeros_like(center), np.zeros_like(center), (push - weight).sum(axis=1)
    for wrench in wrenches:
        if model.body(wrench.body) in distal:
            twist = free_moment(wrench.force, wrench.moment, height)
            ground = ground - (wrench.about(center) - twist)
            free, force = free - twist, force - wrench.force
    gravity = -vector_product(arm, weight).sum(axis=1)
    angular = angular_momentum_rate(model, segments, distal).sum(axis=1)
    return IntersegmentalMoment(ground, free, gravity, vector_product(arm, push).sum(axis=1), angular, force)


def neglected_share(
    model: Model, motion: Motion, segments: SegmentMotion, wrenches: list[Wrench]
) -> dict[str, float]:
    """Share of each joint moment that the quasi-static approximation omits, rms of the omitted part over the whole.

    Joint degree of freedom -> share, of the moment about its own axis; zero where there is no moment at all. Arguments
    as in `joint_loads`.
    """
    shares = {}
    axes = model.tree.axes(motion.q)
    for index, dof in enumerate(model.topology.dof_names[: model.tree.joint_count]):
        terms = intersegmental_moment(model, motion, segments, wrenches, dof).about(axes[:, index])
        whole = np.linalg.norm(terms["total"])
        rest = np.linalg.norm(terms["linear"] + terms["angular"])
        shares[dof] = float(rest / whole) if whole > 0.0 else 0.0
    return shares


def free_moment(force: Array, moment: Array, height: float = 0.0) -> Array:
    """Return the free moment about the center of pressure, M - r_r x F_r = (0, 0, T_z), (T, 3) [N m].

    Equation (12) has no free moment, (7) has a term for it. It is zero where the vertical force is below 20 N.
    """
    point = center_of_pressure(force, moment, height)
    twist = (moment - vector_product(point, force))[:, 2]
    return np.nan_to_num(twist)[:, None] * UP


def whole_body_wrench(model: Model, segments: SegmentMotion) -> tuple[Array, Array]:
    """Force [N] and moment about the global origin [N m] that the whole body needs from the ground, (T, 3) each.

    F = sum m_i a_i - M g (3b);  M = sum r_i x m_i (a_i - g) + sum d(I_i w_i)/dt (4b)
    """
    push = model.mass.mass[:, None] * (segments.center_acceleration - model.gravity)
    angular = angular_momentum_rate(model, segments, np.arange(len(model.mass.mass)))
    return push.sum(axis=1), (vector_product(segments.center, push) + angular).sum(axis=1)


def center_of_pressure_from_motion(model: Model, segments: SegmentMotion, height: float = 0.0) -> Array:
    """Center of pressure that the motion of the whole body requires, without a force plate (Hof 1992, 12).

    r_r = e_z x [-(r_c x M g) + sum r_i x m_i a_i + sum d(I_i w_i)/dt] / (M g + sum m_i a_i^z)

    Args:
        segments: motion of its bodies over T frames, from `segment_motion`.
        height: of the ground [m].

    Returns:
        Center of pressure (T, 3) [m].
    """
    height = check_number(height, "height", "a height [m]")
    return center_of_pressure(*whole_body_wrench(model, segments), height)
