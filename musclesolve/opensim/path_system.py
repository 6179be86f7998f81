"""Muscle paths of an OpenSim model as arrays for the path engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.errors import InputError
from musclesolve.muscles.paths.layout import KINDS, METHODS, PathLayout
from musclesolve.opensim.functions import Function
from musclesolve.opensim.kinematics import BodyMotion
from musclesolve.opensim.model import OpenSimModel, OpenSimMuscle, Point, Surface


@dataclass(frozen=True, eq=False)
class PathSystem:
    """Paths of n muscles with points (P) and wrap objects (O) in frames of bodies; nodes (N) as in `PathNodes`.

    node_body (N,) and object_body (O,): index of the body; local (P, 3) [m]: place in it, of fixed points;
    center (O, 3), axes (O, 3, 3): of the wrap objects in it.
    """

    model: OpenSimModel
    muscles: tuple[str, ...]
    layout: PathLayout
    points: tuple[Point, ...]
    node_body: Indices
    object_body: Indices
    local: Array
    center: Array
    axes: Array

    def local_points(self, values: Array) -> Array:
        """Places (T, P, 3) in their bodies for values (T, K) of all coordinates."""
        places = np.broadcast_to(self.local, (len(values), *self.local.shape)).copy()
        for p, point in enumerate(self.points):
            if point.moving is not None:
                parts = [f.value(x) for f, x in self._parts(point, values)]
                places[:, p] = point.frame.place(np.stack(parts, axis=1))
        return places

    def local_slopes(self, values: Array) -> list[tuple[int, int, Array]]:
        """Moving points: point, coordinate and d(place in the body)/d(coordinate), (T, 3)."""
        found = []
        for p, point in enumerate(self.points):
            for axis, (function, x) in enumerate(self._parts(point, values)):
                slope = function.derivative(x) * point.frame.rotation[:, axis]
                assert point.moving is not None
                found.append((p, self.model.coordinate_number[point.moving.coordinates[axis]], slope))
        return found

    def _parts(self, point: Point, values: Array) -> list[tuple[Function, Array]]:
        """The functions of a moving point with their coordinate (T, 1)."""
        moving = point.moving
        if moving is None:
            return []
        columns = [values[:, [self.model.coordinate_number[name]]] for name in moving.coordinates]
        return list(zip(moving.functions, columns, strict=True))

    def on(self, values: Array) -> Mask:
        """Which points are on the path, (T, P)."""
        on = np.ones((len(values), len(self.points)), dtype=bool)
        for p, point in enumerate(self.points):
            if point.condition is not None:
                name, lower, upper = point.condition
                angle = values[:, self.model.coordinate_number[name]]
                on[:, p] = (angle >= lower) & (angle <= upper)
        first = np.searchsorted(self.layout.point_muscle, np.arange(self.layout.muscles))
        short = np.argwhere(np.add.reduceat(on, first, axis=1, dtype=np.intp) < 2)
        if short.size:
            raise InputError(
                f"muscle {self.muscles[short[0, 1]]} has fewer than two points in pose {short[0, 0]}",
                code="bad_model",
                file=self.model.file,
                expected="origin and insertion at every angle",
                remedy="correct the ranges of its conditional points",
            )
        return on

    def placed(self, motion: BodyMotion, values: Array) -> tuple[Array, Array, Array]:
        """Points (T, P, 3), centers (T, O, 3) and axes (T, O, 3, 3) of the wrap objects in the ground."""
        body = self.node_body[: len(self.points)]
        places = self.local_points(values)[..., None]
        position = (motion.rotation[:, body] @ places)[..., 0] + motion.position[:, body]
        rotation = motion.rotation[:, self.object_body]
        center = (rotation @ self.center[..., None])[..., 0] + motion.position[:, self.object_body]
        return position, center, rotation @ self.axes


def path_system(model: OpenSimModel, muscles: Sequence[OpenSimMuscle]) -> PathSystem:
    """The paths of some muscles of a model."""
    points = tuple(point for muscle in muscles for point in muscle.points)
    wraps = [
        (m, wrap)
        for m, muscle in enumerate(muscles)
        for wrap in muscle.wraps
        if model.surfaces[wrap.surface].active
    ]
    names = list(dict.fromkeys(wrap.surface for _, wrap in wraps))
    surfaces = [model.surfaces[name] for name in names]
    owner = np.repeat(np.arange(len(muscles)), [len(muscle.points) for muscle in muscles])
    start = np.searchsorted(owner, np.arange(len(muscles) + 1))
    objects = np.array([names.index(wrap.surface) for _, wrap in wraps], dtype=np.intp)
    body = np.array([model.body_number[point.frame.body] for point in points])
    object_body = np.array([model.body_number[each.frame.body] for each in surfaces], dtype=np.intp)
    layout = PathLayout(
        point_muscle=owner,
        wrap_muscle=np.array([m for m, _ in wraps], dtype=np.intp),
        wrap_object=objects,
        wrap_first=np.array([start[m] + (wrap.first or 1) - 1 for m, wrap in wraps], dtype=np.intp),
        wrap_last=np.array(
            [start[m + 1] - 1 if wrap.last is None else start[m] + wrap.last - 1 for m, wrap in wraps],
            dtype=np.intp,
        ),
        wrap_method=np.array([METHODS.index(wrap.method) for _, wrap in wraps], dtype=np.intp),
        **_surface_arrays(surfaces),
    )
    return PathSystem(
        model=model,
        muscles=tuple(muscle.name for muscle in muscles),
        layout=layout,
        points=points,
        node_body=np.concatenate([body, np.repeat(object_body[objects], 2)]),
        object_body=object_body,
        local=np.array([_local(point) for point in points]),
        center=np.array([each.frame.position for each in surfaces]).reshape(-1, 3),
        axes=np.array([each.frame.rotation for each in surfaces]).reshape(-1, 3, 3),
    )


def _local(point: Point) -> Array:
    return np.zeros(3) if point.location is None else point.frame.place(point.location)


def _surface_arrays(surfaces: Sequence[Surface]) -> dict[str, Any]:
    """The wrap objects as `PathLayout` has them."""
    sides = [each.side for each in surfaces]
    return {
        "kind": np.array([KINDS.index(each.kind) for each in surfaces], dtype=np.intp),
        "radii": np.array([each.radii for each in surfaces]).reshape(-1, 3),
        "half_length": np.array([0.5 * each.length for each in surfaces]),
        "side_axis": np.array([0 if s == "all" else "xyz".index(s[1]) for s in sides], dtype=np.intp),
        "side_sign": np.array([0.0 if s == "all" else float(f"{s[0]}1") for s in sides]),
    }
