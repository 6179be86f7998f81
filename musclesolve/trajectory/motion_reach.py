"""Whether a motion can be produced within rate limits at all, and the proof where it cannot.

It is a linear programme: the least total reserve sum |s_k| / max(1, |b_k|) subject to A a + s = b, the bounds and the
limits G a >= h (activation_limits.py). Its dual gives a combination y of the moments and multipliers v >= 0 of the
limits. The motion is infeasible (Farkas) if

    y . b  >  max over lower <= a <= upper of (A^T y + G^T v) . a  -  v . h,

which is checked here, whoever proposes y and v; the Farkas ratio is that of infeasibility_proof.py, summed over frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.trajectory.activation_limits import ActivationLimits

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class Reach:
    """The least reserves of a motion."""

    # (T, m) [N m] what the muscles lack, signed like the moments; zeros where they suffice. NaN where the
    # programme was not solved.
    shortage: Array
    direction: Array  # y, (T, m)
    proved: bool  # whether y and v prove that the motion is out of reach


def least_reserves(problem: Problem, limits: ActivationLimits) -> Reach:
    """The least reserves with which a motion can be produced within its limits."""
    from scipy import sparse
    from scipy.optimize import linprog

    frames, dofs, muscles = problem.moment_arm.shape
    scale = np.maximum(1.0, np.abs(problem.moment))
    moments = sparse.block_diag(list(problem.moment_matrix / scale[:, :, None]), format="csr")
    one = sparse.identity(frames * dofs, format="csr")
    rows = limit_rows(limits, (frames, muscles))
    nothing = sparse.csr_matrix((rows.shape[0], 2 * frames * dofs))
    found = linprog(
        np.append(np.zeros(frames * muscles), np.ones(2 * frames * dofs)),
        A_ub=-sparse.hstack([rows, nothing], format="csr"),
        b_ub=limits.slack(np.zeros((frames, muscles))).reshape(-1),
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
    margin = farkas_ratio(problem, limits, direction, limit_multiplier)
    return Reach((more - less) * scale, direction, margin > TOLERANCE)


def farkas_ratio(
    problem: Problem, limits: ActivationLimits, direction: Array, limit_multiplier: Array
) -> float:
    """The Farkas ratio of a motion; above 1e-6 it proves that the motion is infeasible.

    The direction is y, (T, m), the limit multiplier v, (2, T-1, n), never negative; reserves are left out of account.
    """
    pull = np.matmul(direction[:, None, :], problem.moment_matrix)[:, 0, :] + limits.pull(limit_multiplier)
    most = np.maximum(problem.lower * pull, problem.upper * pull).sum()
    most += (limit_multiplier * limits.slack(np.zeros_like(problem.lower))).sum()
    size = (np.abs(direction) * np.maximum(1.0, np.abs(problem.moment))).sum()
    return float(((direction * problem.moment).sum() - most) / size) if size > 0 else -np.inf


def limit_rows(limits: ActivationLimits, shape: tuple[int, int]) -> sparse.csr_matrix:
    """G as a sparse matrix, (2 (T-1) n, T n)."""
    from scipy import sparse

    frames, muscles = shape
    count = (frames - 1) * muscles
    here = np.arange(count)
    e_d = np.broadcast_to(limits.e_d, (frames - 1, muscles)).reshape(-1)
    e_a = np.broadcast_to(limits.e_a, (frames - 1, muscles)).reshape(-1)
    values = np.concatenate([-e_d, np.ones(count), e_a, -np.ones(count)])
    row = np.concatenate([here, here, here + count, here + count])
    column = np.concatenate([here, here + muscles, here, here + muscles])
    return sparse.csr_matrix((values, (row, column)), shape=(2 * count, frames * muscles))
