"""Where the conditional via points of placed muscles join and leave the path.

A via point stands for bone or a retinaculum that the muscle wraps around, so it can only lengthen the path, and it
belongs to it just as long as it does. Where the path through the point is shortest against the path past it, the two
have the same moment arm (the derivative of their difference is zero) and all but the same length: switching there,
the path does not jump. That angle depends on the proportions of the subject, so the tabulated one is where the search
begins, for sets with exact ranges too: on the skeleton of gait2392 it moves by 1 degree (iliacus 4), while on another
one the tabulated angles would let arms jump by up to 5 mm. Of several points of a muscle that switch at different
angles, each is examined with the others as tabulated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.paths import Paths

SEARCH = np.deg2rad(30.0)
"""Range of the search around the tabulated angle [rad]."""

_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths) -> Paths:
    """The same paths with every reachable end of a conditional range moved to where the path does not jump."""
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
