"""Least squares over a convex polygon in the plane, in closed form for all frames at once.

Minimise f(d) = 1/2 |A d - b|^2 over the polygon. The unconstrained minimum where it lies inside, else the least of the
minima along the edges: f is convex, so its minimum lies on the boundary then.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.studies.center_of_pressure.foot_outline import is_inside


def polygon_least_squares(matrix: Array, right: Array, polygon: Array) -> tuple[Array, Mask]:
    """Minimisers (T, 2) of |A d - b| over convex polygons (T, V, 2), counter-clockwise; A (T, r, 2), b (T, r).

    Also which of them lie at the boundary because the unconstrained one lies outside, (T,).
    """
    square = np.swapaxes(matrix, 1, 2) @ matrix
    pull = np.einsum("trd,tr->td", matrix, right)
    free = np.linalg.solve(square, pull[..., None])[..., 0]
    edge = np.roll(polygon, -1, axis=1) - polygon
    steep = np.einsum("tvd,tde,tve->tv", edge, square, edge)
    slope = np.einsum("tvd,tvd->tv", edge, pull[:, None] - np.einsum("tde,tve->tvd", square, polygon))
    on_edge = polygon + np.clip(slope / steep, 0.0, 1.0)[..., None] * edge
    misfit = ((np.einsum("trd,tvd->tvr", matrix, on_edge) - right[:, None]) ** 2).sum(axis=2)
    best = np.take_along_axis(on_edge, misfit.argmin(axis=1)[:, None, None], axis=1)[:, 0]
    inside = is_inside(polygon, free)
    return np.where(inside[:, None], free, best), ~inside


def optimality_gap(matrix: Array, right: Array, polygon: Array, found: Array) -> Array:
    """Upper bound (T,) on f(found) - min f: max over the vertices of grad f . (found - vertex), 0 at the optimum.

    It is zero where grad f . (d - found) >= 0 for all d of the polygon: the conditions of Karush, Kuhn and Tucker.
    """
    gradient = np.einsum("trd,tr->td", matrix, np.einsum("trd,td->tr", matrix, found) - right)
    return np.asarray(np.einsum("td,tvd->tv", gradient, found[:, None] - polygon).max(axis=1))
