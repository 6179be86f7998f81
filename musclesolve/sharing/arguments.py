"""Checks of the arguments that many functions of force sharing take."""

from typing import Any

import numpy as np

from musclesolve._util.checks import check_type
from musclesolve.errors import input_error
from musclesolve.sharing.cost.cost_base import NEEDS, Cost, fit
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_registry import SMOOTH


def check_problem(argument: object, where: str = "problem") -> Problem:
    """Return the argument; refuse an object that is not a Problem."""
    return check_type(argument, Problem, where, "a Problem")


def check_solution(problem: Problem, argument: object) -> Solution:
    """Return the argument; refuse an object that is not a Solution with the shapes of the problem."""
    solution = check_type(argument, Solution, "solution", "a Solution, from `solve`")
    shapes = np.atleast_2d(solution.activation).shape, np.atleast_2d(solution.multiplier).shape
    if shapes != (problem.lower.shape, problem.moment.shape):
        fault = f"the solution has activations {shapes[0]} and multipliers {shapes[1]}"
        expected = f"the shapes of the problem, {problem.lower.shape} and {problem.moment.shape}"
        raise input_error("bad_shape", where="solution", problem=fault, expected=expected)
    return solution


def check_smooth_cost(
    cost: str | Cost, problem: Problem | None, action: str, where: str = "cost", convex: bool = False
) -> Cost:
    """Return the cost for a problem, if there is one; refuse a cost that is not smooth, or not convex if `convex`.

    The message names `action`, which other costs do not allow, such as "differentiated", and the argument `where`.
    """
    chosen = find_cost(cost) if problem is None else fit(find_cost(cost), problem)
    if lacking := chosen.needs - (SMOOTH - {"nonconvex"} if convex else SMOOTH):
        words = ", ".join(NEEDS.get(word, word) for word in sorted(lacking))
        fault = f"the cost {chosen.name} cannot be {action}: it has {words}"
        expected = "a smooth convex cost" if convex else "a smooth cost"
        raise input_error("bad_cost", where=where, problem=fault, expected=expected)
    return chosen


def members(argument: object) -> list[Any]:
    """Return the members of a list, a tuple or a generator; none for a name, a cost or any other object."""
    if isinstance(argument, str | Cost):
        return []
    try:
        return list(iter(argument))  # type: ignore[call-overload]
    except TypeError:  # an array without axes has __iter__, too
        return []
