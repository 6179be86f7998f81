"""The moments within reach that are nearest to those of the problem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_terms import Term
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.interior_point import InteriorPoint
from musclesolve.sharing.solver.solver_base import Attempt


@dataclass(frozen=True)
class NoCost(SumOfTerms):
    """Zero: only the squares of the reserves are minimised."""

    name = "no_cost"

    def coefficient(self, problem: Problem) -> Array:
        """Zeros, (T, n)."""
        return np.zeros_like(problem.force_capacity)

    def terms(self, problem: Problem) -> tuple[Term, ...]:
        """No terms at all."""
        return ()


def nearest_moments(problem: Problem) -> Attempt:
    """Minimise |b - A a|^2 over the bounds; `reserve` (= `multiplier`) is the residual b - A a, (T, m) [N m].

    The residual of an infeasible frame proves infeasibility: its half-space touches the set within reach at A a and
    excludes b. Such a frame ends as soon as its residual is a proof, before it is the smallest one.
    """
    soft = problem.with_reserve_weight(np.ones_like(problem.moment))
    method = InteriorPoint(tolerance=1e-9, max_iterations=250, seek_proof=True)
    return method.solve(soft, NoCost())
