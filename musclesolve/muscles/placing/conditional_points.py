"""Where the conditional via points of placed muscles join and leave the path.

A via point stands for bone or a retinaculum that the muscle wraps around, so it can only lengthen the path, and it
belongs to it just as long as it does. Where the path through the point is shortest against the path past it, the two
have the same moment arm (the derivative of their difference is zero) and all but the same length: switching there,
the path does not jump. That angle depends on the proportions of the subject, so the tabulated one is where the search
begins, for sets with exact ranges too: on the skeleton of gait2392 it moves by 1 degree (iliacus 4), while on another
one the tabulated angles would let arms jump by up to 5 mm.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.paths import Paths

SEARCH = np.deg2rad(30.0)
"""Range of the search around the tabulated angle [rad]."""

_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths) -> Paths:
    """The same paths with every reachable end of a conditional range moved to where the path does not jump.

    Each point is switched alone; the others of its muscle are as they are at the tabulated end.
    """
    tabulated = np.stack([paths.switch_lower, paths.switch_upper])
    moved = tabulated.copy()
    muscle = paths.muscle[paths.switched]
    for dof in np.unique(paths.switch_dof):
        own = paths.switch_dof == dof
        angles = search_grid(tabulated[:, own])
        side, point = np.nonzero(_reachable(tabulated) & own)
        for turn in _one_of_each_muscle(muscle[point]):
            ends, chosen = tabulated[side[turn], point[turn]], point[turn]
            gap = _gaps(model, paths, angles, chosen, ends)
            for which, c, end in zip(side[turn], chosen, ends, strict=True):
                moved[which, c] = refined_edge(end, angles, gap[:, muscle[c]])
    return replace(paths, switch_lower=moved[0], switch_upper=moved[1])


def _one_of_each_muscle(muscle: Indices) -> list[Indices]:
    """Places of the first end of each muscle, of the second, and so on; muscle: that of each end."""
    rank = np.array([(muscle[:k] == each).sum() for k, each in enumerate(muscle)], dtype=int)
    return [np.flatnonzero(rank == k) for k in range(rank.max(initial=-1) + 1)]


def _reachable(angles: Array | float) -> Mask:
    return np.asarray((angles > _REACHABLE[0]) & (angles < _REACHABLE[1]))


def search_grid(edges: Array) -> Array:
    """Angles [rad] around all reachable edges."""
    inside = edges[_reachable(edges)]
    if not inside.size:
        return np.zeros(1)
    return np.arange(inside.min() - SEARCH, inside.max() + SEARCH + _STEP, _STEP)


def _gaps(model: Model, paths: Paths, angles: Array, chosen: Indices, ends: Array) -> Array:
    """Length through the chosen points, one of a muscle, less length past them, (P, n) [m], one joint rotated.

    ends: (points,) angle of each chosen point at which the others of its muscle are on the path or not [rad].
    """
    dof = int(paths.switch_dof[chosen[0]])
    joints, size = model.tree.joint_count, len(angles)
    coordinates = np.zeros((size, joints))
    coordinates[:, dof] = angles
    base = np.broadcast_to(np.eye(3), (size, 3, 3))
    q = model.tree.pose(coordinates, np.zeros((size, 3)), base, moving=np.arange(joints) == dof)
    angle = np.zeros(paths.count)
    muscle = paths.muscle[paths.switched]
    angle[muscle[chosen]] = ends
    at = np.where(paths.switch_dof == dof, angle[muscle], 0.0)
    past = (at >= paths.switch_lower) & (at <= paths.switch_upper)
    through = past.copy()
    past[chosen], through[chosen] = False, True
    lengths = [paths.lengths(q, coordinates, np.tile(on, (size, 1))) for on in (through, past)]
    return lengths[0] - lengths[1]


def refined_edge(edge: float, angles: Array, gap: Array) -> float:
    """Angle of the smallest gap within the search range, by a parabola; the edge itself where there is no minimum."""
    near = np.flatnonzero(np.abs(angles - edge) <= SEARCH)
    if not _reachable(edge) or near.size < 3:
        return edge
    best = int(near[np.argmin(gap[near])])
    if best in (near[0], near[-1]):
        return edge
    before, here, after = gap[best - 1 : best + 2]
    return float(angles[best] + 0.5 * _STEP * (before - after) / (before - 2.0 * here + after))
