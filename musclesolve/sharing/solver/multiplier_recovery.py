"""Multipliers for a result that comes without them."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array

AT_BOUND = 1e-7
LEAST_SIZE = 1e-6


def least_squares_multiplier(matrix: Array, slope: Array, x: Array, lower: Array, upper: Array) -> Array:
    """The lambda that makes slope - matrix^T lambda nearest to what the bounds allow.

    The remainder may be positive where x is at its lower bound, negative at its upper one, and should be zero in
    between. Every unknown counts relative to its own slope.

    Args:
        matrix: (m, n) rows of the constraints.
        slope: (n,) gradient of the cost.
        x: (n,) the answer.
        lower: (n,).
        upper: (n,).

    Returns:
        (m,); NaN where the slope is not finite.
    """
    from scipy.optimize import lsq_linear

    if not (np.isfinite(slope).all() and np.isfinite(x).all()):
        return np.full(len(matrix), np.nan)
    size = np.maximum(np.abs(slope), LEAST_SIZE * max(float(np.abs(slope).max()), 1e-300))
    low, high = x - lower <= AT_BOUND, upper - x <= AT_BOUND
    unit = np.eye(len(x))
    columns = np.hstack([matrix.T, unit[:, low], -unit[:, high]]) / size[:, None]
    floor = np.concatenate([np.full(len(matrix), -np.inf), np.zeros(low.sum() + high.sum())])
    found = lsq_linear(columns, slope / size, (floor, np.inf), method="bvls", tol=1e-14, max_iter=500)
    multiplier: Array = found.x[: len(matrix)]
    return multiplier
