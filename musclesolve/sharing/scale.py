"""The natural sizes of a problem: of its load and of its marginal costs."""

from __future__ import annotations

import numpy as np

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem

LEAST_REACH = 1e-3


def slope_scale(problem: Problem, cost: Cost, reach: Array | float = 1.0) -> Array:
    """theta_i: how much the marginal cost of each muscle changes over half the reach (T,) of activation, (T, n)."""
    reach = np.broadcast_to(reach, (problem.n_frames,))[:, None]
    middle = problem.lower + 0.5 * np.minimum(problem.upper - problem.lower, reach)
    change = np.abs(cost.gradient(problem, middle) - cost.gradient(problem, problem.lower))
    return np.where(np.isfinite(change), change, 0.0)


def load(problem: Problem) -> Array:
    """The share of the strongest possible moment that the most loaded degree of freedom asks for, (T,), 1e-3 to 1."""
    matrix, asked = problem.moment_matrix, problem.moment
    helping = np.maximum(matrix * np.sign(asked)[:, :, None], 0.0)
    most = np.matmul(helping, problem.upper[:, :, None])[:, :, 0]
    share = np.divide(np.abs(asked), most, out=np.zeros_like(most), where=most > 0)
    return np.clip(share.max(axis=1), LEAST_REACH, 1.0)
