"""Linear programs: linear costs by HiGHS (SciPy), the levels of min/max, and programs of single frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import DECIDED, bound_of_level, relative_load, reserve_pull, weight_of
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import with_levels
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solver.interior_point import NoCost
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

CLAIMS = {0: Status.SOLVED, 1: Status.MAX_ITERATIONS, 2: Status.INFEASIBLE}
NOTHING, SAME, RANK, LOOSE = 1e-11, 1e-9, 1e-7, 1e-7
NEGLIGIBLE = 1e-7  # reserve, as a share of max(1 N m, |moment|)


def minimize(
    cost: Array,
    rows: Array,
    right: Array,
    bounds: Sequence[tuple[float, float | None]],
    limits: Array | None = None,
) -> tuple[Array, Array] | None:
    """Minimize cost . x with rows x = right and limits x <= 0; x and the multipliers of the rows, None if infeasible.

    The cost is (k,), the rows are (r, k), the right-hand side is (r,), the limits are (l, k), in any consistent units.
    """
    from scipy.optimize import linprog

    at_most = None if limits is None else np.zeros(len(limits))
    result = linprog(cost, A_ub=limits, b_ub=at_most, A_eq=rows, b_eq=right, bounds=bounds)
    return (result.x, result.eqlin.marginals) if result.status == 0 else None


@dataclass(frozen=True)
class Linprog:
    """Linear programs, one frame after the other; the result is a vertex of the feasible set.

    A linear cost is one program of HiGHS. The levels of a lexicographic cost (min/max; Rasmussen, Damsgaard and Voigt
    2001) are one walk of a compiled simplex method (kernel/level_walk.py). A frame that the walk leaves without a
    certificate, as round-off in nearly dependent muscles may, has a linear program for each level.

    Reserves have quadratic costs, which a linear program does not allow. Where the muscles do not suffice, the
    interior-point method of the project first makes the reserves as small as possible; the levels share the remaining
    moments. A linear cost with reserves is refused.
    """

    tolerance: float = 1e-10  # primal and dual feasibility, on scaled rows
    max_iterations: int = 10000  # of each linear program
    by_walk: bool = True  # whether levels come from the walk

    name: ClassVar[str] = "linprog"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to HiGHS through SciPy and is ignored."""
        if "linear_program" in cost.needs:
            return self._levels(problem, cost)
        attempt, slopes = Attempt.blank(problem), cost.gradient(problem, problem.lower)
        for t, slope in enumerate(slopes):
            scale = np.abs(slope).max() or 1.0
            bounds = np.stack([problem.lower[t], problem.upper[t]], axis=1)
            result = self._call(slope / scale, problem.moment_matrix[t], problem.moment[t], bounds)
            attempt.claim[t] = CLAIMS.get(result.status, Status.SOLVER_FAILED)
            if result.x is not None:
                attempt.activation[t] = np.clip(result.x, *bounds.T)
                attempt.multiplier[t] = result.multiplier * scale
                attempt.iterations[t] = result.nit
        return attempt

    def _levels(self, problem: Problem, cost: Cost) -> Attempt:
        """Walk with all muscles; where they do not suffice again, with those that the reserves leave open."""
        load, start = relative_load(problem, cost), np.array(problem.lower)
        open_, reserve = np.ones(load.shape, np.bool_), np.zeros_like(problem.moment)
        levels = _walked if self.by_walk else self._by_highs
        attempt = levels(problem, load, start, open_, reserve)
        short = attempt.claim != Status.SOLVED
        if problem.reserve_weight is not None and short.any():
            part = problem.frames(short)
            soft = Batch().solve(part, NoCost())
            goal, _, decided = reserve_pull(part, _missing(part, soft.activation))
            reserve[short] = _missing(part, np.where(decided, goal, soft.activation))
            start[short], open_[short] = np.where(decided, goal, part.lower), ~decided
            again = levels(part, load[short], start[short], open_[short], reserve[short])
            attempt.store(short, replace(again, iterations=again.iterations + soft.iterations))
            before, deeper = attempt.level_multiplier, again.level_multiplier
            assert before is not None and deeper is not None
            attempt = replace(attempt, level_multiplier=with_levels(before, short, deeper))
        return attempt

    @property
    def fallback(self) -> Linprog | None:
        """The method for frames that the walk leaves without a certificate: a linear program for each level."""
        return replace(self, by_walk=False) if self.by_walk else None

    def _by_highs(self, problem: Problem, load: Array, start: Array, open_: Mask, reserve: Array) -> Attempt:
        """The levels by a linear program for each; arguments as of `_walked`."""
        attempt = replace(Attempt.blank(problem), reserve=reserve)
        found = [self._frame(problem, t, load[t], start[t], open_[t], attempt) for t in range(len(load))]
        table = np.full((len(load), max(map(len, found), default=0), problem.n_dof), np.nan)
        for t, multipliers in enumerate(found):
            attempt.multiplier[t] = multipliers[0] if multipliers else 0.0
            table[t, : len(multipliers)] = np.reshape(multipliers, (-1, problem.n_dof))
        return replace(attempt, level_multiplier=table)

    def _frame(
        self, problem: Problem, t: int, load: Array, start: Array, open_: Mask, attempt: Attempt
    ) -> list[Array]:
        """Solve all levels of frame t into the attempt, which has the reserves; return the multipliers of each, (m,).

        Loads at activation 1 are (n,). Muscles that are not open have their final activation in `start`, (n,). The
        unknowns of a level are the loads of the open muscles and the largest of these loads.
        """
        whole, moment = problem.moment_matrix[t], problem.moment[t] - attempt.reserve[t]
        lower, upper, activation = problem.lower[t], problem.upper[t], np.array(start)
        by_load = np.divide(whole, load, out=np.zeros_like(whole), where=load > 0)
        size = np.abs(by_load).max(axis=1)
        size = np.where(size > 0, size, 1.0)
        open_ = open_ & (load > 0)
        multipliers: list[Array] = []
        basis, claim, decided = np.eye(len(moment)), Status.SOLVED, open_
        while open_.any() and decided.any():
            matrix, rest = by_load[:, open_], moment - whole @ np.where(open_, 0.0, activation)
            if multipliers:  # rows that repeat others would contradict them by round-off
                matrix, rest = basis.T @ matrix, basis.T @ rest
            count = matrix.shape[1]
            bounds = np.stack([load * lower, load * upper], axis=1)[open_]
            program = (
                np.append(np.zeros(count), 1.0),
                np.hstack([matrix, np.zeros((len(rest), 1))]),
                rest,
                np.vstack([bounds, [0.0, np.inf]]),
                # no load above the largest one
                (np.hstack([np.eye(count), -np.ones((count, 1))]), np.zeros(count)),
            )
            result = self._call(*program)
            if multipliers and result.x is None:
                # the held muscles leave the others no room except for round-off
                result = replace(self, tolerance=LOOSE)._call(*program)
            attempt.iterations[t] += result.nit
            if result.x is None:
                claim = CLAIMS.get(result.status, Status.SOLVER_FAILED)
                if claim == Status.INFEASIBLE and multipliers:  # by round-off
                    claim = Status.SOLVER_FAILED
                break
            level = result.x[-1]
            activation[open_] = np.clip(result.x[:-1] / load[open_], lower[open_], upper[open_])
            if level <= NOTHING * load.max():  # all other muscles are at rest
                activation[open_] = lower[open_]
                break
            # which open muscles this level decides, and where it holds them
            multiplier = basis @ result.multiplier
            pull = multiplier @ whole
            # at the limit of the muscles, a level of full activation exceeds it by round-off
            limited = open_ & (pull > DECIDED * load) & (load * upper >= level * (1.0 - SAME))
            if limited.any():
                decided = open_ & (weight_of(pull[None], load[None], limited[None])[0] > DECIDED)
                cap = bound_of_level(upper, load, np.full_like(load, level))
                goal = np.where(pull > 0, cap, lower)
            else:  # a lower bound alone determines the level
                decided = open_ & (load * lower >= level * (1.0 - SAME))
                multiplier, goal = np.zeros_like(multiplier), lower
            activation = np.where(decided, goal, activation)
            multipliers.append(multiplier)
            open_ = open_ & ~decided
            # combinations that represent all rows; a small remainder of a row may be round-off
            left, value, _ = np.linalg.svd(by_load[:, open_] / size[:, None], full_matrices=False)
            basis = left[:, value > RANK] / size[:, None]
        attempt.activation[t], attempt.claim[t] = activation, claim
        return multipliers

    def _call(
        self,
        slope: Array,
        matrix: Array,
        moment: Array,
        bounds: Array,
        rows: tuple[Array, Array] | None = None,
    ) -> Any:
        """The result of SciPy's linprog with rows of order one; its `multiplier` is d cost / d moment, (r,).

        The slope is (k,), the matrix (r, k), the moment (r,), the bounds are (k, 2); rows are limits A x <= b.
        """
        from scipy.optimize import linprog

        size = np.abs(matrix).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        limits = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), self.tolerance)
        result = linprog(
            slope,
            *(rows or (None, None)),
            A_eq=matrix / size[:, None],
            b_eq=moment / size,
            bounds=bounds,
            method="highs",
            options=limits | {"maxiter": self.max_iterations},
        )
        if result.x is not None:
            result.multiplier = result.eqlin.marginals / size
        return result


