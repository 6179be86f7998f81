"""The full formulation as a sparse nonlinear programme with parameters, its numbers scaled to order one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.full.full_problem import FullProblem
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import load, slope_size
from musclesolve.sharing.solver.frame_programme import ipopt_options
from musclesolve.sharing.solver.ipopt_casadi import casadi_ipopt, columns_first


@dataclass(frozen=True)
class Scaled:
    """The numbers of t frames: equations over the largest force, each multiplier and reserve by the length of its row.

    The unknowns are c multipliers, n activations, and m reserves if there are any.
    """

    which: NDArray[np.intp]
    force: Array  # (t,) [N]
    cost: Array  # (t,)
    column: Array  # (t, c + m): multiplier or reserve per scaled unknown
    free: Array  # (t, c): infinite, zero where a row is redundant
    weight: Array  # (t, m or 0)
    pattern: Any  # casadi.Sparsity (N, unknowns)
    sizes: tuple[int, int]  # parameters of the cost for each muscle, soft rows
    parameters: Array  # (t, everything), in the order of `programme`

    @classmethod
    def of(cls, full: FullProblem, problem: Problem, cost: Cost, which: NDArray[np.intp]) -> Scaled:
        """Scale some frames of a problem; `problem` is the reduced one of these frames."""
        rows = full.jacobian.shape[1]
        force = np.maximum(1.0, np.abs(full.needed[which]).max(axis=1))
        sides = np.concatenate([full.jacobian[which], -full.moment_rows[which]], axis=1)
        length = np.linalg.norm(sides, axis=2)
        column = force[:, None] / np.where(length > 0, length, 1.0)
        sides = sides * (column / force[:, None])[..., None]
        muscles = full.muscle_rows[which] * (problem.force_capacity / force[:, None])[..., None]
        steepest = _steepest(problem, cost)
        kinds, weight = [sides[:, :rows], muscles], np.zeros((len(which), 0))
        if problem.reserve_weight is not None:
            kinds.append(sides[:, rows:])
            weight = problem.reserve_weight * column[:, rows:] ** 2 / steepest[:, None]
        pattern, entries = _sparse(np.concatenate(kinds, axis=1))
        numbers, soft = cost.parameters(problem), cost.soft_rows(problem)
        parts = [columns_first(numbers), 1.0 / steepest[:, None], entries]
        parts += [full.needed[which] / force[:, None], weight]
        if soft is not None:
            parts += [columns_first(soft.matrix), soft.target, soft.weight / steepest[:, None]]
        return cls(
            which=which,
            force=force,
            cost=steepest,
            column=column,
            free=np.where(full.redundant[which], 0.0, np.inf),
            weight=weight,
            pattern=pattern,
            sizes=(numbers.shape[1], 0 if soft is None else soft.target.shape[1]),
            parameters=np.concatenate(parts, axis=1),
        )


def _sparse(rows: Array) -> tuple[Any, Array]:
    """Pattern of the transpose of rows (t, unknowns, N) over all frames, and its entries (t, k) column by column."""
    unknown, equation = np.nonzero((rows != 0).any(axis=0))
    size = (rows.shape[2], rows.shape[1])
    pattern = casadi.Sparsity.triplet(*size, equation.tolist(), unknown.tolist())
    return pattern, rows[:, unknown, equation]


def _steepest(problem: Problem, cost: Cost) -> Array:
    """The largest marginal cost that muscles are likely to reach, (t,); the cost of soft reserves limits it."""
    steepest = slope_size(problem, cost, load(problem)).max(axis=1)
    if problem.reserve_weight is not None:
        multiplier = problem.reserve_weight * np.abs(problem.moment)
        limit = np.einsum("tk,tkn->tn", multiplier, np.abs(problem.moment_matrix)).max(axis=1)
        steepest = np.where(limit > 0, np.minimum(steepest, limit), steepest)
    return np.where(steepest > 0, steepest, 1.0)


def programme(scaled: Scaled, muscles: int, cost: Cost, tolerance: float, limit: int) -> Any:
    """Minimise f(a) / scale + 1/2 s.W s such that all equations of motion hold, with exact sparse derivatives.

    Soft rows of the cost add 1/2 (t - B a).V (t - B a).
    """
    soft, (count, n_soft_rows) = scaled.weight.shape[1], scaled.sizes
    size, unknowns = scaled.pattern.shape
    x, first = casadi.SX.sym("x", unknowns), unknowns - muscles - soft
    a, s = x[first : first + muscles], x[first + muscles :]
    numbers, scale = casadi.SX.sym("numbers", count, muscles), casadi.SX.sym("scale")
    matrix, right = casadi.SX.sym("G", scaled.pattern), casadi.SX.sym("r", size)
    weight, combination = casadi.SX.sym("w", soft), casadi.SX.sym("B", n_soft_rows, muscles)
    target, importance = casadi.SX.sym("t", n_soft_rows), casadi.SX.sym("V", n_soft_rows)
    objective = scale * cost.expression(casadi, a, numbers) + 0.5 * casadi.dot(weight, s**2)
    if n_soft_rows:
        objective = objective + 0.5 * casadi.dot(importance, (target - combination @ a) ** 2)
    symbols = (numbers, scale, matrix.nz[:], right, weight, combination, target, importance)
    problem = {
        "x": x,
        "p": casadi.vertcat(*(casadi.vec(symbol) for symbol in symbols)),
        "f": objective,
        "g": matrix @ x + right,
    }
    # a cubed cost is so flat at rest that the usual barrier of 1e-13 leaves activations of 1e-5 where there are none
    barrier = {"mu_strategy": "adaptive", "mu_min": 1e-22, "acceptable_iter": 0}
    return casadi_ipopt("full_sharing", problem, ipopt_options(tolerance, limit) | barrier)
