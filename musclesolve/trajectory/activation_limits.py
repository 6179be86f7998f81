"""The limits G a >= h of activation between neighboring frames, (2, T-1, n): first of falling, then of rising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.rate_limits import RateLimits


@dataclass(frozen=True, eq=False)
class ActivationLimits:
    """a_t+1 - e_d a_t >= 0 and 1 - e_a - a_t+1 + e_a a_t >= 0; e_a, e_d (T-1, 1)."""

    e_a: Array
    e_d: Array

    @classmethod
    def of(cls, limits: RateLimits | None, time: Array) -> ActivationLimits:
        """For frames at these times (T,) [s]; without time constants, limits that every activation keeps."""
        e_a, e_d = (limits or RateLimits(0.0, 0.0)).decay(np.diff(time))
        return cls(e_a[:, None], e_d[:, None])

    def with_loose_frames(self, count: int) -> ActivationLimits:
        """With so many frames more at the end, of which each may have any activation."""
        none = np.zeros((count, 1))
        return ActivationLimits(np.vstack([self.e_a, none]), np.vstack([self.e_d, none]))

    def slack(self, a: Array) -> Array:
        """G a - h: how much farther each activation could have fallen and risen."""
        rise = (1.0 - self.e_a) - a[1:] + self.e_a * a[:-1]
        return np.stack([a[1:] - self.e_d * a[:-1], rise])

    def change(self, d: Array) -> Array:
        """G d."""
        return np.stack([d[1:] - self.e_d * d[:-1], self.e_a * d[:-1] - d[1:]])

    def pull(self, multiplier: Array) -> Array:
        """G^T y, (T, n)."""
        fall, rise = multiplier
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall - rise
        total[:-1] += self.e_a * rise - self.e_d * fall
        return total

    def diagonal(self, ratio: Array) -> Array:
        """The diagonal of G^T diag(ratio) G, (T, n)."""
        fall, rise = ratio
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall + rise
        total[:-1] += self.e_d**2 * fall + self.e_a**2 * rise
        return total

    def beside(self, ratio: Array) -> Array:
        """Its entries between a muscle and itself in the next frame, (T-1, n)."""
        return -self.e_d * ratio[0] - self.e_a * ratio[1]
