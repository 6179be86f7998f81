"""Ipopt through CasADi: the general-purpose reference, one frame after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.locks import CASADI
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size
from musclesolve.sharing.solver.frame_programme import independent_rows, ipopt_options
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status

CLAIMS = {
    "Solve_Succeeded": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.SOLVED,
    "Maximum_Iterations_Exceeded": Status.MAX_ITERATIONS,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
}


@dataclass(frozen=True)
class Ipopt:
    """One nonlinear programme with parameters, built once for a size and a cost, called for every frame.

    Rows are divided by their largest entry and the cost by its steepest slope before Ipopt sees them, and rows that
    repeat others are left out. Each frame starts from the previous one unless a warm start is given. Threads wait for
    each other.
    """

    tolerance: float = 1e-13  # Ipopt's `tol`, on the scaled problem
    max_iterations: int = 300  # for each frame

    name: ClassVar[str] = "ipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            return self._solve(problem, cost, warm_start)

    def _solve(self, problem: Problem, cost: Cost, warm_start: Array | None) -> Attempt:
        weight, rows = problem.reserve_weight, cost.soft_rows(problem)
        muscles, attempt = problem.n_muscles, Attempt.blank(problem)
        row = np.abs(problem.moment_matrix).max(axis=2)
        row = np.where(row > 0, row, 1.0)
        steepest = slope_size(problem, cost, load(problem)).max(axis=1, keepdims=True)
        steepest = np.where(steepest > 0, steepest, 1.0)
        matrices, moments = problem.moment_matrix / row[:, :, None], problem.moment / row
        numbers = cost.parameters(problem)
        last = [1.0 / steepest]  # what follows the rows in the order of the symbols of the programme
        if weight is not None:
            last.append(weight * row**2 / steepest)
        if rows is not None:
            last += [columns_first(rows.matrix), rows.target, rows.weight / steepest]
        first, rest = columns_first(numbers), np.concatenate(last, axis=1)
        free = np.full(0 if weight is None else problem.n_dof, np.inf)

        start = 0.5 * (problem.lower + problem.upper)[:1]
        for t in range(problem.n_frames):
            lower, upper = problem.lower[t], problem.upper[t]
            combination = np.eye(problem.n_dof)
            if weight is None:
                # Ipopt wants no more rows than unknowns to be found; reserves make the rows independent
                independent = independent_rows(matrices[t] * (upper > lower))
                combination = combination if independent.shape[1] == problem.n_dof else independent
            matrix, moment = combination.T @ matrices[t], combination.T @ moments[t]
            sizes = (len(moment), muscles, numbers.shape[1], 0 if rows is None else rows.target.shape[1])
            programme = _programme(cost, sizes, weight is not None, self.tolerance, self.max_iterations)
            guess = np.clip(start[0] if warm_start is None else warm_start[t], lower, upper)
            found = programme(
                x0=np.concatenate([guess, np.zeros_like(free)]),
                p=np.concatenate([first[t], matrix.ravel(order="F"), moment, rest[t]]),
                lbx=np.concatenate([lower, -free]),
                ubx=np.concatenate([upper, free]),
                lbg=0.0,
                ubg=0.0,
            )
            status = programme.stats()
            attempt.claim[t] = CLAIMS.get(status["return_status"], Status.SOLVER_FAILED)
            attempt.iterations[t] = status.get("iter_count", 0)
            x = np.asarray(found["x"])[:, 0]
            attempt.activation[t] = np.clip(x[:muscles], lower, upper)
            if weight is not None:
                attempt.reserve[t] = x[muscles:] * row[t]
            # Ipopt adds multiplier times constraint to the cost; here it is subtracted
            multiplier = -combination @ np.asarray(found["lam_g"])[:, 0]
            attempt.multiplier[t] = multiplier * steepest[t] / row[t]
            if attempt.claim[t] == Status.SOLVED:
                start = attempt.activation[t : t + 1]
        return attempt


def columns_first(matrices: Array) -> Array:
    """Every matrix as a row of numbers in the order of CasADi, (T, r, n) to (T, r n)."""
    return matrices.transpose(0, 2, 1).reshape(len(matrices), -1)


@lru_cache(maxsize=32)
def _programme(cost: Cost, sizes: tuple[int, int, int, int], soft: bool, tolerance: float, limit: int) -> Any:
    """Minimise f(a)/scale + 1/2 s.W s + 1/2 (t - G a).V (t - G a) subject to A a + s = b, with its derivatives."""
    dofs, muscles, count, n_soft_rows = sizes  # of which dofs counts the rows that are left
    a = casadi.SX.sym("a", muscles)
    s = casadi.SX.sym("s", dofs if soft else 0)
    numbers = casadi.SX.sym("numbers", count, muscles)
    matrix, moment = casadi.SX.sym("A", dofs, muscles), casadi.SX.sym("b", dofs)
    scale, weight = casadi.SX.sym("scale"), casadi.SX.sym("w", dofs if soft else 0)
    objective = scale * cost.expression(casadi, a, numbers)
    rows = matrix @ a - moment
    if soft:
        objective, rows = objective + 0.5 * casadi.dot(weight, s**2), rows + s
    combination, target = casadi.SX.sym("G", n_soft_rows, muscles), casadi.SX.sym("t", n_soft_rows)
    importance = casadi.SX.sym("V", n_soft_rows)
    if n_soft_rows:
        objective = objective + 0.5 * casadi.dot(importance, (target - combination @ a) ** 2)
    symbols = (numbers, matrix, moment, scale, weight, combination, target, importance)
    problem = {
        "x": casadi.vertcat(a, s),
        "p": casadi.vertcat(*(casadi.vec(symbol) for symbol in symbols)),
        "f": objective,
        "g": rows,
    }
    return casadi_ipopt("sharing", problem, ipopt_options(tolerance, limit))


def casadi_ipopt(name: str, problem: dict[str, Any], options: dict[str, Any]) -> Any:
    """Ipopt for a programme of CasADi; it prints and raises nothing."""
    quiet = {"print_time": False, "show_eval_warnings": False, "error_on_fail": False}
    return casadi.nlpsol(name, "ipopt", problem, {**quiet, "ipopt": options})
