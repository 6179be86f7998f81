"""Bones of a subject as closed surfaces through the cross sections of bones.toml, scaled to the subject's skeleton.

A bone is a loft: superellipses |x/a|^n + |y/b|^n = 1 about a curve, closed at both ends by a rounded cap. The curve and
the half widths are interpolated between the sections of the table without overshoot (PCHIP).

Bones reach the ends of their muscles, by one rule for every muscle set and model. An attachment belongs to the bone on
which it stays: to the segment k with the least |distance of its mean place from the surface of k| + STAYS s_k, where
s_k is the standard deviation of its place on k over the motion. The surface is then moved so that it passes through its
attachments p_j, by a smooth field that fades within some centimeters,

    u(x) = sum_j w_j k(x, c_j),   (K + RIDGE I) w = p - c,   k(x, c) = exp(-|x - c|^2 / (2 REACH^2)),

with K_ij = k(c_i, c_j) and c_j the nearest point of the surface to p_j. A face that is turned away from the muscle
counts as FACING farther, so that no muscle hangs on the other side of a thin bone. This is the interpolation of
landmarks by radial basis functions (Carr et al. 1997, IEEE Trans Med Imaging 16:96-107) with a ridge, repeated because
the nearest points move.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, grouped, unit, unit_or_zero
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SIDES, has_side
from musclesolve._util.splines import MonotoneCubic

MM = 1e-3
SPACING = 20.0
"""Approximate largest distance between rings [mm]."""
CAP_ANGLE, CAP_DEPTH = np.radians(50.0), 0.7
"""Place of the ring of a cap on its quarter turn, and usual height of caps over the smaller half width."""
STANDARD_KNEE = 0.098
"""Breadth of the knee of a man of 1.8 m over the epicondyles [m] (Heath and Carter 1967, Am J Phys Anthropol 27:57)."""
WIDTH_LIMITS = (0.8, 1.3)
"""Least and greatest width of the bones of a leg from knee breadth, over the width from their length."""

Mesh = tuple[Array, Indices]
"""Vertices (V, 3) and the numbers of those of each triangle (F, 3), counterclockwise seen from outside."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Placement of the bones of a frame of bones.toml in a segment.

    segment: its name. side: "r", "l" or "". about: the table of the frame. origin (3,) [m] and axes (3, 3) in the axes
    of the segment, from its position. scale (3,): meters for a millimeter of the table.
    """

    segment: str
    side: str
    about: Mapping[str, Any]
    origin: Array
    axes: Array
    scale: Array

    def placed(self, table: Array) -> Array:
        """Points (..., 3) of the table [mm], in the axes of the segment from its position [m]."""
        return np.asarray(self.origin + (self.scale * table) @ self.axes.T)

    @property
    def bones(self) -> list[Mesh]:
        """Its surfaces in the axes of the segment [m]."""
        x, z = self.about.get("shift", (0.0, 0.0))
        standard = standard_bones(self.about["bones"], self.side, self.about.get("part", ""))
        return [(self.placed(vertices + np.array([x, 0.0, z])), faces) for vertices, faces in standard]


def placements(
    points: Mapping[str, Array],
    segments: Mapping[str, tuple[Array, Array]],
    knee_widths: Mapping[str, float],
    frames: str = "frame",
) -> list[Placement]:
    """Return the placements of the frames of bones.toml in the segments; a segment without its landmarks has none.

    Args:
        points: positions (T, 3) [m] of the points of the skeleton by name.
        segments: position (T, 3) [m] and rotation (T, 3, 3) of each segment by name.
        knee_widths: breadth over the epicondyles [m] by side, "r" or "l".
        frames: the table of bones.toml with the frames, of recordings or of OpenSim models.
    """

    def middles(ends: Sequence[Sequence[str]], side: str) -> list[Array]:
        """The mean (T, 3) of the points of each end; none at all where one of them is missing."""
        named = [[name.format(side=side) for name in names] for names in ends]
        if not all(name in points for names in named for name in names):
            return []
        return [np.mean([points[name] for name in names], axis=0) for names in named]

    placed = []
    for name, (place, rotation) in segments.items():
        stem, side = (name[:-2], name[-1]) if has_side(name) else (name, "")
        for frame, about in bundled_toml(__package__, "bones.toml")[frames].items():
            landmarks = middles([about["origin"], *about.get("axis", ())], side)
            ends = [(*middles(about["scale"][key][:2], side), about["scale"][key][2]) for key in "xoz"]
            known = landmarks and all(len(end) == 3 for end in ends)
            if stem not in about["segments"] or not known or set(about.get("without", ())) & set(points):
                continue
            # constant points and distances in the segment, as medians over the frames
            origin, *axis = (
                _constant(np.einsum("tji,tj->ti", rotation, landmark - place)) for landmark in landmarks
            )
            distances = [_constant(np.linalg.norm(one - other, axis=1)[:, None])[0] for one, other, _ in ends]
            scale = np.array(distances) / [MM * size for *_, size in ends]
            if about.get("as_wide_as_knee") and np.isfinite(knee_widths.get(side, np.nan)):
                low, high = scale[2] * np.array(WIDTH_LIMITS)
                scale[:2] = np.clip(knee_widths[side] / STANDARD_KNEE, low, high)
            axes = _upright(axis[1] - axis[0]) if axis else np.eye(3)
            if np.isfinite(origin).all() and np.isfinite(axes).all() and np.isfinite(scale).all():
                named = {"bones": frame} | about
                placed.append(Placement(name, side, named, origin, axes, MM * scale))
    return placed


def lofted_bones(placed: Sequence[Placement]) -> dict[str, Mesh]:
    """The bones of each segment as one surface, by the name of the segment.

    Returns:
        Vertices (V, 3) [m] in the axes of the segment, from its position, and triangles (F, 3).
    """
    parts = grouped((placement.segment, bone) for placement in placed for bone in placement.bones)
    return {name: joined(meshes) for name, meshes in parts.items()}


def _constant(values: Array) -> Array:
    """The median (k,) over the frames of nearly constant values (T, k); NaN where unknown in all frames."""
    known = values[np.isfinite(values).all(axis=1)]
    return np.median(known, axis=0) if len(known) else np.full(values.shape[1], np.nan)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Several surfaces as one."""
    first = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    faces = [faces + start for (_, faces), start in zip(meshes, first, strict=False)]
    return np.concatenate([vertices for vertices, _ in meshes]), np.concatenate(faces)


