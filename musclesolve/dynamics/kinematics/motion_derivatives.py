"""Positions, velocities and accelerations of a whole recording, in natural and in joint coordinates.

`differentiate` and `motion_from` go from joint coordinates to natural ones, `motion_of` and `motion_with` back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous, slices
from musclesolve._util.checks import check_array, check_increasing, check_type
from musclesolve._util.splines import spline_through
from musclesolve.dynamics.kernel.arrays import MovingTree, SegmentArrays
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.dynamics.rotations import (
    cardan_rates,
    from_cardan,
    rotation_about,
    to_cardan,
    to_vector,
    wrapped,
)
from musclesolve.errors import input_error

BLOCK = 512
"""Number of frames whose bodies move together: their arrays are then small."""


@dataclass(frozen=True)
class Motion:
    """Natural coordinates and their derivatives, all satisfying the constraints and their time derivatives.

    time (T,) [s]; coordinates, rates, second (T, K+6): joint angles [rad], then base position [m] and Cardan angles
    (for a spherical joint a rotation vector); speeds and speed_rates (T, K+6): joint rates, base velocity,
    base angular velocity (global axes), and derivatives; q, qd, qdd (T, N, 3).
    """

    time: Array
    coordinates: Array
    rates: Array
    second: Array
    speeds: Array
    speed_rates: Array
    q: Array
    qd: Array
    qdd: Array

    def __post_init__(self) -> None:
        """Refuse arrays that are not finite or whose shapes do not fit each other."""
        frames, speeds, slots = len(self.time), np.shape(self.coordinates)[1:], np.shape(self.q)[1:]
        check_array(self.time, "time", (frames,))
        for name in ("coordinates", "rates", "second", "speeds", "speed_rates"):
            check_array(getattr(self, name), name, (frames, *speeds))
        for name in ("q", "qd", "qdd"):
            check_array(getattr(self, name), name, (frames, *slots))

    @classmethod
    def consistent(cls, *arrays: Array) -> Self:
        """A motion from arrays that fit by construction: the attributes in order, then, where known, joint axes."""
        names = (*cls.__dataclass_fields__, "_axes")[: len(arrays)]
        motion = object.__new__(cls)
        motion.__dict__.update(zip(names, arrays, strict=True))
        return motion

    @property
    def origin(self) -> Array:
        """Position of the origin of the standing layout, (T, 3) [m]: the base position."""
        return self.coordinates[:, -6:-3]

    @property
    def sizes(self) -> tuple[int, int]:
        """Number N of points and vectors, and number K+6 of degrees of freedom."""
        return self.q.shape[1], self.coordinates.shape[1]

    def axes(self, tree: Tree) -> Array:
        """Signed unit axes (T, K, 3) of the joints of the model in this motion."""
        if "_axes" not in self.__dict__:
            self.__dict__["_axes"] = tree.axes(self.q)
        axes: Array = self.__dict__["_axes"]
        return axes

    def frames(self, keep: Indices | Mask | slice) -> Self:
        """The motion at some frames: a slice, a mask (T,) or indices."""
        return self.consistent(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))

    def windows(self, size: int = BLOCK) -> "Iterator[Motion]":
        """The motion in each window of at most `size` frames, one after the other; a short motion is one."""
        if len(self.time) <= size:
            return iter([self])
        return (self.frames(some) for some in slices(len(self.time), size))

    def blocks(
        self, wrenches: list[Wrench], size: int = BLOCK
    ) -> "Iterator[tuple[slice, Motion, list[Wrench]]]":
        """Frames, motion and wrenches of each window of at most `size` frames."""
        for part, some in zip(slices(len(self.time), size), self.windows(size), strict=True):
            yield part, some, [wrench.frames(part) for wrench in wrenches]


class JointMotion(Motion):
    """A motion of joint coordinates, whose other arrays are made when they are needed.

    A long motion thus holds 3 (K+6) numbers a frame; its frames are made window by window (`windows`).
    """

    model: Model
    part: bool
    """Whether these are some frames of a motion; their joint axes follow from q, as those of any other motion."""

    @classmethod
    def of(
        cls, model: Model, time: Array, coordinates: Array, rates: Array, second: Array, part: bool = False
    ) -> Self:
        """The motion of joint coordinates (T, K+6) with their first and second derivatives by time."""
        motion = cls.consistent(time, coordinates, rates, second)
        motion.__dict__.update(model=model, part=part)
        return motion

    def __getattr__(self, name: str) -> Array:
        """Make the arrays that follow from the joint coordinates, in all frames."""
        if name not in _MOVED or "model" not in self.__dict__:
            raise AttributeError(name)
        derivatives = self.coordinates, self.rates, self.second
        moved = _unset(self.model, len(self.time))
        for some in slices(len(self.time), BLOCK):
            _move(self.model, [values[some] for values in derivatives], [values[some] for values in moved])
        self.__dict__.update(zip(_MOVED, moved, strict=True))
        if self.part:
            del self.__dict__["_axes"]
        return moved[_MOVED.index(name)]

    @property
    def sizes(self) -> tuple[int, int]:
        """See Motion."""
        points = len(self.model.standing) if "model" in self.__dict__ else self.q.shape[1]
        return points, self.coordinates.shape[1]

    def frames(self, keep: Indices | Mask | slice) -> Self:
        """See Motion; what was not made is not made."""
        if "model" not in self.__dict__:  # all arrays were given, as by `dataclasses.replace`
            return super().frames(keep)
        time, coordinates, rates, second = (
            array[keep] for array in (self.time, self.coordinates, self.rates, self.second)
        )
        some = self.of(self.model, time, coordinates, rates, second, part=True)
        some.__dict__.update(
            {name: self.__dict__[name][keep] for name in _MOVED[:-1] if name in self.__dict__}
        )
        return some


_MOVED = "speeds", "speed_rates", "q", "qd", "qdd", "_axes"


class PointMotion(Motion):
    """A motion of natural coordinates that need not satisfy the constraints; its joint coordinates are the nearest."""


def differentiate(model: Model, time: Array, coordinates: Array) -> Motion:
    """Velocities and accelerations of joint coordinates over time, by quintic splines.

    qd = D s and qdd = D ds/dt + Ddot s satisfy Phi_q qd = 0 and Phi_q qdd = gamma exactly (Silva 2003, 5.8, 5.9).

    Args:
        time: (T,) [s], increasing.
        coordinates: (T, K+6) joint angles [rad], then position [m] and Cardan angles [rad] of the base.

    Returns:
        The motion, with natural coordinates and their derivatives (T, N, 3).

    Raises:
        InputError: fewer than six frames, time that does not increase, coordinates of another shape or not finite,
            angles of a person's joints beyond a full turn.

    Examples:
        >>> model, time = ms.dynamics.human_model(), np.linspace(0.0, 1.0, 101)
        >>> coordinates = np.zeros((101, 44))
        >>> coordinates[:, model.dof("knee_flexion_r")] = 0.5 * np.sin(time)
        >>> motion = ms.dynamics.differentiate(model, time, coordinates)
        >>> round(float(motion.rates[0, model.dof("knee_flexion_r")]), 6)
        0.5
    """
    motion = splined_motion(model, time, coordinates)
    if model.stature is not None:  # of a person; other mechanisms may turn often
        angles = motion.coordinates[:, : model.tree.joint_count]
        for name, angle in zip(model.topology.dof_names, angles.T, strict=False):
            check_joint_angle(name, angle)
    return motion


def splined_motion(model: Model, time: Array, coordinates: Array) -> Motion:
    """See `differentiate`, for angles of any size: those fitted to mistaken markers may wind up."""
    return motion_from(model, *spline_derivatives(model, time, coordinates))


def spline_derivatives(model: Model, time: Array, coordinates: Array) -> tuple[Array, Array, Array, Array]:
    """Time, joint coordinates (T, K+6) and their first and second derivatives by quintic splines."""
    dofs, time = check_model(model).topology.dof_names, check_increasing(time, 6)
    coordinates = check_array(coordinates, "the coordinate", (len(time), len(dofs)), dofs)
    spline = spline_through(time, coordinates, 5)
    speeds, accelerations = np.empty(coordinates.shape), np.empty(coordinates.shape)
    for some in slices(len(time), BLOCK):
        speeds[some], accelerations[some] = spline(time[some], 1), spline(time[some], 2)
    return time, coordinates, speeds, accelerations


LARGEST_JOINT_ANGLE = 2.0 * np.pi
"""Angle [rad] that no joint of a person exceeds in a motion; in degrees the angles of a step do."""


def check_joint_angle(name: str, angle: Array, limit: float = LARGEST_JOINT_ANGLE, per: str = "") -> None:
    """Refuse an angle (T,) [rad], or its rate with "/s" as `per`, of a person's joint that only degrees explain."""
    what = "a rate" if per else "an angle"
    largest = angle[np.abs(angle).argmax()]
    if abs(largest) > limit:
        fault = f"{what} of {largest:g} rad{per} is {np.degrees(largest):.0f} degrees{per}, as no joint turns"
        expected = f"radians{per}, at most {limit:.2g}"
        remedy = f"if these are degrees{per}, give numpy.radians({what.split()[1]})"
        raise input_error("bad_number", where=name, problem=fault, expected=expected, remedy=remedy)


