"""Ipopt through CasADi: the general-purpose reference, one frame after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.locks import CASADI
from musclesolve.sharing.cost.casadi_expression import ExpressionCost
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size
from musclesolve.sharing.solver.frame_program import CLAIMS, independent_rows, ipopt_options
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status


@dataclass(frozen=True)
class Ipopt:
    """Ipopt on one nonlinear program with parameters, built once for a size and a cost, called for every frame.

    Rows are divided by their largest entry and the cost by its steepest slope before Ipopt gets them, and rows that
    repeat others are left out. Each frame starts from the previous one unless there is a warm start. Only one thread
    runs at a time.
    """

    tolerance: float = 1e-13  # Ipopt's `tol`, on the scaled problem
    max_iterations: int = 300  # for each frame

    name: ClassVar[str] = "ipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            return minimize_frames(problem, cost, self, warm_start=warm_start)[0]


@dataclass(frozen=True, eq=False)
class Extra:
    """Constraints beside the moments: j expressions of the activations, and for T frames their bounds.

    parameters (T, P): of all expressions, one after the other; size (T, j): divides values and bounds of the
    expressions before Ipopt gets them.
    """

    expressions: tuple[ExpressionCost, ...]
    parameters: Array
    size: Array
    lower: Array
    upper: Array


def minimize_frames(
    problem: Problem, cost: Cost, method: Any, extra: Extra | None = None, warm_start: Array | None = None
) -> tuple[Attempt, Array]:
    """Minimize the cost of every frame by Ipopt, through cyipopt if the name of `method` is so, else through CasADi.

    Args:
        problem: T frames.
        cost: with an expression.
        method: name, tolerance and max_iterations.
        extra: constraints beside the moments.
        warm_start: (T, n) activations.

    Returns:
        The attempt, and the multipliers of the extra constraints (T, j).
    """
    muscles, dofs, reserved = problem.n_muscles, problem.n_dof, problem.reserve_weight is not None
    attempt, soft = Attempt.blank(problem), dofs if reserved else 0
    # units in which slopes and moments are of order one: the largest entry of a row, the largest slope of the cost
    row = np.abs(problem.moment_matrix).max(axis=2)
    row = np.where(row > 0, row, 1.0)
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    steepest = np.where(steepest > 0, steepest, 1.0)
    matrices, moments = problem.moment_matrix / row[:, :, None], problem.moment / row
    weight = np.zeros((len(row), 0)) if problem.reserve_weight is None else problem.reserve_weight * row**2
    parameters, sizes = cost_parameters(problem, cost, steepest, weight / steepest[:, None])
    if extra is None:
        none = np.zeros((problem.n_frames, 0))
        extra = Extra((), none, none, none, none)
    parameters = np.concatenate([parameters, extra.parameters, 1.0 / extra.size], axis=1)
    multipliers, free = np.full(extra.size.shape, np.nan), np.full(soft, np.inf)

    start = 0.5 * (problem.lower + problem.upper)[0]
    for t in range(problem.n_frames):
        lower, upper = problem.lower[t], problem.upper[t]
        combination = np.eye(dofs)
        if not reserved:
            # Ipopt wants no more rows than unknowns to be found, and rows that repeat others have no multipliers of
            # their own; reserves make the rows independent
            independent = independent_rows(matrices[t] * (upper > lower))
            combination = combination if independent.shape[1] == dofs else independent
        matrix, moment = combination.T @ matrices[t], combination.T @ moments[t]
        program = _program(cost, extra.expressions, (len(moment), muscles, soft), sizes, method)
        guess = np.clip(start if warm_start is None else warm_start[t], lower, upper)
        met = np.zeros(len(moment))
        x, multiplier, attempt.iterations[t], ended = program(
            x0=np.concatenate([guess, np.zeros(soft)]),
            p=np.concatenate([parameters[t], matrix.ravel(order="F"), moment]),
            lbx=np.concatenate([lower, -free]),
            ubx=np.concatenate([upper, free]),
            lbg=np.concatenate([met, extra.lower[t] / extra.size[t]]),
            ubg=np.concatenate([met, extra.upper[t] / extra.size[t]]),
        )
        attempt.claim[t] = CLAIMS.get(ended, Status.SOLVER_FAILED)
        attempt.activation[t] = np.clip(x[:muscles], lower, upper)
        if reserved:
            attempt.reserve[t] = x[muscles:] * row[t]
        # Ipopt adds multiplier times constraint to the cost; here it is subtracted
        attempt.multiplier[t] = -combination @ multiplier[: len(moment)] * steepest[t] / row[t]
        multipliers[t] = -multiplier[len(moment) :] * steepest[t] / extra.size[t]
        if attempt.claim[t] == Status.SOLVED:
            start = attempt.activation[t]
    return attempt, multipliers


Program = Callable[..., tuple[Array, Array, int, str]]
"""A frame's numbers -> unknowns, multipliers of the rows, iterations, final message of Ipopt."""


