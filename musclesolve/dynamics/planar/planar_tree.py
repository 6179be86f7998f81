"""A planar tree of rigid segments with their joints and masses: geometry from data files, masses by de Leva (1996).

Plane: x forward, y up, angles counter-clockwise. Every segment has a local frame in its proximal joint with

    xi = (sin theta, -cos theta),   eta = (cos theta, sin theta)

so at theta = 0 xi points down and eta forward, as the lower limbs have it in Blajer, Dziewiecki & Mazur (2006, 2).
The same frame is used for segments that rise from their joint (their xi are negative). The source gives the pelvis
another one, whose angle as printed is clockwise while the matrix B of (3) needs it counter-clockwise
(correction E3); one frame for all leaves no such case.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import check_array, check_choice
from musclesolve._util.names import unknown_name
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.model.data_files import locate, read_table, read_text
from musclesolve.dynamics.model.human_model import check_size
from musclesolve.errors import InputError


@dataclass(frozen=True)
class PlanarTree:
    """Segments (B) of a planar body; the root's own origin is the base point H.

    parent (B,): index of the proximal segment, -1 for the root; mount (B, 2): the joint to the parent in the parent's
    frame [m]; center (B, 2): center of mass in the own frame [m]; mass (B,) [kg]; inertia (B,) about the center of mass
    [kg m2]; rest (B,): angle in the standing pose [rad]; stature [m], where it is known.
    """

    names: tuple[str, ...]
    parent: Indices
    mount: Array
    center: Array
    mass: Array
    inertia: Array
    rest: Array
    stature: float | None = None
    gravity: float = STANDARD_GRAVITY

    def __post_init__(self) -> None:
        count = len(self.names)
        shapes = {"parent": (count,), "mount": (count, 2), "center": (count, 2), "mass": (count,)}
        shapes |= {"inertia": (count,), "rest": (count,)}
        for name, shape in shapes.items():
            check_array(getattr(self, name), f"the {name} of the planar body", shape, self.names, axis=0)
        wrong = np.flatnonzero((self.mass <= 0.0) | (self.inertia <= 0.0))
        if len(wrong):
            raise InputError(
                f"segment {self.names[wrong[0]]!r} has mass {self.mass[wrong[0]]:g} kg and moment of inertia "
                f"{self.inertia[wrong[0]]:g} kg m2",
                code="bad_model",
                expected="both positive",
            )
        if len(self.order) != count:
            raise InputError(
                f"the segments {', '.join(self.names)} do not form one tree",
                code="bad_model",
                expected="one root (parent -1), every other segment with a parent that leads back to it",
            )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Segments from the root outward, as far as one root reaches."""
        roots = np.flatnonzero(self.parent == -1)
        found = [int(roots[0])] if len(roots) == 1 else []
        for index in found:
            found += [int(child) for child in np.flatnonzero(self.parent == index)]
        return tuple(found)

    @property
    def root(self) -> int:
        """Index of the base segment."""
        return self.order[0]

    @cached_property
    def joints(self) -> Indices:
        """Distal segment of each joint (J = B - 1), in the order of the segments."""
        return np.flatnonzero(self.parent >= 0)

    @cached_property
    def distal_segments(self) -> Array:
        """(B, B): segment b is a or distal to it."""
        distal = np.eye(len(self.names))
        for index in self.order[1:]:
            distal[index] += distal[self.parent[index]]
        return distal

    @cached_property
    def chain(self) -> Array:
        """(B, B, 2): the center of mass of b is H plus the sum over a of these local vectors, each in the frame of
        a.
        """
        reach = np.zeros((len(self.names), len(self.names), 2))
        for index in self.order[1:]:
            reach[index] = reach[self.parent[index]]
            reach[index, self.parent[index]] = self.mount[index]
        reach[np.arange(len(self.names)), np.arange(len(self.names))] = self.center
        return reach

    def segment(self, name: str) -> int:
        """Index of a segment."""
        if name not in self.names:
            raise unknown_name(name, "segment", self.names)
        return self.names.index(name)

    def joint(self, name: str) -> int:
        """Index of the joint at the proximal end of a segment."""
        index = self.segment(name)
        if index == self.root:
            raise InputError(f"{name!r} is the base segment, which has no proximal joint", code="conflict")
        return int(np.flatnonzero(self.joints == index)[0])


