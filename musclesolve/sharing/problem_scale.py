"""The scales of a problem: its load, its marginal costs, and the weights of reserves that make a frame solvable."""

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import BESIDE_ROWS, FALLBACK, HUGE, LEAST_REACH
from musclesolve.sharing.problem import Problem


def slope_scale(
    problem: Problem, cost: Cost, reach: Array | float = 1.0, row_curvature: Array | None = None
) -> Array:
    """The scales theta_i, (T, n): the change of each marginal cost over half the reach (T,) of activation.

    Soft rows count by a thousandth of their change with the muscle's own activation: many combinations of activations
    leave the rows unchanged, and only the rest of the cost decides between them. `row_curvature` (T, n) is the second
    derivative of the rows, if computed already.
    """
    half = _half(problem, reach)
    middle, at_rest = problem.lower + half, cost.term_gradient(problem, problem.lower)
    change = np.abs(cost.term_gradient(problem, middle) - at_rest)
    if row_curvature is None:
        rows = cost.soft_rows(problem)
        row_curvature = None if rows is None else rows.hessian_diagonal()
    if row_curvature is not None:
        change = change + BESIDE_ROWS * row_curvature * half
    return np.where(np.isfinite(change), change, 0.0)


def slope_size(
    problem: Problem, cost: Cost, reach: Array | float = 1.0, row_curvature: Array | None = None
) -> Array:
    """The scales theta_i, or the size of the marginal cost where larger, as for linear costs, (T, n).

    The marginal cost is taken at half the reach (T,) of activation; `row_curvature` (T, n) as for `slope_scale`.
    """
    slope = np.abs(cost.term_gradient(problem, problem.lower + _half(problem, reach)))
    scale = slope_scale(problem, cost, reach, row_curvature)
    return np.maximum(scale, np.where(np.isfinite(slope), slope, 0.0))


def _half(problem: Problem, reach: Array | float) -> Array:
    reach = np.broadcast_to(reach, (problem.n_frames,))[:, None]
    return 0.5 * np.minimum(problem.upper - problem.lower, reach)


def load(problem: Problem) -> Array:
    """Largest share of a moment in the largest possible moment about its degree of freedom, (T,), 1e-3 to 1."""
    matrix, demand = problem.moment_matrix, problem.moment
    helping = np.maximum(matrix * np.sign(demand)[:, :, None], 0.0)
    most = np.matmul(helping, problem.upper[:, :, None])[:, :, 0]
    share = np.divide(np.abs(demand), most, out=np.zeros_like(most), where=most > 0)
    return np.clip(share.max(axis=1), LEAST_REACH, 1.0)


def fallback_weight(problem: Problem, cost: Cost) -> Array:
    """The weight of reserves for which 1 N m costs 100 times all muscles at full activation, (T, m)."""
    return np.broadcast_to(2.0 * FALLBACK * full_cost(problem, cost)[:, None], problem.moment.shape)


def reserve_terms(problem: Problem) -> tuple[Array, Array]:
    """Weights of reserves (T, m), zero in place of infinite ones, and the bounds of their sizes: infinite, or zero.

    Both are (T, 0) without reserves. A moment whose weight is infinite has no reserve.
    """
    weight = problem.moment[:, :0] if problem.reserve_weight is None else problem.reserve_weight
    there = np.isfinite(weight)
    return np.where(there, weight, 0.0), np.where(there, np.inf, 0.0)


def reserve_cost(problem: Problem, reserve: Array) -> Array:
    """The cost 1/2 sum_k w_k s_k^2 of reserves (T, m) [N m], (T,)."""
    weight, _ = reserve_terms(problem)
    return np.asarray(0.5 * (weight * reserve[:, : weight.shape[1]] ** 2).sum(axis=1))


def without_reserve(problem: Problem) -> Mask:
    """Mask of the moments that have no reserve, (T, m)."""
    weight = np.inf if problem.reserve_weight is None else problem.reserve_weight
    return np.broadcast_to(np.isinf(weight), problem.moment.shape)


def exact_moments(problem: Problem) -> Problem:
    """The problem of the moments that have no reserve, without reserves; the rows of the others are empty."""
    if problem.reserve_weight is None:
        return problem
    exact = without_reserve(problem)
    with np.errstate(invalid="ignore"):  # a frame that is not finite stays so
        arm, moment = problem.moment_arm * exact[:, :, None], problem.moment * exact
    return problem.with_arrays(moment_arm=arm, moment=moment, reserve_weight=None)


def row_size(problem: Problem) -> Array:
    """The largest entry of each row of the moment matrix, (T, m) [N m]; 1 for an empty row."""
    row = np.abs(problem.moment_matrix).max(axis=2)
    return np.where(row > 0, row, 1.0)


def edge_weight(problem: Problem, cost: Cost, stiffness: float) -> Array:
    """The weight (T, m) with which reserves bear about 1 / stiffness of the moments within reach, or of 1 N m."""
    size = np.maximum(1.0, np.abs(problem.moment))
    full = np.minimum(full_cost(problem, cost), HUGE)  # no product overflows
    weight: Array = 2.0 * stiffness * full[:, None] / np.square(size)
    return weight


def full_cost(problem: Problem, cost: Cost) -> Array:
    """The change of the cost from rest to full activation, (T,); 1 where it is zero or not finite.

    For a cost that is not least at rest it is at least half the sum of theta_i (upper_i - lower_i) (slope_scale).
    """
    full = np.abs(cost.value(problem, problem.upper) - cost.value(problem, problem.lower))
    width = problem.upper - problem.lower
    full = np.maximum(full, 0.5 * (slope_scale(problem, cost) * width).sum(axis=1))
    return np.where(np.isfinite(full) & (full > 0), full, 1.0)
