"""Sum of a power of the activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.power_sum import PowerSum
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class ActivationPower(PowerSum):
    """sum_i a_i^p with p >= 1, without unit (static optimization of OpenSim, Delp et al. 2007, where p = 2).

    Assumes that effort depends on the activation alone, so that a small muscle costs as much as a large one. As p
    grows the largest activation decides, and the optimum tends to that of a min/max criterion (Rasmussen et al.
    2001). Beyond p = 10 or so the marginal costs of a whole leg span more orders of magnitude than a floating-point
    number has digits: some frames run out of iterations, and `min_max`, which is exact, is the better choice.

    Args:
        exponent: p, at least 1.
    """

    exponent: float = 2.0

    name: ClassVar[str] = "activation_power"
    formula: ClassVar[str] = "sum_i a_i^p, p = 2"
    source: ClassVar[str] = "Delp et al. 2007"

    def full(self, problem: Problem) -> Array:
        """Ones, (T, n)."""
        return np.ones_like(problem.force_capacity)

    def full_change(self, problem: Problem, change: ProblemChange) -> Array:
        """None, zero."""
        return np.zeros((1, 1, 1))
