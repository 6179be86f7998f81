"""Poses of the bodies of an OpenSim model, and their twists by each coordinate.

The pose of a body in the ground is X_parent X_PF X(q) X_BM^-1 with the joint's frames F on the parent and M on the
body; for a reversed joint the parent follows from the child. A twist is (omega, v): angular velocity and the velocity
of the material point at the origin of the ground, both per unit of a coordinate; a point r of the body moves with v +
omega x r.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, vector_product
from musclesolve._util.checks import check_array, check_real_array, check_type
from musclesolve.dynamics.rotations import rotation_about
from musclesolve.errors import input_error
from musclesolve.opensim.functions import Constant
from musclesolve.opensim.model import Joint, OpenSimModel, TransformAxis


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Bodies (B) of a model over T poses, in the ground.

    rotation (T, B, 3, 3), position (T, B, 3) [m]; twist (T, m, B, 6): omega and v per unit of each of m coordinates,
    with the coordinates that couplers drive; axes: of every joint, from its parent on; none of some of the poses.
    """

    rotation: Array
    position: Array
    twist: Array
    axes: tuple[list[AxisMotion], ...] = ()

    def poses(self, some: slice | Indices) -> BodyMotion:
        """The motion in some of the poses."""
        return BodyMotion(self.rotation[some], self.position[some], self.twist[some])

    def with_twists(self, model: OpenSimModel, values: Array, coordinates: Sequence[str]) -> BodyMotion:
        """Poses with axes, of values (T, K), with the twists by the named coordinates (m)."""
        column = {name: k for k, name in enumerate(dict.fromkeys(coordinates))}
        driving = []
        for coupler in model.couplers:  # each after the ones that drive it
            if column.keys() & set(coupler.independent):
                driving.append(coupler)
                column.setdefault(coupler.dependent, len(column))
        # bodies and coordinates first: the twists of a body are copied, those by a coordinate changed, in one piece
        twist = np.zeros((len(model.bodies), len(column), len(values), 6))
        for joint, axes in zip(model.joints, self.axes, strict=True):
            inner, outer = (model.body_number[frame.body] for frame in (joint.inboard, joint.outboard))
            twist[outer] = twist[inner]
            sense = -1.0 if joint.is_reversed else 1.0
            for axis in axes:
                for name, spin in axis.by_coordinate() if column.keys() & set(axis.axis.coordinates) else ():
                    if name in column:
                        twist[outer, column[name]] += sense * spin
        for coupler in reversed(driving):
            columns = [model.coordinate_number[name] for name in coupler.independent]
            slope = coupler.function.derivative(values[:, columns])
            for name, rate in zip(coupler.independent, slope.T, strict=True):
                if name in column:
                    twist[:, column[name]] += rate[:, None] * twist[:, column[coupler.dependent]]
        by_coordinate = twist[:, [column[name] for name in coordinates]].transpose(2, 1, 0, 3)
        return replace(self, twist=np.ascontiguousarray(by_coordinate))


def coordinate_values(model: OpenSimModel, given: Mapping[str, Array]) -> Array:
    """Values (T, K) of all coordinates: stated (T,) [rad or m] or default; coupled ones by their couplers.

    Raises:
        InputError: a name is unknown, or values are no numbers, or of different lengths.
    """
    check_type(given, Mapping, "values", "a dict of arrays by the names of coordinates")  # type: ignore[type-abstract]
    number, columns = model.coordinate_number, dict[int, Array]()
    for name, column in given.items():
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
    values = check_array(values, "values", ("T", len(model.coordinates)), finite=False)
    frames, bodies = len(values), len(model.bodies)
    rotation = np.broadcast_to(np.eye(3), (frames, bodies, 3, 3)).copy()
    position = np.zeros((frames, bodies, 3))
    axes = []
    for joint in model.joints:
        inner, outer = (model.body_number[frame.body] for frame in (joint.inboard, joint.outboard))
        start = _times(rotation[:, inner], joint.inboard.rotation)
        origin = position[:, inner] + rotation[:, inner] @ joint.inboard.position
        if joint.is_reversed:
            # pose of the parent frame from the pose of the child frame: X_M X(q)^-1
            upright = np.broadcast_to(np.eye(3), start.shape)
            moved = joint_motion(model, joint, values, upright, np.zeros_like(origin))
            start = start @ moved.rotation.swapaxes(1, 2)
            origin = origin - (start @ moved.position[..., None])[..., 0]
        moved = joint_motion(model, joint, values, start, origin)
        end, place = (start, origin) if joint.is_reversed else (moved.rotation, moved.position)
        axes.append(moved.axes)
        rotation[:, outer] = _times(end, joint.outboard.rotation.T)
        position[:, outer] = place - rotation[:, outer] @ joint.outboard.position
    pose = BodyMotion(rotation, position, np.empty((frames, 0, bodies, 6)), tuple(axes))
    return pose.with_twists(model, values, tuple(coordinates)) if coordinates else pose


@dataclass(frozen=True, eq=False)
class AxisMotion:
    """One axis of a joint in the ground: x (T, c), the coordinates of its function; its direction (T, 3).

    point (T, 3) [m]: of an axis of rotation; None of a translation. The axis is fixed in the frame that the preceding
    axes move.
    """

    axis: TransformAxis
    x: Array
    direction: Array
    point: Array | None

    @property
    def unit(self) -> Array:
        """Unit twist (T, 6)."""
        if self.point is None:
            return np.concatenate([np.zeros_like(self.direction), self.direction], axis=1)
        return np.concatenate([self.direction, vector_product(self.point, self.direction)], axis=1)

    def by_coordinate(self) -> list[tuple[str, Array]]:
        """The twist (T, 6) per unit of each coordinate."""
        slope, unit = self.axis.function.derivative(self.x), self.unit
        return [(name, slope[:, k, None] * unit) for k, name in enumerate(self.axis.coordinates)]


@dataclass(frozen=True, eq=False)
class JointMotion:
    """Frame M of a joint in the ground, rotation (T, 3, 3) and position (T, 3), and its axes from the parent on."""

    rotation: Array
    position: Array
    axes: list[AxisMotion]


def joint_motion(
    model: OpenSimModel, joint: Joint, values: Array, rotation: Array, position: Array
) -> JointMotion:
    """Motion of the child frame, from the pose (T, 3, 3), (T, 3) of the parent frame, without axes that stay zero."""
    number, axes, spins = model.coordinate_number, [], []
    for axis in filter(_not_zero, joint.translations):
        along = rotation @ axis.axis
        x = values[:, [number[name] for name in axis.coordinates]]
        position = position + axis.function.value(x)[:, None] * along
        axes.append(AxisMotion(axis, x, along, None))
    for axis in filter(_not_zero, joint.rotations):
        about = rotation @ axis.axis
        x = values[:, [number[name] for name in axis.coordinates]]
        rotation = rotation @ rotation_about(axis.axis, axis.function.value(x))
        spins.append((axis, x, about))
    axes += [AxisMotion(axis, x, about, position) for axis, x, about in spins]
    return JointMotion(rotation, position, axes)


def _times(rotation: Array, own: Array) -> Array:
    """Rotations (T, 3, 3) times a constant one (3, 3); most frames of joints are not turned against their bodies."""
    return rotation + 0.0 if (own == np.eye(3)).all() else np.asarray(rotation @ own)


def _not_zero(axis: TransformAxis) -> bool:
    return not isinstance(axis.function, Constant) or axis.function.constant != 0.0


JOINT_SPACING = 0.10
"""Distance [m] below which joints count as one: ankle and subtalar joint, vertebrae, fingers."""


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
