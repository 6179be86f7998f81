"""Soft saturation: a muscle costs the more, the nearer it comes to its maximum isometric force."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem

SHORT_OF_SATURATION = 1e-9


@dataclass(frozen=True)
class SoftSaturation(Cost):
    """sum_i (1 - sqrt(1 - (F_i / F0_i)^2)), the soft-saturation sum of Silva 2003, eq. 6.19, maximised.

    The print minimises the sum of the roots, which drives every muscle to full co-contraction; the criterion is
    meant to be maximised. Here it is turned into a cost that is zero at rest. Its domain ends at F_i = F0_i,
    where the slope is infinite, so that no activation exceeds F0_i / force_capacity_i. (It ends a billionth before,
    to be exact: nearer to F0 a floating-point activation no longer determines the slope.)
    """

    name: ClassVar[str] = "soft_saturation"
    formula: ClassVar[str] = "sum_i (1 - sqrt(1 - (F_i / F0_i)^2))"
    source: ClassVar[str] = "Silva 2003, eq. 6.19, maximised"

    def _ratio(self, problem: Problem) -> Array:
        return problem.force_capacity / problem.max_isometric_force

    def _root(self, load: Array) -> Array:
        # (1 - x)(1 + x) keeps its digits near saturation, where 1 - x^2 loses them
        return np.sqrt(np.maximum((1.0 - load) * (1.0 + load), 0.0))

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,), without unit."""
        load = self._ratio(problem) * activation
        # equals 1 - root, without the cancellation at rest
        return (load * load / (1.0 + self._root(load))).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """(T, n), infinite at saturation."""
        ratio = self._ratio(problem)
        load = ratio * activation
        with np.errstate(divide="ignore"):
            return ratio * load / self._root(load)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """(T, n), infinite at saturation."""
        ratio = self._ratio(problem)
        with np.errstate(divide="ignore"):
            return np.square(ratio) / self._root(ratio * activation) ** 3

    def parameters(self, problem: Problem) -> Array:
        """The capacity over the maximum isometric force, (T, 1, n)."""
        return self._ratio(problem)[:, None, :]

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.sum1(1.0 - casadi.sqrt(1.0 - (parameters.T * activation) ** 2))

    def largest_activation(self, problem: Problem) -> Array:
        """(1 - 1e-9) F0_i / force_capacity_i, infinite where the capacity is zero."""
        with np.errstate(divide="ignore", over="ignore"):
            return (1.0 - SHORT_OF_SATURATION) * problem.max_isometric_force / problem.force_capacity
