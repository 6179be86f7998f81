"""What a cost does not say about its dependence on the problem is found by differences.

With the step h, of the order of a thousandth of the arrays that change, and f_j = f(problem + j h d),

    df = (8 (f_1 - f_-1) - (f_2 - f_-2)) / (12 h),

which is off by about h^4 f^(5) / 30: eight digits and more are right. Only formulas of a cost are differenced
like that, never the answer of a solver.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange

STEP = 1e-3
POSITIVE = ("force_capacity", "max_isometric_force", "optimal_fiber_length")
INSIDE = 0.4
"""How much of its way to zero half a stencil may go for a number that must stay positive."""


def gradient_change(cost: Cost, problem: Problem, activation: Array, change: ProblemChange) -> Array:
    """`cost.gradient_change`, unless the class redefines a cost of the library without redefining that."""
    with np.errstate(all="ignore"):
        if _inherited(cost, "gradient_change"):
            return Cost.gradient_change(cost, problem, activation, change)
        return cost.gradient_change(problem, activation, change)


def largest_activation_change(cost: Cost, problem: Problem, change: ProblemChange) -> Array:
    """The same of `cost.largest_activation_change`."""
    with np.errstate(all="ignore"):
        if _inherited(cost, "largest_activation_change"):
            change_of_end = Cost.largest_activation_change(cost, problem, change)
        else:
            change_of_end = cost.largest_activation_change(problem, change)
    return np.nan_to_num(change_of_end)  # an end at infinity does not move


def _inherited(cost: Cost, method: str) -> bool:
    """Whether a class from outside the library has the method from inside it."""
    owner = next(kind for kind in type(cost).__mro__ if method in vars(kind))
    return _of_library(owner) and not _of_library(type(cost))


def _of_library(kind: type) -> bool:
    return kind.__module__.startswith("musclesolve.")


def difference(of: Callable[[Problem], Array], problem: Problem, change: ProblemChange) -> Array:
    """The derivative of arrays (T, n) along each direction, (K, T, n).

    Args:
        of: the arrays as a function of the problem.
        problem: where.
        change: K directions.
    """
    found = []
    for number in range(change.directions):
        one = change.part(slice(number, number + 1))
        step = _step(problem, one)
        near, far = (
            np.asarray(of(one.moved(problem, j * step))) - np.asarray(of(one.moved(problem, -j * step)))
            for j in (1, 2)
        )
        found.append((8.0 * near - far) / (12.0 * step))
    return np.stack(found)


def _step(problem: Problem, change: ProblemChange) -> float:
    step = np.inf
    for name, direction in change.given().items():
        own, along = np.broadcast_arrays(getattr(problem, name), direction[0])
        own, along = np.abs(np.nan_to_num(own)), np.abs(np.nan_to_num(along))
        largest = along.max(initial=0.0)
        if largest == 0.0:
            continue
        step = min(step, STEP * (own.max(initial=0.0) or 1.0) / largest)
        if name in POSITIVE:
            moving = (own > 0) & (along > 0)
            step = min(step, 0.5 * INSIDE * (own[moving] / along[moving]).min(initial=np.inf))
    return float(step) if np.isfinite(step) else STEP
