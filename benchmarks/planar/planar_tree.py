"""A planar tree of rigid segments with their joints and masses, its constraints, and its motion.

Geometry comes from data files, masses from de Leva (1996). Plane: x forward, y up, angles counter-clockwise. Every
segment has a local frame in its proximal joint with

    xi = (sin theta, -cos theta),   eta = (cos theta, sin theta)

so at theta = 0 xi points down and eta forward, as the lower limbs have it in Blajer, Dziewiecki & Mazur (2006, 2).
The same frame is used for segments that rise from their joint (their xi are negative). The source has another frame for
the pelvis, whose angle as printed is clockwise while the matrix B of (3) needs it counter-clockwise (correction E3);
with one frame for all segments this case does not arise.

Explicit constraints (Blajer & Czaplicki 2005, 2.3-2.5), with the open-constraint coordinates z = distal minus proximal
point of each joint:

    p = g(q, z),   pd = D(q) qd + E zd,   pdd = D qdd + gamma(q, qd)

Implicit (2.1): z = Phi(p) = 0, C(p) pd = 0, C pdd = xi(p, pd). C D = 0 and C E = 1 (2.6, 2.7).
Coordinates: p = (x1, y1, theta1, x2, ...) of the centers of mass, (T, 3B); q = (xH, yH, phi1, ..., phiB), (T, B+2);
z = (x, y) joint by joint, (T, 2J). All functions of the motion accept complex numbers too.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.bundled_toml import bundled_toml, locate, read_text, toml_of
from musclesolve._util.checks import check_array, check_choice
from musclesolve._util.messages import check_known
from musclesolve.constants import SEXES, STANDARD_GRAVITY
from musclesolve.dynamics.model.human_model import check_size
from musclesolve.dynamics.model.segment_inertia import InertiaPart, compose
from musclesolve.errors import input_error


@dataclass(frozen=True)
class PlanarTree:
    """Segments (B) of a planar body; the origin of the root segment is the base point H.

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
            raise input_error(
                "bad_model",
                problem=f"segment {self.names[wrong[0]]!r} has mass {self.mass[wrong[0]]:g} kg and "
                f"moment of inertia {self.inertia[wrong[0]]:g} kg m2",
                expected="both positive",
            )
        if len(self.order) != count:
            raise input_error(
                "bad_model",
                problem=f"the segments {', '.join(map(str, self.names))} do not form one tree",
                expected="one root (parent -1), every other segment with a parent that leads back to it",
            )

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Segments from the root outward, without segments that are not connected to the root."""
        roots = np.flatnonzero(self.parent == -1)
        outward = [int(roots[0])] if len(roots) == 1 else []
        for index in outward:
            outward += [int(child) for child in np.flatnonzero(self.parent == index)]
        return tuple(outward)

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
        """Matrix (B, B): 1 where segment b is segment a or distal to it."""
        distal = np.eye(len(self.names))
        for index in self.order[1:]:
            distal[index] += distal[self.parent[index]]
        return distal

    @cached_property
    def chain(self) -> Array:
        """Local vectors (B, B, 2) in the frames of a, whose sum over a is the center of mass of b from H."""
        reach = np.zeros((len(self.names), len(self.names), 2))
        for index in self.order[1:]:
            reach[index] = reach[self.parent[index]]
            reach[index, self.parent[index]] = self.mount[index]
        reach[np.arange(len(self.names)), np.arange(len(self.names))] = self.center
        return reach

    def segment(self, name: str) -> int:
        """Index of a segment by its name."""
        check_known([name], "segment", self.names)
        return self.names.index(name)

    def joint(self, name: str) -> int:
        """Index of the joint at the proximal end of a segment."""
        index = self.segment(name)
        if index == self.root:
            raise input_error(
                "conflict", problem=f"{name!r} is the base segment, which has no proximal joint"
            )
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
"""Names of the bundled planar bodies."""


def planar_body(
    name: str | Path = "nine_segment", mass: float = 73.0, stature: float = 1.741, sex: str = "male"
) -> PlanarTree:
    """A planar body, bundled or from a file (path), of a subject of this mass [kg], stature [m] and sex.

    Lengths of the file scale with stature, masses with body mass; centers of mass and radii of gyration (transverse)
    come from the anthropometric table, a segment of several parts being composed by the parallel-axis theorem.

    Raises:
        InputError: an impossible mass, stature or sex, or a file that does not describe a body.
    """
    mass, stature = check_size(mass, stature)
    check_choice(sex, "sex", SEXES)
    if Path(name).suffix != ".toml":
        check_known([str(name)], "planar body", MODELS)
    path = locate(name, "benchmarks.planar", "models")
    raw = toml_of(read_text(path, "planar body"))
    try:
        scale = stature / raw["stature"]
        segments = raw["segment"]
        names = tuple(segment["name"] for segment in segments)
        rows = bundled_toml("musclesolve.dynamics.model", "anthropometry", "de_leva_1996.toml")[sex][
            "segment"
        ]
        # In the plane of space perpendicular to the joint axes, which are the third axis.
        composed = []
        for segment in segments:
            pieces: list[InertiaPart] = []
            for part in segment["part"]:
                row = rows[part["source"]]
                start, end = (scale * np.array([*part[key], 0.0], dtype=float) for key in ("start", "end"))
                part_mass = mass * row["mass_fraction"] * part["share"]
                gyration = part.get("gyration_fraction", row["gyration_fraction"][1])
                center = start + part.get("com_fraction", row["com_fraction"]) * (end - start)
                inertia = part_mass * gyration**2 * float(np.sum((end - start) ** 2))
                pieces.append((part_mass, center, np.diag([0.0, 0.0, inertia])))
            composed.append(compose(pieces))
        parent = [-1 if segment["parent"] == "" else names.index(segment["parent"]) for segment in segments]
        mount = scale * np.array([segment["joint"] for segment in segments], dtype=float)
        rest = np.radians([float(segment["rest_deg"]) for segment in segments])
    except (KeyError, TypeError, ValueError) as fault:
        raise input_error("bad_model", file=path, problem=f"not a planar body: {fault!r}") from fault
    masses, centers, inertias = (np.array(values) for values in zip(*composed, strict=True))
    return PlanarTree(
        names=names,
        parent=np.array(parent),
        mount=mount,
        center=centers[:, :2],
        mass=masses,
        inertia=inertias[:, 2, 2],
        rest=rest,
        stature=stature,
    )


def place(tree: PlanarTree, q: Array, z: Array | None = None) -> Array:
    """Absolute coordinates p = g(q, z), (T, 3B) (2.3; Blajer et al. 2006, 8, 11); z = 0 unless (T, 2J) is given."""
    angle = q[:, 2:]
    center = q[:, None, :2] + rotated(tree.chain, angle[:, None, :]).sum(axis=2)
    p = np.concatenate([center, angle[..., None]], axis=2).reshape(len(q), -1)
    return p if z is None else p + z @ open_directions(tree).T


def allowed(tree: PlanarTree, q: Array) -> Array:
    """Allowed directions D = dg/dq (T, 3B, B+2) (2.4)."""
    count = len(tree.names)
    directions = np.zeros((len(q), count, 3, count + 2), dtype=q.dtype)
    directions[:, :, 0, 0] = directions[:, :, 1, 1] = 1.0
    directions[:, :, 2, 2:] = np.eye(count)
    # Rotating a frame by 90 degrees brings xi to eta and eta to -xi: the derivative by the angle.
    rotating = rotated(tree.chain, q[:, None, 2:] + 0.5 * np.pi)
    directions[:, :, :2, 2:] = np.swapaxes(rotating, 2, 3)
    return directions.reshape(len(q), 3 * count, count + 2)


def bias(tree: PlanarTree, q: Array, qd: Array) -> Array:
    """Centripetal accelerations gamma = Dd qd, (T, 3B) (2.5)."""
    pull = -rotated(tree.chain, q[:, None, 2:]) * (qd[:, None, 2:, None] ** 2)
    gamma = np.zeros((len(q), len(tree.names), 3), dtype=pull.dtype)
    gamma[:, :, :2] = pull.sum(axis=2)
    return gamma.reshape(len(q), -1)


def open_directions(tree: PlanarTree) -> Array:
    """E = dg/dz, (3B, 2J) (2.4, 3.2), constant: opening a joint moves all distal segments."""
    count, joints = len(tree.names), len(tree.joints)
    directions = np.zeros((count, 3, joints, 2))
    for axis in range(2):
        directions[:, axis, :, axis] = tree.distal_segments[:, tree.joints]
    return directions.reshape(3 * count, 2 * joints)


def material_points(p: Array, segment: Indices, from_center: Array) -> Array:
    """Positions (T, P, 2) of points given in the frames of their segments (P,), from the centers of mass (P, 2)."""
    by_segment = p.reshape(len(p), -1, 3)
    return by_segment[:, segment, :2] + rotated(from_center, by_segment[:, segment, 2])


@dataclass(frozen=True)
class PlanarMotion:
    """q, qd, qdd (T, B+2): base point H [m], then the angle of every segment [rad], and derivatives."""

    q: Array
    qd: Array
    qdd: Array

    def __post_init__(self) -> None:
        q = check_array(self.q, "q", ("T", "B+2"))
        check_array(self.qd, "qd", q.shape)
        check_array(self.qdd, "qdd", q.shape)

    def absolute(self, tree: PlanarTree) -> tuple[Array, Array, Array]:
        """p, pd, pdd (T, 3B) (Blajer et al. 2006, 8-10)."""
        directions = allowed(tree, self.q)
        pdd = np.einsum("tik,tk->ti", directions, self.qdd) + bias(tree, self.q, self.qd)
        return place(tree, self.q), np.einsum("tik,tk->ti", directions, self.qd), pdd
