"""The paths of a muscle set on one side of a model: points, wrap objects and moving frames, in standing positions.

The frames of the set are mapped to the standing pose of the subject by the scale of each segment, joint centers and
foot direction. A bone with a joint center at its end, the femur and the tibia, is rotated so that its joint centers lie
on the joint centers of the subject, and scales with the length between these (Silva 2003, 6.5). The width of the pelvis
scales with the distance between the hips, its depth with the distance from mid-ASIS to mid-PSIS. Other sizes scale with
stature: height of the pelvis, foot, and the depth if subject or set have none. If the set has no stature, they scale
with the length of thigh and shank together.

Angles at which conditional via points join and leave the path: a via point represents bone or a retinaculum around
which the muscle wraps. It can only lengthen the path, and belongs to the path as long as it does. At the angle where
the path with the point exceeds the path without it by the least length, both have the same moment arm (the derivative
of the difference is zero) and nearly the same length, so that the path does not jump if the point switches there. This
angle depends on the proportions of the subject, so that the search begins at the tabulated angle, for sets with exact
ranges too. On the skeleton of gait2392 the angle changes by 1 degree (iliacus 4); on another skeleton, the moment arms
would jump by up to 5 mm at the tabulated angles. If several points of a muscle switch at different angles, each is
examined with the others as tabulated.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from muscle_db import MuscleDatabase, ReferenceSkeleton, Segment
from musclesolve._util.arrays import Array, Indices, Mask, vector_product
from musclesolve.dynamics.kinematics.pose_fit import Pose
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.dynamics.model.topology import Topology
from musclesolve.dynamics.rotations import nearest_rotation
from musclesolve.muscles.paths.engine import PathLayout, solve_paths
from musclesolve.muscles.paths.kernel.arrays import CYLINDER, ELLIPSOID
from musclesolve.muscles.paths.paths import MovingFrames, NaturalSpline, Paths, WrapObjects


def scaled_paths(model: Model, database: MuscleDatabase, side: str, maps: "Mapping[str, FrameMap]") -> Paths:
    """Paths with points, moving frames and wrap objects mapped to the subject; conditional ranges as tabulated."""
    of_set = set_paths(model.topology, database, side)
    paths, layout, objects = of_set.paths, of_set.paths.layout, of_set.paths.objects
    bones = [maps[name] for name in database.reference.names]
    rotation, scale, origin = (np.array([getattr(bone, name) for bone in bones]) for name in FrameMap.parts)
    shift = rotation * scale[:, None]
    standing = (shift[of_set.of_point] @ paths.standing[..., None])[..., 0] + origin[of_set.of_point]
    pivot, motion = origin[of_set.of_frame], list[NaturalSpline]()
    for k, (bone, p) in enumerate(zip(of_set.of_frame, of_set.moving, strict=True)):
        both, away = np.zeros((6, 6)), np.zeros(6)
        both[:3, :3] = shift[bone]
        if p < 0:
            both[3:, 3:] = rotation[bone]
        else:
            pivot[k], away[:3] = standing[p], origin[bone] - standing[p]
        motion.append(paths.frames.motion[k].mapped(both, away))

    # how much longer the frame becomes along the axes of an object; sphere and cylinder by the mean, as in OpenSim
    bone = of_set.of_object
    stretch = np.linalg.norm(scale[bone][:, :, None] * objects.axes, axis=1)
    mean = np.where(layout.kind == CYLINDER, stretch[:, :2].mean(axis=1), stretch.mean(axis=1))
    radii = np.where(layout.kind[:, None] == ELLIPSOID, stretch, mean[:, None]) * layout.radii
    for k, (distant, axis, share) in of_set.beside.items():
        # on a bone that does not grow alike along its axes no point comes to lie inside, where it would not wrap
        distance = np.linalg.norm(vector_product(scale[bone[k]] * distant, axis), axis=1)
        radii[k] = np.minimum(radii[k], (share * distance).min())
    center = (shift[bone] @ objects.center[..., None])[..., 0] + origin[bone]
    return replace(
        paths,
        rigid_bodies=model.rigid_bodies,
        layout=replace(layout, radii=radii, half_length=stretch[:, 2] * layout.half_length),
        standing=standing,
        objects=replace(objects, center=center, axes=rotation[bone] @ objects.axes),
        frames=replace(paths.frames, pivot=pivot, motion=tuple(motion)),
    )


@dataclass(frozen=True, eq=False)
class SetPaths:
    """The paths of a set on one side of a model before they are scaled: what all subjects have in common.

    paths: places, axes and motions are in the frames of the bones. The bone of each point (P,), object (O,) and moving
    frame (F,), by number in the set; moving (F,): the point that a frame moves, -1 for a frame of the set. beside: by
    number of a cylinder, the points (k, 3) of muscles that wrap over it, on its own bone and from its center, its axis,
    and the share (k,) of the distance of each point that the radius may be.
    """

    paths: Paths
    of_point: Indices
    of_object: Indices
    of_frame: Indices
    moving: Indices
    beside: dict[int, tuple[Array, Array, Array]]


@lru_cache(maxsize=16)
def set_paths(topology: Topology, database: MuscleDatabase, side: str) -> SetPaths:
    """The paths of a set before they are scaled.

    The moving frames of the set come first, then a translating frame for each moving point.
    """
    muscles, frames, wraps = database.sides[side], dict(database.frames), dict(database.wrap_objects)
    if side == "l":
        frames = {name: frame.mirrored() for name, frame in frames.items()}
        wraps = {name: wrap.mirrored() for name, wrap in wraps.items()}
    bone = {name: k for k, name in enumerate(database.reference.names)}
    bone |= {name: bone[frame.body] for name, frame in frames.items()}
    # of a leg bodies 7, 4 (10), 3 (11) and 1 (13) of the thesis (correction A9)
    body = np.array(
        [
            topology.body_index[sided(segment.body, side, topology.body_index)]
            for segment in database.reference.segments
        ]
    )

    def dof(name: str) -> int:
        return topology.joint_index[sided(name, side, topology.joint_index)]

    def numbers(some: Iterable[int]) -> Indices:
        return np.array(list(some), np.intp)

    number = {name: k for k, name in enumerate(frames)}
    points = [(n, point) for n, muscle in enumerate(muscles) for point in muscle.path]
    carrier = [number.get(point.frame, -1) for _, point in points]
    moving = [
        (bone[frame.body], dof(frame.dof), -1, _spline(frame.angles, frame.translations, frame.rotations))
        for frame in frames.values()
    ]
    for p, (_, point) in enumerate(points):
        if point.moving is not None:
            carrier[p] = len(moving)
            spline = _spline(point.moving.angles, point.moving.positions)
            moving.append((bone[point.frame], dof(point.moving.dof), p, spline))

    beside = {}
    for k, wrap in enumerate(wraps.values()):
        near = [
            point.position
            for muscle in muscles
            for over in muscle.wraps
            if over.object == wrap.name
            for point in muscle.path[(over.first or 1) - 1 : over.last]
            if point.frame == wrap.frame
        ]
        if wrap.kind == "cylinder" and near:
            distant, axis = np.array(near) - wrap.center, np.array(wrap.axes)[:, 2]
            distance = np.linalg.norm(vector_product(distant, axis), axis=1)
            beside[k] = distant, axis, np.maximum(wrap.radii[0] / distance, CLEARANCE)
    names = list(wraps)
    over = [
        (n, names.index(wrap.object), wrap.first, wrap.last, wrap.method)
        for n, muscle in enumerate(muscles)
        for wrap in muscle.wraps
    ]
    ranges = [(p, point.active) for p, (_, point) in enumerate(points) if point.active is not None]
    of_point = numbers(bone[row.frame] for _, row in points)
    of_object = numbers(bone[wrap.frame] for wrap in wraps.values())
    of_frame = numbers(row[0] for row in moving)
    objects = [(wrap.kind, wrap.radii, wrap.length, wrap.side) for wrap in wraps.values()]
    paths = Paths(
        rigid_bodies=RigidBodies.build(topology, topology.standing_layout()),
        layout=PathLayout.from_points(numbers(n for n, _ in points), objects, over),
        point_body=body[of_point],
        standing=np.array([point.position for _, point in points]),
        switched=numbers(p for p, _ in ranges),
        switch_dof=numbers(dof(active.dof) for _, active in ranges),
        switch_lower=np.array([active.lower for _, active in ranges]),
        switch_upper=np.array([active.upper for _, active in ranges]),
        objects=WrapObjects(
            body=body[of_object],
            center=np.array([wrap.center for wrap in wraps.values()]).reshape(-1, 3),
            # the printed digits are a rotation to 1e-9; a path of least length needs an exact one
            axes=nearest_rotation(np.array([wrap.axes for wrap in wraps.values()]).reshape(-1, 3, 3)),
            frame=numbers(number.get(wrap.frame, -1) for wrap in wraps.values()),
        ),
        frames=MovingFrames(
            body[of_frame],
            numbers(row[1] for row in moving),
            np.zeros((len(moving), 3)),
            tuple(row[3] for row in moving),
        ),
        point_frame=numbers(carrier),
    )
    return SetPaths(paths, of_point, of_object, of_frame, numbers(row[2] for row in moving), beside)


@lru_cache(maxsize=256)
def _spline(
    angles: tuple[float, ...],
    shifts: tuple[tuple[float, ...], ...],
    turns: tuple[tuple[float, ...], ...] | None = None,
) -> NaturalSpline:
    """The motion of a frame of a set along its own axes; without rotation unless `turns` are given."""
    places = np.array(shifts)
    return NaturalSpline(
        np.array(angles), np.hstack([places, np.zeros_like(places) if turns is None else np.array(turns)])
    )


CLEARANCE = 0.98
"""Largest radius of a cylinder over the distance of a point from its axis, unless the model of the set has a larger
one.
"""


def sided(name: str, side: str, known: Collection[str]) -> str:
    """The name in the model: with the side unless the model has the name without a side."""
    return name if name in known else f"{name}_{side}"


@dataclass(frozen=True)
class FrameMap:
    """A map of points p of a frame to standing positions, origin + rotation scale p; scale (3,) along its axes."""

    rotation: Array
    scale: Array
    origin: Array

    parts: ClassVar = ("rotation", "scale", "origin")

    def place(self, points: Array) -> Array:
        """Standing positions (..., 3) [m] of points (..., 3) [m] of the frame."""
        return points @ (self.rotation * self.scale).T + self.origin


def frame_maps(model: Model, database: MuscleDatabase, side: str) -> dict[str, FrameMap]:
    """The map of each frame of a set onto one side of a subject.

    Stature is compared with the stature of the skeleton before the table's own scaling, hence the factors of the table.
    If the set has no stature, bones without end scale with the length of all others together.
    """
    reference, slot, standing = database.reference, model.topology.slot, model.standing

    def center(name: str, side: str = side) -> Array:
        return np.asarray(standing[model.slot(sided(name, side, slot))])

    mirror = np.array([1.0, -1.0 if side == "l" else 1.0, 1.0])
    lines = {bone.name: center(bone.end) - center(bone.origin) for bone in reference.segments if bone.end}
    long = {name: float(np.linalg.norm(line)) for name, line in lines.items()}
    lengths = {name: reference[name].length or 0.0 for name in lines}
    maps = {}
    for bone in reference.segments:
        rotation = np.eye(3)
        if bone.name in lines:
            scale = np.full(3, long[bone.name] / lengths[bone.name])
            if bone.end_position is not None:
                place = mirror * bone.end_position - mirror * bone.position
                rotation = _smallest_rotation(place, lines[bone.name])
        else:
            if reference.stature is None:
                size = sum(long.values()) / sum(lengths.values()) if lengths else 1.0
            else:
                size = 1.0 if model.stature is None else model.stature / reference.stature
                size = size / bone.position_scale
            scale = np.full(3, size)
        if bone.width is not None:
            scale[1] = np.linalg.norm(center(bone.origin, "r") - center(bone.origin, "l")) / bone.width
            if model.pelvis_depth is not None and reference.pelvis_depth is not None:
                scale[0] = model.pelvis_depth / reference.pelvis_depth / bone.position_scale
        if bone.forward is not None:
            forward, up = center(bone.forward), np.array([0.0, 0.0, 1.0])
            rotation = np.column_stack([forward, vector_product(up, forward), up])
        at = rotation @ (scale * mirror * bone.position)
        maps[bone.name] = FrameMap(rotation, scale, center(bone.origin) - at)
    return maps


def _smallest_rotation(start: Array, end: Array) -> Array:
    """The smallest rotation (3, 3) of the direction of one vector (3,) into the direction of another."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    x, y, z = vector_product(a, b)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + a @ b))


