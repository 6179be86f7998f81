"""The paths of a muscle set on one leg of a model: points, wrap objects and frames that move, in standing positions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from muscle_db import Muscle, MuscleDatabase
from muscle_db.model import MovingFrame, PathPoint, WrapObject
from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.carriers import WrapObjects
from musclesolve.muscles.paths.layout import KINDS, METHODS, PathLayout
from musclesolve.muscles.paths.moving_frames import MovingFrames
from musclesolve.muscles.paths.natural_spline import NaturalSpline
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.placing.frame_maps import FrameMap, body_name

AXES = "xyz"


def placed_paths(model: Model, database: MuscleDatabase, side: str, maps: Mapping[str, FrameMap]) -> Paths:
    """Put points, moving frames and wrap objects where the maps (frame_maps.py) have them; ranges as tabulated."""
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
        objects = list(self.wraps.values())
        if not objects:
            return PathLayout(muscle)
        number = {name: k for k, name in enumerate(self.wraps)}
        first = np.searchsorted(muscle, np.arange(len(self.muscles) + 1))
        wraps = [
            (
                n,
                number[wrap.object],
                first[n] + (wrap.first or 1) - 1,
                first[n] + (wrap.last or len(each.path)) - 1,
                METHODS.index(wrap.method),
            )
            for n, each in enumerate(self.muscles)
            for wrap in each.wraps
        ]
        of_muscle, of_object, start, stop, method = np.array(wraps).T
        return PathLayout(
            muscle,
            kind=np.array([KINDS.index(each.kind) for each in objects]),
            radii=np.stack([self._radii(each) for each in objects]),
            half_length=np.array([0.5 * self._stretch(each)[2] * each.length for each in objects]),
            side_axis=np.array([0 if each.side == "all" else AXES.index(each.side[1]) for each in objects]),
            side_sign=np.array(
                [0.0 if each.side == "all" else float(f"{each.side[0]}1") for each in objects]
            ),
            wrap_muscle=of_muscle,
            wrap_object=of_object,
            wrap_first=start,
            wrap_last=stop,
            wrap_method=method,
        )

    def _radii(self, wrap: WrapObject) -> Array:
        """Of a sphere by the mean of the three directions, of a cylinder by that of the two across, as OpenSim does."""
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