def _upright(up: Array) -> Array:
    """Axes (3, 3) with z along a direction (3,) and x in the plane of the segment's x and z."""
    z = up / np.linalg.norm(up)
    y = np.cross(z, [1.0, 0.0, 0.0])
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, z), y, z], axis=1)


@cache
def standard_bones(frame: str, side: str, part: str = "") -> tuple[Mesh, ...]:
    """The bones of a frame of bones.toml as they stand there, [mm] forward, left and up, with faces outward.

    side: "r" or "l"; "" for a segment of the median plane, which has the bones of both sides. part: of one alone.
    """
    meshes = []
    for number, bone in enumerate(bundled_toml(__package__, "bones.toml")["bone"]):
        if bone["frame"] != frame or (part and bone.get("part") != part):
            continue
        for vertices, faces in _copies(number):
            for of in (side,) if side else ("r",) if bone.get("middle") else SIDES:
                # the table is left-handed on the right side, where o points to the right
                turned = vertices * [1.0, -1.0 if of == "r" else 1.0, 1.0]
                meshes.append((turned, faces[:, ::-1] if of == "r" else faces))
    return tuple(meshes)


@cache
def _copies(number: int) -> list[Mesh]:
    """The surfaces of a bone of bones.toml, by its number there, in x, o, z [mm] at all of its places."""
    bone = bundled_toml(__package__, "bones.toml")["bone"][number]
    vertices, faces = _loft(bone)
    placed = []
    for x, z, tilt, size in bone.get("copies", [(0.0, 0.0, 0.0, 1.0)]):
        # from z to x
        c, s = np.cos(np.radians(tilt)), np.sin(np.radians(tilt))
        turned = size * vertices @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        placed.append((turned + np.array([x, 0.0, z]), faces))
    return placed