def frame(angle: Array) -> tuple[Array, Array]:
    """Unit vectors xi and eta (..., 2) of local frames at angles (...) [rad]; d xi = eta, d eta = -xi per radian."""
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.stack([sine, -cosine], axis=-1), np.stack([cosine, sine], axis=-1)


def rotated(local: Array, angle: Array) -> Array:
    """Local vectors (..., 2) in global axes, segment angles (...)."""
    xi, eta = frame(angle)
    return local[..., 0, None] * xi + local[..., 1, None] * eta


MODELS = ("seven_segment", "nine_segment", "two_leg")
"""The bundled bodies."""


def planar_body(
    name: str | Path = "nine_segment", mass: float = 73.0, stature: float = 1.741, sex: str = "male"
) -> PlanarTree:
    """A planar body, bundled or from a file (path), of a subject of this mass [kg], stature [m] and sex.

    Lengths of the file scale with stature, masses with body mass; centers of mass and radii of gyration (transverse)
    are those of the anthropometric table, a segment of several parts being composed by the parallel-axis theorem.

    Raises:
        InputError: a mass, stature or sex that cannot be, or a file that does not describe a body.
    """
    mass, stature = check_size(mass, stature)
    check_choice(sex, "sex", ("female", "male"))
    if Path(name).suffix != ".toml" and str(name) not in MODELS:
        raise unknown_name(str(name), "planar body", MODELS)
    path = locate(name, "musclesolve.dynamics.planar", "models")
    raw = tomllib.loads(read_text(path, "planar body"))
    try:
        scale = stature / raw["stature"]
        segments = raw["segment"]
        names = tuple(segment["name"] for segment in segments)
        rows = read_table("anthropometry", "de_leva_1996.toml")[sex]["segment"]
        composed = [_compose(segment["part"], scale, mass, rows) for segment in segments]
        parent = [-1 if segment["parent"] == "" else names.index(segment["parent"]) for segment in segments]
        mount = scale * np.array([segment["joint"] for segment in segments], dtype=float)
        rest = np.radians([float(segment["rest_deg"]) for segment in segments])
    except (KeyError, TypeError, ValueError) as fault:
        raise InputError(f"not a planar body: {fault!r}", code="bad_model", file=path) from fault
    return PlanarTree(
        names=names,
        parent=np.array(parent),
        mount=mount,
        center=np.array([center for _, center, _ in composed]),
        mass=np.array([m for m, _, _ in composed]),
        inertia=np.array([i for _, _, i in composed]),
        rest=rest,
        stature=stature,
    )


def _compose(parts: list[dict], scale: float, mass: float, rows: dict) -> tuple[float, Array, float]:
    """Mass, center (2,) and moment of inertia about it of the parts of one segment (parallel-axis theorem)."""
    masses, centers, inertias = [], [], []
    for part in parts:
        row = rows[part["source"]]
        start, end = (scale * np.array(part[key], dtype=float) for key in ("start", "end"))
        part_mass = mass * row["mass_fraction"] * part["share"]
        gyration = part.get("gyration_fraction", row["gyration_fraction"][1])
        masses.append(part_mass)
        centers.append(start + part.get("com_fraction", row["com_fraction"]) * (end - start))
        inertias.append(part_mass * gyration**2 * float(np.sum((end - start) ** 2)))
    total = float(sum(masses))
    center = np.average(centers, axis=0, weights=masses)
    spread = np.sum((np.array(centers) - center) ** 2, axis=1)
    return total, center, float(np.sum(inertias) + np.dot(masses, spread))