def _missing(problem: Problem, activation: Array) -> Array:
    """Return the missing moments b - A a of activations (T, n), (T, m) [N m]; zero where negligible."""
    short = problem.moment - problem.produced(activation)
    small = np.abs(short) <= NEGLIGIBLE * np.maximum(1.0, np.abs(problem.moment))
    return np.where(small.all(axis=1, keepdims=True), 0.0, short)


def _walked(problem: Problem, load: Array, start: Array, open_: Mask, reserve: Array) -> Attempt:
    """The levels of loads rho beside reserves (T, m); muscles that are not open are at `start`, (T, n) each."""
    from musclesolve.sharing.kernel.level_walk import WALK

    attempt, (frames, hard, muscles) = Attempt.blank(problem), problem.moment_arm.shape
    bounds = problem.lower, problem.upper
    most = hard + int((load * problem.lower > 0.0).sum(axis=1).max(initial=0))
    levels = np.full((frames, most, hard), np.nan)
    given = problem.moment_matrix, problem.moment - reserve, load, *bounds, start, open_
    work = [np.empty(size) for size in (muscles, muscles, muscles + hard, hard, hard)]
    places = [np.zeros(size, np.int64) for size in (muscles, hard, hard)]
    results = attempt.activation, levels, attempt.claim, attempt.iterations
    tableau = np.empty((hard, muscles + hard))
    WALK.load()(*map(np.ascontiguousarray, given), *results, tableau, *work, *places)
    first = np.nan_to_num(levels[:, :1].sum(axis=1))
    return replace(attempt, reserve=reserve, multiplier=first, level_multiplier=levels)
