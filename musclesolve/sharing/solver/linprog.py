"""Linear programmes by HiGHS: linear costs, and lexicographic min/max."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.min_max_certificate import (
    DECIDED,
    bound_of_level,
    relative_load,
    reserve_pull,
    weight_of,
)
from musclesolve.sharing.nearest_moments import NoCost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status

CLAIMS = {0: Status.SOLVED, 1: Status.MAX_ITERATIONS, 2: Status.INFEASIBLE}
NOTHING, SAME, RANK, LOOSE = 1e-11, 1e-9, 1e-7, 1e-7
NEGLIGIBLE = 1e-7  # reserve beside max(1 N m, |moment|)


@dataclass(frozen=True)
class Linprog:
    """HiGHS through SciPy, one frame after the other, to a vertex of what is possible.

    A linear cost is one programme. A lexicographic cost (min/max) is as many as there are levels: minimise t with
    rho_i a_i <= t, hold the muscles that the dual of this programme decides where they are, go on with the others
    (Rasmussen, Damsgaard and Voigt 2001; min_max_certificate.py shows why that is exact).

    Reserves are quadratic, which no linear programme is. Beside levels they have priority: the interior-point method
    of the project makes them as small as possible, the levels share what is left. A linear cost with reserves is
    refused.
    """

    tolerance: float = 1e-10  # primal and dual feasibility, on scaled rows
    max_iterations: int = 10000  # of each linear programme

    name: ClassVar[str] = "linprog"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to HiGHS through SciPy and is ignored."""
        levels, attempt = "linear_programme" in cost.needs, Attempt.blank(problem)
        if levels:
            return self._levels(problem, cost, attempt)
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
        attempt.multiplier[t] = found.multiplier * scale
        attempt.iterations[t] = found.nit

    def _levels(self, problem: Problem, cost: Cost, attempt: Attempt) -> Attempt:
        load, multipliers = relative_load(problem, cost), []
        held, start = np.zeros(load.shape, np.bool_), problem.lower
        if problem.reserve_weight is not None:
            soft = Batch().solve(problem, NoCost())
            goal, _, held = reserve_pull(problem, _missing(problem, soft.activation))
            start = np.where(held, goal, problem.lower)
            attempt.reserve[:] = _missing(problem, np.where(held, goal, soft.activation))
            attempt.iterations[:] = soft.iterations
        for t in range(problem.n_frames):
            work = _Levels(problem.frames(np.array([t])), load[t], attempt.reserve[t], start[t], ~held[t])
            while work.going:
                found = self._call(*work.programme(), work.rows())
                if work.multipliers and found.x is None:
                    # what is held leaves the others no room but that of rounding
                    loose = replace(self, tolerance=LOOSE)
                    found = loose._call(*work.programme(), work.rows())
                work.take(found)
            attempt.activation[t], attempt.claim[t] = work.activation, work.claim
            attempt.iterations[t] += work.iterations
            attempt.multiplier[t] = work.multipliers[0] if work.multipliers else 0.0
            multipliers.append(work.multipliers)
        depth = max((len(found) for found in multipliers), default=0)
        table = np.full((problem.n_frames, depth, problem.n_dof), np.nan)
        for t, found in enumerate(multipliers):
            table[t, : len(found)] = np.reshape(found, (-1, problem.n_dof))
        return replace(attempt, level_multiplier=table)

    def _call(
        self,
        slope: Array,
        matrix: Array,
        moment: Array,
        bounds: Array,
        rows: tuple[Array, Array] | None = None,
    ) -> Any:
        """SciPy's linprog with rows of order one; `multiplier` is d cost / d moment."""
        size = np.abs(matrix).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        limits = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), self.tolerance)
        found = linprog(
            slope,
            *(rows or (None, None)),
            A_eq=matrix / size[:, None],
            b_eq=moment / size,
            bounds=bounds,
            method="highs",
            options=limits | {"maxiter": self.max_iterations},
        )
        if found.x is not None:
            found.multiplier = found.eqlin.marginals / size
        return found


def _missing(problem: Problem, activation: Array) -> Array:
    """What is left of the moments, b - A a, and exactly nothing in frames where it is negligible, (T, m)."""
    short = problem.moment - np.matmul(problem.moment_matrix, activation[:, :, None])[:, :, 0]
    small = np.abs(short) <= NEGLIGIBLE * np.maximum(1.0, np.abs(problem.moment))
    return np.where(small.all(axis=1, keepdims=True), 0.0, short)


