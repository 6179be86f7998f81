"""Soft saturation: a muscle costs the more, the nearer it comes to its maximum isometric force."""

from __future__ import annotations

from dataclasses import dataclass

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_terms import Power, Saturation
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms, relative_force
from musclesolve.sharing.problem import Problem


@dataclass(frozen=True)
class SoftSaturation(SumOfTerms):
    """sum_i (1 - (1 - x_i^p)^(1/p)) with x_i = F_i / F0_i: the soft-saturation sum, maximised.

    With p = 2 it is Silva 2003, eq. 6.19, there ascribed to Siemienski; the general exponent is that of Rasmussen et
    al. (2001). The print minimises the sum of the roots, which drives every muscle to full co-contraction; the
    criterion is meant to be maximised (correction A12). Here it is a cost that is zero at rest.

    Assumes that no muscle exceeds its maximum isometric force: the domain ends at F_i = F0_i, where the slope is
    infinite for p > 1, so that no activation exceeds F0_i / force_capacity_i. (It ends a billionth before, to be
    exact: nearer to F0 a floating-point activation no longer determines the slope.) With p = 1 the cost is the
    linear one sum_i x_i; for 1 < p < 2 the second derivative is infinite at rest.

    Args:
        exponent: p, at least 1.
    """

    exponent: float = 2.0

    name = "soft_saturation"
    formula = "sum_i (1 - (1 - (F_i / F0_i)^p)^(1/p)), p = 2"
    source = "Silva 2003, eq. 6.19, maximised; Rasmussen et al. 2001"

    @property
    def form(self) -> Power | Saturation:
        """1 - (1 - x^p)^(1/p), which for p = 1 is x itself."""
        return Power(1.0, Saturation.end) if self.exponent == 1 else Saturation(float(self.exponent))

    def coefficient(self, problem: Problem) -> Array:
        """force_capacity_i / F0_i, (T, n)."""
        return relative_force(problem)
