"""Poses of the bodies of an OpenSim model, and their twists by each coordinate.

The pose of a body in the ground is X_parent X_PF X(q) X_BM^-1 with the joint's frames F on the parent and M on the
body; for a reversed joint the parent follows from the child. A twist is (omega, v): angular velocity and the velocity
of the material point at the origin of the ground, both per unit of a coordinate; a point r of the body moves with v +
omega x r.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array, check_real_array, check_type
from musclesolve.errors import input_error
from musclesolve.models.opensim.functions import Constant, LinearFunction
from musclesolve.models.opensim.model import Frame, OpenSimModel, TransformAxis

if TYPE_CHECKING:
    from musclesolve.models.opensim.joint_kernel import Terms


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Bodies (B) of a model over T poses, in the ground.

    rotation (T, B, 3, 3), position (T, B, 3) [m]; twist (T, m, B, 6): omega and v per unit of each of m coordinates,
    with the coordinates that couplers drive. Not always kept: unit (T, A, 6): unit twists of `joint_axes`, and value
    (T, K) of all coordinates.
    """

    rotation: Array
    position: Array
    twist: Array
    unit: Array = field(default_factory=lambda: np.empty((0, 0, 6)))
    value: Array = field(default_factory=lambda: np.empty((0, 0)))

    def poses(self, some: slice) -> "BodyMotion":
        """The motion in some of the poses."""
        arrays = self.rotation, self.position, self.twist, self.unit, self.value
        return BodyMotion(*(array[some] for array in arrays))


@lru_cache(maxsize=8)
def joint_axes(model: OpenSimModel) -> "JointAxes":
    """The axes of the joints of a model."""
    return JointAxes(model)


