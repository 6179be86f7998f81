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
from musclesolve.sharing.cost.cost_check import check_expression
from musclesolve.sharing.cost.cost_terms import Shapes, flat, shapes_of
from musclesolve.sharing.frame_symbols import frame_symbols
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, row_size, slope_size
from musclesolve.sharing.solver.frame_program import CLAIMS, independent_rows, polish
from musclesolve.sharing.solver.ipopt_options import IpoptOptions, bad_option
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status


@dataclass(frozen=True)
class Ipopt(IpoptOptions):
    """Ipopt on one nonlinear program with parameters, built once for a size and a cost, called for every frame.

    Rows are divided by their largest entry and the cost by its steepest slope before Ipopt gets them, and rows that
    repeat others are left out. A frame without certificate is refined by steps of Newton's method. Each frame starts
    from the previous one unless there is a warm start. Only one thread runs at a time. `IpoptOptions` lists the
    options.

    Examples:
        >>> problem = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
        >>> loose = ms.sharing.Ipopt(options={"hessian_approximation": "limited-memory", "tol": 1e-10})
        >>> bool(ms.solve(problem, "stress_cubed", loose).solved)
        True
    """

    name: ClassVar[str] = "ipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            attempt = minimize_frames(problem, cost, self, warm_start)[0]
        polish(problem, cost, attempt, TOLERANCE)
        return attempt


def minimize_frames(
    problem: Problem,
    cost: Cost,
    method: Any,
    warm_start: Array | None = None,
    expressions: tuple[ExpressionCost, ...] = (),
    limits: tuple[Array, Array, Array] | None = None,
) -> tuple[Attempt, Array]:
    """Minimize the cost of every frame by Ipopt, through cyipopt if the name of `method` is so, else through CasADi.

    Args:
        problem: T frames.
        cost: with an expression.
        method: name, tolerance and max_iterations.
        warm_start: (T, n) activations.
        expressions: j constraints beside the moments.
        limits: of the constraints, (T, j) each: the size that divides values and bounds before Ipopt gets them, and
            the lower and upper bounds.

    Returns:
        The attempt, and the multipliers of the extra constraints (T, j).
    """
    check_expression(problem, cost)
    muscles, dofs, reserved = problem.n_muscles, problem.n_dof, problem.reserve_weight is not None
    attempt, soft = Attempt.blank(problem), dofs if reserved else 0
    # units in which slopes and moments are of order one: the largest entry of a row, the largest slope of the cost
    row = row_size(problem)
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    steepest = np.where(steepest > 0, steepest, 1.0)
    matrices, moments = problem.moment_matrix / row[:, :, None], problem.moment / row
    weight = np.zeros((len(row), 0)) if problem.reserve_weight is None else problem.reserve_weight * row**2
    size, low, high = (np.zeros((problem.n_frames, 0)),) * 3 if limits is None else limits
    of_costs = cost.parameters(problem), tuple(expression.parameters(problem) for expression in expressions)
    numbers = (*of_costs, 1.0 / steepest, weight / steepest[:, None], 1.0 / size)
    shapes, parameters = shapes_of(of_costs), flat(numbers, problem.n_frames)
    multipliers, free = np.full(size.shape, np.nan), np.full(soft, np.inf)

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
        program = _program(cost, expressions, (len(moment), muscles, soft), shapes, method)
        guess = np.clip(start if warm_start is None else warm_start[t], lower, upper)
        met = np.zeros(len(moment))
        x, multiplier, attempt.iterations[t], ended = program(
            x0=np.concatenate([guess, np.zeros(soft)]),
            p=np.concatenate([parameters[t], matrix.ravel(order="F"), moment]),
            lbx=np.concatenate([lower, -free]),
            ubx=np.concatenate([upper, free]),
            lbg=np.concatenate([met, low[t] / size[t]]),
            ubg=np.concatenate([met, high[t] / size[t]]),
        )
        attempt.claim[t] = CLAIMS.get(ended, Status.SOLVER_FAILED)
        attempt.activation[t] = np.clip(x[:muscles], lower, upper)
        if reserved:
            attempt.reserve[t] = x[muscles:] * row[t]
        # Ipopt adds multiplier times constraint to the cost; here it is subtracted
        attempt.multiplier[t] = -combination @ multiplier[: len(moment)] * steepest[t] / row[t]
        multipliers[t] = -multiplier[len(moment) :] * steepest[t] / size[t]
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
    shapes: Shapes,
    method: Any,
) -> Program:
    """Build the program of `frame_symbols` for Ipopt."""
    problem = frame_symbols(cost, expressions, counts, shapes)
    if method.name == "cyipopt":
        return _through_cyipopt(problem, method)
    watching = method.casadi_callback(problem)
    program = casadi_ipopt("sharing", problem, method.ipopt(), watching)

    def call(**numbers: Array) -> tuple[Array, Array, int, str]:
        if watching is not None:
            watching.count, watching.error = 0, None
        claimed, ended = program(**numbers), program.stats()
        if watching is not None and watching.error is not None:
            raise watching.error
        x, multiplier = (np.asarray(claimed[key])[:, 0] for key in ("x", "lam_g"))
        return x, multiplier, int(ended.get("iter_count", 0)), str(ended["return_status"])

    return call


def _through_cyipopt(problem: dict[str, Any], method: Any) -> Program:
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
        return call_ipopt(functions, places, method, **numbers)

    return call


def casadi_ipopt(name: str, problem: dict[str, Any], options: dict[str, Any], callback: Any = None) -> Any:
    """Make Ipopt for a program of CasADi; the solver raises nothing, and prints what its options ask for."""
    quiet = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
    watched = {} if callback is None else {"iteration_callback": callback}
    try:
        return casadi.nlpsol(name, "ipopt", problem, {**quiet, **watched, "ipopt": options})
    except RuntimeError as error:
        raise bad_option(str(error).strip().splitlines()[-1].rpartition("cpp:")[2]) from error
