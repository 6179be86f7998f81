"""The certificate of a motion whose frames are coupled by rate limits.

With the prices y >= 0 of the limits G a - h >= 0, what the moments pay for an activation is joined by what the limits
pay, p = A^T lambda + G^T y. Stationarity, moments and reserves are those of single frames with this p. In addition

    limits     c = max(c - y / S, 0),   c = G a - h,

which says that a limit is kept, and is met or has no price, or rather that the smaller of the two misses counts. Limits
hand a price on from frame to frame: a muscle may receive it from one neighbour and pay it to the other, and keep next
to nothing. Misses are therefore relative to the largest of everything that is paid and received, S = max(|g|, |p|,
theta, |y| of the muscle's own limits); between two frames, to the smaller one of the two.
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

    rest: Array  # e_a, (T-1, 1)
    fade: Array  # e_d, (T-1, 1)

    @classmethod
    def of(cls, limits: RateLimits, time: Array) -> Coupling:
        """For frames at these times (T,) [s]."""
        rest, fade = limits.decay(np.diff(time))
        return cls(rest[:, None], fade[:, None])

    def slack(self, a: Array) -> Array:
        """G a - h: how much farther each activation could have fallen and risen."""
        rise = (1.0 - self.rest) - a[1:] + self.rest * a[:-1]
        return np.stack([a[1:] - self.fade * a[:-1], rise])

    def change(self, d: Array) -> Array:
        """G d."""
        return np.stack([d[1:] - self.fade * d[:-1], self.rest * d[:-1] - d[1:]])

    def pull(self, price: Array) -> Array:
        """G^T y, (T, n)."""
        fall, rise = price
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall - rise
        total[:-1] += self.rest * rise - self.fade * fall
        return total

    def largest(self, price: Array) -> Array:
        """The largest price of the limits that a muscle has in each frame, (T, n)."""
        each = np.abs(price).max(axis=0)
        nothing = np.zeros((1, each.shape[1]))
        return np.maximum(np.vstack([nothing, each]), np.vstack([each, nothing]))

    def diagonal(self, ratio: Array) -> Array:
        """The diagonal of G^T diag(ratio) G, (T, n)."""
        fall, rise = ratio
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall + rise
        total[:-1] += self.fade**2 * fall + self.rest**2 * rise
        return total

    def beside(self, ratio: Array) -> Array:
        """Its entries between a muscle and itself in the next frame, (T-1, n)."""
        return -self.fade * ratio[0] - self.rest * ratio[1]


def coupled_residual(
    problem: Problem,
    coupling: Coupling,
    cost: Cost,
    activation: Array,
    reserve: Array,
    multiplier: Array,
    price: Array,
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
        price: (2, T-1, n) of falling and of rising [cost].
        compliance: (T, m), one over the weight of a reserve, zero where there is none.

    Returns:
        (T,) without unit; infinite where the answer contains a number that is not finite.
    """
    problem = within_domain(problem, cost)
    matrix = problem.moment_matrix
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        pull = np.matmul(multiplier[:, None, :], matrix)[:, 0, :] + coupling.pull(price)
        inside = np.clip(activation, problem.lower, problem.upper)
        reach = np.maximum(LEAST_REACH, (inside - problem.lower).max(axis=1))
        size = np.maximum(slope_scale(problem, cost, reach), coupling.largest(price))
        slope = cost.total_gradient(problem, inside)
        produced = np.matmul(matrix, activation[:, :, None])[:, :, 0]
        scale = np.maximum(1.0, np.abs(problem.moment))
        misses = [
            stationarity_miss(problem, activation, slope, pull, size),
            (np.abs(produced + reserve - problem.moment) / scale).max(axis=1),
            (np.abs(reserve - compliance * multiplier) / scale).max(axis=1),
        ]
        if len(activation) > 1:
            between = _limits(coupling, activation, price, np.maximum(size, np.abs(pull)))
            misses += [np.append(between, 0.0), np.append(0.0, between)]
    worst = np.stack(misses)
    return np.where(np.isfinite(worst).all(axis=0), worst.max(axis=0), np.inf)


def _limits(coupling: Coupling, activation: Array, price: Array, size: Array) -> Array:
    """(T-1,) the largest miss of a limit between two frames."""
    size = np.minimum(size[:-1], size[1:])
    size = np.maximum(size, 1e-9 * size.max(axis=1, keepdims=True))
    room = coupling.slack(activation)
    step = np.divide(price, size, out=np.where(price == 0, 0.0, np.copysign(np.inf, price)), where=size > 0)
    miss: Array = np.abs(room - np.maximum(room - step, 0.0)).max(axis=(0, 2))
    return miss
