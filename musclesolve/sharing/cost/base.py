"""What a cost function is, and how costs add up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from musclesolve.errors import InputError
from musclesolve.sharing.problem import Array, Problem


class Cost(ABC):
    """A convex cost that is a sum over muscles, sum_i f_i(a_i), on lower <= a <= upper.

    A new cost is a frozen dataclass with the methods below. `2 * a + b` is again a cost.
    """

    name: ClassVar[str]
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""

    @abstractmethod
    def value(self, problem: Problem, activation: Array) -> Array:
        """sum_i f_i(a_i), (T,), for activations (T, n)."""

    @abstractmethod
    def gradient(self, problem: Problem, activation: Array) -> Array:
        """df_i/da_i, (T, n)."""

    @abstractmethod
    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """d2f_i/da_i2, (T, n), never negative."""

    @abstractmethod
    def parameters(self, problem: Problem) -> Array:
        """The numbers that `expression` needs of each frame, (T, p, n)."""

    @abstractmethod
    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """The value of one frame as a CasADi expression.

        Args:
            casadi: the module, handed in so that costs do not import it.
            activation: symbols, (n, 1).
            parameters: symbols, (p, n), which take the values of `parameters(problem)`.
        """

    def largest_activation(self, problem: Problem) -> Array:
        """(T, n) where the domain of the cost ends; infinite for most costs."""
        return np.full_like(problem.force_capacity, np.inf)

    def __add__(self, other: Cost) -> Cost:
        return Sum((self, other)) if isinstance(other, Cost) else NotImplemented

    def __rmul__(self, factor: float) -> Cost:
        return Scaled(float(factor), self) if isinstance(factor, Real) else NotImplemented

    __mul__ = __rmul__


@dataclass(frozen=True)
class Sum(Cost):
    """The sum of several costs."""

    terms: tuple[Cost, ...]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The names of the terms, joined by plus signs."""
        return " + ".join(term.name for term in self.terms)

    def value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return np.sum([term.value(problem, activation) for term in self.terms], axis=0)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return np.sum([term.gradient(problem, activation) for term in self.terms], axis=0)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return np.sum([term.hessian_diagonal(problem, activation) for term in self.terms], axis=0)

    def parameters(self, problem: Problem) -> Array:
        """Those of the terms, one after the other."""
        return np.concatenate([term.parameters(problem) for term in self.terms], axis=1)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        total, first = 0, 0
        for term, count in zip(self.terms, self._parameter_counts(activation.shape[0]), strict=True):
            total = total + term.expression(casadi, activation, parameters[first : first + count, :])
            first += count
        return total

    def _parameter_counts(self, muscles: int) -> list[int]:
        probe = Problem(np.zeros((1, muscles)), np.zeros(1), np.ones(muscles), np.ones(muscles))
        return [term.parameters(probe).shape[1] for term in self.terms]

    def largest_activation(self, problem: Problem) -> Array:
        """The smallest of the terms'."""
        return np.minimum.reduce([term.largest_activation(problem) for term in self.terms])


@dataclass(frozen=True)
class Scaled(Cost):
    """A positive multiple of a cost."""

    factor: float
    cost: Cost

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise InputError(
                f"the factor of the cost {self.cost.name} is {self.factor:g}",
                expected="a positive number: anything else makes the cost non-convex or nothing at all",
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The factor and the name."""
        inner = f"({self.cost.name})" if isinstance(self.cost, Sum) else self.cost.name
        return f"{self.factor:g} * {inner}"

    def value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.value(problem, activation)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.gradient(problem, activation)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.hessian_diagonal(problem, activation)

    def parameters(self, problem: Problem) -> Array:
        """See Cost."""
        return self.cost.parameters(problem)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return self.factor * self.cost.expression(casadi, activation, parameters)

    def largest_activation(self, problem: Problem) -> Array:
        """See Cost."""
        return self.cost.largest_activation(problem)