@lru_cache(maxsize=32)
def _program(
    cost: Cost,
    expressions: tuple[ExpressionCost, ...],
    counts: tuple[int, int, int],
    sizes: tuple[int, int],
    method: Any,
) -> Program:
    """Build the program that minimizes the scaled cost of n muscles subject to A a + s = b, with s if there are
    reserves.

    counts: rows, muscles, reserves.
    """
    rows, muscles, soft = counts
    a, s = casadi.SX.sym("a", muscles), casadi.SX.sym("s", soft)
    matrix, moment = casadi.SX.sym("A", rows, muscles), casadi.SX.sym("b", rows)
    objective, parameters = cost_expression(cost, a, s, sizes)
    numbers = [
        casadi.SX.sym(f"p{j}", expression.parameter_rows, muscles) for j, expression in enumerate(expressions)
    ]
    scale = casadi.SX.sym("h", len(expressions))
    values = [
        expression.expression(casadi, a, numbers_of)
        for expression, numbers_of in zip(expressions, numbers, strict=True)
    ]
    problem = {
        "x": casadi.vertcat(a, s),
        "p": casadi.vertcat(parameters, *map(casadi.vec, numbers), scale, casadi.vec(matrix), moment),
        "f": objective,
        "g": casadi.vertcat(matrix @ a - moment + (s if soft else 0.0), scale * casadi.vertcat(*values)),
    }
    options = ipopt_options(method.tolerance, method.max_iterations)
    if method.name == "cyipopt":
        return _through_cyipopt(problem, options)
    program = casadi_ipopt("sharing", problem, options)

    def call(**numbers: Array) -> tuple[Array, Array, int, str]:
        claimed, ended = program(**numbers), program.stats()
        x, multiplier = (np.asarray(claimed[key])[:, 0] for key in ("x", "lam_g"))
        return x, multiplier, int(ended.get("iter_count", 0)), str(ended["return_status"])

    return call


def _through_cyipopt(problem: dict[str, Any], options: dict[str, Any]) -> Program:
    """Return the program for cyipopt: its functions and their exact derivatives are compiled by CasADi."""
    from musclesolve.sharing.solver.ipopt_cyipopt import call_ipopt

    x, p, f, g = (problem[key] for key in "xpfg")
    factor, dual = casadi.SX.sym("factor"), casadi.SX.sym("dual", g.numel())
    hessian = casadi.tril(casadi.hessian(factor * f + casadi.dot(dual, g), x)[0])
    compiled = {
        "objective": casadi.Function("f", [x, p], [f]),
        "gradient": casadi.Function("df", [x, p], [casadi.gradient(f, x)]),
        "constraints": casadi.Function("g", [x, p], [g]),
        "jacobian": casadi.Function("dg", [x, p], [casadi.densify(casadi.jacobian(g, x)).T]),
    }
    curvature = casadi.Function("ddL", [x, p, dual, factor], [casadi.densify(hessian)])
    places = np.tril_indices(x.numel())

    def call(p: Array, **numbers: Array) -> tuple[Array, Array, int, str]:
        functions: dict[str, Callable[..., Any]] = {
            name: lambda x, function=function: np.asarray(function(x, p)).ravel(order="F")
            for name, function in compiled.items()
        }
        functions["objective"] = lambda x: float(compiled["objective"](x, p))
        functions["hessian"] = lambda x, dual, factor: np.asarray(curvature(x, p, dual, factor))[places]
        return call_ipopt(functions, places, options, **numbers)

    return call


def columns_first(matrices: Array) -> Array:
    """Every matrix as a row of numbers in the order of CasADi, (T, r, n) to (T, r n)."""
    return matrices.transpose(0, 2, 1).reshape(len(matrices), -1)


def cost_parameters(
    problem: Problem, cost: Cost, steepest: Array, weight: Array
) -> tuple[Array, tuple[int, int]]:
    """Return the parameters of `cost_expression`, (T, P), and their sizes.

    The slope `steepest` that divides the cost is (T,), the weights of scaled reserves are (T, m), or (T, 0) without
    any.
    """
    numbers, rows = cost.parameters(problem), cost.soft_rows(problem)
    parts = [columns_first(numbers), 1.0 / steepest[:, None], weight]
    if rows is not None:
        parts += [columns_first(rows.matrix), rows.target, rows.weight / steepest[:, None]]
    return np.concatenate(parts, axis=1), (numbers.shape[1], 0 if rows is None else rows.target.shape[1])


def cost_expression(cost: Cost, a: Any, s: Any, sizes: tuple[int, int]) -> tuple[Any, Any]:
    """The scaled cost f(a) / scale + 1/2 s.W s + 1/2 (t - G a).V (t - G a) of a frame, and its parameters.

    Activations and reserves are symbols of CasADi; `sizes` has the numbers of parameters per muscle and of soft rows.
    """
    (count, rows), muscles, soft = sizes, a.numel(), s.numel()
    numbers, scale, weight = (
        casadi.SX.sym(*symbol) for symbol in (("numbers", count, muscles), ("scale",), ("w", soft))
    )
    combination, target, importance = (
        casadi.SX.sym(*symbol) for symbol in (("G", rows, muscles), ("t", rows), ("V", rows))
    )
    objective = scale * cost.expression(casadi, a, numbers)
    if soft:
        objective = objective + 0.5 * casadi.dot(weight, s**2)
    if rows:
        objective = objective + 0.5 * casadi.dot(importance, (target - combination @ a) ** 2)
    symbols = (numbers, scale, weight, combination, target, importance)
    return objective, casadi.vertcat(*(casadi.vec(symbol) for symbol in symbols))


def casadi_ipopt(name: str, problem: dict[str, Any], options: dict[str, Any]) -> Any:
    """Make Ipopt for a program of CasADi; the solver prints and raises nothing."""
    quiet = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
    return casadi.nlpsol(name, "ipopt", problem, {**quiet, "ipopt": options})
