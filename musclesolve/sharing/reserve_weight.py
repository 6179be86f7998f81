"""The weights of reserves that make a frame solvable."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.constants import FALLBACK
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_scale import slope_scale
from musclesolve.sharing.solver.solver_base import Attempt, Solver


def fallback_weight(problem: Problem, cost: Cost) -> Array:
    """The weight of reserves for which 1 N m costs 100 times all muscles at full activation, (T, m)."""
    return np.broadcast_to(2.0 * FALLBACK * full_cost(problem, cost)[:, None], problem.moment.shape)


def edge_weight(problem: Problem, cost: Cost, stiffness: float) -> Array:
    """The weight of reserves that bear about 1 / stiffness of the moments, or of 1 N m, within reach, (T, m)."""
    size = np.maximum(1.0, np.abs(problem.moment))
    weight: Array = 2.0 * stiffness * full_cost(problem, cost)[:, None] / np.square(size)
    return weight


def full_cost(problem: Problem, cost: Cost) -> Array:
    """The cost of all muscles at full activation, less that at rest, (T,); 1 where that is zero.

    Of a cost that is not least at rest the absolute changes on the way count.
    """
    full = np.abs(cost.total_value(problem, problem.upper) - cost.total_value(problem, problem.lower))
    width = problem.upper - problem.lower
    full = np.maximum(full, 0.5 * (slope_scale(problem, cost) * width).sum(axis=1))
    return np.where(np.isfinite(full) & (full > 0), full, 1.0)


@dataclass(frozen=True)
class AtEdge:
    """A solver for frames at the edge of reach.

    A moment may lie beyond reach by less than the tolerance of the certificate. Then there is neither a proof nor are
    there multipliers: those of a solver that meets the moment exactly grow without bound, until round-off hides the
    marginal costs of other muscles. With reserves so stiff that they bear less than the tolerance multipliers stay
    finite. The certificate is that of the problem without reserves.
    """

    solver: Solver  # one that can take reserves
    stiffness: float  # one of AT_EDGE

    @property
    def name(self) -> str:
        """The name of the solver."""
        return self.solver.name

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        stiff = problem.with_reserve_weight(edge_weight(problem, cost, self.stiffness))
        attempt = self.solver.solve(stiff, cost, warm_start)
        return replace(attempt, reserve=np.zeros_like(problem.moment))