def _loft(bone: Mapping[str, Any]) -> Mesh:
    """The surface of a bone in x, o, z [mm] about its own origin."""
    toward = np.array(bone.get("toward", (1.0, 0.0, 0.0)), dtype=float)
    plates = np.array(bone.get("plates", ()), dtype=float)
    rows = np.array(bone["rings"], dtype=float) if not plates.size else plates
    at = rows[:, :3] if not plates.size else 0.5 * (rows[:, :3] + rows[:, 3:6])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(at, axis=0), axis=1))])
    counts = np.maximum(1, np.rint(np.diff(along) / SPACING).astype(int))
    fine = np.concatenate(
        [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(along, along[1:], counts, strict=False)]
        + [along[-1:]]
    )
    rows = MonotoneCubic.through(along, rows)(fine)
    # centers (k, 3), their tangents, and the half axes u and v (k, 3) of each section
    if plates.size:
        center, u = 0.5 * (rows[:, :3] + rows[:, 3:6]), 0.5 * (rows[:, :3] - rows[:, 3:6])
        tangent = unit(np.gradient(center, fine, axis=0))
        v = rows[:, 6:] * unit(np.cross(tangent, u))
    else:
        center = rows[:, :3]
        tangent = unit(np.gradient(center, fine, axis=0))
        across = unit(toward - (tangent @ toward)[:, None] * tangent)
        u, v = rows[:, 3:4] * across, rows[:, 4:5] * np.cross(tangent, across)
    depth = (
        bone.get("cap", CAP_DEPTH) * np.minimum(np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1))[[0, -1]]
    )
    ends = np.stack([-depth[0] * tangent[0], depth[1] * tangent[-1]])
    poles = center[[0, -1]] + ends
    caps = center[[0, -1]] + np.sin(CAP_ANGLE) * ends
    center = np.concatenate([caps[:1], center, caps[1:]])
    u, v = (np.concatenate([np.cos(CAP_ANGLE) * w[:1], w, np.cos(CAP_ANGLE) * w[-1:]]) for w in (u, v))
    # about as many corners as make edges of equal length on thick and thin bones
    sides = bone.get("sides", 2 * int(np.rint(1.0 + 0.9 * np.sqrt(np.linalg.norm([u, v], axis=2).max()))))
    angle = 2.0 * np.pi * np.arange(sides) / sides
    c, s = (
        np.sign(np.round(f, 12)) * np.abs(f) ** (2.0 / bone.get("order", 2.0))
        for f in (np.cos(angle), np.sin(angle))
    )
    rings = center[:, None] + c[:, None] * u[:, None] + s[:, None] * v[:, None]
    return np.concatenate([rings.reshape(-1, 3), poles]), _tube(len(rings), sides)


def _tube(rings: int, sides: int) -> Indices:
    """Triangles of rings of corners, one after the other, and of two poles, the last two vertices."""
    ring, corner = np.meshgrid(np.arange(rings - 1), np.arange(sides), indexing="ij")
    a, b = (ring * sides + corner).ravel(), (ring * sides + (corner + 1) % sides).ravel()
    here, other, last = np.arange(sides), (np.arange(sides) + 1) % sides, (rings - 1) * sides
    first_pole, last_pole = np.full(sides, rings * sides), np.full(sides, rings * sides + 1)
    return np.concatenate(
        [
            np.stack([a, b, a + sides], axis=1),
            np.stack([b, b + sides, a + sides], axis=1),
            np.stack([first_pole, other, here], axis=1),
            np.stack([last_pole, last + here, last + other], axis=1),
        ]
    )


STAYS = 3.0
REACH, RIDGE, TIMES = 0.022, 0.05, 5
"""Width of the field [m], ridge against one that oscillates between near attachments, and most repetitions."""
NEAR_ENOUGH = 0.001
"""Distance of the farthest attachment from the surface at which repetitions end [m]: a third of a pixel."""
FACING = 0.012
"""How much farther the back of a bone counts than the face toward the muscle [m]."""
FARTHEST = 0.065
"""Distance beyond which an attachment does not move a bone [m]: a path that hangs on no bone that is drawn."""
FRAMES = 9
"""Number of frames, spread over the motion, in which the place of an attachment is looked at."""


