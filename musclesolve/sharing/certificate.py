"""The certificate of optimality, recomputed from the problem and the numbers of a solution alone.

This is the definition, for any cost and any solver. kernel/compiled_certificate.py computes the same compiled, because
recomputing it in numpy would take longer than solving; tests/sharing/kernel/test_kernel.py holds the two together.

With g_i = df/da_i the marginal cost of muscle i, that of soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2 included, and
the pull p_i = (A^T lambda)_i of the moments on its activation, the optimum of a convex cost is characterised by

    stationarity and complementarity   a_i = clip(a_i - (g_i - p_i) / S_i, lower_i, upper_i)
    moments                            (A a + s - b)_k = 0
    reserves                           s_k = lambda_k / w_k          (s_k = 0 without reserves)

The first line needs no multipliers for the bounds: it states that a muscle is on a bound or has g_i = p_i, or rather
that the smaller of the two misses counts. S_i makes the miss relative,

    S_i = max(|g_i|, |p_i|, theta_i, 1e-9 max_j max(|g_j|, theta_j)),
    theta_i = |f_i'(lower_i + d_i / 2) - f_i'(lower_i)| + 1e-3 (G^T w G)_ii d_i / 2,
    d_i = min(upper_i - lower_i, max(1e-3, max_j(a_j - lower_j)))

where theta_i is the change of the muscle's own marginal cost over half the largest activation of the frame. So the
residual does not change when the cost is multiplied by a number, and every muscle counts on its own scale of marginal
costs, however large the multipliers are for the sake of another one. p_i is a sum whose terms may cancel, and round-off
leaves it uncertain by

    e_i = eps sum_k |A_ki lambda_k|.

Where that is more than 1e-6 S_i, the larger one of the misses with p_i - e_i and p_i + e_i counts. (With reserves
multipliers are what their weights make them, however stiff; there it counts from 1e-3 S_i on.) The misses of the second
and third line are divided by max(1 N m, |b_k|). The residual of the frame is the largest miss of all.

It is not free of every unit: activations from 0 to 1 and moments of newton metres are its natural sizes. A residual
of 1e-6 states

    of each muscle   g_i = p_i to 1e-6 S_i, or a_i within 1e-6 of the lower bound where g_i > p_i, or within 1e-6 of
                     the upper one where g_i < p_i
    of each moment   that it is met to 1e-6 max(1 N m, |b_k|): muscles at rest meet one of 1e-6 N m

and S_i never falls below the change of the marginal cost over the first 5e-4 of activation (or half the way to the
upper bound, if that is less). So in a frame without larger activations than 1e-3 marginal costs of sum a^p are
distinguished only above a = 5e-4 10^(-6 / (p - 1)), which is 5e-7 for p = 3 and 1e-4 for p = 10. In frames whose
activations are all below about 1e-5 the sharing, and with it the ratio of the cost to the least one, is not resolved.

Of a cost that is not convex the certificate shows a point where it is stationary, not that it is the least.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import (
    LEAST_REACH,
    LEAST_SIZE,
    ROUNDING,
    TOLERANCE,
    UNCERTAIN,
    UNCERTAIN_WITH_RESERVES,
)
from musclesolve.sharing.min_max_certificate import level_residual
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale


def kkt_residual(
    problem: Problem,
    cost: Cost,
    activation: Array,
    reserve: Array,
    multiplier: Array,
    level_multiplier: Array | None = None,
) -> Array:
    """The certificate of each frame: zero at the optimum, at most 1e-6 for a solved frame.

    Args:
        problem: with its bounds and reserve weights.
        cost: the cost that was minimised.
        activation: (T, n).
        reserve: (T, m) [N m].
        multiplier: (T, m) [cost per N m].
        level_multiplier: (T, L, m), for a cost of levels (min/max), whose certificate is in min_max_certificate.py.

    Returns:
        (T,) without unit; infinite where a number is not finite, or level multipliers lack.
    """
    problem = within_domain(problem, cost)
    if "linear_programme" in cost.needs:
        if level_multiplier is None:
            return np.full(problem.n_frames, np.inf)
        return level_residual(problem, cost, activation, reserve, level_multiplier)
    matrix = problem.moment_matrix
    with np.errstate(invalid="ignore", over="ignore"):
        produced = np.matmul(matrix, activation[:, :, None])[:, :, 0]
        pull = np.matmul(multiplier[:, None, :], matrix)[:, 0, :]
        uncertain = UNCERTAIN if problem.reserve_weight is None else UNCERTAIN_WITH_RESERVES
        blur = pull_error(matrix, multiplier), uncertain
        asked = 0.0 if problem.reserve_weight is None else multiplier / problem.reserve_weight
        scale = np.maximum(1.0, np.abs(problem.moment))
        misses = np.stack(
            [
                stationarity(problem, cost, activation, pull, blur),
                (np.abs(produced + reserve - problem.moment) / scale).max(axis=1),
                (np.abs(reserve - asked) / scale).max(axis=1),
            ]
        )
    return np.where(np.isfinite(misses).all(axis=0), misses.max(axis=0), np.inf)


def pull_error(matrix: Array, multiplier: Array) -> Array:
    """e: by how much round-off leaves the sums A^T lambda uncertain, (T, n)."""
    error: Array = ROUNDING * np.matmul(np.abs(multiplier)[:, None, :], np.abs(matrix))[:, 0, :]
    return error


def stationarity(
    problem: Problem, cost: Cost, activation: Array, pull: Array, blur: tuple[Array, float] | None = None
) -> Array:
    """The first line of the certificate, (T,), for pull = A^T lambda, (T, n).

    `blur` is `pull_error` of the pull, and the share of S from which on it counts; None: it does not.
    """
    inside = np.clip(activation, problem.lower, problem.upper)
    slope = cost.total_gradient(problem, inside)
    own = slope_scale(problem, cost, np.maximum(LEAST_REACH, (inside - problem.lower).max(axis=1)))
    return stationarity_miss(problem, activation, slope, pull, own, blur)


def stationarity_miss(
    problem: Problem,
    activation: Array,
    slope: Array,
    pull: Array,
    own: Array,
    blur: tuple[Array, float] | None = None,
) -> Array:
    """The same for slopes g and scales theta, (T, n), that are known already."""
    size = stationarity_size(slope, pull, own)
    miss = _miss(problem, activation, slope, pull, size)
    if blur is not None:
        error, share = blur
        error = np.where(error <= share * size, 0.0, error)
        for end in (pull - error, pull + error):
            miss = np.maximum(miss, _miss(problem, activation, slope, end, size))
    return np.asarray(miss.max(axis=1))


def _miss(problem: Problem, activation: Array, slope: Array, pull: Array, size: Array) -> Array:
    """|a - clip(a - (g - p) / S)| of every muscle, (T, n)."""
    difference = np.clip(slope - pull, -size, size)
    step = np.divide(difference, size, out=np.zeros_like(size), where=size != 0)
    # an infinite slope is a full miss, NaN stays NaN
    step = np.where(np.isfinite(slope), step, np.sign(slope))
    miss: Array = np.abs(activation - np.clip(activation - step, problem.lower, problem.upper))
    return miss


def stationarity_size(slope: Array, pull: Array, own: Array) -> Array:
    """S, (T, n), for slopes g, pull = A^T lambda and scales theta."""
    size = np.where(np.isfinite(slope), np.maximum(own, np.abs(slope)), own)
    size = np.maximum(size, LEAST_SIZE * size.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(size, np.abs(pull)))


def within_domain(problem: Problem, cost: Cost) -> Problem:
    """The problem with its upper bounds drawn in to where the domain of the cost ends."""
    return problem.with_upper(np.minimum(problem.upper, cost.largest_activation(problem)))


def needs_reserve(reserve: Array, moment: Array) -> Mask:
    """(T, m) whether a reserve (or a shortage) counts: it is more than 1e-6 max(1 N m, |b_k|) of the moment b.

    The one definition of SOLVED_WITH_RESERVE; kernel/solve_frame.py has the same in compiled form.
    """
    return np.abs(reserve) > TOLERANCE * np.maximum(1.0, np.abs(moment))
