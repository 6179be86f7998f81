"""How the gradient of a cost that is an expression answers to changes of the problem."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange

if TYPE_CHECKING:
    from musclesolve.sharing.cost.casadi_expression import ExpressionCost


def expression_change(
    cost: ExpressionCost, problem: Problem, activation: Array, change: ProblemChange
) -> Array:
    """(K, T, n), the derivative of the slopes by the numbers of the expression along the change of these numbers.

    Args:
        cost: the expression; its numbers are the capacity, the fields that it uses, and constants.
        problem: where.
        activation: (T, n).
        change: K directions.
    """
    shape, count = (change.directions, *activation.shape), len(cost.constants)
    if 0 in shape:
        return np.zeros(shape)
    moving = [np.broadcast_to(change.get(name), shape) for name in ("force_capacity", *cost.uses)]
    direction = np.stack(moving + [np.zeros(shape)] * count, axis=2)  # (K, T, p, n)
    numbers = cost.parameters(problem)
    function = _function(cost, shape[2]).map(shape[1])
    flat = numbers.transpose(1, 0, 2).reshape(cost.parameter_rows, -1)
    found = [
        np.asarray(function(activation.T, flat, d.transpose(1, 0, 2).reshape(cost.parameter_rows, -1))).T
        for d in direction
    ]
    return np.stack(found)


@lru_cache(maxsize=64)
def _function(cost: ExpressionCost, muscles: int) -> Any:
    """The directional derivative of the slopes as a CasADi function of (a, numbers, direction)."""
    import casadi  # here, so that whoever writes no expression does not wait for it

    a = casadi.SX.sym("a", muscles)
    numbers = casadi.SX.sym("p", cost.parameter_rows, muscles)
    direction = casadi.SX.sym("d", cost.parameter_rows, muscles)
    slope = casadi.gradient(casadi.SX(cost.expression(casadi, a, numbers)), a)
    return casadi.Function("change", [a, numbers, direction], [casadi.jtimes(slope, numbers, direction)])