def motion_from(model: Model, time: Array, coordinates: Array, rates: Array, second: Array) -> Motion:
    """Motion of joint coordinates whose derivatives by time are known.

    Args:
        time: (T,) [s].
        coordinates, rates, second: (T, K+6) joint coordinates [rad, m] and their first and second derivatives by time,
            real or complex.

    Returns:
        The motion, with natural coordinates and their derivatives (T, N, 3).

    Raises:
        InputError: arrays of another shape or not finite; names the degree of freedom and the frame.
    """
    tree, joints, dofs = model.tree, model.tree.joint_count, model.topology.dof_names
    time = check_array(time, "time", ("T",))
    coordinates, rates, second = (
        check_array(value, f"the {what}", (len(time), len(dofs)), dofs)
        for value, what in ((coordinates, "coordinate"), (rates, "rate"), (second, "second derivative"))
    )
    if not any(map(np.iscomplexobj, (coordinates, rates, second))):
        return JointMotion.of(model, time, coordinates, rates, second)
    base = coordinates[:, joints + 3 :]
    position, velocity = coordinates[:, joints : joints + 3], rates[:, joints : joints + 3]
    spin, spin_rate = cardan_rates(base, rates[:, joints + 3 :], second[:, joints + 3 :])
    joint = tree.speeds(coordinates[:, :joints], rates[:, :joints], second[:, :joints])
    speeds = np.column_stack([joint[0], rates[:, joints : joints + 3], spin])
    speed_rates = np.column_stack([joint[1], second[:, joints : joints + 3], spin_rate])
    q = tree.pose(coordinates[:, :joints], position, from_cardan(*base.T))
    qd = tree.velocity(q, speeds, position)
    qdd = tree.acceleration(q, qd, speeds, speed_rates, position, velocity)
    return Motion(time, coordinates, rates, second, speeds, speed_rates, q, qd, qdd)


