"""Soft saturation: a muscle costs the more, the nearer it comes to its maximum isometric force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Terms, one_term
from musclesolve.sharing.cost.power_sum import check_exponent, relative_force, relative_force_change
from musclesolve.sharing.kernel.constants import TERM_POWER, TERM_SATURATION
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange

SHORT_OF_SATURATION = 1e-9


@dataclass(frozen=True)
class SoftSaturation(Cost):
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

    name: ClassVar[str] = "soft_saturation"
    formula: ClassVar[str] = "sum_i (1 - (1 - (F_i / F0_i)^p)^(1/p)), p = 2"
    source: ClassVar[str] = "Silva 2003, eq. 6.19, maximised; Rasmussen et al. 2001"

    def __post_init__(self) -> None:
        check_exponent(self.name, self.exponent)

    @property
    def linear(self) -> bool:
        """For p = 1."""
        return self.exponent == 1

    def _remainder(self, load: Array) -> Array:
        """1 - x^p, with its digits near saturation."""
        if self.exponent == 2:
            return np.maximum((1.0 - load) * (1.0 + load), 0.0)
        with np.errstate(divide="ignore"):
            return np.maximum(-np.expm1(self.exponent * np.log(load)), 0.0)

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,), without unit."""
        load = relative_force(problem) * activation
        if self.exponent == 2:  # equals 1 - root, without the cancellation at rest
            return (load * load / (1.0 + np.sqrt(self._remainder(load)))).sum(axis=-1)
        with np.errstate(divide="ignore"):
            power = np.minimum(np.power(load, self.exponent), 1.0)
            return -np.expm1(np.log1p(-power) / self.exponent).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """x^(p-1) (1 - x^p)^(1/p - 1) dx/da, (T, n), infinite at saturation."""
        ratio, p = relative_force(problem), self.exponent
        load = ratio * activation
        with np.errstate(divide="ignore"):
            return ratio * np.power(load, p - 1.0) * np.power(self._remainder(load), 1.0 / p - 1.0)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """(p - 1) x^(p-2) (1 - x^p)^(1/p - 2) (dx/da)^2, (T, n), infinite at saturation."""
        ratio, p = relative_force(problem), self.exponent
        if self.linear:
            return np.zeros_like(ratio)
        load = ratio * activation
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = np.power(load, p - 2.0) * np.power(self._remainder(load), 1.0 / p - 2.0)
            return np.where(ratio > 0, (p - 1.0) * np.square(ratio) * bent, 0.0)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """x^(p-1) (1 - x^p)^(1/p - 2) (p - x^p) dc with x = c a, (K, T, n)."""
        p = self.exponent
        load = relative_force(problem) * activation
        left = self._remainder(load)
        bent = np.power(load, p - 1.0) * np.power(left, 1.0 / p - 2.0) * (p - 1.0 + left)
        return bent * relative_force_change(problem, change)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """-largest^2 dc / (1 - 1e-9), (K, T, n); zero where there is none."""
        largest = self.largest_activation(problem)
        ends = np.where(np.isfinite(largest), largest, 0.0)
        return -np.square(ends) / (1.0 - SHORT_OF_SATURATION) * relative_force_change(problem, change)

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """See Cost."""
        kind = TERM_POWER if self.linear else TERM_SATURATION
        return one_term(kind, self.exponent, relative_force(problem))

    def parameters(self, problem: Problem) -> Array:
        """The capacity over the maximum isometric force, (T, 1, n)."""
        return relative_force(problem)[:, None, :]

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        p, load = self.exponent, parameters.T * activation
        return load.shape[0] - casadi.sum1((1.0 - load**p) ** (1.0 / p))

    def largest_activation(self, problem: Problem) -> Array:
        """(1 - 1e-9) F0_i / force_capacity_i, infinite where the capacity is zero."""
        with np.errstate(divide="ignore", over="ignore"):
            return (1.0 - SHORT_OF_SATURATION) * problem.max_isometric_force / problem.force_capacity