def reference_model(reference: ReferenceSkeleton) -> Model:
    """A human model with the bones of the set's skeleton, to which its fiber and tendon lengths belong.

    The skeleton is the one before the table's own scaling, so that every scale of its `frame_maps` is 1 /
    position_scale.
    """
    places: dict[str, tuple[Array, Segment]] = {}
    for bone in reference.segments:
        if bone.width is not None:
            places[bone.origin] = np.array([0.0, -0.5 * bone.width, 0.0]), bone
        if bone.end is not None:
            places[bone.end] = np.array(bone.end_place) - np.array(bone.position), bone
    mirror = {"r": np.ones(3), "l": np.array([1.0, -1.0, 1.0])}
    offsets = {
        f"{name}_{side}": flip * place / bone.position_scale
        for name, (place, bone) in places.items()
        for side, flip in mirror.items()
    }
    if reference.stature is None:
        return human_model(offsets=offsets)
    return human_model(stature=reference.stature, offsets=offsets)


SEARCH = np.deg2rad(30.0)
"""Range of the search around the tabulated angle [rad]."""

_BESIDE = np.deg2rad(10.0)
"""Range of the search around the angle of nearly the same paths [rad]."""
_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths, near: Paths | None = None) -> Paths:
    """Paths with every reachable end of a conditional range moved to the angle at which the path does not jump.

    near: nearly the same paths, already adjusted. The least gap is sought beside their angles first, and in the whole
    range if it is at an end of these.
    """
    edges = np.stack([paths.switch_lower, paths.switch_upper])
    muscle = paths.layout.point_muscle[paths.switched]
    # of a muscle whose points switch at several angles, one angle after the other: which ends (2, C)
    switches: dict[tuple[int, int, float], Mask] = {}
    for end, c in np.argwhere(reachable(edges)).tolist():
        switch = int(paths.switch_dof[c]), int(muscle[c]), float(edges[end, c])
        switches.setdefault(switch, np.zeros(edges.shape, bool))[end, c] = True
    if not switches:
        return paths
    dof, of, edge = (np.array(part) for part in zip(*switches, strict=True))
    ends = np.array(list(switches.values()))
    known = edge
    if near is not None:
        known = (ends * [near.switch_lower, near.switch_upper]).sum(axis=(1, 2)) / ends.sum(axis=(1, 2))

    # the poses of all searches, and which of them belong to each switch
    turned, angles = list[Array](), list[Array]()
    for joint in np.unique(dof):
        angles.append(search_grid(edge[dof == joint]))
        turned.append(np.full(len(angles[-1]), joint))
    joint, angle = np.concatenate(turned), np.concatenate(angles)
    sought = (joint == dof[:, None]) & (np.abs(angle - edge[:, None]) <= SEARCH)
    if near is not None:
        sought &= np.abs(angle - known[:, None]) <= _BESIDE
    few = sought.any(axis=0)
    joint, angle, sought = joint[few], angle[few], sought[:, few]
    coordinates = np.zeros((len(angle), model.tree.joint_count))
    coordinates[np.arange(len(angle)), joint] = angle
    upright = np.broadcast_to(np.eye(3), (len(angle), 3, 3))
    q, _ = Pose(coordinates, np.zeros((len(angle), 3)), upright).placed(model)
    (position, _, center, axes), _ = paths.place(q, coordinates)

    # in each pose the muscles that switch there, once through the points and once past them
    others = (edges[0] <= edge[:, None]) & (edges[1] >= edge[:, None])
    switching = ends.any(axis=1)
    layout, points = paths.layout.picked(np.tile(of, 2))
    through = np.ones((2, len(of), paths.layout.points), bool)
    through[:, :, paths.switched] = others | switching, others & ~switching
    on = (
        through.reshape(2 * len(of), -1)[layout.point_muscle, points]
        & np.tile(sought, (2, 1)).T[:, layout.point_muscle]
    )
    length = solve_paths(layout, position[:, points], on, center, axes).length
    least = least_gap(angle, (length[:, : len(of)] - length[:, len(of) :]).T, sought)
    if near is not None and np.isnan(least).any():
        return adjust_switches(model, paths)
    adjusted = edges.copy()
    for some, value in zip(ends, least, strict=True):
        if not np.isnan(value):
            adjusted[some] = value
    return replace(paths, switch_lower=adjusted[0], switch_upper=adjusted[1])


def reachable(edges: Array) -> Mask:
    """Whether ends of ranges [rad] can be reached, so that an angle is sought for them."""
    return np.asarray((edges > _REACHABLE[0]) & (edges < _REACHABLE[1]))


def search_grid(edges: Array) -> Array:
    """Angles (P,) [rad] around ends (E,) [rad] of ranges, one or more."""
    return np.arange(edges.min() - SEARCH, edges.max() + SEARCH + _STEP, _STEP)


def least_gap(angles: Array, gap: Array, sought: Mask) -> Array:
    """Angle (E,) [rad] of the smallest gap (E, P) [m] among those sought (E, P) of the angles (P,), by a parabola.

    NaN where it is the first or the last of them, or none is sought.
    """
    least, row = np.full(len(gap), np.nan), np.arange(len(gap))
    best = np.where(sought, gap, np.inf).argmin(axis=1)
    first, last = sought.argmax(axis=1), len(angles) - 1 - sought[:, ::-1].argmax(axis=1)
    inside = (best > first) & (best < last)
    before, at, after = (gap[row[inside], best[inside] + k] for k in (-1, 0, 1))
    least[inside] = angles[best[inside]] + 0.5 * _STEP * (before - after) / (before - 2.0 * at + after)
    return least
