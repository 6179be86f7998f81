"""Sum of squared muscle forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import POWER, Terms, one_term
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class ForceSquared(Cost):
    """sum_i F_i^2 with F_i = force_capacity_i * a_i [N^2] (Silva 2003, eqs 6.15 and 6.20).

    Assumes that a newton costs the same in every muscle, weak or strong.
    """

    name: ClassVar[str] = "force_squared"
    formula: ClassVar[str] = "sum_i F_i^2"
    source: ClassVar[str] = "Silva 2003, eq. 6.15"

    @property
    def quadratic(self) -> bool:
        """Yes."""
        return True

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,) [N^2]."""
        return np.square(problem.force_capacity * activation).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """(T, n) [N^2]."""
        return 2.0 * np.square(problem.force_capacity) * activation

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """(T, n) [N^2]."""
        return 2.0 * np.square(problem.force_capacity)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """4 force_capacity_i a_i d(force_capacity_i), (K, T, n)."""
        return np.asarray(4.0 * problem.force_capacity * activation * change.get("force_capacity"))

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """None, zero."""
        return np.zeros((1, 1, 1))

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """See Cost."""
        return one_term(POWER, 2.0, problem.force_capacity)

    def parameters(self, problem: Problem) -> Array:
        """The force capacity, (T, 1, n)."""
        return problem.force_capacity[:, None, :]

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.sumsqr(parameters.T * activation)
