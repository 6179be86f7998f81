"""Checks of the arguments that many functions of force sharing take."""

from __future__ import annotations

from typing import Any

import numpy as np

from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution


def check_problem(given: object, where: str = "problem") -> Problem:
    """Return what was given, if it is a Problem."""
    if not isinstance(given, Problem):
        raise InputError(
            f"a {type(given).__name__} was given", code="bad_type", where=where, expected="a Problem"
        )
    return given


def check_solution(problem: Problem, given: object) -> Solution:
    """Return what was given, if it is a Solution that can be one of the problem."""
    if not isinstance(given, Solution):
        raise InputError(
            f"a {type(given).__name__} was given",
            code="bad_type",
            where="solution",
            expected="a Solution, from `solve`",
        )
    shapes = np.atleast_2d(given.activation).shape, np.atleast_2d(given.multiplier).shape
    if shapes != (problem.lower.shape, problem.moment.shape):
        raise InputError(
            f"the solution has activations {shapes[0]} and multipliers {shapes[1]}",
            code="bad_shape",
            where="solution",
            expected=f"those of the problem, {problem.lower.shape} and {problem.moment.shape}",
        )
    return given


def check_smooth_convex_cost(cost: str | Cost, problem: Problem, action: str, where: str) -> Cost:
    """Return the cost object, if it is smooth and convex and the problem has the data it needs.

    `action` is what cannot be done with other costs, such as "differentiated"; `where` is the argument: both for the
    message.
    """
    chosen = find_cost(cost)
    if lacking := chosen.needs & {"linear_programme", "nonconvex", "nonsmooth"}:
        raise InputError(
            f"the cost {chosen.name} cannot be {action} (it is {', '.join(sorted(lacking))})",
            code="bad_cost",
            where=where,
            expected="a smooth convex cost",
        )
    chosen.require(problem)
    return chosen


def members(given: object) -> list[Any]:
    """Return what is in a list, a tuple or a generator; nothing for a name, a cost or what is no collection."""
    if isinstance(given, str | Cost):
        return []
    try:
        each = iter(given)  # type: ignore[call-overload]
    except TypeError:  # an array without an axis calls itself iterable
        return []
    return list(each)
