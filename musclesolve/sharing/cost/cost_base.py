"""Cost functions: the base class, and the weighted sum of costs that `2 * a + b` makes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_type
from musclesolve.errors import input_error
from musclesolve.sharing.cost.cost_terms import Parameters, SoftRows, Term
from musclesolve.sharing.kernel.constants import LEAST_REACH
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import OPTIONAL
from musclesolve.sharing.problem_change import ProblemChange, derivative

NEEDS = {
    "separable": "terms f_i(a_i) of one muscle each",
    "coupled": "terms in which the slope of one muscle depends on the activation of another",
    "rows": "squares of linear combinations of the activations",
    "linear_program": "a largest value minimized level by level",
    "nonconvex": "terms that are not known to be convex",
    "nonsmooth": "terms with a kink",
}
"""The words of `Cost.needs`: what a solver must be able to handle."""
DIFFERENCE = 1e-5  # step of differences of slopes, as a share of the activation
FROM_TRIAL = ("reaction_matrix", "reaction_offset", "joint_rate")
"""Fields of a problem that a result does not keep: `leg_problem` computes them again from the trial."""
SLACK = 1e-9
"""Share of what bends a cost, or tilts it over an activation of one, that counts as rounding."""


class Cost(ABC):
    """A cost function of muscle activations, which `solve` minimizes.

    A cost has terms of the activations, and soft rows 1/2 sum_k w_k (t_k - (G a)_k)^2, on lower <= a <= upper.

    `value`, `gradient`, `hessian`, `hessian_diagonal`, `parameters` and `expression` are of the whole cost. Its parts
    are `term_value`, `term_gradient` and so on, of the terms alone, and `soft_rows`, if there are any. The terms are a
    sum over muscles, sum_i f_i(a_i), convex in each, unless `needs` states otherwise.

    The costs of the library state their terms (sum_of_terms.py), and all methods follow. A cost of a user is an
    expression (casadi_expression.py), or a frozen dataclass with `term_value` and `term_gradient`, and other `term_`
    methods where it has them; `solve` checks at a few points that they agree (cost_check.py). `2 * a + b` is a cost.

    Attributes:
        name: in messages and results.
        formula: what is minimized (F force, F0 maximum isometric force).
        source: where it comes from.
        works: keys of these works in the list of references (laboratory/report/texts/citations.toml).
        use: for whom it is, in the list of costs; "" where it is for comparison with work that used it.
        data: optional fields of Problem without which it is not defined.
        of_all_frames: whether its terms in one frame depend on the others (`Problem.largest_arm`).

    Examples:
        >>> problem = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
        >>> from musclesolve.sharing.cost import ActivationPower
        >>> float(ActivationPower(2).value(problem, np.array([[0.5, 0.0]]))[0])
        0.25
    """

    name: ClassVar[str]
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    works: ClassVar[tuple[str, ...]] = ()
    use: ClassVar[str] = ""
    data: ClassVar[tuple[str, ...]] = ()
    of_all_frames: ClassVar[bool] = False

    @property
    def needs(self) -> frozenset[str]:
        """Abilities that a solver of this cost must have, as keys of `NEEDS`."""
        return frozenset({"separable"})

    @property
    def linear(self) -> bool:
        """Return whether a linear program finds the optimum."""
        return False

    @property
    def quadratic(self) -> bool:
        """Return whether a quadratic program finds the optimum: no term is of a higher degree than the second."""
        return False

    @property
    def symbolic(self) -> bool:
        """Return whether every part has a `term_expression` of its own."""
        return all(type(cost).term_expression is not Cost.term_expression for cost in single_costs(self))

    @property
    def built_in(self) -> bool:
        """Return whether every part of the cost belongs to the library: built-in costs need no check."""
        return type(self).__module__.startswith("musclesolve.")

    @property
    def label(self) -> str:
        """The name with the options that differ from the defaults: `find_cost` finds a registered cost by this text."""
        options: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        changed = [
            f"{option.name}={value.item() if isinstance(value, np.generic) else value!r}"
            for option in options
            if option.repr and (value := getattr(self, option.name)) != option.default
        ]
        return self.name + (f"({', '.join(changed)})" if changed else "")

    @abstractmethod
    def term_value(self, problem: Problem, activation: Array) -> Array:
        """The value sum_i f_i(a_i) of the terms, (T,), at activations (T, n)."""

    @abstractmethod
    def term_gradient(self, problem: Problem, activation: Array) -> Array:
        """The slopes df_i/da_i of the terms, (T, n), at activations (T, n)."""

    def term_hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """The curvatures d2f_i/da_i2, (T, n), at activations (T, n); never negative if the terms are convex.

        By differences of the slopes, within the bounds, unless a class states them.
        """
        step = DIFFERENCE * np.maximum(activation, LEAST_REACH)
        high, low = (np.clip(activation + way, problem.lower, problem.upper) for way in (step, -step))
        change = self.term_gradient(problem, high) - self.term_gradient(problem, low)
        return np.divide(change, high - low, out=np.zeros_like(change), where=high > low)

    def term_parameters(self, problem: Problem) -> Parameters:
        """The numbers that `term_expression` needs: arrays with a frame axis in front, in tuples of any depth."""
        return ()

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """The value of the terms in one frame as a CasADi expression, for solvers that take CasADi.

        Args:
            casadi: the module, handed in so that costs do not import it.
            activation: symbols, (n, 1).
            parameters: symbols in tuples as `term_parameters` has arrays, each with the shape of its array in one
                frame; (n, 1) for an array (T, n).
        """
        raise NotImplementedError

    def terms(self, problem: Problem) -> tuple[Term, ...] | None:
        """The terms as data for the compiled solver; None if they have no such form."""
        return None

    def apart(self, problem: Problem) -> "Cost":
        """Return the cost, as a sum where a part of it counts activations and a part forces."""
        return self

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """Sentences for the user on what the cost is for a problem, where that is not what its name says."""
        return ()

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """The soft rows, if there are any."""
        return None

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """The second derivatives of the terms, (T, n, n), at activations (T, n)."""
        hessian = np.zeros((*activation.shape, activation.shape[1]))
        # not times a unit matrix: some curvatures are infinite at rest
        np.einsum("tii->ti", hessian)[...] = self.term_hessian_diagonal(problem, activation)
        return hessian

    def largest_activation(self, problem: Problem) -> Array:
        """The activations (T, n) where the domain of the cost ends; infinite for most costs."""
        return np.full_like(problem.force_capacity, np.inf)

    def value(self, problem: Problem, activation: Array) -> Array:
        """The value of the whole cost, (T,), at activations (T, n)."""
        rows, value = self.soft_rows(problem), self.term_value(problem, activation)
        return value if rows is None else value + rows.value(activation)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """The gradient of the whole cost, (T, n), at activations (T, n)."""
        rows, slope = self.soft_rows(problem), self.term_gradient(problem, activation)
        return slope if rows is None else slope + rows.gradient(activation)

    def hessian(self, problem: Problem, activation: Array) -> Array:
        """The Hessian of the whole cost, (T, n, n), at activations (T, n)."""
        rows, curvature = self.soft_rows(problem), self.term_hessian(problem, activation)
        return curvature if rows is None else curvature + rows.hessian()

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """The diagonal of `hessian`, (T, n), at activations (T, n)."""
        rows, curvature = self.soft_rows(problem), self.term_hessian_diagonal(problem, activation)
        return curvature if rows is None else curvature + rows.hessian_diagonal()

    def parameters(self, problem: Problem) -> Parameters:
        """The numbers that `expression` needs: numbers of the terms, and matrix, target and weight of the soft rows."""
        rows = self.soft_rows(problem)
        return self.term_parameters(problem), () if rows is None else (rows.matrix, rows.target, rows.weight)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """The value of the whole cost in one frame as a CasADi expression.

        Args:
            casadi: the module.
            activation: symbols, (n, 1).
            parameters: symbols in tuples as `parameters` has arrays (`parameter_symbols` makes them).
        """
        terms, rows = parameters
        value = self.term_expression(casadi, activation, terms)
        if not rows:
            return value
        matrix, target, weight = rows
        return value + 0.5 * casadi.dot(weight, (target - matrix @ activation) ** 2)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """The derivative of `gradient` at fixed activations (T, n) along changes of the problem, (K, T, n).

        Exact for costs of the library; by differences for costs of users, with about eight correct digits.
        """
        return derivative(lambda moved: self.gradient(moved, activation), problem, change, self.built_in)

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """The derivative of `largest_activation` along changes of the problem, (K, T, n); zero where it is infinite."""
        return np.nan_to_num(derivative(self.largest_activation, problem, change, self.built_in))

    def fitted(self, problem: Problem) -> "Cost":
        """The cost for problems of the sizes of this one, which has the optional fields named in `data`.

        Raises:
            InputError: a field is missing; says which.
        """
        for name in self.data:
            self.field(problem, name)
        return self

    def check_names(self, dofs: Sequence[str], muscles: Sequence[str], reactions: Sequence[str]) -> None:
        """Refuse an option with names that fit nothing in the whole body, with all its parts."""
        for cost in single_costs(self):
            if cost is not self:
                cost.check_names(dofs, muscles, reactions)

    def field(self, problem: Problem, name: str) -> Array:
        """An optional field of the problem.

        Raises:
            InputError: the problem does not have it.
        """
        return field_of(problem, name, self.name)

    def __add__(self, other: "Cost") -> "WeightedSum":
        expected = 'a cost, ms.costs()["stress_cubed"]() by its name'
        check_type(other, Cost, f"added to the cost {self.name}", expected)
        pairs = (cost.summands if type(cost) is WeightedSum else ((1.0, cost),) for cost in (self, other))
        return WeightedSum(tuple(pair for some in pairs for pair in some))

    def __radd__(self, other: object) -> "Cost":
        return self if isinstance(other, int) and other == 0 else self + other  # type: ignore[operator]  # sum() begins at 0

    def __rmul__(self, factor: float) -> "WeightedSum":
        return WeightedSum(((float(factor), self),)) if isinstance(factor, Real) else NotImplemented

    __mul__ = __rmul__

    def __truediv__(self, divisor: float) -> "WeightedSum":
        return self * (1.0 / divisor) if isinstance(divisor, Real) else NotImplemented


def _summed(method: str) -> Any:
    """A method of `Cost` that gives arrays (T, ...): the weighted sum of what the costs answer."""

    def of_costs(self: "WeightedSum", problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self._total(problem, lambda cost: getattr(cost, method)(problem, activation))

    return of_costs


@dataclass(frozen=True)
class WeightedSum(Cost):
    """sum_j w_j f_j of costs f_j with weights w_j > 0."""

    summands: tuple[tuple[float, Cost], ...]  # the pairs (w_j, f_j)

    def __post_init__(self) -> None:
        for factor, cost in self.summands:
            if not (np.isfinite(factor) and factor > 0):
                fault = f"the factor of the cost {cost.name} is {factor:g}"
                expected = "a positive number: any other makes the cost non-convex, or zero"
                raise input_error("bad_number", problem=fault, expected=expected)
            if len(self.summands) > 1 and "linear_program" in cost.needs:
                fault = f"the cost {cost.name} cannot be added to another"
                expected = "terms that have a gradient"
                remedy = "use it alone; a high power of activation in the sum approximates it"
                raise input_error("bad_cost", problem=fault, expected=expected, remedy=remedy)

    @property
    def costs(self) -> tuple[Cost, ...]:
        """The costs f_j."""
        return tuple(cost for _, cost in self.summands)

    def factors(self, problem: Problem) -> list[Array | float]:
        """The weights w_j in the frames of a problem, each a number or (T,)."""
        return [factor for factor, _ in self.summands]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The names of the costs with their factors, joined by plus signs."""
        parts = []
        for factor, cost in self.summands:
            written = f"{factor:g} * " if len(self.summands) == 1 or factor != 1 else ""
            in_brackets = written and isinstance(cost, WeightedSum)
            parts.append(written + (f"({cost.name})" if in_brackets else cost.label))
        return " + ".join(parts)

    label = name  # a sum has no options

    @property
    def needs(self) -> frozenset[str]:
        """Abilities that the costs of the sum need together."""
        return frozenset[str]().union(*(cost.needs for cost in self.costs))

    @property
    def linear(self) -> bool:
        """Return whether all costs are linear."""
        return all(cost.linear for cost in self.costs)

    @property
    def quadratic(self) -> bool:
        """Return whether all costs are linear or quadratic, at least one of them quadratic."""
        return all(cost.quadratic or cost.linear for cost in self.costs) and not self.linear

    @property
    def built_in(self) -> bool:
        """Return whether all costs belong to the library."""
        return all(cost.built_in for cost in self.costs)

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """The optional fields of a problem that any of the costs needs."""
        return tuple(dict.fromkeys(field for cost in self.costs for field in cost.data))

    def _total(self, problem: Problem, part_of: Callable[[Cost], Array], before: int = 0) -> Array:
        """sum_j w_j part_of(f_j), for arrays with `before` axes in front of the frame axis."""
        parts = zip(self.factors(problem), map(part_of, self.costs), strict=True)
        weighted = [np.reshape(w, (-1, *[1] * (part.ndim - 1 - before))) * part for w, part in parts]
        return np.asarray(sum(weighted[1:], start=weighted[0]))

    term_value, term_gradient, term_hessian_diagonal, term_hessian = map(
        _summed, ("term_value", "term_gradient", "term_hessian_diagonal", "term_hessian")
    )

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """See Cost."""
        return self._total(problem, lambda cost: cost.gradient_change(problem, activation, change), before=1)

    def terms(self, problem: Problem) -> tuple[Term, ...] | None:
        """The terms of the costs, one after the other."""
        parts = [cost.terms(problem) for cost in self.costs]
        scaled: list[Term] = []
        for factor, terms in zip(self.factors(problem), parts, strict=True):
            if terms is None:
                return None
            scaled += [term.scaled(factor) for term in terms]
        return tuple(scaled)

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """The sentences of all costs."""
        return tuple(remark for cost in self.costs for remark in cost.remarks(problem))

    def soft_rows(self, problem: Problem) -> SoftRows | None:
        """The rows of the costs, one after the other, with the factors in their weights."""
        parts = zip((cost.soft_rows(problem) for cost in self.costs), self.factors(problem), strict=True)
        rows = [part.scaled(factor) for part, factor in parts if part is not None]
        if not rows:
            return None
        names = ("matrix", "target", "weight")
        return SoftRows(*(np.concatenate([getattr(part, name) for part in rows], axis=1) for name in names))

    def largest_activation(self, problem: Problem) -> Array:
        """Return the largest activation within the domains of all costs, (T, n)."""
        return np.minimum.reduce([cost.largest_activation(problem) for cost in self.costs])

    def largest_activation_change(self, problem: Problem, change: ProblemChange) -> Array:
        """The change for the cost whose domain ends first, (K, T, n)."""
        first = np.stack([cost.largest_activation(problem) for cost in self.costs]).argmin(axis=0)
        changes = [cost.largest_activation_change(problem, change) for cost in self.costs]
        return np.asarray(sum(np.where(first == number, moved, 0.0) for number, moved in enumerate(changes)))

    def term_parameters(self, problem: Problem) -> Parameters:
        """A weight (T,) and the parameters of its terms for each cost."""
        weights = (np.broadcast_to(np.asarray(w, float), problem.n_frames) for w in self.factors(problem))
        return tuple(zip(weights, (cost.term_parameters(problem) for cost in self.costs), strict=True))

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        parts = zip(self.costs, parameters, strict=True)
        return sum(weight * cost.term_expression(casadi, activation, own) for cost, (weight, own) in parts)

    def fitted(self, problem: Problem) -> Cost:
        """See Cost."""
        return replace(self, summands=tuple((factor, fit(cost, problem)) for factor, cost in self.summands))


