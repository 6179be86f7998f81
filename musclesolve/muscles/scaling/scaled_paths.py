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

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from muscle_db import MuscleDatabase, ReferenceSkeleton, Segment
from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.pose_fit import Pose
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.engine import PathLayout, solve_paths
from musclesolve.muscles.paths.moving_frames import MovingFrames, NaturalSpline, WrapObjects
from musclesolve.muscles.paths.paths import Paths


def scaled_paths(model: Model, database: MuscleDatabase, side: str, maps: Mapping[str, FrameMap]) -> Paths:
    """Paths with points, moving frames and wrap objects mapped to the subject; conditional ranges as tabulated.

    The moving frames of the set come first, then a translating frame for each moving point.
    """
    muscles, frames, wraps = database.sides[side], dict(database.frames), dict(database.wrap_objects)
    if side == "l":
        frames = {name: frame.mirrored() for name, frame in frames.items()}
        wraps = {name: wrap.mirrored() for name, wrap in wraps.items()}
    bone = {frame: frame for frame in maps} | {name: frame.body for name, frame in frames.items()}
    map_of = {name: maps[bone[name]] for name in bone}
    # of a leg bodies 7, 4 (10), 3 (11) and 1 (13) of the thesis (correction A9)
    bodies = {
        segment.name: sided(segment.body, side, model.topology.body_index)
        for segment in database.reference.segments
    }
    body = {name: model.body(bodies[bone[name]]) for name in bone}

    def dof(name: str) -> int:
        return model.joint(sided(name, side, model.topology.joint_index))

    number = {name: k for k, name in enumerate(frames)}

    moving = []  # body, coordinate, pivot and motion of each frame
    for frame in frames.values():  # its pivot is the origin of the frame that it moves in
        on = maps[frame.body]
        both = _block_map(on.rotation * on.scale, on.rotation)
        spline = _spline(frame.angles, frame.translations, frame.rotations).mapped(both, np.zeros(6))
        moving.append((body[frame.body], dof(frame.dof), on.origin, spline))
    points = [(n, point) for n, muscle in enumerate(muscles) for point in muscle.path]
    position, within = np.array([point.position for _, point in points]), [point.frame for _, point in points]
    standing = np.empty_like(position)
    for name in set(within):
        in_frame = [frame == name for frame in within]
        standing[in_frame] = map_of[name].place(position[in_frame])
    carrier = [number.get(point.frame, -1) for _, point in points]
    for p, (_, point) in enumerate(points):
        if point.moving is not None:
            on = map_of[point.frame]
            both = _block_map(on.rotation * on.scale, np.zeros((3, 3)))
            away = np.concatenate([on.origin - standing[p], np.zeros(3)])
            spline = _spline(point.moving.angles, point.moving.positions).mapped(both, away)
            carrier[p] = len(moving)
            moving.append((body[point.frame], dof(point.moving.dof), standing[p], spline))

    # the points (k, 3) of muscles that wrap over an object, on its own bone
    beside = {
        name: [
            point.position
            for muscle in muscles
            for over in muscle.wraps
            if over.object == name
            for point in muscle.path[(over.first or 1) - 1 : over.last]
            if point.frame == wrap.frame
        ]
        for name, wrap in wraps.items()
    }
    objects = []
    for name, wrap in wraps.items():
        # how much longer the frame becomes along the axes of the object; sphere and cylinder by the mean, as in OpenSim
        on = map_of[wrap.frame]
        stretch = np.linalg.norm(on.scale[:, None] * np.array(wrap.axes), axis=0)
        across = {"sphere": stretch.mean(), "cylinder": stretch[:2].mean(), "ellipsoid": stretch}[wrap.kind]
        radii = across * np.array(wrap.radii)
        if wrap.kind == "cylinder" and beside[name]:
            # on a bone that does not grow alike along its axes no point comes to lie inside, where it would not wrap
            away, axis = np.array(beside[name]) - wrap.center, np.array(wrap.axes)[:, 2]
            set_distance, subject_distance = (
                np.linalg.norm(np.cross(line, axis), axis=1) for line in (away, on.scale * away)
            )
            # share of the distance that the radius may be
            nearest = np.maximum(wrap.radii[0] / set_distance, CLEARANCE)
            radii = np.minimum(radii, (nearest * subject_distance).min())
        objects.append((wrap.kind, radii, float(stretch[2]) * wrap.length, wrap.side))
    names = list(wraps)
    over = [
        (n, names.index(wrap.object), wrap.first, wrap.last, wrap.method)
        for n, muscle in enumerate(muscles)
        for wrap in muscle.wraps
    ]
    ranges = [(p, point.active) for p, (_, point) in enumerate(points) if point.active is not None]
    carried = [(wrap, map_of[wrap.frame]) for wrap in wraps.values()]
    return Paths(
        rigid_bodies=model.rigid_bodies,
        layout=PathLayout.from_points(np.array([n for n, _ in points]), objects, over),
        point_body=np.array([body[point.frame] for _, point in points]),
        standing=standing,
        switched=np.array([p for p, _ in ranges], dtype=int),
        switch_dof=np.array([dof(active.dof) for _, active in ranges], dtype=int),
        switch_lower=np.array([active.lower for _, active in ranges]),
        switch_upper=np.array([active.upper for _, active in ranges]),
        objects=WrapObjects(
            body=np.array([body[wrap.frame] for wrap, _ in carried]),
            center=np.stack([on.place(np.array(wrap.center)) for wrap, on in carried]),
            axes=np.stack([on.rotation @ np.array(wrap.axes) for wrap, on in carried]),
            frame=np.array([number.get(wrap.frame, -1) for wrap, _ in carried]),
        )
        if carried
        else WrapObjects(),
        frames=MovingFrames(
            np.array([frame[0] for frame in moving]),
            np.array([frame[1] for frame in moving]),
            np.stack([frame[2] for frame in moving]),
            tuple(frame[3] for frame in moving),
        )
        if moving
        else MovingFrames(),
        point_frame=np.array(carrier),
    )


