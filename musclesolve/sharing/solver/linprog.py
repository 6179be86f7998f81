"""Linear programmes by HiGHS: linear costs, and loads that are levelled from the highest down."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.least_squares import NoCost
from musclesolve.sharing.level_certificate import DECIDED, bound_of_level, relative_load, weight_of
from musclesolve.sharing.problem import Array, Problem
from musclesolve.sharing.solver.base import Attempt
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.status import Status

CLAIMS = {0: Status.SOLVED, 1: Status.MAX_ITERATIONS, 2: Status.INFEASIBLE}
NOTHING, SAME, RANK = 1e-11, 1e-9, 1e-9
NEGLIGIBLE = 1e-7  # reserve beside max(1 N m, |moment|)


@dataclass(frozen=True)
class Linprog:
    """HiGHS through SciPy, one frame after the other, to a vertex of what is possible.

    A linear cost is one programme. A cost of levels (min/max) is as many as there are levels: minimise t with
    rho_i a_i <= t, hold the muscles that the dual of this programme decides where they are, go on with the others
    (Rasmussen, Damsgaard and Voigt 2001; level_certificate.py says why that is exact).

    Reserves are quadratic, which no linear programme is. Beside levels they have priority: the interior-point method
    of the project makes them as small as possible, the levels share what is left. A linear cost with reserves is left
    to that method altogether.

    Args:
        tolerance: primal and dual feasibility, on scaled rows.
        max_iterations: of each linear programme.
    """

    tolerance: float = 1e-10
    max_iterations: int = 10000

    name: ClassVar[str] = "linprog"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to HiGHS through SciPy and is ignored."""
        levels, attempt, moment = "linear_programme" in cost.needs, Attempt.blank(problem), problem.moment
        if problem.reserve_weight is not None:
            soft = Batch().solve(problem, NoCost() if levels else cost)
            if not levels:
                return soft
            attempt.reserve[:] = _missing(problem, soft.activation)
            attempt.iterations[:] = soft.iterations
            moment = moment - attempt.reserve
        if levels:
            return self._levels(problem, cost, moment, attempt)
        slope = cost.gradient(problem, problem.lower)
        for t in range(problem.n_frames):
            self._linear(problem, slope, t, attempt)
        return attempt

    def _linear(self, problem: Problem, slope: Array, t: int, attempt: Attempt) -> None:
        scale = np.abs(slope[t]).max() or 1.0
        bounds = np.stack([problem.lower[t], problem.upper[t]], axis=1)
        found = self._call(slope[t] / scale, problem.moment_matrix[t], problem.moment[t], bounds)
        attempt.claim[t] = CLAIMS.get(found.status, Status.SOLVER_FAILED)
        if found.x is None:
            return
        attempt.activation[t] = np.clip(found.x, *bounds.T)
        attempt.multiplier[t] = found.price * scale
        attempt.iterations[t] = found.nit

    def _levels(self, problem: Problem, cost: Cost, moment: Array, attempt: Attempt) -> Attempt:
        load, prices = relative_load(problem, cost), []
        for t in range(problem.n_frames):
            work = _Levels(problem, load, moment, t)
            while work.going:
                work.take(self._call(*work.programme(), work.rows()))
            attempt.activation[t], attempt.claim[t] = work.activation, work.claim
            attempt.iterations[t] += work.iterations
            if work.prices:
                attempt.multiplier[t] = work.prices[0]
            prices.append(work.prices)
        depth = max((len(found) for found in prices), default=0)
        table = np.full((problem.n_frames, depth, problem.n_dof), np.nan)
        for t, found in enumerate(prices):
            table[t, : len(found)] = np.reshape(found, (-1, problem.n_dof))
        return replace(attempt, level_price=table)

    def _call(
        self, slope: Array, matrix: Array, moment: Array, bounds: Array, rows: tuple[Array, Array] | None = None
    ) -> Any:
        """linprog with rows of order one; `price` is d cost / d moment."""
        size = np.abs(matrix).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        found = linprog(
            slope,
            *(rows or (None, None)),
            A_eq=matrix / size[:, None],
            b_eq=moment / size,
            bounds=bounds,
            method="highs",
            options={
                "primal_feasibility_tolerance": self.tolerance,
                "dual_feasibility_tolerance": self.tolerance,
                "maxiter": self.max_iterations,
            },
        )
        if found.x is not None:
            found.price = found.eqlin.marginals / size
        return found


