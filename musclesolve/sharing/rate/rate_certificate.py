"""The certificate of a motion whose frames are coupled by rate limits.

With multipliers y >= 0 of the limits G a - h >= 0 the pull on an activation is p = A^T lambda + G^T y. Stationarity,
moments and reserves are those of single frames with this p. In addition

    limits     c = max(c - y / S, 0),   c = G a - h,

that is, a limit holds, and is met or has a zero multiplier; the smaller of the two misses counts.
Limits couple frames: the multipliers of a muscle's two neighbouring limits may be large and nearly cancel. Misses are
therefore relative to the largest of all terms, S = max(|g|, |p|, theta, |y| of the muscle's own limits); between two
frames, to the smaller one of the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.certificate import stationarity_miss, within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import LEAST_REACH
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale
from musclesolve.sharing.rate.rate_limits import RateLimits


@dataclass(frozen=True, eq=False)
class Coupling:
    """The limits G a >= h between neighbouring frames, (2, T-1, n): first those of falling, then those of rising."""

    e_a: Array  # (T-1, 1)
    e_d: Array  # (T-1, 1)

    @classmethod
    def of(cls, limits: RateLimits, time: Array) -> Coupling:
        """For frames at these times (T,) [s]."""
        e_a, e_d = limits.decay(np.diff(time))
        return cls(e_a[:, None], e_d[:, None])

    def slack(self, a: Array) -> Array:
        """G a - h: how much farther each activation could have fallen and risen."""
        rise = (1.0 - self.e_a) - a[1:] + self.e_a * a[:-1]
        return np.stack([a[1:] - self.e_d * a[:-1], rise])

    def change(self, d: Array) -> Array:
        """G d."""
        return np.stack([d[1:] - self.e_d * d[:-1], self.e_a * d[:-1] - d[1:]])

    def pull(self, limit_multiplier: Array) -> Array:
        """G^T y, (T, n)."""
        fall, rise = limit_multiplier
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall - rise
        total[:-1] += self.e_a * rise - self.e_d * fall
        return total

    def largest(self, limit_multiplier: Array) -> Array:
        """The largest multiplier of the limits of a muscle in each frame, (T, n)."""
        each = np.abs(limit_multiplier).max(axis=0)
        nothing = np.zeros((1, each.shape[1]))
        return np.maximum(np.vstack([nothing, each]), np.vstack([each, nothing]))

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


def coupled_residual(
    problem: Problem,
    coupling: Coupling,
    cost: Cost,
    activation: Array,
    reserve: Array,
    multiplier: Array,
    limit_multiplier: Array,
    compliance: Array,
) -> Array:
    """The certificate of every frame of a coupled motion, (T,); the motion is solved where all are at most 1e-6.

    Args:
        problem: T frames.
        coupling: the limits between them.
        cost: the cost whose sum was minimised.
        activation: (T, n).
        reserve: (T, m) [N m].
        multiplier: (T, m) [cost per N m].
        limit_multiplier: (2, T-1, n) of falling and of rising [cost].
        compliance: (T, m), one over the weight of a reserve, zero where there is none.

    Returns:
        (T,) without unit; infinite where the answer contains a number that is not finite.
    """
    problem = within_domain(problem, cost)
    matrix = problem.moment_matrix
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        pull = np.matmul(multiplier[:, None, :], matrix)[:, 0, :] + coupling.pull(limit_multiplier)
        inside = np.clip(activation, problem.lower, problem.upper)
        reach = np.maximum(LEAST_REACH, (inside - problem.lower).max(axis=1))
        size = np.maximum(slope_scale(problem, cost, reach), coupling.largest(limit_multiplier))
        slope = cost.total_gradient(problem, inside)
        produced = np.matmul(matrix, activation[:, :, None])[:, :, 0]
        scale = np.maximum(1.0, np.abs(problem.moment))
        misses = [
            stationarity_miss(problem, activation, slope, pull, size),
            (np.abs(produced + reserve - problem.moment) / scale).max(axis=1),
            (np.abs(reserve - compliance * multiplier) / scale).max(axis=1),
        ]
        if len(activation) > 1:
            between = _limits(coupling, activation, limit_multiplier, np.maximum(size, np.abs(pull)))
            misses += [np.append(between, 0.0), np.append(0.0, between)]
    worst = np.stack(misses)
    return np.where(np.isfinite(worst).all(axis=0), worst.max(axis=0), np.inf)


def _limits(coupling: Coupling, activation: Array, y: Array, size: Array) -> Array:
    """(T-1,) the largest miss of a limit between two frames."""
    size = np.minimum(size[:-1], size[1:])
    size = np.maximum(size, 1e-9 * size.max(axis=1, keepdims=True))
    slack = coupling.slack(activation)
    step = np.divide(y, size, out=np.where(y == 0, 0.0, np.copysign(np.inf, y)), where=size > 0)
    miss: Array = np.abs(slack - np.maximum(slack - step, 0.0)).max(axis=(0, 2))
    return miss
