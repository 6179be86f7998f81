"""Sums and positive multiples of costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost, described
from musclesolve.sharing.cost.cost_terms import Terms, joined_terms
from musclesolve.sharing.cost.differences import gradient_change, largest_activation_change
from musclesolve.sharing.cost.soft_rows import SoftRows, joined_rows
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class Sum(Cost):
    """The sum of several costs."""

    terms: tuple[Cost, ...]

    def __post_init__(self) -> None:
        for term in self.terms:
            if "linear_programme" in term.needs:
                raise InputError(
                    f"the cost {term.name} cannot be added to another",
                    expected="terms that have a gradient",
                    remedy="use it alone; a high power of activation in the sum comes near to it",
                )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The names of the terms, joined by plus signs."""
        return " + ".join(term.label for term in self.terms)

    @property
    def label(self) -> str:
        """The name."""
        return self.name

    @property
    def needs(self) -> frozenset[str]:
        """What all terms together need."""
        return frozenset[str]().union(*(term.needs for term in self.terms))

    @property
    def linear(self) -> bool:
        """Whether all terms are linear."""
        return all(term.linear for term in self.terms)

    @property
    def quadratic(self) -> bool:
        """Whether some term is quadratic, and every other one linear if not quadratic too."""
        fit = all(term.quadratic or term.linear for term in self.terms)
        return fit and not self.linear

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the terms need of a problem."""
        return tuple(dict.fromkeys(field for term in self.terms for field in term.data))

    @property
    def parameter_rows(self) -> int:  # type: ignore[override]
        """The rows of all terms."""
        return sum(term.parameter_rows for term in self.terms)

    def _total(self, of: Callable[[Cost], Array]) -> Array:
        return np.sum([of(term) for term in self.terms], axis=0)

    def value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(lambda term: term.value(problem, activation))

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(lambda term: term.gradient(problem, activation))

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(lambda term: term.hessian_diagonal(problem, activation))

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(lambda term: term.term_hessian(problem, activation))

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """The rows of the terms, one after the other."""
        return joined_rows([term.soft_rows(problem) for term in self.terms])

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """See Cost."""
        parts = [gradient_change(term, problem, activation, change) for term in self.terms]
        return np.asarray(sum(parts[1:], start=parts[0]))

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """That of the term whose domain ends first."""
        ends = np.stack([term.largest_activation(problem) for term in self.terms])
        first, change_of_first = ends.argmin(axis=0), np.zeros((1, 1, 1))
        for number, term in enumerate(self.terms):
            moved = largest_activation_change(term, problem, change)
            change_of_first = np.where(first == number, moved, change_of_first)
        return change_of_first

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """Those of the terms, one after the other."""
        return joined_terms([described(term, problem) for term in self.terms])

    def parameters(self, problem: Problem) -> Array:
        """Those of the terms, one after the other."""
        parts = [term.parameters(problem) for term in self.terms]
        for term, part in zip(self.terms, parts, strict=True):
            if part.shape[1] != term.parameter_rows:
                raise InputError(
                    f"the cost {term.name} has {part.shape[1]} rows of parameters",
                    expected=f"{term.parameter_rows}, as its parameter_rows says",
                )
        return np.concatenate(parts, axis=1)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        total, first = 0, 0
        for term in self.terms:
            last = first + term.parameter_rows
            total = total + term.expression(casadi, activation, parameters[first:last, :])
            first = last
        return total

    def largest_activation(self, problem: Problem) -> Array:
        """The smallest of the terms'."""
        return np.minimum.reduce([term.largest_activation(problem) for term in self.terms])

    def require(self, problem: Problem) -> None:
        """See Cost."""
        for term in self.terms:
            term.require(problem)


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
        inner = f"({self.cost.name})" if isinstance(self.cost, Sum) else self.cost.label
        return f"{self.factor:g} * {inner}"

    @property
    def label(self) -> str:
        """The name."""
        return self.name

    @property
    def needs(self) -> frozenset[str]:
        """What the cost needs."""
        return self.cost.needs

    @property
    def linear(self) -> bool:
        """Whether the cost is linear."""
        return self.cost.linear

    @property
    def quadratic(self) -> bool:
        """Whether the cost is quadratic."""
        return self.cost.quadratic

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the cost needs of a problem."""
        return self.cost.data

    @property
    def parameter_rows(self) -> int:  # type: ignore[override]
        """Those of the cost."""
        return self.cost.parameter_rows

    def value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.value(problem, activation)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.gradient(problem, activation)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.hessian_diagonal(problem, activation)

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.factor * self.cost.term_hessian(problem, activation)

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """Those of the cost, with the factor in their weights."""
        rows = self.cost.soft_rows(problem)
        return None if rows is None else rows.scaled(self.factor)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """See Cost."""
        return self.factor * gradient_change(self.cost, problem, activation, change)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """See Cost."""
        return largest_activation_change(self.cost, problem, change)

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """Those of the cost, multiplied."""
        terms = described(self.cost, problem)
        return None if terms is None else terms.scaled(self.factor)

    def parameters(self, problem: Problem) -> Array:
        """See Cost."""
        return self.cost.parameters(problem)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return self.factor * self.cost.expression(casadi, activation, parameters)

    def largest_activation(self, problem: Problem) -> Array:
        """See Cost."""
        return self.cost.largest_activation(problem)

    def require(self, problem: Problem) -> None:
        """See Cost."""
        self.cost.require(problem)