def _missing(problem: Problem, activation: Array) -> Array:
    """b - A a, and exactly nothing in frames where it is negligible, (T, m)."""
    short = problem.moment - np.matmul(problem.moment_matrix, activation[:, :, None])[:, :, 0]
    small = np.abs(short) <= NEGLIGIBLE * np.maximum(1.0, np.abs(problem.moment))
    return np.where(small.all(axis=1, keepdims=True), 0.0, short)


def _independent(matrix: Array) -> Array:
    """Combinations of the rows that are independent of each other and stand for all, (m, rank)."""
    size = np.abs(matrix).max(axis=1, initial=0.0)
    left, value, _ = np.linalg.svd(matrix / np.where(size > 0, size, 1.0)[:, None], full_matrices=False)
    kept: Array = left[:, value > RANK * value.max(initial=0.0)]
    return kept / np.where(size > 0, size, 1.0)[:, None]


class _Levels:
    """One frame while its levels are found; muscles that are not open have their final activation."""

    def __init__(self, problem: Problem, load: Array, moment: Array, t: int) -> None:
        self.matrix, self.moment, self.load = problem.moment_matrix[t], moment[t], load[t]
        self.lower, self.upper = problem.lower[t], problem.upper[t]
        self.activation = np.array(self.lower)
        self.open = np.ones(len(self.lower), np.bool_)
        self.basis = np.eye(len(self.moment))
        self.prices: list[Array] = []
        self.iterations, self.going, self.claim = 0, True, Status.SOLVED

    def programme(self) -> tuple[Array, Array, Array, Array]:
        """Slope, matrix, moment and bounds of the open muscles and t, which comes last."""
        matrix = self.matrix[:, self.open]
        rest = self.moment - self.matrix @ np.where(self.open, 0.0, self.activation)
        if self.prices:  # rows that only repeat others would contradict them by rounding
            matrix, rest = self.basis.T @ matrix, self.basis.T @ rest
        matrix = np.hstack([matrix, np.zeros((len(rest), 1))])
        bounds = np.stack([np.append(self.lower[self.open], 0.0), np.append(self.upper[self.open], np.inf)], 1)
        return np.append(np.zeros(self.open.sum()), 1.0), matrix, rest, bounds

    def rows(self) -> tuple[Array, Array]:
        """rho_i a_i - t <= 0."""
        count = int(self.open.sum())
        return np.hstack([np.diag(self.load[self.open]), -np.ones((count, 1))]), np.zeros(count)

    def take(self, found: Any) -> None:
        """Hold the muscles that this level decides; end where all are held, or all others rest."""
        self.iterations += found.nit
        if found.x is None:
            claim = CLAIMS.get(found.status, Status.SOLVER_FAILED)
            lost = claim == Status.INFEASIBLE and self.prices  # by rounding
            self.going, self.claim = False, Status.SOLVER_FAILED if lost else claim
            return
        level = found.x[-1]
        self.activation[self.open] = np.clip(found.x[:-1], self.lower[self.open], self.upper[self.open])
        if level <= NOTHING * self.load.max():
            self.activation[self.open], self.going = self.lower[self.open], False
            return
        price, decided, goal = self._decided(self.basis @ found.price, level)
        self.activation = np.where(decided, goal, self.activation)
        self.prices.append(price)
        self.open &= ~decided
        self.basis = _independent(self.matrix[:, self.open])
        self.going = bool(self.open.any() and decided.any())

    def _decided(self, price: Array, level: float) -> tuple[Array, Array, Array]:
        pull, share = (x[0] for x in weight_of(self.matrix[None], price[None]))
        if np.abs(pull).max() > SAME * self.load.max():
            cap = bound_of_level(self.upper, self.load, np.full_like(self.load, level))
            return price, self.open & (share > DECIDED), np.where(pull > 0, cap, self.lower)
        # a lower bound alone holds the level up
        at_floor = self.open & (self.load * self.lower >= level * (1.0 - SAME))
        return np.zeros_like(price), at_floor, self.lower
