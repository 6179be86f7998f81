"""The surfaces of bones in a picture, each fixed to a segment, and the poses of the segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.report.picture.attachments import attached, reaching
from musclesolve.report.picture.lofted_bones import Mesh, lofted_bones, placements
from musclesolve.report.picture.patella import Knee, patellae

if TYPE_CHECKING:  # loads the analysis
    from musclesolve.results.dataset.labels import Skeleton

WALKER = "walker_"
"""Beginning of the names of the knees in Rajagopal's models."""
HIPS_APART = 165.0 / 431.0
"""Distance of the hip centers in lengths of a thigh, as in bones.toml, where a model has one leg alone."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Vertices (V, 3) [m] and triangles (F, 3); of a closed one counterclockwise seen from outside."""

    vertices: Array
    faces: Indices
    closed: bool

    @property
    def mesh(self) -> Mesh:
        """Vertices and triangles."""
        return self.vertices, self.faces


@dataclass(frozen=True, eq=False)
class SimpleBones:
    """Surfaces by the names of their segments; surfaces of knees by the text before and after "patella"."""

    surfaces: dict[str, Surface]
    knees: dict[tuple[str, str], tuple[Knee, Surface, Surface]]


@dataclass(frozen=True, eq=False)
class Bones:
    """One surface for each of B segments.

    segments (B): names. surfaces (B): in the axes of the segment (forward, left and up in the standing pose), from its
    position. place (T, B, 3) [m] and rotation (T, B, 3, 3) of the segments, NaN where not known. The last ones are
    patellae and their ligaments, which are no segments of the skeleton; standard: the surfaces that define them.
    """

    segments: tuple[str, ...]
    surfaces: tuple[Surface, ...]
    place: Array
    rotation: Array
    standard: SimpleBones

    def placed(self, frame: int) -> list[Array]:
        """The vertices (V, 3) [m] of each surface in the laboratory."""
        poses = zip(self.surfaces, self.place[frame], self.rotation[frame], strict=True)
        return [surface.vertices @ rotation.T + place for surface, place, rotation in poses]

    @classmethod
    def fixed(cls, standard: SimpleBones, skeleton: Skeleton) -> Bones:
        """Surfaces by the names of their segments, on a skeleton, and the patellae between them."""
        surfaces = standard.surfaces
        kept = [k for k, name in enumerate(skeleton.segments) if name in surfaces]
        place, rotation = (
            np.asarray(each[:, kept], dtype=float) for each in (skeleton.place, skeleton.rotation)
        )
        names = [skeleton.segments[k] for k in kept]
        every, places, rotations = [surfaces[name] for name in names], [place], [rotation]
        for (before, side), (knee, *pair) in standard.knees.items():
            of = [names.index(before + name) for name in (knee.femur, knee.tibia)]
            poses = knee.poses(*((place[:, k], rotation[:, k]) for k in of))
            names += _between(before, side)
            every += pair
            places += [at[:, None] for at, _ in poses]
            rotations += [turned[:, None] for _, turned in poses]
        place, rotation = np.concatenate(places, axis=1), np.concatenate(rotations, axis=1)
        return cls(tuple(names), tuple(every), place, rotation, standard)

    def reaching(self, ends: Array) -> Bones:
        """The bones with simple surfaces that pass through the attachments of the muscles.

        Surfaces from files of geometry keep their shape. ends: (T, A, 2, 3) [m], each with the next point of its path.
        """
        meshes = [surface.mesh for surface in self.surfaces]
        bone, points, _ = attached(ends, self.place, self.rotation, meshes)
        surfaces = tuple(
            replace(surface, vertices=reaching(surface.mesh, points[bone == k]))
            if surface.closed
            else surface
            for k, surface in enumerate(self.surfaces)
        )
        named, simple = dict(zip(self.segments, surfaces, strict=True)), self.standard
        knees = dict(simple.knees)
        for (before, side), (knee, *_) in simple.knees.items():
            patella, ligament = _between(before, side)
            knees[before, side] = knee, named[patella], named[ligament]
        moved = {name: named.get(name, each) for name, each in simple.surfaces.items()}
        return replace(self, surfaces=surfaces, standard=SimpleBones(moved, knees))

    def moved(self, skeleton: Skeleton) -> Bones:
        """The bones with their surfaces on other poses of the skeleton."""
        return Bones.fixed(self.standard, skeleton)


def _between(before: str, side: str) -> tuple[str, str]:
    """Names of the surfaces of a knee."""
    return f"{before}patella_{side}", f"{before}patellar_ligament_{side}"


def bones_of(skeleton: Skeleton, subjects: Sequence[str], knee_widths: Mapping[str, float]) -> Bones:
    """The bones of subjects by bones.toml, each sized by its own points.

    Args:
        skeleton: points and segments.
        subjects: beginning of the names of points and segments of each subject.
        knee_widths: breadth over the epicondyles [m] by side, as far as known.
    """
    every = [simple_bones(skeleton, knee_widths, before) for before in subjects]
    surfaces = {name: surface for each in every for name, surface in each.surfaces.items()}
    knees = {key: knee for each in every for key, knee in each.knees.items()}
    return Bones.fixed(SimpleBones(surfaces, knees), skeleton)


def bones_of_model(skeleton: Skeleton, meshes: Mapping[str, Surface]) -> Bones:
    """The bones of an OpenSim model: meshes by body, and simple bones for the bodies without one.

    A patella is added only between simple bones: it does not fit other surfaces.
    """
    simple = simple_bones(skeleton, of_model=True)
    knees = {
        key: knee for key, knee in simple.knees.items() if not {knee[0].femur, knee[0].tibia} & set(meshes)
    }
    return Bones.fixed(SimpleBones(simple.surfaces | dict(meshes), knees), skeleton)


def simple_bones(
    skeleton: Skeleton,
    knee_widths: Mapping[str, float] | None = None,
    before: str = "",
    of_model: bool = False,
) -> SimpleBones:
    """Bones by bones.toml of the segments whose names begin with `before`; of_model: bodies of an OpenSim model."""
    position, place, rotation = (
        np.asarray(each, dtype=float) for each in (skeleton.position, skeleton.place, skeleton.rotation)
    )
    points, segments = (
        {name.removeprefix(before): k for k, name in enumerate(names) if name.startswith(before)}
        for names in (skeleton.points, skeleton.segments)
    )
    if of_model:
        points = {name.removeprefix(WALKER): k for name, k in points.items()}
    at = {name: position[:, k] for name, k in points.items()}
    for side, other, toward in (("r", "l", 1.0), ("l", "r", -1.0)) if "pelvis" in segments else ():
        hip, knee = (at.get(f"{joint}_{side}") for joint in ("hip", "knee"))
        # one leg hangs on a whole pelvis
        if hip is not None and knee is not None and f"hip_{other}" not in at:
            apart = toward * HIPS_APART * np.linalg.norm(hip - knee, axis=1)[:, None]
            across = apart * rotation[:, segments["pelvis"], :, 1]
            at |= {f"hip_{other}": hip + across, f"knee_{other}": knee + across}
    placed = placements(
        at,
        {name: (place[:, k], rotation[:, k]) for name, k in segments.items()},
        knee_widths or {},
        "model_frame" if of_model else "frame",
    )
    return SimpleBones(
        {before + name: Surface(*mesh, closed=True) for name, mesh in lofted_bones(placed).items()},
        {
            (before, side): (knee, Surface(*patella, closed=True), Surface(*ligament, closed=True))
            for side, (knee, patella, ligament) in patellae(placed).items()
        },
    )
