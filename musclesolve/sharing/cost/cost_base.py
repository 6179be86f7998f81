"""What a cost function is, and the weighted sum of costs that `2 * a + b` makes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_terms import SoftRows, Terms, joined_rows, joined_terms
from musclesolve.sharing.problem import OPTIONAL, Problem
from musclesolve.sharing.problem_change import ProblemChange, difference

NEEDS = {
    "separable": "terms f_i(a_i) of one muscle each",
    "coupled": "terms in which the slope of one muscle depends on the activation of another",
    "rows": "squares of linear combinations of the activations",
    "linear_programme": "a largest value minimised lexicographically (min/max)",
    "nonconvex": "terms that are not known to be convex",
    "nonsmooth": "terms with a kink",
}
"""The words of `Cost.needs`: what a solver must be able to handle."""


class Cost(ABC):
    """Terms of the activations, and soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2, on lower <= a <= upper.

    The methods `value`, `gradient`, `hessian_diagonal` and `expression` are of the terms alone; `soft_rows` gives the
    rows if there are any. `total_value`, `total_gradient` and `hessian` are of both together. The terms are a
    sum over muscles, sum_i f_i(a_i), convex in each, unless `needs` states otherwise.

    A new cost is a frozen dataclass with the five abstract methods; `solve` checks at a few points that they agree
    (cost_check.py). `2 * a + b` is again a cost.

    Attributes:
        name: in messages and results.
        formula: what is minimised (F force, F0 maximum isometric force).
        source: where it comes from.
        data: optional fields of Problem without which it is not defined.
        parameter_rows: p, how many numbers per muscle `expression` needs.
    """

    name: ClassVar[str]
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    data: ClassVar[tuple[str, ...]] = ()
    parameter_rows: int = 1

    @property
    def needs(self) -> frozenset[str]:
        """What a solver must be able to handle, in the words of `NEEDS`."""
        return frozenset({"separable"})

    @property
    def linear(self) -> bool:
        """Whether a linear programme finds the optimum."""
        return False

    @property
    def quadratic(self) -> bool:
        """Whether a quadratic programme finds the optimum: no term is of a higher degree than the second."""
        return False

    @property
    def label(self) -> str:
        """The name, with whatever differs from the defaults."""
        own: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        values = {f.name: getattr(self, f.name) for f in own if f.repr}
        changed = [f"{f.name}={values[f.name]!r}" for f in own if f.repr and values[f.name] != f.default]
        return self.name + (f"({', '.join(changed)})" if changed else "")

    @abstractmethod
    def value(self, problem: Problem, activation: Array) -> Array:
        """sum_i f_i(a_i), (T,), for activations (T, n)."""

    @abstractmethod
    def gradient(self, problem: Problem, activation: Array) -> Array:
        """df_i/da_i, (T, n)."""

    @abstractmethod
    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """d2f_i/da_i2, (T, n), never negative if the cost is convex."""

    @abstractmethod
    def parameters(self, problem: Problem) -> Array:
        """The numbers that `expression` needs in each frame, (T, p, n)."""

    @abstractmethod
    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """The value of one frame as a CasADi expression.

        Args:
            casadi: the module, handed in so that costs do not import it.
            activation: symbols, (n, 1).
            parameters: symbols, (p, n), which take the values of `parameters(problem)`.
        """

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """The soft rows, if there are any."""
        return None

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """The terms as data for the compiled solver, None if they have no such form; callers use `described`."""
        return None

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """The second derivatives of the terms, (T, n, n)."""
        found = np.zeros((*activation.shape, activation.shape[1]))
        # not times a unit matrix: some curvatures are infinite at rest
        np.einsum("tii->ti", found)[...] = self.hessian_diagonal(problem, activation)
        return found

    def largest_activation(self, problem: Problem) -> Array:
        """(T, n) where the domain of the cost ends; infinite for most costs."""
        return np.full_like(problem.force_capacity, np.inf)

    def total_value(self, problem: Problem, activation: Array) -> Array:
        """Terms and soft rows, (T,)."""
        rows, value = self.soft_rows(problem), self.value(problem, activation)
        return value if rows is None else value + rows.value(activation)

    def total_gradient(self, problem: Problem, activation: Array) -> Array:
        """Of terms and soft rows, (T, n)."""
        rows, slope = self.soft_rows(problem), self.gradient(problem, activation)
        return slope if rows is None else slope + rows.gradient(activation)

    def hessian(self, problem: Problem, activation: Array) -> Array:
        """Of terms and soft rows, (T, n, n)."""
        rows, curvature = self.soft_rows(problem), self.term_hessian(problem, activation)
        return curvature if rows is None else curvature + rows.hessian()

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """The derivative of `total_gradient` at fixed activations along changes of the problem, (K, T, n).

        By differences, good to about eight digits, unless a cost overrides it with a formula.
        """
        return difference(lambda moved: self.total_gradient(moved, activation), problem, change)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """The derivative of `largest_activation` along changes of the problem, (K, T, n); by differences as well."""
        if type(self).largest_activation is Cost.largest_activation:
            return np.zeros((1, 1, 1))
        return difference(self.largest_activation, problem, change)

    def require(self, problem: Problem) -> None:
        """See that the problem has the optional fields of `data`.

        Raises:
            InputError: a field is missing; says which.
        """
        for name in self.data:
            self.field(problem, name)

    def field(self, problem: Problem, name: str) -> Array:
        """An optional field of the problem.

        Raises:
            InputError: the problem does not have it.
        """
        found: Array | None = getattr(problem, name)
        if found is None:
            raise InputError(
                f"the cost {self.name} needs {name}, which the problem does not have",
                code="missing_argument",
                where=f"Problem.{name}",
                expected=OPTIONAL[name],
                remedy=f"Problem(..., {name}=...), or another cost",
            )
        return found

    def __add__(self, other: Cost) -> WeightedSum:
        if not isinstance(other, Cost):
            return NotImplemented
        return WeightedSum((*_summands(self), *_summands(other)))

    def __rmul__(self, factor: float) -> WeightedSum:
        return WeightedSum(((float(factor), self),)) if isinstance(factor, Real) else NotImplemented

    __mul__ = __rmul__


@dataclass(frozen=True)
class WeightedSum(Cost):
    """sum_j w_j f_j of costs f_j with w_j > 0."""

    terms: tuple[tuple[float, Cost], ...]  # the pairs (w_j, f_j)

    def __post_init__(self) -> None:
        for factor, cost in self.terms:
            if not (np.isfinite(factor) and factor > 0):
                fault = f"the factor of the cost {cost.name} is {factor:g}"
                expected = "a positive number: any other makes the cost non-convex, or zero"
                raise InputError(fault, code="bad_number", expected=expected)
            if len(self.terms) > 1 and "linear_programme" in cost.needs:
                remedy = "use it alone; a high power of activation in the sum approximates it"
                raise bad_cost(
                    cost, "cannot be added to another", "terms that have a gradient", remedy=remedy
                )

    @property
    def costs(self) -> tuple[Cost, ...]:
        """The costs f_j."""
        return tuple(cost for _, cost in self.terms)

    def factors(self, problem: Problem) -> list[Array | float]:
        """The weights w_j in the frames of a problem, each a number or (T,)."""
        return [factor for factor, _ in self.terms]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The names of the costs with their factors, joined by plus signs."""
        alone = len(self.terms) == 1
        inner = [f"({cost.name})" if _is_sum(cost) else cost.label for cost in self.costs]
        factors = [f"{w:g} * " if alone or w != 1 else "" for w, _ in self.terms]
        return " + ".join(factor + name for factor, name in zip(factors, inner, strict=True))

    @property
    def label(self) -> str:
        """The name."""
        return self.name

    @property
    def needs(self) -> frozenset[str]:
        """What all costs together need."""
        return frozenset[str]().union(*(cost.needs for cost in self.costs))

    @property
    def linear(self) -> bool:
        """Whether all costs are linear."""
        return all(cost.linear for cost in self.costs)

    @property
    def quadratic(self) -> bool:
        """Whether some cost is quadratic, and every other one linear if not quadratic too."""
        return all(cost.quadratic or cost.linear for cost in self.costs) and not self.linear

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """The optional fields of a problem that any of the costs needs."""
        return tuple(dict.fromkeys(field for cost in self.costs for field in cost.data))

    @property
    def parameter_rows(self) -> int:  # type: ignore[override]
        """The rows of all costs."""
        return sum(cost.parameter_rows for cost in self.costs)

    def _total(self, problem: Problem, of: Callable[[Cost], Array]) -> Array:
        """sum_j w_j of(f_j), for arrays whose first axis is that of the frames."""
        parts = zip(self.factors(problem), map(of, self.costs), strict=True)
        weighted = [np.reshape(w, (-1, *[1] * (part.ndim - 1))) * part for w, part in parts]
        return np.sum(weighted, axis=0)

    def value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(problem, lambda cost: cost.value(problem, activation))

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(problem, lambda cost: cost.gradient(problem, activation))

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(problem, lambda cost: cost.hessian_diagonal(problem, activation))

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(problem, lambda cost: cost.term_hessian(problem, activation))

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """The rows of the costs, one after the other, with the factors in their weights."""
        rows = [cost.soft_rows(problem) for cost in self.costs]
        parts = zip(rows, self.factors(problem), strict=True)
        return joined_rows([None if part is None else part.scaled(w) for part, w in parts])

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """Those of the costs, one after the other."""
        terms = [described(cost, problem) for cost in self.costs]
        parts = zip(terms, self.factors(problem), strict=True)
        return joined_terms([None if part is None else part.scaled(w) for part, w in parts])

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """See Cost."""
        parts = zip(self.factors(problem), self.costs, strict=True)
        changes = [np.reshape(w, (-1, 1)) * gradient_change(f, problem, activation, change) for w, f in parts]
        return np.asarray(sum(changes[1:], start=changes[0]))

    def largest_activation(self, problem: Problem) -> Array:
        """The smallest of all costs."""
        return np.minimum.reduce([cost.largest_activation(problem) for cost in self.costs])

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """That of the cost whose domain ends first."""
        first = np.stack([cost.largest_activation(problem) for cost in self.costs]).argmin(axis=0)
        change_of_first = np.zeros((1, 1, 1))
        for number, cost in enumerate(self.costs):
            moved = largest_activation_change(cost, problem, change)
            change_of_first = np.where(first == number, moved, change_of_first)
        return change_of_first

    def parameters(self, problem: Problem) -> Array:
        """Those of the costs, one after the other."""
        parts = [cost.parameters(problem) for cost in self.costs]
        for cost, part in zip(self.costs, parts, strict=True):
            if part.shape[1] != cost.parameter_rows:
                expected = f"{cost.parameter_rows}, its parameter_rows"
                raise bad_cost(cost, f"has {part.shape[1]} rows of parameters", expected)
        return np.concatenate(parts, axis=1)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return self.weighted_expression([w for w, _ in self.terms], casadi, activation, parameters)

    def weighted_expression(self, weight: list[Any], casadi: Any, activation: Any, parameters: Any) -> Any:
        """The expression with other weights w_j, which may be symbols."""
        total, first = 0, 0
        for w, cost in zip(weight, self.costs, strict=True):
            last = first + cost.parameter_rows
            total = total + w * cost.expression(casadi, activation, parameters[first:last, :])
            first = last
        return total

    def require(self, problem: Problem) -> None:
        """See Cost."""
        for cost in self.costs:
            cost.require(problem)


