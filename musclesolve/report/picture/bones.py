"""The surfaces of bones that a picture shows, each fixed to a segment, and where the segments are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.report.picture.lofted_bones import lofted_bones
from musclesolve.results.dataset.picture import Skeleton

WALKER = "walker_"
"""How the names of the knees of Rajagopal's models begin."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Vertices (V, 3) [m] and triangles (F, 3); of a closed one counterclockwise seen from outside."""

    vertices: Array
    faces: Indices
    closed: bool

    @cached_property
    def hull(self) -> Indices:
        """Triangles (H, 3) of the convex hull."""
        from scipy.spatial import ConvexHull

        # joggled, so that a flat surface has a hull too
        return np.asarray(ConvexHull(self.vertices, qhull_options="QJ").simplices, np.intp)


@dataclass(frozen=True, eq=False)
class Bones:
    """One surface for each of B segments.

    segments (B): names. surfaces (B): in the axes of the segment (forward, left and up in the standing pose), from its
    position. place (T, B, 3) [m] and rotation (T, B, 3, 3) of the segments, NaN where not known.
    """

    segments: tuple[str, ...]
    surfaces: tuple[Surface, ...]
    place: Array
    rotation: Array

    def placed(self, frame: int) -> list[Array]:
        """The vertices (V, 3) [m] of each surface in the laboratory."""
        poses = zip(self.surfaces, self.place[frame], self.rotation[frame], strict=True)
        return [surface.vertices @ rotation.T + place for surface, place, rotation in poses]

    @classmethod
    def fixed(cls, surfaces: Mapping[str, Surface], skeleton: Skeleton) -> Bones:
        """Surfaces by the names of their segments, on a skeleton."""
        kept = [k for k, name in enumerate(skeleton.segments) if name in surfaces]
        place, rotation = (
            np.asarray(each[:, kept], dtype=float) for each in (skeleton.place, skeleton.rotation)
        )
        names = tuple(skeleton.segments[k] for k in kept)
        return cls(names, tuple(surfaces[name] for name in names), place, rotation)

    def moved(self, skeleton: Skeleton) -> Bones:
        """The same surfaces on the same skeleton in other poses."""
        return Bones.fixed(dict(zip(self.segments, self.surfaces, strict=True)), skeleton)


def bones_of(skeleton: Skeleton, subjects: Sequence[str], knee_widths: Mapping[str, float]) -> Bones:
    """The bones of subjects by bones.toml, each sized by its own points.

    Args:
        skeleton: points and segments.
        subjects: what the names of points and segments of each subject begin with.
        knee_widths: breadth over the epicondyles [m] by side, as far as known.
    """
    surfaces: dict[str, Surface] = {}
    for before in subjects:
        surfaces |= simple_surfaces(skeleton, knee_widths, before)
    return Bones.fixed(surfaces, skeleton)


def simple_surfaces(
    skeleton: Skeleton,
    knee_widths: Mapping[str, float] | None = None,
    before: str = "",
    of_model: bool = False,
) -> dict[str, Surface]:
    """Surfaces by bones.toml of the segments whose names begin like that; of_model: the bodies of an OpenSim model."""
    position, place, rotation = (
        np.asarray(each, dtype=float) for each in (skeleton.position, skeleton.place, skeleton.rotation)
    )
    points, segments = (
        {name.removeprefix(before): k for k, name in enumerate(names) if name.startswith(before)}
        for names in (skeleton.points, skeleton.segments)
    )
    if of_model:
        points = {name.removeprefix(WALKER): k for name, k in points.items()}
    lofted = lofted_bones(
        {name: position[:, k] for name, k in points.items()},
        {name: (place[:, k], rotation[:, k]) for name, k in segments.items()},
        knee_widths or {},
        "model_frame" if of_model else "frame",
    )
    return {before + name: Surface(*mesh, closed=True) for name, mesh in lofted.items()}
