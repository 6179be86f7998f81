"""Bones that reach the ends of their muscles: one rule for every muscle set and model.

An attachment belongs to the bone on which it stays: to the segment k with the least |distance of its mean place from
the surface of k| + STAYS s_k, where s_k is the standard deviation of its place on k over the motion. The surface is
then moved so that it passes through its attachments p_j, by a smooth field that fades within some centimeters,

    u(x) = sum_j w_j k(x, c_j),   (K + RIDGE I) w = p - c,   k(x, c) = exp(-|x - c|^2 / (2 REACH^2)),

with K_ij = k(c_i, c_j) and c_j the nearest point of the surface to p_j. A face that is turned away from the muscle
counts as FACING farther, so that no muscle hangs on the other side of a thin bone. This is the interpolation of
landmarks by radial basis functions (Carr et al. 1997, IEEE Trans Med Imaging 16:96-107) with a ridge, repeated because
the nearest points move.
"""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, unit_or_zero
from musclesolve.report.picture.lofted_bones import Mesh

STAYS = 3.0
REACH, RIDGE, TIMES = 0.022, 0.05, 5
"""Width of the field [m], ridge against one that oscillates between near attachments, and number of repetitions."""
FACING = 0.012
"""How much farther the back of a bone counts than the face toward the muscle [m]."""
FARTHEST = 0.065
"""Distance beyond which an attachment does not move a bone [m]: a path that hangs on no bone that is drawn."""
FRAMES = 25
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
    best = far.argmin(axis=0)
    every, on = far.min(axis=0), np.stack(feet)[best, np.arange(len(p))]
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
        if not near.any():
            break
        centers = on[near]
        bells = _bell(centers, centers) + RIDGE * np.eye(len(centers))
        vertices = vertices + _bell(vertices, centers) @ np.linalg.solve(bells, ends[near] - centers)
    return vertices


def _bell(points: Array, centers: Array) -> Array:
    return np.asarray(np.exp(-0.5 * (_distances(points, centers) / REACH) ** 2))