def moving_bodies(
    model: Model, time: Array, coordinates: Array, rates: Array, second: Array
) -> tuple[Motion, SegmentArrays]:
    """The motion of joint coordinates and their derivatives (T, K+6), real and finite, and the motion of all bodies."""
    derivatives, moved = (coordinates, rates, second), _unset(model, len(time))
    segments = _move(model, derivatives, moved)
    return Motion.consistent(time, *derivatives, *moved), segments


def _unset(model: Model, frames: int) -> tuple[Array, ...]:
    """Speeds, speed rates (T, K+6), q, qd, qdd (T, N, 3) and axes of the joints (T, K, 3), without values."""
    joints = model.tree.joint_count
    shapes = *[(joints + 6,)] * 2, *[(len(model.standing), 3)] * 3, (joints, 3)
    return tuple(np.empty((frames, *shape)) for shape in shapes)


def _move(model: Model, derivatives: Sequence[Array], moved: Sequence[Array]) -> SegmentArrays:
    """Set the arrays of `_unset` by joint coordinates and two derivatives; return the motion of all bodies."""
    from musclesolve.dynamics.kernel.entry import MOVE_TREE

    tree, joints = model.tree, model.tree.joint_count
    moved[0][:, :joints], moved[1][:, :joints] = tree.speeds(*(values[:, :joints] for values in derivatives))
    segments = SegmentArrays.allocate(len(moved[0]), len(model.topology.bodies))
    numbers, work = tuple(map(contiguous, derivatives)), MovingTree.allocate(len(tree.distal_frames))
    MOVE_TREE.load()(tree.compiled, model.masses, numbers, tuple(moved), segments, work, tree.point_count)
    return segments


