"""Sum of squared muscle forces relative to the maximum isometric ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.power_sum import PowerSum, ratio_change
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class NormalizedForceSquared(PowerSum):
    """sum_i (F_i / F0_i)^2, without unit (Silva 2003, eq. 6.17, there ascribed to Pedotti et al.).

    Assumes that effort grows with the square of the load relative to what the muscle bears isometrically at its
    optimal length, whatever it can bear at its present length and velocity.
    """

    name: ClassVar[str] = "normalized_force_squared"
    formula: ClassVar[str] = "sum_i (F_i / F0_i)^2"
    source: ClassVar[str] = "Silva 2003, eq. 6.17"

    def full(self, problem: Problem) -> Array:
        """force_capacity_i / F0_i, (T, n)."""
        return problem.force_capacity / problem.max_isometric_force

    def full_change(self, problem: Problem, change: ProblemChange) -> Array:
        """d(force_capacity_i / F0_i), (K, T, n)."""
        return ratio_change(problem, change)
