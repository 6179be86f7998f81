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
from musclesolve.sharing.cost.cost_terms import SoftRows
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

    Cost and moments are scaled to order one before Ipopt sees them, and rows that repeat others are left out. Each
    frame starts from the previous one unless a warm start is given. Threads wait for each other.
    """

    tolerance: float = 1e-13  # Ipopt's `tol`, on the scaled problem
    max_iterations: int = 300  # for each frame

    name: ClassVar[str] = "ipopt"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        with CASADI:
            return self._solve(problem, cost, warm_start)

    def _solve(self, problem: Problem, cost: Cost, warm_start: Array | None) -> Attempt:
        soft, rows = problem.reserve_weight is not None, cost.soft_rows(problem)
        n_soft_rows = 0 if rows is None else rows.target.shape[1]
        numbers = cost.parameters(problem).shape[1]
        scaled = _Scaled.of(problem, cost, rows)
        attempt = Attempt.blank(problem)
        start = 0.5 * (problem.lower + problem.upper)[:1]
        for t in range(problem.n_frames):
            guess = start[0] if warm_start is None else warm_start[t]
            combination = scaled.combination(problem, t)
            sizes = (combination.shape[1], problem.n_muscles, numbers, n_soft_rows)
            programme = _programme(cost, sizes, soft, self.tolerance, self.max_iterations)
            guess = np.clip(guess, problem.lower[t], problem.upper[t])
            found, status = _call(programme, problem, scaled.parameters(t, combination), t, guess)
            attempt.claim[t] = CLAIMS.get(status["return_status"], Status.SOLVER_FAILED)
            attempt.iterations[t] = status.get("iter_count", 0)
            x = np.asarray(found["x"])[:, 0]
            attempt.activation[t] = np.clip(x[: problem.n_muscles], problem.lower[t], problem.upper[t])
            if soft:
                attempt.reserve[t] = x[problem.n_muscles :] * scaled.row[t]
            # Ipopt adds multiplier times constraint to the cost; here it is subtracted
            multiplier = -combination @ np.asarray(found["lam_g"])[:, 0]
            attempt.multiplier[t] = multiplier * scaled.cost[t] / scaled.row[t]
            if attempt.claim[t] == Status.SOLVED:
                start = attempt.activation[t : t + 1]
        return attempt


@dataclass(frozen=True)
class _Scaled:
    """The numbers of every frame: rows divided by their largest entry, the cost by its steepest slope."""

    row: Array  # (T, m) [N m]
    cost: Array  # (T,)
    matrix: Array  # (T, m, n)
    moment: Array  # (T, m)
    numbers: Array  # (T, what the expression of the cost contains)
    rest: Array  # (T, what follows the rows)

    @classmethod
    def of(cls, problem: Problem, cost: Cost, rows: SoftRows | None) -> _Scaled:
        row = np.abs(problem.moment_matrix).max(axis=2)
        row = np.where(row > 0, row, 1.0)
        steepest = slope_size(problem, cost, load(problem)).max(axis=1)
        steepest = np.where(steepest > 0, steepest, 1.0)
        rest = [1.0 / steepest[:, None]]
        if problem.reserve_weight is not None:
            rest.append(problem.reserve_weight * row**2 / steepest[:, None])
        if rows is not None:
            rest += [columns_first(rows.matrix), rows.target, rows.weight / steepest[:, None]]
        return cls(
            row,
            steepest,
            problem.moment_matrix / row[:, :, None],
            problem.moment / row,
            columns_first(cost.parameters(problem)),
            np.concatenate(rest, axis=1),
        )

    def combination(self, problem: Problem, t: int) -> Array:
        """What the rows are combined with, (m, m) or (m, rank): Ipopt wants no more rows than unknowns to be found.

        They stay as they are where reserves or enough muscles that are not fixed make them independent.
        """
        rows = np.eye(problem.n_dof)
        if problem.reserve_weight is not None:
            return rows
        independent = independent_rows(self.matrix[t] * (problem.upper[t] > problem.lower[t]))
        return rows if independent.shape[1] == problem.n_dof else independent

    def parameters(self, t: int, combination: Array) -> Array:
        """The numbers of one frame in the order of the symbols of the programme."""
        matrix, moment = combination.T @ self.matrix[t], combination.T @ self.moment[t]
        return np.concatenate([self.numbers[t], matrix.ravel(order="F"), moment, self.rest[t]])


def columns_first(matrices: Array) -> Array:
    """Every matrix as a row of numbers in the order of CasADi."""
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


def _call(
    programme: Any, problem: Problem, parameters: Array, t: int, guess: Array
) -> tuple[Any, dict[str, Any]]:
    free = np.full(0 if problem.reserve_weight is None else problem.n_dof, np.inf)
    found = programme(
        x0=np.concatenate([guess, np.zeros_like(free)]),
        p=parameters,
        lbx=np.concatenate([problem.lower[t], -free]),
        ubx=np.concatenate([problem.upper[t], free]),
        lbg=0.0,
        ubg=0.0,
    )
    return found, programme.stats()