def check_fits(model: Model, motion: Motion) -> None:
    """Refuse the motion of another model, and what is no model or no motion."""
    check_model(model)
    check_type(motion, Motion, "motion", "a motion, such as differentiate() makes")
    have = motion.sizes
    want = len(model.topology.coordinate_names), len(model.topology.dof_names)
    if have != want:
        raise input_error(
            "bad_shape",
            problem=f"a motion of {have[0]} points and vectors and {have[1]} degrees of freedom for "
            f"the model {model.topology.name!r}, which has {want[0]} and {want[1]}",
            expected="the motion of this model",
        )


def motion_of(model: Model, time: Array, q: Array, qd: Array, qdd: Array) -> Motion:
    """The motion of natural coordinates (T, N, 3) that satisfy the constraints, with its joint coordinates.

    The Cardan rates of the base are not defined where it is listed by 90 degrees.
    """
    rotation = model.rigid_bodies.rotation(q)
    base = rotation[:, model.tree.root]
    origin = (
        q[:, model.rigid_bodies.slots[model.tree.root, 0]] - base @ model.rigid_bodies.origin[model.tree.root]
    )
    angles = model.tree.unwrapped(joint_angles(model, rotation))
    coordinates = np.column_stack([angles, origin, *to_cardan(base)])
    return motion_with(model, time, coordinates, q, qd, qdd)


def motion_with(model: Model, time: Array, coordinates: Array, q: Array, qd: Array, qdd: Array) -> Motion:
    """The motion of natural coordinates (T, N, 3) whose joint coordinates (T, K+6) are known, and their derivatives.

    Speeds solve D s = qd and D ds/dt = qdd - Ddot s; in the sense of least squares where qd and qdd do not satisfy the
    constraints.
    """
    tree, joints = model.tree, model.tree.joint_count
    shift, rotation = slice(joints, joints + 3), slice(joints + 3, joints + 6)
    angles, origin, cardan = coordinates[:, :joints], coordinates[:, shift], coordinates[:, rotation]
    orthogonal, triangle = np.linalg.qr(tree.allowed(q, origin).reshape(len(q), -1, joints + 6))

    def along(right: Array) -> Array:
        projected = np.swapaxes(orthogonal, 1, 2) @ right.reshape(len(right), -1, 1)
        return np.asarray(np.linalg.solve(triangle, projected)[..., 0])

    speeds = along(qd)
    still = np.zeros_like(speeds)
    speed_rates = along(qdd - tree.acceleration(q, qd, speeds, still, origin, speeds[:, shift]))
    rates, second = tree.rates(angles, speeds[:, :joints], speed_rates[:, :joints])
    cardan_rate, cardan_second = cardan_derivatives(cardan, speeds[:, rotation], speed_rates[:, rotation])
    rates = np.column_stack([rates, speeds[:, shift], cardan_rate])
    second = np.column_stack([second, speed_rates[:, shift], cardan_second])
    return PointMotion(time, coordinates, rates, second, speeds, speed_rates, q, qd, qdd)


def joint_angles(model: Model, rotation: Array) -> Array:
    """Joint coordinates (T, K) [rad] from the rotations of all bodies (T, B, 3, 3)."""
    tree, bodies = model.tree, len(model.topology.bodies)
    axes = tree.axes(model.standing[None])[0]
    angles = np.zeros((len(rotation), tree.joint_count))
    for joints in tree.spherical:
        relative = _relative(rotation, tree.parent[joints[0]], tree.child[joints[0]])
        angles[:, joints] = to_vector(relative) @ axes[joints].T
    alone = single_joints(model)
    angles[:, alone] = revolute_angles(model, rotation, alone)
    # A universal joint about perpendicular axes a and b with a cross between them: R = R_a R_b, so R b = R_a b.
    across = {int(parent): k for k, parent in enumerate(tree.parent) if parent >= bodies}
    for first in np.flatnonzero(tree.child >= bodies).tolist():
        second = across[int(tree.child[first])]
        relative, (a, b) = _relative(rotation, tree.parent[first], tree.child[second]), axes[[first, second]]
        rotated = relative @ b
        angles[:, first] = np.arctan2(np.cross(b, rotated) @ a, rotated @ b)
        rest = np.swapaxes(rotation_about(a, angles[:, first]), 1, 2) @ relative
        angles[:, second] = _angle_about(b, rest)
    return angles


