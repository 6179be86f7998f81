"""The surfaces of bones in a picture, each fixed to a segment, and the poses of the segments.

The patella slides in the groove of the femur, held by its ligament. The cartilage at the back of the patella is tangent
to a curve g(s) in the sagittal plane of the femur (bones.toml, `knee`), and its apex a(s) lies at the constant length L
of the patellar ligament from the tibial tuberosity p: |a(s) - p| = L. This is the mechanism of van Eijden et al. (1986,
J Biomech 19:219-229) with a ligament that does not stretch. Nothing is computed from it: the sharing has a patella of
its own (`models.knee`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SIDES
from musclesolve._util.splines import MonotoneCubic
from musclesolve.laboratory.report.picture.lofted_bones import (
    Mesh,
    Placement,
    attached,
    lofted_bones,
    placements,
    reaching,
    standard_bones,
)

if TYPE_CHECKING:  # loads the analysis
    from musclesolve.laboratory.results.dataset.labels import Skeleton


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
    knees: "dict[tuple[str, str], tuple[Knee, Surface, Surface]]"


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
    def fixed(cls, standard: SimpleBones, skeleton: "Skeleton") -> "Bones":
        """Surfaces by the names of their segments, on a skeleton, and the patellae between them."""
        surfaces = standard.surfaces
        kept = [k for k, name in enumerate(skeleton.segments) if name in surfaces]
        place, rotation = (
            np.asarray(part[:, kept], dtype=float) for part in (skeleton.place, skeleton.rotation)
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

    def reaching(self, ends: Array) -> "Bones":
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
        moved = {name: named.get(name, shape) for name, shape in simple.surfaces.items()}
        return replace(self, surfaces=surfaces, standard=SimpleBones(moved, knees))


def _between(before: str, side: str) -> tuple[str, str]:
    """Names of the surfaces of a knee."""
    return f"{before}patella_{side}", f"{before}patellar_ligament_{side}"


def bones_of(skeleton: "Skeleton", subjects: Sequence[str], knee_widths: Mapping[str, float]) -> Bones:
    """The bones of subjects by bones.toml, each sized by its own points.

    Args:
        skeleton: points and segments.
        subjects: beginning of the names of points and segments of each subject.
        knee_widths: breadth over the epicondyles [m] by side, as far as known.
    """
    every = [simple_bones(skeleton, knee_widths, before) for before in subjects]
    surfaces = {name: surface for bones in every for name, surface in bones.surfaces.items()}
    knees = {key: knee for bones in every for key, knee in bones.knees.items()}
    return Bones.fixed(SimpleBones(surfaces, knees), skeleton)


def bones_of_model(skeleton: "Skeleton", meshes: Mapping[str, Surface]) -> Bones:
    """The bones of an OpenSim model: meshes by body, and simple bones for the bodies without one.

    A patella is added only between simple bones: it does not fit other surfaces.
    """
    simple = simple_bones(skeleton, of_model=True)
    knees = {
        key: knee for key, knee in simple.knees.items() if not {knee[0].femur, knee[0].tibia} & set(meshes)
    }
    return Bones.fixed(SimpleBones(simple.surfaces | dict(meshes), knees), skeleton)


def simple_bones(
    skeleton: "Skeleton",
    knee_widths: Mapping[str, float] | None = None,
    before: str = "",
    of_model: bool = False,
) -> SimpleBones:
    """Bones by bones.toml of the segments whose names begin with `before`; of_model: bodies of an OpenSim model."""
    position, place, rotation = (
        np.asarray(part, dtype=float) for part in (skeleton.position, skeleton.place, skeleton.rotation)
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


POSES = 400
"""Number of poses of the patella along the groove; between two poses it is interpolated."""
Pose = tuple[Array, Array]
"""Position (T, 3) [m] and rotation (T, 3, 3) of a segment; the columns point forward, left and up."""


@dataclass(frozen=True, eq=False)
class Knee:
    """The groove of one femur and the ligament of its tibia.

    femur, tibia: names of the segments. center, apex (K, 3) [m]: of the patella at places along the groove, from top to
    bottom, in the axes of the femur from its position; normal (K, 3): forward from the femur. across (3,): to the
    left. insertion (3,) [m]: of the ligament, in the axes of the tibia from its position. ligament [m]: its length.
    """

    femur: str
    tibia: str
    center: Array
    apex: Array
    normal: Array
    across: Array
    insertion: Array
    ligament: float

    def poses(self, femur: Pose, tibia: Pose) -> tuple[Pose, Pose]:
        """The poses of the patella and of the ligament, whose origin is the insertion."""
        (place, turned), (tibia_place, tibia_turned) = femur, tibia
        insertion = tibia_place + tibia_turned @ self.insertion
        end = np.einsum("tji,tj->ti", turned, insertion - place)
        distance = np.linalg.norm(self.apex - end[:, None], axis=2)
        # the first place from the top with the apex within reach, and how far beyond the one before
        after = np.clip(np.argmax(distance < self.ligament, axis=1), 1, None)
        never = ~(distance < self.ligament).any(axis=1)
        after[never] = np.maximum(np.argmin(np.nan_to_num(distance[never], nan=1.0), axis=1), 1)
        above, below = (np.take_along_axis(distance, k[:, None], axis=1)[:, 0] for k in (after - 1, after))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.clip((above - self.ligament) / (above - below), 0.0, 1.0)[:, None]
        center, apex, normal = (
            (1.0 - share) * part[after - 1] + share * part[after]
            for part in (self.center, self.apex, self.normal)
        )
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        across = np.broadcast_to(self.across, normal.shape)
        patella = turned @ np.stack([normal, across, np.cross(normal, across)], axis=2)
        up = np.einsum("tij,tj->ti", turned, apex) + place - insertion
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        left = np.cross(up, patella[:, :, 0])
        left /= np.linalg.norm(left, axis=1, keepdims=True)
        ligament = np.stack([np.cross(left, up), left, up], axis=2)
        return (place + np.einsum("tij,tj->ti", turned, center), patella), (insertion, ligament)


def patellae(placed: Sequence[Placement]) -> dict[str, tuple[Knee, Mesh, Mesh]]:
    """By side the knee with the surfaces of patella and ligament; none where a body of a model is the patella."""
    table = bundled_toml(__package__, "bones.toml")["knee"]
    of = {(placement.segment, placement.side): placement for placement in placed}
    knees: dict[str, tuple[Knee, Mesh, Mesh]] = {}
    for femur_name, tibia_name in table["segments"]:
        for side in SIDES:
            femur, tibia = of.get((f"{femur_name}_{side}", side)), of.get((f"{tibia_name}_{side}", side))
            if femur is None or tibia is None or (f"patella_{side}", side) in of:
                continue
            patella, ligament = (
                (femur.scale * vertices, faces)
                for part in ("patella", "ligament")
                for vertices, faces in standard_bones("patella", side, part)
            )
            knees[side] = (_knee(femur, tibia, table), patella, ligament)
    return knees


def _knee(femur: Placement, tibia: Placement, table: Mapping[str, object]) -> Knee:
    groove = np.asarray(table["groove"], dtype=float)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(groove, axis=0), axis=1))])
    x, z = MonotoneCubic.through(along, groove)(np.linspace(0.0, along[-1], POSES)).T
    back = femur.placed(np.stack([x, np.zeros(POSES), z - femur.about["scale"]["z"][2]], axis=1))
    # square to the groove after it is scaled, forward where it runs down
    across = femur.axes[:, 1]
    normal = np.cross(np.gradient(back, axis=0), across)
    normal *= -1.0 / np.linalg.norm(normal, axis=1, keepdims=True)
    normal *= np.sign(normal[0] @ femur.axes[:, 0])
    center = back + femur.scale[0] * float(table["back"]) * normal  # type: ignore[arg-type]
    (apex_x, apex_z), (tub_x, tub_z) = (np.asarray(table[key], dtype=float) for key in ("apex", "tuberosity"))
    apex = center + femur.scale[0] * apex_x * normal + femur.scale[2] * apex_z * np.cross(normal, across)
    insertion = tibia.placed(np.array([tub_x, 0.0, tub_z]))
    length = femur.scale[2] * float(table["ligament"])  # type: ignore[arg-type]
    return Knee(femur.segment, tibia.segment, center, apex, normal, across, insertion, length)
