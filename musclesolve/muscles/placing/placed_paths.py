"""The paths of a muscle set on one leg of a model: points, wrap objects and frames that move, in standing positions.

The frames of the set go over to the standing pose of the subject by scale of each segment, joint centers and foot
direction. The femur and the tibia of a set are rotated so that their joint centers lie on those of the subject, and
grow with the length between these (Silva 2003, 6.5); the width of the pelvis grows with the distance between the hips,
its height and depth, and the foot, with stature, or with the length of thigh and shank together where the set has no
stature.

Where conditional via points join and leave the path: a via point stands for bone or a retinaculum that the muscle wraps
around, so it can only lengthen the path, and it belongs to it just as long as it does. Where the path through the point
is shortest against the path past it, the two have the same moment arm (the derivative of their difference is zero) and
all but the same length: switching there, the path does not jump. That angle depends on the proportions of the subject,
so the tabulated one is where the search begins, for sets with exact ranges too: on the skeleton of gait2392 it moves by
1 degree (iliacus 4), while on another one the tabulated angles would let arms jump by up to 5 mm. Of several points of
a muscle that switch at different angles, each is examined with the others as tabulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from muscle_db import Muscle, MuscleDatabase, ReferenceSkeleton
from muscle_db.model import MovingFrame, PathPoint, WrapObject
from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.carriers import MovingFrames, NaturalSpline, WrapObjects
from musclesolve.muscles.paths.engine import PathLayout
from musclesolve.muscles.paths.paths import Paths

AXES = "xyz"


def placed_paths(model: Model, database: MuscleDatabase, side: str, maps: Mapping[str, FrameMap]) -> Paths:
    """Put points, moving frames and wrap objects where the maps have them; ranges as tabulated."""
    return _PathBuilder(model, database, side, maps).paths()


class _PathBuilder:
    """One leg while its paths are put together; frames that only carry a moving point come after those of the set."""

    def __init__(
        self, model: Model, database: MuscleDatabase, side: str, maps: Mapping[str, FrameMap]
    ) -> None:
        self.model, self.side, self.maps = model, side, maps
        self.muscles: tuple[Muscle, ...] = database.legs[side]
        right = side == "r"
        self.frames = {name: f if right else f.mirrored() for name, f in database.frames.items()}
        self.wraps = {name: w if right else w.mirrored() for name, w in database.wrap_objects.items()}
        self.number = {name: k for k, name in enumerate(self.frames)}
        self.motions = [self._frame(frame) for frame in self.frames.values()]

    def paths(self) -> Paths:
        points = [(n, point) for n, muscle in enumerate(self.muscles) for point in muscle.path]
        carried = [self._carrier(point) for _, point in points]
        ranges = [(p, point.active) for p, (_, point) in enumerate(points) if point.active is not None]
        return Paths(
            rigid_bodies=self.model.rigid_bodies,
            layout=self._layout(np.array([n for n, _ in points])),
            point_body=np.array([self._body(point.frame) for _, point in points]),
            standing=np.stack(
                [self._map(point.frame).place(np.array(point.position)) for _, point in points]
            ),
            switched=np.array([p for p, _ in ranges], dtype=int),
            switch_dof=np.array([self._dof(active.dof) for _, active in ranges], dtype=int),
            switch_lower=np.array([active.lower for _, active in ranges]),
            switch_upper=np.array([active.upper for _, active in ranges]),
            objects=self._objects(),
            frames=self._moving_frames(),
            point_frame=np.array(carried),
        )

    def _map(self, frame: str) -> FrameMap:
        return self.maps[self.frames[frame].body if frame in self.frames else frame]

    def _body(self, frame: str) -> int:
        bone = self.frames[frame].body if frame in self.frames else frame
        return self.model.body(body_name(bone, self.side))

    def _dof(self, dof: str) -> int:
        return self.model.dof(f"{dof}_{self.side}")

    def _frame(self, frame: MovingFrame) -> tuple[int, int, Array, NaturalSpline]:
        """Body, coordinate, pivot and motion of a frame; the pivot is the origin of the frame that it moves in."""
        bone = self.maps[frame.body]
        moved = np.array(frame.translations) @ bone.matrix.T
        rotation_vectors = np.array(frame.rotations) @ bone.rotation.T
        motion = NaturalSpline(np.array(frame.angles), np.hstack([moved, rotation_vectors]))
        return self._body(frame.body), self._dof(frame.dof), bone.origin, motion

    def _carrier(self, point: PathPoint) -> int:
        """Number of the moving frame that carries a point, -1 for none; a moving point gets one that only shifts."""
        if point.moving is None:
            return self.number.get(point.frame, -1)
        bone = self._map(point.frame)
        standing = bone.place(np.array(point.position))
        shift = bone.place(np.array(point.moving.positions)) - standing
        motion = NaturalSpline(np.array(point.moving.angles), np.hstack([shift, np.zeros_like(shift)]))
        self.motions.append((self._body(point.frame), self._dof(point.moving.dof), standing, motion))
        return len(self.motions) - 1

    def _moving_frames(self) -> MovingFrames:
        if not self.motions:
            return MovingFrames()
        body, dof, pivot, motion = zip(*self.motions, strict=True)
        return MovingFrames(np.array(body), np.array(dof), np.stack(pivot), motion)

    def _layout(self, muscle: Indices) -> PathLayout:
        number = {name: k for k, name in enumerate(self.wraps)}
        objects = [
            (each.kind, self._radii(each), float(self._stretch(each)[2]) * each.length, each.side)
            for each in self.wraps.values()
        ]
        wraps = [
            (n, number[wrap.object], wrap.first, wrap.last, wrap.method)
            for n, each in enumerate(self.muscles)
            for wrap in each.wraps
        ]
        return PathLayout.of(muscle, objects, wraps)

    def _radii(self, wrap: WrapObject) -> Array:
        """Radii (3,) [m]: of a sphere by the mean stretch, of a cylinder by the mean across, as OpenSim does."""
        stretch = self._stretch(wrap)
        across = {"sphere": stretch.mean(), "cylinder": stretch[:2].mean(), "ellipsoid": stretch}[wrap.kind]
        return np.asarray(across * np.array(wrap.radii))

    def _stretch(self, wrap: WrapObject) -> Array:
        """How much longer the frame becomes along the own axes of a wrap object, (3,)."""
        return np.asarray(np.linalg.norm(self._map(wrap.frame).scale[:, None] * np.array(wrap.axes), axis=0))

    def _objects(self) -> WrapObjects:
        objects = list(self.wraps.values())
        if not objects:
            return WrapObjects()
        maps = [self._map(each.frame) for each in objects]
        return WrapObjects(
            body=np.array([self._body(each.frame) for each in objects]),
            center=np.stack([m.place(np.array(each.center)) for m, each in zip(maps, objects, strict=True)]),
            axes=np.stack([m.rotation @ np.array(each.axes) for m, each in zip(maps, objects, strict=True)]),
            frame=np.array([self.number.get(each.frame, -1) for each in objects]),
        )


_BONES = {"femur": "thigh", "tibia": "shank", "foot": "foot"}


def body_name(frame: str, side: str) -> str:
    """The body that carries a frame of a set: 7, 4 (10), 3 (11) and 1 (13) (correction A9)."""
    return "pelvis" if frame == "pelvis" else f"{_BONES[frame]}_{side}"


@dataclass(frozen=True)
class FrameMap:
    """A point p of a frame stands at origin + rotation scale p; scale (3,) along the axes of the frame."""

    rotation: Array
    scale: Array
    origin: Array

    @property
    def matrix(self) -> Array:
        """Rotation and scale together, (3, 3)."""
        return self.rotation * self.scale

    def place(self, points: Array) -> Array:
        """Standing positions (..., 3) [m] of points (..., 3) [m] of the frame."""
        return points @ self.matrix.T + self.origin


def frame_maps(model: Model, database: MuscleDatabase, side: str) -> dict[str, FrameMap]:
    """The map of each frame of a set onto one leg of a subject."""
    hip, knee, ankle = (model.standing[model.slot(f"{joint}_{side}")] for joint in ("hip", "knee", "ankle"))
    reference = database.reference
    scale = segment_scales(model, database, side)
    mirror = np.array([1.0, -1.0 if side == "l" else 1.0, 1.0])
    forward = model.standing[model.slot(f"shank_forward_{side}")]
    level = np.eye(3)
    maps = {
        "pelvis": (level, hip - scale["pelvis"] * mirror * reference.hip_center),
        "femur": (_onto(reference.knee_center, mirror, knee - hip), hip),
        "tibia": (_onto(reference.ankle_center, mirror, ankle - knee), knee),
        "foot": (np.column_stack([forward, np.cross(level[2], forward), level[2]]), ankle),
    }
    return {name: FrameMap(rotation, scale[name], origin) for name, (rotation, origin) in maps.items()}


def _onto(center: tuple[float, float, float] | None, mirror: Array, target: Array) -> Array:
    """The smallest rotation of a joint center of the set into the direction where the subject has it."""
    if center is None:
        return np.eye(3)
    a, b = mirror * center, target
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    x, y, z = np.cross(a, b)
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + skew + skew @ skew / (1.0 + a @ b))


def segment_scales(model: Model, database: MuscleDatabase, side: str) -> dict[str, Array]:
    """How much longer each frame of the database becomes on this subject, (3,) forward, left, up.

    Stature is compared with that of the skeleton before the table's own scaling, hence the factors of the table. Where
    the set does not know it, pelvis and foot grow with (thigh + shank) of the subject over those of the set.
    """
    reference = database.reference
    hip, knee, ankle = (model.standing[model.slot(f"{joint}_{side}")] for joint in ("hip", "knee", "ankle"))
    width = np.linalg.norm(model.standing[model.slot("hip_r")] - model.standing[model.slot("hip_l")])
    thigh, shank = (float(np.linalg.norm(each)) for each in (knee - hip, ankle - knee))
    if reference.stature is None:
        ratio = (thigh + shank) / (reference.thigh_length + reference.shank_length)
        size = dict.fromkeys(("pelvis", "foot"), ratio)
    else:
        stature = 1.0 if model.stature is None else model.stature / reference.stature
        size = {frame: stature / reference.position_scale[frame] for frame in ("pelvis", "foot")}
    return {
        "pelvis": np.array([size["pelvis"], width / reference.hip_width, size["pelvis"]]),
        "femur": np.full(3, thigh / reference.thigh_length),
        "tibia": np.full(3, shank / reference.shank_length),
        "foot": np.full(3, size["foot"]),
    }


def reference_model(reference: ReferenceSkeleton) -> Model:
    """A human model with the legs of a set's own skeleton, to which its fiber and tendon lengths belong.

    It is the one before the table's own scaling, so every factor of `segment_scales` is 1 / position_scale.
    """
    scale = reference.position_scale
    leg = {
        "hip": (np.array([0.0, -0.5 * reference.hip_width, 0.0]), "pelvis"),
        "knee": (np.array(reference.knee_center or (0.0, 0.0, -reference.thigh_length)), "femur"),
        "ankle": (np.array(reference.ankle_center or (0.0, 0.0, -reference.shank_length)), "tibia"),
    }
    mirror = {"r": np.ones(3), "l": np.array([1.0, -1.0, 1.0])}
    offsets = {
        f"{joint}_{side}": flip * place / scale[frame]
        for joint, (place, frame) in leg.items()
        for side, flip in mirror.items()
    }
    if reference.stature is None:
        return human_model(offsets=offsets)
    return human_model(stature=reference.stature, offsets=offsets)


SEARCH = np.deg2rad(30.0)
"""Range of the search around the tabulated angle [rad]."""

_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths) -> Paths:
    """Paths with every reachable end of a conditional range moved to where the path does not jump."""
    edges = np.stack([paths.switch_lower, paths.switch_upper])
    adjusted = edges.copy()
    for dof in np.unique(paths.switch_dof):
        own = paths.switch_dof == dof
        angles = search_grid(edges[:, own].ravel())
        for ends in _one_of_each_muscle(paths, edges, own):
            gap = _gaps(model, paths, int(dof), angles, *_around(paths, edges, ends))
            for end, c in np.argwhere(ends):
                column = gap[:, paths.muscle[paths.switched[c]]]
                adjusted[end, c] = refined_edge(edges[end, c], angles, column)
    return replace(paths, switch_lower=adjusted[0], switch_upper=adjusted[1])


def _one_of_each_muscle(paths: Paths, edges: Array, own: Mask) -> list[Mask]:
    """Reachable ends (2, C) of ranges, so that those of one muscle within a mask are at the same angle."""
    reachable = own & (edges > _REACHABLE[0]) & (edges < _REACHABLE[1])
    muscle = paths.muscle[paths.switched]
    rank = np.zeros(edges.shape, dtype=int)
    for n in np.unique(muscle):
        mine = reachable & (muscle == n)
        rank[mine] = np.unique(edges[mine], return_inverse=True)[1]
    return [reachable & (rank == k) for k in range(int(rank.max(initial=-1)) + 1)]


def _around(paths: Paths, edges: Array, ends: Mask) -> tuple[Mask, Mask]:
    """Conditional points (C,) on the path with those that switch at some ends (2, C), and without them."""
    muscle = paths.muscle[paths.switched]
    at = np.zeros(paths.count)
    at[np.broadcast_to(muscle, ends.shape)[ends]] = edges[ends]
    others = (edges[0] <= at[muscle]) & (edges[1] >= at[muscle])
    switching = ends.any(axis=0)
    return others | switching, others & ~switching


def search_grid(edges: Array) -> Array:
    """Angles [rad] around all reachable edges."""
    inside = edges[(edges > _REACHABLE[0]) & (edges < _REACHABLE[1])]
    if not inside.size:
        return np.zeros(1)
    return np.arange(inside.min() - SEARCH, inside.max() + SEARCH + _STEP, _STEP)


def _gaps(model: Model, paths: Paths, dof: int, angles: Array, through: Mask, past: Mask) -> Array:
    """Length through some conditional points (C,) less length past them, (P, n) [m], one joint rotated."""
    joints, size = model.tree.joint_count, len(angles)
    coordinates = np.zeros((size, joints))
    coordinates[:, dof] = angles
    base = np.broadcast_to(np.eye(3), (size, 3, 3))
    q = model.tree.pose(coordinates, np.zeros((size, 3)), base, moving=np.arange(joints) == dof)
    longer, shorter = (
        paths.lengths(q, coordinates, np.broadcast_to(on, (size, len(on)))) for on in (through, past)
    )
    return longer - shorter


def refined_edge(edge: float, angles: Array, gap: Array) -> float:
    """Angle of the smallest gap within the search range, by a parabola; the edge itself where there is no minimum."""
    near = np.flatnonzero(np.abs(angles - edge) <= SEARCH)
    if not _REACHABLE[0] < edge < _REACHABLE[1] or near.size < 3:
        return edge
    best = int(near[np.argmin(gap[near])])
    if best in (near[0], near[-1]):
        return edge
    before, here, after = gap[best - 1 : best + 2]
    return float(angles[best] + 0.5 * _STEP * (before - after) / (before - 2.0 * here + after))