def nearest_points(points: Array, mesh: Mesh, ways: Array | None = None) -> tuple[Array, Array]:
    """The nearest points (P, 3) of a closed surface to points (P, 3), and their distances (P,) [m].

    ways: directions (P, 3) of length one in which muscles leave; faces turned away from them count as farther.
    The point of a triangle (a, b, c) is the foot of the perpendicular where it lies inside, else the nearest one of
    an edge. Only triangles count whose ball about the mean of the corners is nearer than the nearest corner of all.
    """
    vertices, faces = mesh
    corners = vertices[faces]
    middle = corners.mean(axis=1)
    ball = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1)
    most = _distances(points, vertices).min(axis=1) + (0.0 if ways is None else FACING)
    point, face = np.nonzero(_distances(points, middle) - ball <= most[:, None])
    p, (a, b, c) = points[point], corners[face].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    square = np.maximum(np.vecdot(normal, normal), 1e-30)
    foot = p - (np.vecdot(p - a, normal) / square)[:, None] * normal
    inside, feet = np.ones(len(p), dtype=bool), [foot]
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        inside &= np.vecdot(np.cross(edge, foot - start), normal) >= 0.0
        share = np.vecdot(p - start, edge) / np.maximum(np.vecdot(edge, edge), 1e-30)
        feet.append(start + np.clip(share, 0.0, 1.0)[:, None] * edge)
    far = np.linalg.norm(p - feet, axis=2)  # of the foot and of three edges
    far[0, ~inside] = np.inf
    every, on = far.min(axis=0), np.stack(feet)[far.argmin(axis=0), np.arange(len(p))]
    cosine = 1.0 if ways is None else np.vecdot(ways[point], normal) / np.sqrt(square)
    order = np.lexsort((every + 0.5 * FACING * (1.0 - cosine), point))
    first = order[np.flatnonzero(np.diff(point[order], prepend=-1))]
    return on[first], every[first]


def _distances(points: Array, others: Array) -> Array:
    """(P, K) between points (P, 3) and others (K, 3)."""
    square = np.vecdot(points, points)[:, None] + np.vecdot(others, others) - 2.0 * points @ others.T
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))


def attached(
    ends: Array, place: Array, rotation: Array, meshes: Sequence[Mesh]
) -> tuple[Indices, Array, Array]:
    """The bone on which each attachment stays.

    Args:
        ends: attachments (T, A, 2, 3) [m] in the laboratory, each with the next point of its path.
        place, rotation: of the B bones, (T, B, 3) [m] and (T, B, 3, 3).
        meshes: their surfaces, in their own axes.

    Returns:
        The number (A,) of the bone, -1 where an attachment or all bones are unknown; the mean places (A, 2, 3) on it,
        and the distance (A,) of the attachment from its surface [m].
    """
    placed = np.flatnonzero(np.isfinite(rotation).all(axis=(1, 2, 3)) & np.isfinite(place).all(axis=(1, 2)))
    chosen = placed[:: max(1, len(placed) // FRAMES)]
    known: Mask = np.asarray(np.isfinite(ends[chosen]).all(axis=(2, 3)))
    (row,) = np.nonzero(known.any(axis=0))
    bone = np.full(ends.shape[1], -1)
    point, distance = np.full(ends.shape[1:], np.nan), np.full(ends.shape[1], np.nan)
    if not meshes or not len(row):
        return bone, point, distance
    away = ends[chosen][:, row, None] - place[chosen, None, :, None]
    local, where = np.einsum("tbji,tabnj->tabni", rotation[chosen], away), known[:, row, None, None, None]
    mean = local.mean(axis=0, where=where)
    spread = np.linalg.norm(local[..., 0, :].std(axis=0, where=known[:, row, None, None]), axis=2)
    moved = STAYS * (spread - spread.min(axis=1, keepdims=True))
    far = np.full(spread.shape, np.inf)
    for k, mesh in enumerate(meshes):
        (held,) = np.nonzero(moved[:, k] < FARTHEST)
        far[held, k] = nearest_points(mean[held, k, 0], mesh)[1]
    best = (far + moved).argmin(axis=1)
    every = np.arange(len(row))
    bone[row], point[row], distance[row] = best, mean[every, best], far[every, best]
    return bone, point, distance


def reaching(mesh: Mesh, points: Array) -> Array:
    """The vertices (V, 3) of a closed surface moved so that it passes through attachments.

    points: (P, 2, 3) [m], each with the next point of its path.
    """
    vertices, faces = mesh
    ends, ways = points[:, 0], unit_or_zero(points[:, 1] - points[:, 0])
    for _ in range(TIMES if len(points) else 0):
        on, far = nearest_points(ends, (vertices, faces), ways)
        near = far < FARTHEST
        if not near.any() or far[near].max() < NEAR_ENOUGH:
            break
        centers = on[near]
        bells = _bell(centers, centers) + RIDGE * np.eye(len(centers))
        vertices = vertices + _bell(vertices, centers) @ np.linalg.solve(bells, ends[near] - centers)
    return vertices


def _bell(points: Array, centers: Array) -> Array:
    return np.asarray(np.exp(-0.5 * (_distances(points, centers) / REACH) ** 2))