def single_joints(model: Model) -> Indices:
    """Numbers of the revolute joints, which rotate one body against another about one axis."""
    tree, bodies = model.tree, len(model.topology.bodies)
    single = (tree.parent < bodies) & (tree.child < bodies)
    single[tree.spherical.ravel()] = False
    return np.flatnonzero(single)


def revolute_angles(model: Model, rotation: Array, joints: Indices) -> Array:
    """Coordinates (T, j) [rad] of some of the single joints, between -pi and pi."""
    tree = model.tree
    axes = tree.axes(model.standing[None])[0, joints]
    return _angle_about(axes, _relative(rotation, tree.parent[joints], tree.child[joints]))


def _relative(rotation: Array, parent: int | Indices, child: int | Indices) -> Array:
    return np.swapaxes(rotation[:, parent], -1, -2) @ rotation[:, child]


def _angle_about(axis: Array, rotation: Array) -> Array:
    """Signed angles of rotations (..., 3, 3) about known axes (..., 3)."""
    odd = rotation - np.swapaxes(rotation, -1, -2)
    sine = axis[..., 0] * odd[..., 2, 1] + axis[..., 1] * odd[..., 0, 2] + axis[..., 2] * odd[..., 1, 0]
    return np.arctan2(sine, np.trace(rotation, axis1=-2, axis2=-1) - 1.0)


def cardan_derivatives(cardan: Array, spin: Array, twist: Array) -> tuple[Array, Array]:
    """First and second derivatives (T, 3) of Cardan angles from angular velocity and acceleration (T, 3)."""
    still = np.zeros_like(cardan)
    columns = [cardan_rates(cardan, np.broadcast_to(unit, cardan.shape), still)[0] for unit in np.eye(3)]
    matrix = np.stack(columns, axis=2)
    rates = np.asarray(np.linalg.solve(matrix, spin[..., None])[..., 0])
    bias = cardan_rates(cardan, rates, still)[1]
    return rates, np.asarray(np.linalg.solve(matrix, (twist - bias)[..., None])[..., 0])


def continuous_branch(model: Model, angles: Array) -> Array:
    """Joint angles (T, K) [rad] of the same poses without jumps from frame to frame.

    Three-axis joints reach every pose in two ways: for rotations a, b, c about three axes that are perpendicular in the
    standing pose, (a + pi, pi - b, c + pi) brings the distal body to the same pose; only the vector between the joints
    is reversed. Frames that were fitted independently may have either.
    """
    angles = angles.copy()
    steps = np.abs(np.diff(angles, axis=0)).max(axis=1, initial=0.0)
    if np.abs(angles[:1]).max(initial=0.0) < 0.5 * np.pi and steps.max(initial=0.0) < 0.5:
        return angles  # every other way is a larger jump
    tree = model.tree
    for triple in _triples(*(tuple(numbers.tolist()) for numbers in (tree.parent, tree.child, tree.pivot))):
        signs = tree.sign[triple]
        same = angles[:, triple]
        other = np.stack([same[:, 0] + np.pi, signs[1] * np.pi - same[:, 1], same[:, 2] + np.pi], axis=1)
        goes_on = np.abs(wrapped(np.diff(same, axis=0))).sum(axis=1)
        jumps = np.abs(wrapped(other[1:] - same[:-1])).sum(axis=1) < goes_on
        first = abs(wrapped(same[0, 1])) > 0.5 * np.pi
        switched = np.concatenate([[first], first ^ (np.cumsum(jumps) % 2 == 1)])
        angles[:, triple] = np.where(switched[:, None], other, same)
    angles = tree.unwrapped(angles)
    angles -= 2.0 * np.pi * np.round(angles[:1] / (2.0 * np.pi))
    return angles


@lru_cache(maxsize=16)
def _triples(parent: tuple[int, ...], child: tuple[int, ...], pivot: tuple[int, ...]) -> list[list[int]]:
    """Joints about three axes through one pivot, each distal to the one before, by the arrays of `Tree`."""
    triples, count = [], len(child)
    for last in range(count):
        chain = [last]
        while len(chain) < 4 and parent[chain[0]] in child:
            before = child.index(parent[chain[0]])
            if pivot[before] != pivot[last]:
                break
            chain.insert(0, before)
        beyond = [k for k in range(count) if parent[k] == child[last]]
        if len(chain) == 3 and pivot[last] not in [pivot[k] for k in beyond]:
            triples.append(chain)
    return triples