def bad_cost(cost: Cost, fault: str, expected: str, **more: str) -> InputError:
    """The error of a cost that cannot be used; `more` is its place or a remedy."""
    return InputError(f"the cost {cost.name} {fault}", code="bad_cost", expected=expected, **more)


def _is_sum(cost: Cost) -> bool:
    return isinstance(cost, WeightedSum) and len(cost.terms) > 1


def _summands(cost: Cost) -> tuple[tuple[float, Cost], ...]:
    return cost.terms if type(cost) is WeightedSum else ((1.0, cost),)


def single_costs(cost: Cost) -> list[Cost]:
    """The costs that a sum of sums is made of; a cost that is no sum by itself."""
    if not isinstance(cost, WeightedSum):
        return [cost]
    return [single for part in cost.costs for single in single_costs(part)]


def is_of_library(cost: Cost) -> bool:
    """Whether the class of a cost belongs to this package."""
    return _of_library(type(cost))


def _of_library(kind: type) -> bool:
    return kind.__module__.startswith("musclesolve.")


def described(cost: Cost, problem: Problem) -> Terms | None:
    """The terms of a cost as data; None where they have no such form.

    Never for a class from outside of this package, whatever it inherits: its shapes and slopes have to be checked
    first (cost_check.py), which compiled code does not do.
    """
    if not _describes_itself(type(cost)):
        return None
    with np.errstate(all="ignore"):  # some frames may not consist of numbers
        return cost.kernel_terms(problem)


