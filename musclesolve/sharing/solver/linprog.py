"""Linear programs: linear costs by HiGHS (SciPy), the levels of min/max, and programs of single frames."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.certificate import relative_load, reserve_pull
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import NO_ROOM
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import row_size
from musclesolve.sharing.solution import with_levels
from musclesolve.sharing.solver.frame_program import independent_rows
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status

SMALL = 1e-3  # share of the muscles' moments below which a walk is in units of the share
CLAIMS = {0: Status.SOLVED, 1: Status.MAX_ITERATIONS, 2: Status.INFEASIBLE}


@dataclass(frozen=True)
class Linprog:
    """Linear programs, one frame after the other; the result is a vertex of the feasible set.

    A linear cost is one program of HiGHS. The levels of a lexicographic cost (min/max; Rasmussen, Damsgaard and Voigt
    2001) are one walk of a compiled simplex method (kernel/level_walk.py).

    Reserves have quadratic costs, which a linear program does not allow. Where the muscles do not suffice, a method of
    active sets first makes the reserves as small as possible; the levels share the remaining moments. A linear cost
    with reserves is refused.
    """

    tolerance: float = 1e-10  # primal and dual feasibility, on scaled rows
    max_iterations: int = 10000  # of each linear program

    name: ClassVar[str] = "linprog"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to HiGHS through SciPy and is ignored."""
        if "linear_program" in cost.needs:
            return self._levels(problem, cost)
        from scipy.optimize import linprog

        attempt = Attempt.blank(problem)
        slopes = cost.gradient(problem, problem.lower)
        row = row_size(problem)
        matrices, moments = problem.moment_matrix / row[:, :, None], problem.moment / row
        limits = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), self.tolerance)
        options = limits | {"maxiter": self.max_iterations}
        for t, slope in enumerate(slopes):
            scale = np.abs(slope).max() or 1.0
            bounds = np.stack([problem.lower[t], problem.upper[t]], axis=1)
            result = linprog(slope / scale, A_eq=matrices[t], b_eq=moments[t], bounds=bounds, options=options)
            attempt.claim[t] = CLAIMS.get(result.status, Status.SOLVER_FAILED)
            attempt.message[t] = result.message
            if result.x is not None:
                attempt.activation[t] = np.clip(result.x, *bounds.T)
                attempt.multiplier[t] = result.eqlin.marginals * scale / row[t]
                attempt.iterations[t] = result.nit
        return attempt

    def _levels(self, problem: Problem, cost: Cost) -> Attempt:
        """Walk with all muscles; where they do not suffice again, with those that the reserves leave open."""
        load, start = relative_load(problem, cost), np.array(problem.lower)
        open_, reserve = np.ones(load.shape, np.bool_), np.zeros_like(problem.moment)
        attempt = _walked(problem, load, start, open_, reserve)
        short = attempt.claim != Status.SOLVED
        if problem.reserve_weight is not None and short.any():
            part = problem.frames(short)
            least = _least_reserves(part)
            goal, _, decided = reserve_pull(part, least)
            reserve[short] = least
            start[short], open_[short] = np.where(decided, goal, part.lower), ~decided
            again = _walked(part, load[short], start[short], open_[short], reserve[short])
            attempt.store(short, again)
            before, deeper = attempt.level_multiplier, again.level_multiplier
            assert before is not None and deeper is not None
            attempt = replace(attempt, level_multiplier=with_levels(before, short, deeper))
        return attempt


def _least_reserves(problem: Problem) -> Array:
    """The reserves s = b - A a with the least s . w s of all activations within the bounds, (T, m) [N m].

    The muscles between their bounds have no pull A^T w s on them: s is projected once more on the complement of their
    columns, so that round-off does not decide any of them.
    """
    from scipy.optimize import lsq_linear

    assert problem.reserve_weight is not None
    reserve = np.zeros_like(problem.moment)
    for t, weight in enumerate(np.sqrt(problem.reserve_weight)):
        low, high = problem.lower[t], problem.upper[t]
        matrix, free = weight[:, None] * problem.moment_matrix[t], high - low > NO_ROOM
        activation = np.array(low)
        if free.any():
            rest = weight * problem.moment[t] - matrix[:, ~free] @ low[~free]
            bounds = low[free], high[free]
            found = lsq_linear(matrix[:, free], rest, bounds, "bvls", 1e-15, max_iter=20 * free.size)
            activation[free] = np.where(found.active_mask < 0, low[free], high[free])
            free[free] = found.active_mask == 0
        missing = weight * problem.moment[t] - matrix[:, ~free] @ activation[~free]
        span = independent_rows(matrix[:, free])
        reserve[t] = (missing - span @ (span.T @ missing)) / weight
    return reserve


def _walked(problem: Problem, load: Array, start: Array, open_: Mask, reserve: Array) -> Attempt:
    """The levels of loads rho beside reserves (T, m); muscles that are not open are at `start`, (T, n) each.

    The program is homogeneous: moments that ask for a small share of the muscles are solved in units of this share, a
    power of two, so that what is absolute in the walk is no more than in large ones.
    """
    from musclesolve.sharing.kernel.level_walk import WALK

    attempt, (frames, hard, muscles) = Attempt.blank(problem), problem.moment_arm.shape
    with np.errstate(all="ignore"):
        reach = np.matmul(np.abs(problem.moment_matrix), problem.upper[:, :, None])[:, :, 0]
        share = np.nan_to_num(np.abs(problem.moment - reserve) / reach, nan=0.0, posinf=0.0).max(axis=1)
        unit = np.where((share > 0.0) & (share < SMALL), np.exp2(np.floor(np.log2(share))), 1.0)[:, None]
    bounds = problem.lower / unit, problem.upper / unit
    most = hard + int((load * problem.lower > 0.0).sum(axis=1).max(initial=0))
    levels = np.full((frames, most, hard), np.nan)
    given = problem.moment_matrix, (problem.moment - reserve) / unit, load, *bounds, start / unit, open_
    work = [np.empty(size) for size in (muscles, muscles + hard, muscles + hard, hard, hard)]
    places = [np.zeros(size, np.int64) for size in (muscles, hard, hard)]
    results = attempt.activation, levels, attempt.claim, attempt.iterations
    tableau = np.empty((hard, muscles + hard))
    WALK.load()(*map(np.ascontiguousarray, given), *results, tableau, *work, *places)
    attempt.activation[:] *= unit
    first = np.nan_to_num(levels[:, :1].sum(axis=1))
    return replace(attempt, reserve=reserve, multiplier=first, level_multiplier=levels)
