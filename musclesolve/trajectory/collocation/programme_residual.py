"""By how much a claimed optimum of a programme misses its own conditions: the certificate of any scheme.

With the Lagrangian f + y . g + v . x of CasADi (y, v: negative at lower, positive at upper bounds), the conditions are

    stationarity    f_x + g_x^T y + v = 0
    constraints     g = clip(g + y / S, least, most)
    bounds          x = clip(x + v / S, lower, upper)

Stationarity is divided by S, the sum of the sizes of its terms, which is no less than a thousandth of the largest one
of the same muscle and kind, and a millionth of that of all unknowns, as in certificate.py. Moments are divided by
max(1 N m, |M|); all else has no unit.
"""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.certificate import LEAST_OF_ALL, LEAST_OF_MUSCLE
from musclesolve.trajectory.collocation.programme import Programme, joined, split


def programme_residual(
    programme: Programme, x: Array, row_multiplier: Array, bound_multiplier: Array
) -> float:
    """The largest miss; infinite where a number is not finite."""
    slope, value, jacobian = _evaluated(programme, x)
    terms = [slope, jacobian.T @ row_multiplier, bound_multiplier]
    magnitude = np.abs(slope) + abs(jacobian).T @ np.abs(row_multiplier) + np.abs(bound_multiplier)
    largest = float(magnitude.max())
    size = joined(*(_above_least(block, largest) for block in split(magnitude, programme.shapes)))
    bounds = programme.bounds
    held = np.clip(x + _limited(bound_multiplier / size), bounds["lbx"], bounds["ubx"])
    missed = [np.abs(np.sum(terms, axis=0)) / size, np.abs(x - held)]
    ratio = _limited(row_multiplier / _row_size(jacobian, size))
    kept = np.clip(value + ratio, bounds["lbg"], bounds["ubg"])
    missed.append(np.abs(value - kept) * _row_unit(programme))
    every = np.concatenate(missed)
    return float(every.max()) if np.isfinite(every).all() else np.inf


def _evaluated(programme: Programme, x: Array) -> tuple[Array, Array, Any]:
    """Gradient of the objective, constraints, and their Jacobian as a sparse matrix of scipy."""
    from scipy import sparse

    parts = programme.functions
    symbols, objective, rows = parts["x"], parts["f"], parts["g"]
    results = [casadi.gradient(objective, symbols), rows, casadi.jacobian(rows, symbols)]
    slope, value, jacobian = casadi.Function("conditions", [symbols], results)(x)
    pattern = jacobian.sparsity()
    entries = np.asarray(jacobian.nonzeros()), pattern.row(), pattern.colind()
    return np.asarray(slope)[:, 0], np.asarray(value)[:, 0], sparse.csc_matrix(entries, shape=jacobian.shape)


def _row_size(jacobian: Any, size: Array) -> Array:
    """The least size among the unknowns of a constraint."""
    rows = jacobian.tocsr()
    filled = np.append(size[rows.indices], np.inf)
    return np.where(np.diff(rows.indptr) > 0, np.minimum.reduceat(filled, rows.indptr[:-1]), 1.0)


def _row_unit(programme: Programme) -> Array:
    unit = programme.row / np.maximum(1.0, np.abs(programme.held.moment))
    return joined(unit, *(np.ones(shape) for shape in programme.row_shapes[1:]))


def _above_least(size: Array, largest: float) -> Array:
    """Of all times and muscles of a block of unknowns; largest: of all blocks."""
    if not size.size:
        return size
    least = np.maximum(LEAST_OF_MUSCLE * size.max(axis=0), LEAST_OF_ALL * largest)
    return np.maximum(size, np.where(least > 0.0, least, 1.0))


def _limited(ratio: Array) -> Array:
    return np.clip(ratio, -1.0, 1.0)
