"""Weighted sums of a power of the activations: what most costs are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Terms, one_term
from musclesolve.sharing.kernel.constants import TERM_POWER
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange, difference


class PowerSum(Cost):
    """sum_i (c_i a_i)^p with c_i >= 0 and p >= 1; a subclass defines the coefficients c_i and, if p is not 2, p.

    Convex; strictly so for p > 1, where a unique optimum follows. With p = 1 the cost is linear: as few muscles as
    there are moments then do all the work, which of them may change from frame to frame, and the optimum need not
    be unique. For 1 < p < 2 the second derivative is infinite at rest.
    """

    exponent: float = 2.0

    def __post_init__(self) -> None:
        check_exponent(self.name, self.exponent)

    @abstractmethod
    def coefficient(self, problem: Problem) -> Array:
        """c_i, (T, n): the p-th root of the cost at activation 1."""

    def coefficient_change(self, problem: Problem, change: ProblemChange) -> Array:
        """Derivative of c_i along changes of the problem, (K, T, n); by differences unless a subclass has a formula."""
        return difference(self.coefficient, problem, change)

    @property
    def linear(self) -> bool:
        """For p = 1."""
        return self.exponent == 1

    @property
    def quadratic(self) -> bool:
        """For p = 2."""
        return self.exponent == 2

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,)."""
        return power(self.coefficient(problem) * activation, self.exponent).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """The slopes p c_i (c_i a_i)^(p-1), (T, n)."""
        c = self.coefficient(problem)
        return self.exponent * c * power(c * activation, self.exponent - 1.0)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """The curvatures p (p-1) c_i^2 (c_i a_i)^(p-2), (T, n)."""
        c = self.coefficient(problem)
        if self.linear:
            return np.zeros_like(c)
        # a muscle without any weight has no curvature, not 0 times infinity
        with np.errstate(divide="ignore", invalid="ignore"):
            curvature = c * c * power(c * activation, self.exponent - 2.0)
        return self.exponent * (self.exponent - 1.0) * np.where(c > 0, curvature, 0.0)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """p^2 (c_i a_i)^(p-1) dc_i, (K, T, n)."""
        slope = power(self.coefficient(problem) * activation, self.exponent - 1.0)
        return self.exponent**2 * slope * self.coefficient_change(problem, change)

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """See Cost."""
        return one_term(TERM_POWER, self.exponent, self.coefficient(problem))

    def parameters(self, problem: Problem) -> Array:
        """c_i, (T, 1, n)."""
        return self.coefficient(problem)[:, None, :]

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.sum1((parameters.T * activation) ** self.exponent)


def power(base: Array, exponent: float) -> Array:
    """base^exponent, by products for exponents up to 3, which are faster and round less."""
    if exponent in (1, 2, 3):
        return np.asarray(base if exponent == 1 else base * base if exponent == 2 else base * base * base)
    return np.power(base, exponent)


def relative_force(problem: Problem) -> Array:
    """F_i / F0_i at activation 1, (T, n): the force capacity over the maximum isometric force."""
    return problem.force_capacity / problem.max_isometric_force


def relative_force_change(problem: Problem, change: ProblemChange) -> Array:
    """Derivative of `relative_force` along changes of the problem, (K, T, n)."""
    moved = change.get("force_capacity") - relative_force(problem) * change.get("max_isometric_force")
    return np.asarray(moved / problem.max_isometric_force)


def check_exponent(name: str, exponent: object) -> None:
    """See that the exponent of a cost is a number of at least one."""
    expected = "a number of at least 1: below, the cost is not convex"
    check_number(exponent, f"the exponent of {name}", expected, least=1.0, where=name)


def check_positive(name: str, what: str, number: object) -> None:
    """See that a parameter of a cost is positive."""
    check_number(number, f"{what} of {name}", "a positive number", above=0.0, where=name)
