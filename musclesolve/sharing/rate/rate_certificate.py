"""The certificate of a motion whose frames are coupled by rate limits, and the proof where there is none.

With multipliers y >= 0 of the limits G a - h >= 0 the pull on an activation is p = A^T lambda + G^T y. Stationarity,
moments and reserves are those of single frames with this p. In addition

    limits     c = max(c - y / S, 0),   c = G a - h,

that is, a limit holds, and is met or has a zero multiplier; the smaller of the two misses counts.
Limits couple frames: the multipliers of a muscle's two neighboring limits may be large and nearly cancel. Misses are
therefore relative to the largest of all terms, S = max(|g|, |p|, theta, |y| of the muscle's own limits); between two
frames, to the smaller one of the two.

Whether a motion can be produced at all is a linear programme: the least total reserve sum |s_k| / max(1, |b_k|) subject
to A a + s = b, the bounds and the limits. Its dual gives a combination y of the moments and multipliers v >= 0 of the
limits G a >= h. The motion is infeasible (Farkas) if

    y . b  >  max over lower <= a <= upper of (A^T y + G^T v) . a  -  v . h,

which is checked here, whoever proposes y and v; the Farkas ratio is that of infeasibility_proof.py, summed over frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.certificate import stationarity_miss, within_domain
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import LEAST_REACH, TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale
from musclesolve.sharing.rate.rate_limits import RateLimits

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class Coupling:
    """The limits G a >= h between neighboring frames, (2, T-1, n): first those of falling, then those of rising."""

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

    `limit_multiplier` (2, T-1, n) are those of falling and of rising [cost]; the compliance (T, m) is one over the
    weight of a reserve, zero where there is none. The residual has no unit; it is infinite where a number is not
    finite.
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


@dataclass(frozen=True, eq=False)
class Reach:
    """The least reserves of a motion."""

    # (T, m) [N m] what the muscles lack, signed like the moments; zeros where they suffice. NaN where the
    # programme was not solved.
    shortage: Array
    direction: Array  # y, (T, m)
    proved: bool  # whether y and v prove that the motion is out of reach


def least_reserves(problem: Problem, coupling: Coupling) -> Reach:
    """The least reserves with which a motion can be produced within its limits."""
    from scipy import sparse
    from scipy.optimize import linprog

    frames, dofs, muscles = problem.moment_arm.shape
    scale = np.maximum(1.0, np.abs(problem.moment))
    moments = sparse.block_diag(list(problem.moment_matrix / scale[:, :, None]), format="csr")
    one = sparse.identity(frames * dofs, format="csr")
    rows = limit_rows(coupling, (frames, muscles))
    nothing = sparse.csr_matrix((rows.shape[0], 2 * frames * dofs))
    found = linprog(
        np.append(np.zeros(frames * muscles), np.ones(2 * frames * dofs)),
        A_ub=-sparse.hstack([rows, nothing], format="csr"),
        b_ub=coupling.slack(np.zeros((frames, muscles))).reshape(-1),
        A_eq=sparse.hstack([moments, one, -one], format="csr"),
        b_eq=(problem.moment / scale).reshape(-1),
        bounds=np.concatenate(
            [
                np.stack([problem.lower.reshape(-1), problem.upper.reshape(-1)], axis=1),
                np.tile([0.0, np.inf], (2 * frames * dofs, 1)),
            ]
        ),
        method="highs",
    )
    if found.status != 0:
        lost = np.full_like(problem.moment, np.nan)
        return Reach(lost, lost, False)
    more, less = found.x[frames * muscles :].reshape(2, frames, dofs)
    direction = found.eqlin.marginals.reshape(frames, dofs) / scale
    limit_multiplier = np.maximum(-found.ineqlin.marginals, 0.0).reshape(2, frames - 1, muscles)
    margin = farkas_ratio(problem, coupling, direction, limit_multiplier)
    return Reach((more - less) * scale, direction, margin > TOLERANCE)


def farkas_ratio(problem: Problem, coupling: Coupling, direction: Array, limit_multiplier: Array) -> float:
    """The Farkas ratio of a motion; above 1e-6 it proves that the motion is infeasible.

    The direction is y, (T, m), the limit multiplier v, (2, T-1, n), never negative; reserves are left out of account.
    """
    pull = np.matmul(direction[:, None, :], problem.moment_matrix)[:, 0, :] + coupling.pull(limit_multiplier)
    most = np.maximum(problem.lower * pull, problem.upper * pull).sum()
    most += (limit_multiplier * coupling.slack(np.zeros_like(problem.lower))).sum()
    size = (np.abs(direction) * np.maximum(1.0, np.abs(problem.moment))).sum()
    return float(((direction * problem.moment).sum() - most) / size) if size > 0 else -np.inf


def limit_rows(coupling: Coupling, shape: tuple[int, int]) -> sparse.csr_matrix:
    """G as a sparse matrix, (2 (T-1) n, T n)."""
    from scipy import sparse

    frames, muscles = shape
    count = (frames - 1) * muscles
    here = np.arange(count)
    e_d = np.broadcast_to(coupling.e_d, (frames - 1, muscles)).reshape(-1)
    e_a = np.broadcast_to(coupling.e_a, (frames - 1, muscles)).reshape(-1)
    values = np.concatenate([-e_d, np.ones(count), e_a, -np.ones(count)])
    row = np.concatenate([here, here, here + count, here + count])
    column = np.concatenate([here, here + muscles, here, here + muscles])
    return sparse.csr_matrix((values, (row, column)), shape=(2 * count, frames * muscles))
