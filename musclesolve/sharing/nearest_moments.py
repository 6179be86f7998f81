"""The moments within reach that are nearest to those of the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Terms, no_terms
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.interior_point import InteriorPoint
from musclesolve.sharing.solver.solver_base import Attempt


@dataclass(frozen=True)
class NoCost(Cost):
    """Zero: only the squares of the reserves are minimised."""

    name: ClassVar[str] = "no_cost"
    parameter_rows: ClassVar[int] = 0  # type: ignore[misc]

    def value(self, problem: Problem, activation: Array) -> Array:
        """Zeros, (T,)."""
        return np.zeros(len(activation))

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """Zeros, (T, n)."""
        return np.zeros_like(activation)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """Zeros, (T, n)."""
        return np.zeros_like(activation)

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """No terms at all."""
        return no_terms(problem.n_frames, problem.n_muscles)

    def parameters(self, problem: Problem) -> Array:
        """None, (T, 0, n)."""
        return np.zeros((problem.n_frames, 0, problem.n_muscles))

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """Zero."""
        return 0.0


def nearest_moments(problem: Problem) -> Attempt:
    """Minimise |b - A a|^2 over the bounds; `reserve` (= `multiplier`) is the residual b - A a, (T, m) [N m].

    The residual of an infeasible frame proves infeasibility: its half-space touches the set within reach at A a and
    excludes b. Such a frame ends as soon as its residual is a proof, before it is the smallest one.
    """
    soft = problem.with_reserve_weight(np.ones_like(problem.moment))
    method = InteriorPoint(tolerance=1e-9, max_iterations=250, seek_proof=True)
    return method.solve(soft, NoCost())
