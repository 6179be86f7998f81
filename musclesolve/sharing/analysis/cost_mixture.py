"""The non-negative mixture of several costs that best explains an activation pattern.

An activation pattern is optimal for the cost sum_j w_j f_j if in every frame there are multipliers lambda with

    r_i = sum_j w_j df_j/da_i - (A^T lambda)_i     r_i = 0 between the bounds, r_i >= 0 at the lower, r_i <= 0 at the
                                                  upper one.

These conditions are linear in w and lambda. The mixture sought has sum_j w_j s_j = 1, w >= 0, and violates the
conditions least in the sense of least squares, over all frames at once (inverse optimal control by the residual of the
conditions of optimality: Keshavarz, Wang and Boyd 2011, "Imputing a convex objective function"). s_j is the root mean
square of the slopes of cost j, so that costs of different units stand side by side; every frame counts the same.

The multipliers are eliminated frame by frame, by projection. This leaves a non-negative least-squares problem with
one unknown per cost: the least of |M v|^2 + (1 - sum v)^2 over v >= 0 has the direction of the least of |M v|^2 with
sum v = 1, because for v = t u, sum u = 1, the best t leaves |M u|^2 / (1 + |M u|^2). A condition at a bound is active
only while it is violated; the active ones are found by repetition.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_number, check_real_array
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost, members
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import refuse_numbers

MOST_REPETITIONS = 100
DEPENDENT = 1e-10
LEAST_WIDTH = 1e-12  # muscles whose bounds are nearer to each other than this are left out


@dataclass(frozen=True, eq=False)
class Mixture:
    """The mixture found, and how well it explains the pattern.

    Attributes:
        costs: J costs.
        weight: (J,) w, such that sum_j weight_j cost_j is the mixture.
        share: (J,) weight times the root mean square slope of its cost; sums to one.
        multiplier: (T, m) of the moments, in units of the mixture per N m; NaN in uninformative frames.
        residual: (T,) violation of the conditions of optimality over the size of the slopes, root mean squares; zero
            for a pattern that is exactly optimal, NaN in uninformative frames.
        total_residual: the violation over all frames, a number.
        distinctness: how sharply the pattern distinguishes the costs: the second smallest singular value of the
            conditions over the size of the slopes. Where it is as small as the residual, other mixtures explain as
            much; one for a single cost.
    """

    costs: tuple[Cost, ...]
    weight: Array
    share: Array
    multiplier: Array
    residual: Array
    total_residual: float
    distinctness: float

    @property
    def cost(self) -> WeightedSum:
        """The mixture as a cost; costs without weight are left out."""
        terms = zip(self.weight, self.costs, strict=True)
        return WeightedSum(tuple((float(w), cost) for w, cost in terms if w > 0))


def fit_cost_weights(
    problem: Problem, activation: ArrayLike, costs: Sequence[str | Cost], at_bound: float = 1e-4
) -> Mixture:
    """Find the non-negative mixture of costs for which an activation pattern is nearest to optimal.

    The pattern itself defines the moments; the moments of the problem are not used. Uninformative frames are
    left out: those without a finite activation, or with no more muscles between their bounds than there are moments.

    Args:
        problem: moment arms, capacities and bounds; T frames.
        activation: (T, n) [1] the pattern, or (n,) for a single frame.
        costs: J names or Cost objects with a gradient.
        at_bound: activations nearer to a bound than this count as lying on it; larger than zero, because solvers end
            a little away from the bounds.

    Raises:
        InputError: a distance `at_bound` that is not a positive number, the shape of the pattern, an activation beyond
            its bounds, a cost that has no gradient or does not fit the problem, or a pattern without informative
            frame.
    """
    named = members(costs)
    if not named:
        raise input_error(
            "missing_argument",
            where="costs",
            problem="there are no costs to mix",
            expected="a list of names or Cost objects",
        )
    problem = check_problem(problem).numbered()
    chosen = tuple(check_smooth_cost(cost, problem, "mixed", "costs") for cost in named)
    at_bound = check_number(at_bound, "at_bound", "a positive number", above=0.0)
    for cost in chosen:
        problem = within_domain(problem, cost)
    shape = problem.force_capacity.shape
    shapes = (shape, shape[1:]) if problem.n_frames == 1 else (shape,)
    pattern = np.atleast_2d(check_real_array(activation, "activation", f"{shape}", shapes=shapes))
    beyond = (pattern < problem.lower - at_bound) | (pattern > problem.upper + at_bound)
    expected = (
        "a number within its bounds and the domains of the costs: leave out such a cost, or the frame as NaN"
    )
    refuse_numbers(pattern, beyond, "activation", problem.muscle or (), expected, "activation", "bad_value")

    # the conditions of each frame and muscle: r = 0 inside, r >= 0 at the lower bound, r <= 0 at the upper one
    movable = problem.upper - problem.lower > LEAST_WIDTH
    counted = movable & (problem.valid & np.isfinite(pattern).all(axis=1))[:, None]
    at_lower = counted & (pattern - problem.lower <= at_bound)
    at_upper = counted & (problem.upper - pattern <= at_bound) & ~at_lower
    inside = counted & ~at_lower & ~at_upper
    informative = inside.sum(axis=1) > problem.n_dof
    if not informative.any():
        raise input_error(
            "bad_value",
            where="activation",
            problem="the activation pattern has no informative frame",
            expected=f"a frame with more than {problem.n_dof} muscles (the moments) between their bounds",
        )

    # slopes (T, n, J), those of every cost over its unit s_j, those of every frame over their size
    a = np.where(counted, pattern, problem.lower)
    slope = np.stack([cost.gradient(problem, a) for cost in chosen], axis=-1)
    usable = np.isfinite(slope).all(axis=-1)
    slope = np.where((counted & usable)[..., None], slope, 0.0)
    inside, at_lower, at_upper = inside & usable, at_lower & usable, at_upper & usable
    unit = np.sqrt(np.square(slope[inside & informative[:, None]]).mean(axis=0))
    for cost, length in zip(chosen, unit, strict=True):
        if not length > 0:
            raise input_error(
                "bad_cost",
                where="costs",
                problem=f"the cost {cost.name} has no slope anywhere along the pattern",
                expected="costs that depend on its activations",
                remedy="leave it out",
            )
    slope = slope / unit
    square = np.where(inside[..., None], np.square(slope), 0.0).sum(axis=(1, 2))
    size = np.sqrt(square / np.maximum(1, inside.sum(axis=1)))
    informative = informative & (size > 0)
    slope = slope / np.where(informative, size, 1.0)[:, None, None]
    inside, at_lower, at_upper = (mask & informative[:, None] for mask in (inside, at_lower, at_upper))
    matrix = np.where(counted[:, None, :], problem.moment_matrix, 0.0)

    # the mixture v (J,) and the active conditions, which are found by repetition; the best of all is kept
    active, least = inside.copy(), np.inf
    for _ in range(MOST_REPETITIONS):
        v, multiplier, factor = _least_squares(matrix, slope, active)
        residual = np.einsum("tnj,j->tn", slope, v) - np.matmul(multiplier[:, None, :], matrix)[:, 0, :]
        violated = inside | (at_lower & (residual < 0)) | (at_upper & (residual > 0))
        miss = float(np.square(residual[violated]).sum() / v.sum() ** 2)
        if miss < least:
            least, best = miss, (v, multiplier, violated, factor)
        if (violated == active).all():
            break
        active = violated
    v, multiplier, active, factor = best

    share, multiplier = v / v.sum(), multiplier / v.sum()
    mixed = np.einsum("tnj,j->tn", slope, share)
    residual = np.where(active, mixed - np.matmul(multiplier[:, None, :], matrix)[:, 0, :], 0.0)
    informed = informative & active.any(axis=1)
    violation = np.square(residual).sum(axis=1)
    square = np.square(np.where(inside, mixed, 0.0)).sum(axis=1)
    ratio = np.divide(violation, square, out=np.full_like(square, np.nan), where=informed & (square > 0))
    distinctness = 1.0
    if len(chosen) > 1:
        distinctness = float(np.linalg.svd(factor, compute_uv=False)[-2] / np.linalg.norm(slope[active]))
    return Mixture(
        costs=chosen,
        weight=share / unit,
        share=share,
        multiplier=np.where(informed[:, None], multiplier * size[:, None], np.nan),
        residual=np.sqrt(ratio),
        total_residual=float(np.sqrt(violation[informed].sum() / square[informed].sum())),
        distinctness=distinctness,
    )


def _least_squares(matrix: Array, slope: Array, active: Mask) -> tuple[Array, Array, Array]:
    """The mixture v (J,) of the active conditions (T, n), its multipliers (T, m), and a factor R with |R v| = |M v|."""
    from scipy.optimize import nnls

    rows = np.where(active[..., None], matrix.transpose(0, 2, 1), 0.0)  # (T, n, m)
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    keep = values > DEPENDENT * values.max(axis=1, keepdims=True)
    left = left * keep[:, None, :]
    slope = np.where(active[..., None], slope, 0.0)
    projected = np.matmul(left.transpose(0, 2, 1), slope)  # (T, m, J)
    rest = (slope - np.matmul(left, projected)).reshape(-1, slope.shape[-1])
    factor: Array = np.asarray(np.linalg.qr(rest, mode="r"))
    count = factor.shape[1]
    v, _ = nnls(np.vstack([factor, np.ones((1, count))]), np.append(np.zeros(len(factor)), 1.0))
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=keep)
    multiplier = np.einsum("tkm,tk,tkj,j->tm", right, inverse, projected, v)
    return v, multiplier, factor
