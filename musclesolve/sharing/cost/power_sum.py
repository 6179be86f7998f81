"""Weighted sums of a power of the activations: what most costs are."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import POWER, Terms, one_term
from musclesolve.sharing.cost.differences import difference
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


class PowerSum(Cost):
    """sum_i (c_i a_i)^p with c_i >= 0 and p >= 1; a subclass says what c_i is.

    Convex; strictly so for p > 1, where a unique optimum follows. With p = 1 the cost is linear: as few muscles as
    there are moments then do all the work, which of them may change from frame to frame, and the optimum need not
    be unique. For 1 < p < 2 the second derivative is infinite at rest.
    """

    exponent: float = 2.0

    def __post_init__(self) -> None:
        check_exponent(self.name, self.exponent)

    @abstractmethod
    def full(self, problem: Problem) -> Array:
        """c_i, (T, n): what is raised to the power p at activation 1."""

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
        return np.power(self.full(problem) * activation, self.exponent).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """The slopes p c_i (c_i a_i)^(p-1), (T, n)."""
        full = self.full(problem)
        return self.exponent * full * np.power(full * activation, self.exponent - 1.0)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """The curvatures p (p-1) c_i^2 (c_i a_i)^(p-2), (T, n)."""
        full = self.full(problem)
        if self.linear:
            return np.zeros_like(full)
        # a muscle without any weight has no curvature, not 0 times infinity
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = full * full * np.power(full * activation, self.exponent - 2.0)
        return self.exponent * (self.exponent - 1.0) * np.where(full > 0, bent, 0.0)

    def full_change(self, problem: Problem, change: ProblemChange) -> Array:
        """How c_i answers to changes of the problem, (K, T, n); by differences unless a cost knows its formula."""
        return difference(self.full, problem, change)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """p^2 (c_i a_i)^(p-1) dc_i, (K, T, n)."""
        power = np.power(self.full(problem) * activation, self.exponent - 1.0)
        return self.exponent**2 * power * self.full_change(problem, change)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """None, zero."""
        return np.zeros((1, 1, 1))

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """See Cost."""
        return one_term(POWER, self.exponent, self.full(problem))

    def parameters(self, problem: Problem) -> Array:
        """c_i, (T, 1, n)."""
        return self.full(problem)[:, None, :]

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.sum1((parameters.T * activation) ** self.exponent)


def ratio_change(problem: Problem, change: ProblemChange) -> Array:
    """How the capacity over the maximum isometric force answers to changes of the problem, (K, T, n)."""
    share = problem.force_capacity / problem.max_isometric_force
    moved = change.get("force_capacity") - share * change.get("max_isometric_force")
    return np.asarray(moved / problem.max_isometric_force)


def check_exponent(name: str, exponent: float) -> None:
    """See that it is a number of at least one."""
    if not (_is_number(exponent) and exponent >= 1):
        raise InputError(
            f"the exponent of {name} is {exponent!r}",
            expected="a number of at least 1: below, the cost is not convex",
        )


def check_positive(name: str, what: str, number: float) -> None:
    """See that a parameter of a cost is positive."""
    if not (_is_number(number) and number > 0):
        raise InputError(f"{what} of {name} is {number!r}", expected="a positive number")


def check_weight(name: str, what: str, number: float) -> None:
    """See that a parameter of a cost is zero or more."""
    if not (_is_number(number) and number >= 0):
        raise InputError(f"{what} of {name} is {number!r}", expected="a number, zero or more")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and bool(np.isfinite(float(value)))
