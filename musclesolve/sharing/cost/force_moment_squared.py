"""Sum of squared muscle forces relative to the moments that the muscles could exert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.power_sum import PowerSum, check_positive, ratio_change
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class ForceMomentSquared(PowerSum):
    """sum_i (F_i / M_i)^2 [1/m^2] with M_i = F0_i r_i (Silva 2003, eq. 6.18, there ascribed to Herzog).

    M_i is the maximum instantaneous moment: the maximum isometric force at the present moment arm r_i. The source
    has one moment arm for each muscle; of a muscle that crosses several degrees of freedom the root of the
    sum of squares over those of the problem is taken, r_i = sqrt(sum_k r_ik^2). Assumes that muscles with good
    leverage are preferred. Where a muscle has no leverage, M_i would vanish and the cost with it be undefined: r_i
    counts as at least `least_arm`.

    Args:
        least_arm: [m].
    """

    least_arm: float = 1e-3

    name: ClassVar[str] = "force_moment_squared"
    formula: ClassVar[str] = "sum_i (F_i / M_i)^2, M_i = F0_i r_i"
    source: ClassVar[str] = "Silva 2003, eq. 6.18"

    def __post_init__(self) -> None:
        check_positive(self.name, "least_arm", self.least_arm)

    def full(self, problem: Problem) -> Array:
        """force_capacity_i / M_i, (T, n) [1/m]."""
        arm = np.maximum(np.linalg.norm(problem.moment_arm, axis=1), self.least_arm)
        return problem.force_capacity / (problem.max_isometric_force * arm)

    def full_change(self, problem: Problem, change: ProblemChange) -> Array:
        """d(force_capacity_i / (F0_i r_i)) with dr_i = sum_k r_ik dr_ik / r_i, (K, T, n)."""
        size = np.linalg.norm(problem.moment_arm, axis=1)
        arm = np.maximum(size, self.least_arm)
        stretch = np.asarray(0.0)
        if change.moment_arm is not None:
            along = (problem.moment_arm * change.moment_arm).sum(axis=2)
            stretch = np.where(size > self.least_arm, along / np.square(arm), 0.0)
        return ratio_change(problem, change) / arm - self.full(problem) * stretch
