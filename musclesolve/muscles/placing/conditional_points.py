"""Where the conditional via points of placed muscles join and leave the path.

A via point stands for bone or a retinaculum that the muscle wraps around, so it can only lengthen the path, and it
belongs to it just as long as it does. Where the path through the point is shortest against the path past it, the two
have the same moment arm (the derivative of their difference is zero) and all but the same length: switching there,
the path does not jump. That angle depends on the proportions of the subject, so the tabulated one is where the search
begins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.paths import Paths

SEARCH = np.deg2rad(30.0)
"""Range of the search around the tabulated angle [rad]."""

_STEP = np.deg2rad(2.0)
_REACHABLE = (np.deg2rad(-60.0), np.deg2rad(130.0))


def adjust_switches(model: Model, paths: Paths) -> Paths:
    """The same paths with every reachable end of a conditional range moved to where the path does not jump."""
    lower, upper = paths.switch_lower.copy(), paths.switch_upper.copy()
    for dof in np.unique(paths.switch_dof):
        own = np.flatnonzero(paths.switch_dof == dof)
        angles = search_grid(np.concatenate([lower[own], upper[own]]))
        gap = _gaps(model, paths, int(dof), angles)
        for c in own:
            muscle = paths.muscle[paths.switched[c]]
            for edges in (lower, upper):
                edges[c] = refined_edge(edges[c], angles, gap[:, muscle])
    return replace(paths, switch_lower=lower, switch_upper=upper)


def search_grid(edges: Array) -> Array:
    """Angles [rad] around all reachable edges."""
    inside = edges[(edges > _REACHABLE[0]) & (edges < _REACHABLE[1])]
    if not inside.size:
        return np.zeros(1)
    return np.arange(inside.min() - SEARCH, inside.max() + SEARCH + _STEP, _STEP)


def _gaps(model: Model, paths: Paths, dof: int, angles: Array) -> Array:
    """Length through all conditional points less length past them, (P, n) [m], one joint rotated."""
    joints, size = model.tree.joint_count, len(angles)
    coordinates = np.zeros((size, joints))
    coordinates[:, dof] = angles
    base = np.broadcast_to(np.eye(3), (size, 3, 3))
    q = model.tree.pose(coordinates, np.zeros((size, 3)), base, moving=np.arange(joints) == dof)
    every = np.ones((size, len(paths.switched)), dtype=bool)
    return paths.lengths(q, coordinates, every) - paths.lengths(q, coordinates, ~every)


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
