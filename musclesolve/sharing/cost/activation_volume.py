"""Sum of a power of the activations, each weighted by the volume of the muscle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.power_sum import PowerSum, check_exponent, check_positive
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class ActivationVolume(PowerSum):
    """sum_i V_i a_i^p [m^3] with V_i = F0_i L0_i / sigma_bar (weights and powers of Ackermann and van den Bogert 2010).

    V_i is the volume of a muscle of cross-section F0_i / sigma_bar and optimal fiber length L0_i. Assumes that every
    unit of active muscle tissue costs the same; sigma_bar is taken to be the same in all muscles, and then scales
    the cost without moving the activations.

    Args:
        exponent: p, at least 1.
        specific_strength: sigma_bar [N/m^2]; 31.39 N/cm^2 (Silva 2003, 6.4).
    """

    exponent: float = 2.0
    specific_strength: float = 31.39e4

    name: ClassVar[str] = "activation_volume"
    formula: ClassVar[str] = "sum_i V_i a_i^p, V_i = F0_i L0_i / sigma_bar, p = 2"
    source: ClassVar[str] = "Ackermann and van den Bogert 2010"
    data: ClassVar[tuple[str, ...]] = ("optimal_fiber_length",)

    def __post_init__(self) -> None:
        check_exponent(self.name, self.exponent)
        check_positive(self.name, "specific_strength", self.specific_strength)

    def full(self, problem: Problem) -> Array:
        """V_i^(1/p), (T, n)."""
        self.require(problem)
        assert problem.optimal_fiber_length is not None
        volume = problem.max_isometric_force * problem.optimal_fiber_length / self.specific_strength
        return np.broadcast_to(np.power(volume, 1.0 / self.exponent), problem.force_capacity.shape)

    def full_change(self, problem: Problem, change: ProblemChange) -> Array:
        """c_i / p times the relative changes of F0_i and L0_i, (K, T, n)."""
        assert problem.optimal_fiber_length is not None
        strength = change.get("max_isometric_force") / problem.max_isometric_force
        length = change.get("optimal_fiber_length") / problem.optimal_fiber_length
        return np.asarray(self.full(problem) / self.exponent * (strength + length))
