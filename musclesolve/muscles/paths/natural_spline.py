"""Curves through values at knots: natural cubic splines, continued in straight lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array


@dataclass(frozen=True, eq=False)
class NaturalSpline:
    """C functions of one variable: knots (K,), increasing, two or more; values (K, C) at the knots.

    Between the knots cubic with continuous second derivatives, which are zero at both ends (de Boor, A Practical Guide
    to Splines, IV); beyond the ends straight.
    """

    knots: Array
    values: Array

    @cached_property
    def _curvatures(self) -> Array:
        """Second derivatives at the knots (K, C): h_k m_k + 2 (h_k + h_k+1) m_k+1 + h_k+1 m_k+2 = 6 (s_k+1 - s_k)."""
        gap = np.diff(self.knots)
        slope = np.diff(self.values, axis=0) / gap[:, None]
        found = np.zeros_like(self.values)
        if len(gap) > 1:
            matrix = np.diag(2.0 * (gap[:-1] + gap[1:])) + np.diag(gap[1:-1], 1) + np.diag(gap[1:-1], -1)
            found[1:-1] = np.linalg.solve(matrix, 6.0 * np.diff(slope, axis=0))
        return found

    def at(self, x: Array) -> tuple[Array, Array]:
        """Values and slopes (T, C) at x (T,)."""
        inside = np.clip(x, self.knots[0], self.knots[-1])
        k = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.knots) - 2)
        gap = (self.knots[k + 1] - self.knots[k])[:, None]
        b = (inside - self.knots[k])[:, None] / gap
        a = 1.0 - b
        low, high = self.values[k], self.values[k + 1]
        bent_low, bent_high = self._curvatures[k] * gap**2 / 6.0, self._curvatures[k + 1] * gap**2 / 6.0
        value = a * low + b * high + (a**3 - a) * bent_low + (b**3 - b) * bent_high
        slope = (high - low + (1.0 - 3.0 * a**2) * bent_low + (3.0 * b**2 - 1.0) * bent_high) / gap
        return value + slope * (x - inside)[:, None], slope