class JointAxes:
    """The axes (A) of all joints of a model without those that stay zero, and their rates by coordinates: terms (E).

    arrays: of the compiled code; axes: with the functions of their values; joint (A,): number of the joint of each;
    term_axis, term_coordinate (E,): numbers of axis and coordinate of each term.
    """

    def __init__(self, model: OpenSimModel) -> None:
        from musclesolve.models.opensim.joint_kernel import JointArrays

        self.model, joints, numbers = model, model.joints, model.coordinate_number
        self.axes, turns, count = list[TransformAxis](), list[bool](), list[int]()
        for joint in joints:
            moving = [
                [axis for axis in axes if not isinstance(axis.function, Constant) or axis.function.constant]
                for axes in (joint.translations, joint.rotations)
            ]
            self.axes += [*moving[0], *moving[1]]
            turns += [False] * len(moving[0]) + [True] * len(moving[1])
            count.append(len(moving[0]) + len(moving[1]))
        self.joint = np.repeat(np.arange(len(joints)), count)
        ends = [(joint.inboard, joint.outboard) for joint in joints]
        bodies = np.array([[model.body_number[end.body] for end in pair] for pair in ends], np.intp)
        inner, outer = np.ascontiguousarray(bodies.reshape(-1, 2).T)
        self.arrays = JointArrays(
            inner,
            outer,
            np.array([joint.is_reversed for joint in joints], dtype=bool),
            np.array([[end.rotation for end in pair] for pair in ends]).reshape(-1, 2, 3, 3),
            np.array([[end.position for end in pair] for pair in ends]).reshape(-1, 2, 3),
            self.first_of(np.arange(len(self.axes))),
            np.array([axis.axis for axis in self.axes], dtype=float).reshape(-1, 3),
            np.array(turns, dtype=bool),
        )
        self._columns = [[numbers[name] for name in axis.coordinates] for axis in self.axes]
        self.term_axis = np.repeat(np.arange(len(self.axes)), [len(some) for some in self._columns])
        self.term_coordinate = np.array([column for some in self._columns for column in some], np.intp)
        # most values are constant or linear in a coordinate, and computed together; the others are bent
        self._bent, self._at_zero = list[int](), np.zeros(len(self.axes))
        self._slope = np.zeros(len(self.term_axis))
        for a, (axis, columns) in enumerate(zip(self.axes, self._columns, strict=True)):
            zero = np.zeros((1, len(columns)))
            if columns and not (isinstance(axis.function, LinearFunction) and len(columns) == 1):
                self._bent.append(a)
            else:
                self._at_zero[a] = axis.function.value(zero)[0]
                self._slope[self.term_axis == a] = axis.function.derivative(zero)[0]

    def first_of(self, axes: Indices) -> Indices:
        """Number (J+1,) of the first of some ordered axes in each joint."""
        return np.searchsorted(self.joint[axes], np.arange(len(self.model.joints) + 1))

    def values(self, q: Array) -> Array:
        """Values (T, A) [rad or m] at all coordinates (T, K)."""
        values = np.empty((len(q), len(self.axes)))
        values[:] = self._at_zero
        values[:, self.term_axis] += q[:, self.term_coordinate] * self._slope
        for a in self._bent:
            values[:, a] = self.axes[a].function.value(q[:, self._columns[a]])
        return values

    def slopes(self, q: Array) -> Array:
        """Terms (T, E) at all coordinates (T, K)."""
        slopes = np.empty((len(q), len(self._slope)))
        slopes[:] = self._slope
        for a in self._bent:
            slopes[:, self.term_axis == a] = self.axes[a].function.derivative(q[:, self._columns[a]])
        return slopes

    def rates(self, q: Array, speed: Array, acceleration: Array) -> tuple[Array, Array]:
        """Two time derivatives of the values, (T, A)."""
        slopes, moving = self.slopes(q), np.unique(self.term_axis)
        first, rates = np.searchsorted(self.term_axis, moving), []
        for rate in (speed, acceleration):
            rates.append(np.zeros((len(q), len(self.axes))))
            products = slopes * rate[:, self.term_coordinate]
            rates[-1][:, moving] = np.add.reduceat(products, first, axis=1)
        for a in self._bent:
            x, xd = q[:, self._columns[a]], speed[:, self._columns[a]]
            rates[1][:, a] += self.axes[a].function.bend(x, xd)
        return rates[0], rates[1]

    def terms(self, q: Array, coordinates: Sequence[str]) -> "Terms":
        """Terms of some coordinates at all coordinates (T, K), with the terms of coordinates that they drive."""
        from musclesolve.models.opensim.joint_kernel import Terms

        number = self.model.coordinate_number
        driven: dict[int, list[tuple[int, Array | None]]] = {}
        for column, name in enumerate(coordinates):
            driven.setdefault(number[name], []).append((column, None))
        for coupler in self.model.couplers:  # each after the ones that drive it
            columns = [number[name] for name in coupler.independent]
            if any(column in driven for column in columns):
                slope = coupler.function.derivative(q[:, columns])
                for column, rate in zip(columns, slope.T, strict=True):
                    driven.setdefault(number[coupler.dependent], []).extend(
                        (c, rate if factor is None else rate * factor) for c, factor in driven.get(column, ())
                    )
        chosen = [
            (e, column, factor)
            for e, coordinate in enumerate(self.term_coordinate.tolist())
            for column, factor in driven.get(coordinate, ())
        ]
        numbers = np.array([(e, column) for e, column, _ in chosen], np.intp).reshape(-1, 2)
        slope = self.slopes(q).take(numbers[:, 0], axis=1)
        for k, (_, _, factor) in enumerate(chosen):
            if factor is not None:
                slope[:, k] *= factor
        axes = self.term_axis[numbers[:, 0]]
        return Terms(self.first_of(axes), axes, numbers[:, 1].copy(), slope)

    def twists_across(self, unit: Array, terms: "Terms", joint: int, columns: Sequence[int]) -> Array:
        """Twists (T, m, 6) of the outer body of a joint relative to the inner one, by coordinates of some columns."""
        twists = np.zeros((len(unit), len(columns), 6))
        for e in range(terms.first[joint], terms.first[joint + 1]):
            if terms.column[e] in columns:
                along = terms.slope[:, e, None] * unit[:, terms.axis[e]]
                twists[:, columns.index(terms.column[e])] += along
        return -twists if self.arrays.backward[joint] else twists


