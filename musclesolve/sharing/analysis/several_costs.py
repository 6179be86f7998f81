"""Several costs: their Pareto front, and the mixture of them that best explains an activation pattern.

The Pareto front (proposed by Silva 2003, sections 6.9 and 7.1). Costs of different units are brought to one
scale by their ranges. With the least value l_j of each cost, and the largest one u_j that it takes where another cost
is least (the payoff table; Miettinen 1999, Nonlinear Multiobjective Optimization), every point of the front minimizes

    sum_j w_j (f_j - l_j) / (u_j - l_j),      w_j >= 0,  sum_j w_j = 1.

For convex costs every point of the front is the optimum for some weights, and every optimum for positive weights is on
it (Geoffrion 1968, J Math Anal Appl 22:618-630).

The mixture. An activation pattern is optimal for the cost sum_j w_j f_j if in every frame there are multipliers lambda
with

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
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice, check_integer, check_number, check_real_array
from musclesolve._util.messages import with_sizes
from musclesolve.constants import USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost, members
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import refuse_numbers
from musclesolve.sharing.solver.solver_registry import Solver
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

SCOPES = ("frame", "motion")
NO_RANGE = 1e-9


@dataclass(frozen=True, eq=False)
class ParetoFront:
    """W points of the front of J costs.

    Attributes:
        costs: names of the J costs.
        weight: (W, J), sums to one; the points for which one weight is 1 are the optima of the single costs.
        activation: (W, T, n); NaN where a frame is not solved.
        cost: (W, T, J) value of every cost.
        least: (T, J) the least value of each cost; (J,) of their sums over the frames for the scope "motion".
        largest: the largest value of each cost at the optimum of another cost; shapes as for `least`.
        status: (W, T) members of Status, as integers.
        scope: "frame" or "motion".
    """

    costs: tuple[str, ...]
    weight: Array
    activation: Array
    cost: Array
    least: Array
    largest: Array
    status: NDArray[np.int8]
    scope: str
    __repr__ = with_sizes

    @property
    def complete(self) -> Mask:
        """Mask of the frames that are solved at every point of the front, (T,)."""
        return (self.status == Status.SOLVED).all(axis=0)

    @property
    def total(self) -> Array:
        """Every cost summed over the complete frames, (W, J)."""
        return self.cost[:, self.complete].sum(axis=1)

    @property
    def normalized(self) -> Array:
        """Costs scaled from their least (0) to their largest value (1): (W, T, J), or (W, J) for "motion".

        Zero where a cost is the same at every optimum.
        """
        value = self.total if self.scope == "motion" else self.cost
        above, reach = value - self.least, self.largest - self.least
        return np.divide(above, reach, out=np.zeros_like(above), where=_wide(self.least, self.largest))


def pareto_front(
    problem: Problem,
    costs: Sequence[str | Cost],
    divisions: int = 10,
    scope: str = "frame",
    solver: str | Solver = USUAL_SOLVER,
) -> ParetoFront:
    """Compute points of the Pareto front of two or more convex costs.

    Args:
        problem: without reserve weights: a reserve is an objective of its own and would need a place in the front.
            Frames whose moments are out of reach have no front.
        costs: J names or Cost objects. Activations stay within the domains of all of them.
        divisions: weights are all multiples of 1 / divisions that sum to one, divisions + 1 points for two costs.
        scope: "frame": each frame has a front and a scale of its own. "motion": the objectives are the sums of the
            costs over the motion; the same weights and scales hold in every frame.

    Raises:
        InputError: fewer than two costs, a cost that is not convex, too many points, or what `solve` refuses.
    """
    listed = _listed(costs, 2, "a Pareto front needs two costs or more")
    problem = check_problem(problem)
    if problem.reserve_weight is not None:
        fault, expected = "the problem has reserves", "moments that the muscles alone produce"
        remedy = "leave reserve_weight out; frames out of reach are marked INFEASIBLE"
        raise input_error(
            "conflict", where="Problem.reserve_weight", problem=fault, expected=expected, remedy=remedy
        )
    action = "weighed against others"
    chosen = [check_smooth_cost(cost, problem, action, "costs", convex=True) for cost in listed]
    problem = replace(problem)  # adds the frame axis to arrays that lack it
    # all weights that are multiples of 1 / divisions and sum to one, from the last cost to the first
    divisions, count = check_integer(divisions, "divisions", 1), len(chosen)
    places = np.array(list(combinations(range(divisions + count - 1), count - 1)))
    bars = np.pad(places, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, divisions + count - 1)))
    weight = (np.diff(bars, axis=1) - 1) / divisions
    check_choice(scope, "the scope", SCOPES, where="scope")
    for cost in chosen:
        problem = within_domain(problem, cost)
    corners = [_point(problem, chosen, row, solver) for row in np.eye(count)]
    table = np.stack([values for _, values, _ in corners])  # (J, T, J)
    if scope == "motion":
        table = table[:, np.isfinite(table).all(axis=(0, 2))].sum(axis=1)
    least, largest = table.min(axis=0), table.max(axis=0)
    reach = np.where(_wide(least, largest), largest - least, 1.0)
    if scope == "frame":  # a frame that the problem has several times has one scale
        scale = np.zeros((problem.whole_frames, count))
        np.maximum.at(scale, problem.frame_number, reach)
        reach = scale[problem.frame_number]
    points = [
        corners[int(row.argmax())] if row.max() == 1.0 else _point(problem, chosen, row / reach, solver)
        for row in weight
    ]
    activation, value, status = (np.stack(arrays) for arrays in zip(*points, strict=True))
    labels = tuple(cost.label for cost in chosen)
    return ParetoFront(labels, weight, activation, value, least, largest, status, scope)


def _listed(costs: object, least: int, problem: str) -> list[str | Cost]:
    """The costs as a list; refuse fewer than `least`, in the words of `problem`."""
    listed = members(costs)
    if len(listed) < least:
        expected = "a list of names or Cost objects"
        raise input_error("missing_argument", where="costs", problem=problem, expected=expected)
    return listed


def _point(
    problem: Problem, costs: Sequence[Cost], weight: Array, solver: str | Solver
) -> tuple[Array, Array, NDArray[np.int8]]:
    """The optimum for weights (J,) or (T, J) of unscaled costs: activation (T, n), costs (T, J), status (T,)."""
    shape, whole = (problem.n_frames, len(costs)), np.zeros((problem.whole_frames, len(costs)))
    whole[problem.frame_number] = weight = np.broadcast_to(weight, shape)
    single = [cost for cost, column in zip(costs, weight.T, strict=True) if column.any()]
    if len(single) == 1:
        solution = solve(problem, single[0], solver)
    else:
        # weights in every frame scale the sum to order one there, whatever the units of the costs
        solution = solve(problem, _FrameWeightedSum(tuple((1.0, cost) for cost in costs), whole), solver)
    solved = solution.solved
    values = np.full(shape, np.nan)
    if solved.any():
        part, activation = problem.frames(solved), solution.activation[solved]
        values[solved] = np.stack([cost.value(part, activation) for cost in costs], axis=-1)
    return solution.activation, values, solution.status


def _wide(least: Array, largest: Array) -> Mask:
    """Return whether a cost varies between its least and largest value by more than round-off."""
    return largest - least > NO_RANGE * np.abs(largest)


@dataclass(frozen=True)
class _FrameWeightedSum(WeightedSum):
    """sum_j w_tj f_j with weights (T, J) of the frames of the whole problem."""

    weight: Array = field(default_factory=lambda: np.zeros((0, 0)), compare=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        return "mixture of " + ", ".join(cost.label for cost in self.costs)

    def factors(self, problem: Problem) -> list[Array | float]:
        return list(self.weight[problem.frame_number].T)


MOST_REPETITIONS = 100
DEPENDENT = 1e-10


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
    __repr__ = with_sizes

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
    named = _listed(costs, 1, "there are no costs to mix")
    problem = check_problem(problem)
    chosen = tuple(check_smooth_cost(cost, problem, "mixed", "costs") for cost in named)
    at_bound = check_number(at_bound, "at_bound", "a positive number", above=0.0)
    for cost in chosen:
        cost.check_names(*problem.names)
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
    movable = problem.upper - problem.lower > NO_ROOM
    counted = movable & (problem.valid & np.isfinite(pattern).all(axis=1))[:, None]
    at_lower = counted & (pattern - problem.lower <= at_bound)
    at_upper = counted & (problem.upper - pattern <= at_bound) & ~at_lower
    inside = counted & ~at_lower & ~at_upper
    informative = inside.sum(axis=1) > problem.n_dof
    if not informative.any():
        fault = "the activation pattern has no informative frame"
        expected = f"a frame with more than {problem.n_dof} muscles (the moments) between their bounds"
        raise input_error("bad_value", where="activation", problem=fault, expected=expected)

    # slopes (T, n, J), those of every cost over its unit s_j, those of every frame over their size
    a = np.where(counted, pattern, problem.lower)
    slope = np.stack([cost.gradient(problem, a) for cost in chosen], axis=-1)
    usable = np.isfinite(slope).all(axis=-1)
    slope = np.where((counted & usable)[..., None], slope, 0.0)
    inside, at_lower, at_upper = inside & usable, at_lower & usable, at_upper & usable
    unit = np.sqrt(np.square(slope[inside & informative[:, None]]).mean(axis=0))
    for cost, length in zip(chosen, unit, strict=True):
        if not length > 0:
            fault = f"the cost {cost.name} has no slope anywhere along the pattern"
            expected = "costs that depend on its activations"
            remedy = "leave it out"
            raise input_error("bad_cost", where="costs", problem=fault, expected=expected, remedy=remedy)
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
