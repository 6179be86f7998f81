"""The multipliers of a result that comes without them, and its last digits by Newton's method."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array

AT_BOUND = 1e-7
LEAST_SIZE = 1e-6
STEPS = 4
LAST = 1e-13


def least_squares_multiplier(matrix: Array, slope: Array, x: Array, lower: Array, upper: Array) -> Array:
    """The lambda that makes slope - matrix^T lambda nearest to what the bounds allow.

    The remainder may be positive where x is at its lower bound, negative at its upper one, and should be zero in
    between. Every unknown counts relative to its own slope.

    The matrix (m, n) has the rows of the constraints, the slope (n,) is the gradient of the cost. NaN where the slope
    is not finite.
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


class _Smooth(Protocol):
    """A cost with bounds lower and upper, (n,), on its unknowns x, and rows (m, n) of which matrix x = moment."""

    @property
    def lower(self) -> Array: ...

    @property
    def upper(self) -> Array: ...

    @property
    def matrix(self) -> Array: ...

    @property
    def moment(self) -> Array: ...

    def gradient(self, x: Array, /) -> Array: ...

    def hessian(self, x: Array, /) -> Array: ...


def polished(programme: _Smooth, x: Array, multiplier: Array) -> tuple[Array, Array]:
    """The result and its multipliers after some steps of Newton's method, or as they were if these leave the bounds.

    An unknown is held at a bound if the force that presses it there, |g - A^T lambda|, exceeds its distance. On the
    others each step solves H dx - A^T lambda = -g together with A (x + dx) = b.
    """
    first, best = (x, multiplier), x
    for _ in range(STEPS):
        force = programme.gradient(best) - programme.matrix.T @ multiplier
        low, high = best - programme.lower < force, programme.upper - best < -force
        best = np.where(low, programme.lower, np.where(high, programme.upper, best))
        free = ~(low | high)
        matrix, rows = programme.matrix[:, free], len(programme.moment)
        system = np.block(
            [[programme.hessian(best)[np.ix_(free, free)], -matrix.T], [matrix, np.zeros((rows, rows))]]
        )
        right = np.concatenate([-programme.gradient(best)[free], programme.moment - programme.matrix @ best])
        if not (np.isfinite(system).all() and np.isfinite(right).all()):
            return first
        step = np.linalg.lstsq(system, right, rcond=1e-14)[0]
        best[free] += step[: free.sum()]
        multiplier = step[free.sum() :]
        if (best < programme.lower).any() or (best > programme.upper).any():
            best = np.clip(best, programme.lower, programme.upper)
        elif np.abs(step[: free.sum()]).max(initial=0.0) <= LAST:
            break
    met = np.abs(programme.matrix @ best - programme.moment).max() <= 1e-9 * (
        1.0 + np.abs(programme.moment).max()
    )
    return (best, multiplier) if met and np.isfinite(multiplier).all() else first
