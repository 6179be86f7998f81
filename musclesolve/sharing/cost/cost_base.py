"""What a cost function is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, fields, is_dataclass
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_terms import Terms
from musclesolve.sharing.cost.soft_rows import SoftRows
from musclesolve.sharing.problem import Problem

if TYPE_CHECKING:
    from musclesolve.sharing.problem_change import ProblemChange

NEEDS = {
    "separable": "terms f_i(a_i) of one muscle each",
    "coupled": "terms in which the slope of one muscle depends on the activation of another",
    "rows": "squares of linear combinations of the activations",
    "linear_programme": "a largest value that is minimised, level after level",
    "nonconvex": "terms that are not known to be convex",
    "nonsmooth": "terms with a kink",
}
"""The words of `Cost.needs`: what a solver has to be able to take."""


class Cost(ABC):
    """Terms of the activations, and soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2, on lower <= a <= upper.

    The methods `value`, `gradient`, `hessian_diagonal` and `expression` are of the terms alone; `soft_rows` gives the
    rows if there are any. `total_value`, `total_gradient` and `hessian` are of both together. The terms are a
    sum over muscles, sum_i f_i(a_i), convex in each, unless `needs` says otherwise.

    A new cost is a frozen dataclass with the first five methods; `solve` sees at a few points that they fit together
    (cost_check.py). `2 * a + b` is again a cost.

    Attributes:
        name: what it is called.
        formula: what is minimised (F force, F0 maximum isometric force).
        source: where it comes from.
        data: optional fields of Problem without which it is not defined.
        parameter_rows: p, how many numbers of each muscle `expression` needs.
    """

    name: ClassVar[str]
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    data: ClassVar[tuple[str, ...]] = ()
    parameter_rows: int = 1

    @property
    def needs(self) -> frozenset[str]:
        """What a solver has to be able to take, in the words of `NEEDS`."""
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
        """The numbers that `expression` needs of each frame, (T, p, n)."""

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
        """The terms as data for the compiled solver, None where they cannot be described so; ask `described`."""
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
        """How `total_gradient` at fixed activations answers to changes of the problem, (K, T, n).

        By differences of the gradient, good to about eight digits, unless a cost knows its formula.
        """
        from musclesolve.sharing.cost.differences import difference

        return difference(lambda moved: self.total_gradient(moved, activation), problem, change)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """How `largest_activation` answers to changes of the problem, (K, T, n); by differences as well."""
        from musclesolve.sharing.cost.differences import difference

        return difference(self.largest_activation, problem, change)

    def require(self, problem: Problem) -> None:
        """See that the problem has what the cost is made of.

        Raises:
            InputError: a field is missing; says which.
        """
        for field in self.data:
            if getattr(problem, field) is None:
                raise InputError(
                    f"the cost {self.name} needs {field}, which the problem does not have",
                    where=f"Problem.{field}",
                    expected=field_meaning(field),
                    remedy=f"Problem(..., {field}=...), or another cost",
                )

    def __add__(self, other: Cost) -> Cost:
        from musclesolve.sharing.cost.combined import Sum

        return Sum((self, other)) if isinstance(other, Cost) else NotImplemented

    def __rmul__(self, factor: float) -> Cost:
        from musclesolve.sharing.cost.combined import Scaled

        return Scaled(float(factor), self) if isinstance(factor, Real) else NotImplemented

    __mul__ = __rmul__


def field_meaning(field: str) -> str:
    """What an optional field of a problem is, in a line."""
    from musclesolve.sharing.problem import OPTIONAL

    return OPTIONAL[field]


def described(cost: Cost, problem: Problem) -> Terms | None:
    """The terms of a cost as data; None where they cannot be described so.

    Nor are those of a class that somebody wrote, whatever it inherits: its shapes and its slopes have to be looked at
    first (cost_check.py), and compiled code believes what it is given.
    """
    if not _describes_itself(type(cost)):
        return None
    with np.errstate(all="ignore"):  # some frames may not consist of numbers
        return cost.kernel_terms(problem)


@cache
def _describes_itself(kind: type[Cost]) -> bool:
    """Whether it is built in, and no class below the one that describes the terms has changed what they are."""
    if not kind.__module__.startswith("musclesolve."):
        return False
    words = next(place for place, owner in enumerate(kind.__mro__) if "kernel_terms" in vars(owner))
    own = ("value", "gradient", "hessian_diagonal")
    return not any(name in vars(owner) for owner in kind.__mro__[:words] for name in own)