def field_of(problem: Problem, name: str, owner: str) -> Array:
    """An array of the problem for the cost or constraint `owner`; refused where the problem does not have it."""
    array: Array | None = problem.crossed if name == "joints_crossed" else getattr(problem, name)
    if array is None:
        # reserve weights are the other ones that may be absent
        expected = OPTIONAL.get(name, "a number, (m,) or (T, m)")
        again = ", ms.leg_problem(result, side, trial=trial)" if name in FROM_TRIAL else ""
        raise input_error(
            "missing_argument",
            where=f"Problem.{name}",
            problem=f"{owner} needs {name}, which the problem does not have",
            expected=expected,
            remedy=f"Problem(..., {name}=...){again}, or something that needs no {name}",
        )
    return array


def single_costs(cost: Cost) -> list[Cost]:
    """Return the costs of a nested sum; a cost that is no sum stands alone."""
    if not isinstance(cost, WeightedSum):
        return [cost]
    return [single for part in cost.costs for single in single_costs(part)]


def bends_down(slope: Array, curvature: Array) -> Mask:
    """Return a mask of curvatures (T, k) that are negative beyond rounding, at slopes (T, n) of the cost.

    Rounding is a share of the largest curvature of a frame, or of its largest slope over an activation of one: a cost
    that bends less tilts less than the certificate resolves.
    """
    size = np.abs(curvature).max(axis=1, keepdims=True, initial=0.0)
    steep = np.abs(slope).max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(curvature < -SLACK * np.fmax(size, np.where(np.isfinite(steep), steep, 0.0)))


def fit(cost: Cost, problem: Problem) -> Cost:
    """The cost for a problem (`Cost.fitted`); refuse a class whose `fitted` returns none."""
    fitted: object = cost.fitted(problem)
    if not isinstance(fitted, Cost):
        raise input_error(
            "bad_cost",
            where=f"the cost {cost.name}",
            problem=f"`fitted` of {type(cost).__name__} returns {type(fitted).__name__}",
            expected="a Cost, usually itself",
            remedy="end it with `return self`",
        )
    return fitted
