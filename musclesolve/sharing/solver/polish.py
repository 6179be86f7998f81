"""The last digits of a result, by Newton's method with the muscles at bounds held there."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array

STEPS = 4
LAST = 1e-13


class Smooth(Protocol):
    """A cost with bounds lower and upper, (n,), on its unknowns x, and rows of which matrix x = moment."""

    @property
    def lower(self) -> Array:
        """(n,)."""

    @property
    def upper(self) -> Array:
        """(n,)."""

    @property
    def matrix(self) -> Array:
        """(m, n)."""

    @property
    def moment(self) -> Array:
        """(m,)."""

    def gradient(self, x: Array, /) -> Array:
        """(n,)."""

    def hessian(self, x: Array, /) -> Array:
        """(n, n)."""


def polished(programme: Smooth, x: Array, multiplier: Array) -> tuple[Array, Array]:
    """The result and its multipliers after some steps, or as they were if these lead out of the bounds.

    An unknown is held at a bound if the force that presses it there, |g - A^T lambda|, exceeds its distance. On the
    others each step solves H dx - A^T lambda = -g together with A (x + dx) = b.

    Args:
        programme: one frame.
        x: a result good to a few digits.
        multiplier: of the rows.
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
