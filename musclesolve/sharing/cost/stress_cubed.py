"""Sum of cubed muscle stresses, the endurance criterion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import POWER, Terms, one_term
from musclesolve.sharing.cost.power_sum import ratio_change
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class StressCubed(Cost):
    """sum_i sigma_i^3 with sigma_i = sigma_bar F_i / F0_i [(N/cm^2)^3] (Silva 2003, eqs 6.16 and 6.21).

    The stress is the force over the physiological cross-section, which is F0_i / sigma_bar. Newtons per square
    centimetre are kept because they make the numbers the ones of the literature; the activations do not depend
    on sigma_bar at all. Assumes that endurance falls with the third power of stress and that the muscles are chosen so
    as to last long (Crowninshield and Brand 1981).

    Args:
        specific_strength: sigma_bar [N/cm^2].
    """

    specific_strength: float = 31.39

    name: ClassVar[str] = "stress_cubed"
    formula: ClassVar[str] = "sum_i (sigma_bar F_i / F0_i)^3"
    source: ClassVar[str] = "Silva 2003, eqs 6.16 and 6.21"

    def _full_stress(self, problem: Problem) -> Array:
        return self.specific_strength * problem.force_capacity / problem.max_isometric_force

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,) [(N/cm^2)^3]."""
        stress = self._full_stress(problem) * activation
        return (stress * stress * stress).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """(T, n) [(N/cm^2)^3]."""
        full = self._full_stress(problem)
        stress = full * activation
        return 3.0 * full * stress * stress

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """(T, n) [(N/cm^2)^3]; zero at rest."""
        full = self._full_stress(problem)
        return 6.0 * full * full * full * activation

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """9 (c_i a_i)^2 dc_i with the stress c_i at full activation, (K, T, n)."""
        stress = self._full_stress(problem) * activation
        return 9.0 * stress * stress * self.specific_strength * ratio_change(problem, change)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """None, zero."""
        return np.zeros((1, 1, 1))

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """See Cost."""
        return one_term(POWER, 3.0, self._full_stress(problem))

    def parameters(self, problem: Problem) -> Array:
        """The stress at full activation, (T, 1, n)."""
        return self._full_stress(problem)[:, None, :]

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.sum1((parameters.T * activation) ** 3)
