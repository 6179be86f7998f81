"""How far the activations of a certified sharing may be from the optimum of the moments that it produces."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem, check_solution
from musclesolve.sharing.certificate import gap_parts, within_domain
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import UNIT_ROUNDING
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution

FIRST_REACH, DOUBLINGS = 1e-15, 54  # first distance that is tried, and number of doublings
OF_ROUND_OFF = 64.0 * UNIT_ROUNDING  # share of the sizes of slopes that rounding may add to a growth


def activation_bound(problem: Problem, cost: str | Cost, solution: Solution) -> Array:
    """A proved distance of every activation from the optimum of the moments that the sharing produces.

    Both a_i and the optimum lie where h_i(x) - min h_i <= G (certificate.py). By convexity h_i grows from a_i to
    a_i + X by at least the slopes halfway and at a_i times half the way. The least such X of a series that doubles is
    returned, at most the distance of the farther bound. Slopes that are constant, as of linear costs, set no limit.

    Args:
        problem: that was solved.
        cost: that was minimized, by name or as a Cost.
        solution: of the problem.

    Returns:
        (T, n), or (n,) for a single frame; NaN where nothing is solved.

    Raises:
        InputError: the cost has no terms of one muscle each; a solution of another problem.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.05]], [30.0], [1000.0, 1000.0], [1000.0, 1000.0])
        >>> solution = ms.solve(problem, "force_squared")
        >>> bool((ms.sharing.activation_bound(problem, "force_squared", solution) < 1e-7).all())
        True
    """
    problem = check_problem(problem, "activation_bound")
    chosen, solution = fit(find_cost(cost), problem), check_solution(problem, solution)
    if not chosen.needs <= {"separable", "rows", "nonsmooth"}:
        fault = f"the cost {chosen.name} has terms of several muscles, levels, or is not known to be convex"
        expected = "a convex cost that is a sum over muscles"
        raise input_error("bad_cost", where="activation_bound", problem=fault, expected=expected)
    weight = np.reshape(solution.reserve_weight, problem.moment.shape)
    part = problem.with_arrays(reserve_weight=weight) if np.isfinite(weight).any() else problem
    part = within_domain(part, chosen)
    a, reserve, multiplier = (
        np.reshape(array, (problem.n_frames, -1))
        for array in (solution.activation, solution.reserve, solution.multiplier)
    )
    with np.errstate(all="ignore"):
        parts = gap_parts(part, chosen, a, reserve, multiplier, None)
        soft = chosen.soft_rows(part)
        slope, pull = chosen.term_gradient(part, a), part.pull(multiplier)
        if soft is not None:
            pull = pull - soft.gradient(a)
        farthest = np.zeros_like(a)
        for way, bound in ((-1.0, part.lower), (1.0, part.upper)):
            room = np.abs(bound - a)
            reach, found = np.array(room), np.zeros(a.shape, np.bool_)
            for step in FIRST_REACH * 2.0 ** np.arange(DOUBLINGS):
                z = np.clip(a + way * step, part.lower, part.upper)
                middle = 0.5 * (a + z)
                growth = (chosen.term_gradient(part, middle) - pull) * (z - middle) + (slope - pull) * (
                    middle - a
                )
                growth -= OF_ROUND_OFF * (np.abs(slope) + np.abs(pull)) * np.abs(z - a)
                enough = ~found & (growth > parts.excess[:, None]) & (step < room)
                reach, found = np.where(enough, step, reach), found | enough
            farthest = np.maximum(farthest, reach)
        distance = np.where(np.isfinite(a), farthest, np.nan)
    return distance[0] if problem.single_frame else distance