@cache
def _describes_itself(kind: type[Cost]) -> bool:
    """Whether it is built in, and no class below the one that defines the terms as data redefines their values."""
    if not _of_library(kind):
        return False
    words = next(place for place, owner in enumerate(kind.__mro__) if "kernel_terms" in vars(owner))
    own = ("value", "gradient", "hessian_diagonal")
    return not any(name in vars(owner) for owner in kind.__mro__[:words] for name in own)


def gradient_change(cost: Cost, problem: Problem, activation: Array, change: ProblemChange) -> Array:
    """`cost.gradient_change`, unless the class redefines a cost of the library without redefining that."""
    with np.errstate(all="ignore"):
        if _inherited(cost, "gradient_change"):
            return Cost.gradient_change(cost, problem, activation, change)
        return cost.gradient_change(problem, activation, change)


def largest_activation_change(cost: Cost, problem: Problem, change: ProblemChange) -> Array:
    """The same of `cost.largest_activation_change`."""
    with np.errstate(all="ignore"):
        if _inherited(cost, "largest_activation_change"):
            change_of_end = Cost.largest_activation_change(cost, problem, change)
        else:
            change_of_end = cost.largest_activation_change(problem, change)
    return np.nan_to_num(change_of_end)  # an end at infinity does not move


def _inherited(cost: Cost, method: str) -> bool:
    """Whether a class from outside the library has the method from inside it."""
    owner = next(kind for kind in type(cost).__mro__ if method in vars(kind))
    return _of_library(owner) and not is_of_library(cost)