def coordinate_values(model: OpenSimModel, stated: Mapping[str, Array]) -> Array:
    """Values (T, K) of all coordinates: stated (T,) [rad or m] or default; coupled ones by their couplers.

    Raises:
        InputError: a name is unknown, or values are no numbers, or of different lengths.
    """
    check_type(stated, Mapping, "values", "a dict of arrays by the names of coordinates")
    number, columns = model.coordinate_number, dict[int, Array]()
    for name, column in stated.items():
        array = np.atleast_1d(check_real_array(column, name, "numbers [rad or m]"))
        columns[number[name]] = check_array(array, name, ("T",), finite=False)
    sizes = {column.size for column in columns.values()} - {1} or {1}
    if len(sizes) > 1:
        raise input_error(
            "bad_shape",
            problem=f"values of coordinates have different lengths: {sorted(sizes)}",
            expected="one number for each pose, or a single number for all poses",
        )
    values = np.empty((sizes.pop(), len(model.coordinates)))
    values[:] = [coordinate.default for coordinate in model.coordinates.values()]
    for place, column in columns.items():
        values[:, place] = column
    for coupler in model.couplers:
        independent = values[:, [number[name] for name in coupler.independent]]
        values[:, number[coupler.dependent]] = coupler.function.value(independent)
    return values


def body_motion(model: OpenSimModel, values: Array, coordinates: Sequence[str] = ()) -> BodyMotion:
    """Poses of all bodies for values (T, K) of all coordinates, and twists by the named coordinates (m)."""
    from musclesolve.models.opensim.joint_kernel import POSES, TWISTS

    values = check_array(values, "values", ("T", len(model.coordinates)), finite=False)
    frames, bodies, axes = len(values), len(model.bodies), joint_axes(model)
    rotation, position = np.empty((frames, bodies, 3, 3)), np.empty((frames, bodies, 3))
    unit, twist = np.empty((frames, len(axes.axes), 6)), np.empty((frames, len(coordinates), bodies, 6))
    POSES.load()(axes.arrays, axes.values(values), rotation, position, unit, np.empty((3, 4, 3)))
    if coordinates:
        TWISTS.load()(axes.arrays, axes.terms(values, coordinates), unit, twist)
    return BodyMotion(rotation, position, twist, unit, values)


def body_poses(model: OpenSimModel, values: Array) -> BodyMotion:
    """Poses of all bodies for values (T, K) of all coordinates, without the axes of the joints, which are wider."""
    motion = body_motion(model, values)
    return BodyMotion(motion.rotation, motion.position, motion.twist)


JOINT_SPACING = 0.10
"""Distance [m] below which joints count as one: ankle and subtalar joint, vertebrae, fingers."""


def frames_in_ground(
    model: OpenSimModel, frames: Sequence[Frame], pose: BodyMotion
) -> tuple[list[int], Array, Array]:
    """Bodies of F frames, and their rotations (F, T, 3, 3) and places (F, T, 3) in the ground."""
    numbers = [model.body_number[frame.body] for frame in frames]
    both = list(zip(numbers, frames, strict=True))
    rotation = np.stack([pose.rotation[:, k] @ frame.rotation for k, frame in both])
    place = np.stack([pose.rotation[:, k] @ frame.position + pose.position[:, k] for k, frame in both])
    return numbers, rotation, place


def joints_crossed(model: OpenSimModel, muscles: Sequence[str]) -> Array:
    """Return the number (n,) of movable joints that each muscle crosses in the default pose; see `JOINT_SPACING`."""
    values = coordinate_values(model, {})
    pose = body_motion(model, values)
    free = {name for name, coordinate in model.coordinates.items() if not coordinate.locked}
    body = [model.body_number[joint.outboard.body] for joint in model.joints]
    local = np.array([joint.outboard.position for joint in model.joints]).reshape(-1, 3, 1)
    center = (pose.rotation[0, body] @ local)[:, :, 0] + pose.position[0, body]
    near = np.linalg.norm(center[:, None] - center[None], axis=2) < JOINT_SPACING
    counts = []
    for name in muscles:
        moving = model.crossing[name] & free
        rest = {k for k, joint in enumerate(model.joints) if joint.moved_by & moving}
        count = 0
        while rest:
            count, cluster = count + 1, {rest.pop()}
            while linked := {k for k in rest if near[k, list(cluster)].any()}:
                cluster |= linked
                rest -= linked
        counts.append(count)
    return np.array(counts, dtype=float)
