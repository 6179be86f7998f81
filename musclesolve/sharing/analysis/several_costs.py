"""Several costs: their Pareto front.

Proposed by Silva 2003, sections 6.9 and 7.1. Costs of different units are brought to one scale by their ranges. With
the least value l_j of each cost, and the largest one u_j that it takes where another cost is least (the payoff table;
Miettinen 1999, Nonlinear Multiobjective Optimization), every point of the front minimizes

    sum_j w_j (f_j - l_j) / (u_j - l_j),      w_j >= 0,  sum_j w_j = 1.

For convex costs every point of the front is the optimum for some weights, and every optimum for positive weights is on
it (Geoffrion 1968, J Math Anal Appl 22:618-630).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice, check_integer
from musclesolve._util.messages import with_sizes
from musclesolve.constants import USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_smooth_cost, members
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.problem import Problem
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
    problem = problem.with_arrays(single_frame=False)
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
