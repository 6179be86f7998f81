"""The nonlinear program of one frame in symbols of CasADi, scaled by numbers that are among its parameters.

With unknowns x = (a, s / row), the largest entry row_k of each row of the moments and a scale of the cost,

    minimize   f = scale f(a) + 1/2 sum_k w_k (s_k / row_k)^2
    subject to g = ((A a + s - b) / row, size c(a))

where c are expressions of constraints. The parameters p are, in this order: the numbers of the cost and of each
constraint, scale, w, size, A / row (columns first) and b / row.
"""

from __future__ import annotations

from typing import Any

from musclesolve.sharing.cost.casadi_expression import ExpressionCost
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Shapes, arrays_of, parameter_symbols


def frame_symbols(
    cost: Cost, expressions: tuple[ExpressionCost, ...], counts: tuple[int, int, int], shapes: Shapes
) -> dict[str, Any]:
    """The symbols x, p, f and g (casadi.SX).

    Args:
        cost: with an expression.
        expressions: of the constraints.
        counts: rows of moments, muscles, reserves (0 or as many as rows).
        shapes: of the numbers of the cost and of the constraints, `shapes_of((cost.parameters(problem), (...)))`.
    """
    import casadi

    rows, muscles, soft = counts
    a, s = casadi.SX.sym("a", muscles), casadi.SX.sym("s", soft)
    of_cost, of_constraints = numbers = parameter_symbols(casadi.SX.sym, shapes)
    scale, weight = casadi.SX.sym("scale"), casadi.SX.sym("w", soft)
    size = casadi.SX.sym("size", len(expressions))
    matrix, moment = casadi.SX.sym("A", rows, muscles), casadi.SX.sym("b", rows)
    values = [
        expression.expression(casadi, a, own)
        for expression, own in zip(expressions, of_constraints, strict=True)
    ]
    symbols: list[Any] = [*arrays_of(numbers), scale, weight, size, matrix, moment]
    return {
        "x": casadi.vertcat(a, s),
        "p": casadi.veccat(*symbols),
        "f": scale * cost.expression(casadi, a, of_cost) + 0.5 * casadi.dot(weight, s**2),
        "g": casadi.vertcat(matrix @ a - moment + (s if soft else 0.0), size * casadi.vertcat(*values)),
    }