def _block_map(shifts: Array, turns: Array) -> Array:
    """The matrix (6, 6) that maps translations by one (3, 3) and rotation vectors by the other."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3], matrix[3:, 3:] = shifts, turns
    return matrix


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
    """A map of points p of a frame to standing positions, origin + rotation scale p; scale (3,) along the axes of
    the frame.
    """

    rotation: Array
    scale: Array
    origin: Array

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
            rotation = np.column_stack([forward, np.cross(up, forward), up])
        at = rotation @ (scale * mirror * bone.position)
        maps[bone.name] = FrameMap(rotation, scale, center(bone.origin) - at)
    return maps


def _smallest_rotation(start: Array, end: Array) -> Array:
    """The smallest rotation (3, 3) of the direction of one vector (3,) into the direction of another."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    x, y, z = np.cross(a, b)
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

_SEARCH_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths) -> Paths:
    """Paths with every reachable end of a conditional range moved to the angle at which the path does not jump."""
    edges = np.stack([paths.switch_lower, paths.switch_upper])
    muscle = paths.layout.point_muscle[paths.switched]
    searches = []  # coordinate, its angles (P,), and the ends (2, C) that are sought among them
    for dof in np.unique(paths.switch_dof):
        reachable = (paths.switch_dof == dof) & (edges > _REACHABLE[0]) & (edges < _REACHABLE[1])
        if not reachable.any():
            continue
        # of a muscle whose points switch at several angles, one angle after the other
        rank = np.zeros(edges.shape, dtype=int)
        for n in np.unique(muscle[reachable.any(axis=0)]):
            mine = reachable & (muscle == n)
            rank[mine] = np.unique(edges[mine], return_inverse=True)[1]
        angles = search_grid(edges[reachable])
        searches += [(dof, angles, reachable & (rank == k)) for k in range(int(rank.max()) + 1)]
    if not searches:
        return paths

    # the poses of all searches, one search after the other, and in them the muscles that have conditional points
    sizes, joints = [len(angles) for _, angles, _ in searches], model.tree.joint_count
    rows = [slice(end - size, end) for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
    moved = np.repeat([dof for dof, _, _ in searches], sizes)
    coordinates = np.zeros((len(moved), joints))
    coordinates[np.arange(len(moved)), moved] = np.concatenate([angles for _, angles, _ in searches])
    upright = np.broadcast_to(np.eye(3), (len(moved), 3, 3))
    q, _ = Pose(coordinates, np.zeros((len(moved), 3)), upright).placed(model)
    few = np.unique(muscle)
    some, column = paths.subset(few), np.searchsorted(few, muscle)
    switched = np.searchsorted(np.flatnonzero(np.isin(paths.layout.point_muscle, few)), paths.switched)
    (position, _, center, axes), _ = some.place(q, coordinates)
    on = np.ones((2, len(moved), len(some.standing)), dtype=bool)  # through the points, past them
    for row, (_, angles, ends) in zip(rows, searches, strict=True):
        at = np.zeros(len(few))
        at[np.broadcast_to(column, ends.shape)[ends]] = edges[ends]
        others, switching = (edges[0] <= at[column]) & (edges[1] >= at[column]), ends.any(axis=0)
        on[0, row][:, switched] = others | switching
        on[1, row][:, switched] = others & ~switching
        # only the muscles of this search, and near their edges
        sought = np.zeros((len(few), len(angles)), dtype=bool)
        sought_muscles = np.broadcast_to(column, ends.shape)[ends]
        sought[sought_muscles] = np.abs(angles - edges[ends][:, None]) <= SEARCH
        on[:, row] &= sought[some.layout.point_muscle].T
    through, past = (solve_paths(some.layout, position, points_on, center, axes).length for points_on in on)

    adjusted = edges.copy()
    for row, (_, angles, ends) in zip(rows, searches, strict=True):
        gap = (through - past)[row]
        for end, c in np.argwhere(ends):
            adjusted[end, c] = refined_edge(edges[end, c], angles, gap[:, column[c]])
    return replace(paths, switch_lower=adjusted[0], switch_upper=adjusted[1])


def search_grid(edges: Array) -> Array:
    """Angles (P,) [rad] around all reachable ends (E,) [rad] of ranges."""
    inside = edges[(edges > _REACHABLE[0]) & (edges < _REACHABLE[1])]
    if not inside.size:
        return np.zeros(1)
    return np.arange(inside.min() - SEARCH, inside.max() + SEARCH + _SEARCH_STEP, _SEARCH_STEP)


def refined_edge(edge: float, angles: Array, gap: Array) -> float:
    """Angle [rad] of the smallest gap (P,) [m] within the search range of the angles (P,), by a parabola.

    The edge itself if there is no minimum, or if it cannot be reached.
    """
    near = np.flatnonzero(np.abs(angles - edge) <= SEARCH)
    if not _REACHABLE[0] < edge < _REACHABLE[1] or near.size < 3:
        return edge
    best = int(near[np.argmin(gap[near])])
    if best in (near[0], near[-1]):
        return edge
    before, at, after = gap[best - 1 : best + 2]
    return float(angles[best] + 0.5 * _SEARCH_STEP * (before - after) / (before - 2.0 * at + after))