def _independent(matrix: Array, size: Array) -> Array:
    """Combinations of the rows that are independent of each other and stand for all, (m, rank).

    A row is nothing if it is so beside its size with all muscles, (m,): what is left of it may be rounding.
    """
    left, value, _ = np.linalg.svd(matrix / size[:, None], full_matrices=False)
    kept: Array = left[:, value > RANK] / size[:, None]
    return kept


class _Levels:
    """One frame while its levels are found; muscles that are not open have their final activation."""

    def __init__(self, problem: Problem, load: Array, reserve: Array, start: Array, open_: Mask) -> None:
        self.matrix, self.moment = problem.moment_matrix[0], problem.moment[0] - reserve
        self.lower, self.upper, self.load = problem.lower[0], problem.upper[0], load
        self.activation, self.open = np.array(start), open_ & (load > 0)
        each = np.divide(self.matrix, load, out=np.zeros_like(self.matrix), where=load > 0)
        size = np.abs(each).max(axis=1)
        self.size = np.where(size > 0, size, 1.0)
        self.basis = np.eye(len(self.moment))
        self.multipliers: list[Array] = []
        self.iterations, self.going, self.claim = 0, bool(self.open.any()), Status.SOLVED

    def programme(self) -> tuple[Array, Array, Array, Array]:
        """Slope, matrix, moment and bounds; the unknowns are the loads of the open muscles, and t."""
        load = self.load[self.open]
        matrix = self.matrix[:, self.open] / load
        rest = self.moment - self.matrix @ np.where(self.open, 0.0, self.activation)
        if self.multipliers:  # rows that only repeat others would contradict them by rounding
            matrix, rest = self.basis.T @ matrix, self.basis.T @ rest
        matrix = np.hstack([matrix, np.zeros((len(rest), 1))])
        lower = np.append(load * self.lower[self.open], 0.0)
        upper = np.append(load * self.upper[self.open], np.inf)
        return np.append(np.zeros(len(load)), 1.0), matrix, rest, np.stack([lower, upper], axis=1)

    def rows(self) -> tuple[Array, Array]:
        """Every load no more than t."""
        count = int(self.open.sum())
        return np.hstack([np.eye(count), -np.ones((count, 1))]), np.zeros(count)

    def take(self, found: Any) -> None:
        """Hold the muscles that this level decides; end where all are held, or all others rest."""
        self.iterations += found.nit
        if found.x is None:
            claim = CLAIMS.get(found.status, Status.SOLVER_FAILED)
            lost = claim == Status.INFEASIBLE and self.multipliers  # by rounding
            self.going, self.claim = False, Status.SOLVER_FAILED if lost else claim
            return
        level = found.x[-1]
        self.activation[self.open] = np.clip(
            found.x[:-1] / self.load[self.open], self.lower[self.open], self.upper[self.open]
        )
        if level <= NOTHING * self.load.max():
            self.activation[self.open], self.going = self.lower[self.open], False
            return
        multiplier, decided, goal = self._decided(self.basis @ found.multiplier, level)
        self.activation = np.where(decided, goal, self.activation)
        self.multipliers.append(multiplier)
        self.open &= ~decided
        self.basis = _independent(self.matrix[:, self.open] / self.load[self.open], self.size)
        self.going = bool(self.open.any() and decided.any())

    def _decided(self, multiplier: Array, level: float) -> tuple[Array, Mask, Array]:
        """Of this level: the multiplier, which open muscles it decides, and where it holds them."""
        pull = multiplier @ self.matrix
        limited = self.open & (pull > DECIDED * self.load) & (self.load * self.upper >= level)
        if limited.any():
            share = weight_of(pull[None], self.load[None], limited[None])[0]
            cap = bound_of_level(self.upper, self.load, np.full_like(self.load, level))
            return multiplier, self.open & (share > DECIDED), np.where(pull > 0, cap, self.lower)
        # a lower bound alone holds the level up
        at_floor = self.open & (self.load * self.lower >= level * (1.0 - SAME))
        return np.zeros_like(multiplier), at_floor, self.lower
