"""The costs of the library: sum_i phi(c_i (a_i - e_i)) + 1/2 sum_k w_k (t_k - (G a)_k)^2, stated once.

A subclass states the coefficients c and the parts that differ from the defaults: the function phi (a square), targets e
(none), soft rows (none). Values and derivatives, the data of the compiled solver, the CasADi expression and the change
with the arrays of a problem follow from these.
"""

import inspect
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.messages import as_text, unknown_name
from musclesolve._util.sides import SIDES
from musclesolve.errors import input_error
from musclesolve.sharing.cost.casadi_expression import Constant
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.cost.cost_terms import Parameters, Power, Saturation, Term
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import refuse_numbers

SHARP = 10.0
"""Largest power with which every frame of recordings and of 300 drawn problems is certified."""
SHARPEST = 300.0
"""Largest power allowed: the slope p x^(p-1) at a tenth of full load, 3e-297, is a normal float, but not with 312."""

SHARED_OPTIONS = {
    "force": '"fiber", or "tendon" for the force along the tendon, smaller by the cosine of the pennation.',
    "weights": 'positive weights of muscles by words in their names, {"soleus": 2} on both sides; else 1. Or (n,) or '
    "(T, n) numbers.",
}
"""Options of many costs, as docstrings describe them."""

Weights = Mapping[str, float] | tuple[tuple[str, float], ...]
"""Words in names, such as "knee" or "soleus_r", with a number each."""


class SumOfTerms(Cost):
    """A cost defined by its terms: powers of the activations unless `form` returns another function.

    A power sum sum_i (c_i a_i)^p is strictly convex for p > 1, where a unique optimum follows. With p = 1 it is
    linear: as few muscles as there are moments then do all the work, which of them may change from frame to frame,
    and the optimum need not be unique. For 1 < p < 2 the second derivative is infinite at rest.

    Attributes:
        exponent: p, from 1 to SHARPEST.
        positive: names of further options that have to be positive.
    """

    exponent: float = 2.0
    positive: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Add the options that many costs have to the docstring of a cost that does not describe them."""
        doc = inspect.cleandoc(cls.__doc__ or "")
        lines = [f"    {name}: {text}" for name, text in SHARED_OPTIONS.items() if hasattr(cls, name)]
        lines = [line for line in lines if line.partition(":")[0] + ":" not in doc]
        if lines and doc:
            cls.__doc__ = "\n".join([doc, *([] if "\nArgs:\n" in doc else ["", "Args:"]), *lines])

    def __post_init__(self) -> None:
        expected = f"a number of at least 1: below, the cost is not convex; at most {SHARPEST:g}: min_max is the limit"
        what = f"the exponent of {self.name}"
        check_number(self.exponent, what, expected, least=1.0, most=SHARPEST, where=self.name)
        for option in self.positive:
            description = f"{option} of {self.name}"
            check_number(getattr(self, option), description, "a positive number", above=0.0, where=self.name)

    @abstractmethod
    def coefficient(self, problem: Problem) -> Array:
        """The coefficients c_i >= 0, (T, n): of a power sum the p-th root of the cost at activation 1.

        Derivatives by the arrays of the problem come from a complex step (problem_change.py): the coefficients must be
        computed by operations that accept complex numbers, such as products, quotients, powers, `np.sqrt` and
        `np.maximum`, not by `np.abs`, `np.hypot` or `np.linalg.norm`.
        """

    def weight(self, problem: Problem) -> Array | float:
        """The weights w_i > 0 of powers, (n,), (T, n) or one for all muscles."""
        return 1.0

    def target(self, problem: Problem) -> Array | None:
        """The targets e_i, (T, n), where the terms are squares of distances."""
        return None

    @property
    def form(self) -> Power | Saturation:
        """The function phi."""
        return Power(float(self.exponent))

    @property
    def linear(self) -> bool:
        """Whether the exponent p is 1."""
        return self.form.exponent == 1

    @property
    def quadratic(self) -> bool:
        """Return whether the terms are squares, p = 2."""
        return self.form == Power(2.0)

    def fitted(self, problem: Problem) -> Cost:
        """See Cost; refuses a sharp power that overflows at full activation."""
        cost = super().fitted(problem)
        if isinstance(self.form, Power) and self.form.exponent > SHARP:
            with np.errstate(all="ignore"):
                bent = self.term_hessian_diagonal(problem, np.minimum(problem.upper, 1.0))
            lost = problem.valid[:, None] & ~np.isfinite(bent)
            what, expected = "the second derivative at full activation", "a lower exponent, or min_max"
            refuse_numbers(bent, lost, what, problem.muscle or (), expected, self.label, "bad_cost")
        return cost

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """See Cost; a sharp power may leave frames without a certificate."""
        p = self.form.exponent
        if not (isinstance(self.form, Power) and p > SHARP):
            return ()
        share = np.finfo(float).eps ** (1.0 / (p - 1.0))
        return (
            f"With the power {p:g} a muscle below {share:.0%} of the largest load has a marginal cost below round-off: "
            "frames may end without a certificate. min_max has the largest load as small as possible, and is exact.",
        )

    def terms(self, problem: Problem) -> tuple[Term]:
        """See Cost; it is one term."""
        coefficient, shape = self.coefficient(problem), problem.force_capacity.shape
        if np.ndim(weight := self.weight(problem)):
            coefficient = coefficient * np.power(weight, 1.0 / self.form.exponent)
        if coefficient.shape != shape:
            coefficient = np.broadcast_to(coefficient, shape)
        return (Term(self.form, coefficient, self.target(problem)),)

    def term_value(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.terms(problem)[0].value(activation)

    def term_gradient(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.terms(problem)[0].slope(activation)

    def term_hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """See Cost."""
        return self.terms(problem)[0].curvature(activation)

    def largest_activation(self, problem: Problem) -> Array:
        """Return the activation where c_i a_i leaves the domain of phi, (T, n); infinite where c_i is zero."""
        if self.form.end == np.inf:
            return super().largest_activation(problem)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return self.form.end / self.coefficient(problem)

    def term_parameters(self, problem: Problem) -> Parameters:
        """The coefficients (T, n), and the targets (T, n) if there are any."""
        (term,) = self.terms(problem)
        return (term.coefficient,) if term.target is None else (term.coefficient, term.target)

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        coefficient, *targets = parameters
        return casadi.sum1(
            self.form.symbolic(coefficient * (activation - targets[0] if targets else activation))
        )


@dataclass(frozen=True)
class PowerSum(SumOfTerms):
    """A sum of powers with a weight of each muscle: sum_i w_i (c_i (a_i - e_i))^p.

    Args:
        weights: w for the muscles whose names contain all words of a key: `{"soleus": 2}` on both sides,
            `{"gluteus_medius": 2, "gluteus_medius_anterior_r": 3}`. Later entries override earlier ones. Other
            muscles have weight 1. Or an array or list of numbers: (n,), or (T, n) for weights that change in time,
            of all frames of the problem also where a part of it is solved (`Problem.frames`).

    Raises:
        InputError: a weight is not a positive number. `solve` and `run` refuse a key that fits no muscle of the body,
            and an array of another size.
    """

    weights: Weights | Array | Constant = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        weights: Any = self.weights
        if isinstance(weights, list | tuple):
            weights = _as_numbers(weights)
        if isinstance(weights, np.ndarray):
            _check_positive(weights, self.name)
            weights = Constant.of(self.name, "weights", weights, int(weights.ndim > 1))
            if len(weights.shape) != 1:
                fault = f"the weights of {self.name} are an array {weights.numbers.shape}"
                raise input_error("bad_number", problem=fault, expected="(n,) or (T, n) positive numbers")
        elif not isinstance(weights, Constant):
            weights = checked_weights(weights, self.name, "muscles", "soleus", above=0.0)
        object.__setattr__(self, "weights", weights)

    def check_names(self, dofs: Sequence[str], muscles: Sequence[str], reactions: Sequence[str]) -> None:
        """See Cost; the muscles of a weight may be in another part."""
        words: Any = self.weights
        if not isinstance(words, Constant):
            refuse_unfit_words(words, muscles, "muscle", self.name)

    def weight(self, problem: Problem) -> Array | float:
        """See SumOfTerms; one for all where none are stated."""
        weights: Any = self.weights
        if isinstance(weights, Constant):
            if weights.shape != (problem.n_muscles,):
                fault = f"the weights of {self.name} are for {weights.shape[0]} muscles"
                expected = f"numbers for {problem.n_muscles} muscles, as the problem has"
                remedy = 'names, {"soleus": 2}, where the parts of a body are solved by themselves'
                raise input_error("bad_shape", problem=fault, expected=expected, remedy=remedy)
            return weights.of_frames(problem, "weights", self.name)
        if not weights:
            return 1.0
        return weights_by_name(weights, problem.muscle or (), np.ones(problem.n_muscles))


def _as_numbers(weights: Sequence[Any]) -> Sequence[Any] | Array:
    """A list or nested list of numbers as an array; pairs of words and numbers as they are."""
    try:
        array = np.asarray(weights)
    except ValueError:  # rows of several lengths
        return weights
    return array if array.size and array.dtype.kind in "iuf" else weights


def _check_positive(weights: Array, cost: str) -> None:
    """Refuse the first weight of an array (n,) or (T, n) that is not a positive number."""
    if weights.dtype.kind not in "iuf" or weights.ndim not in (1, 2):
        return
    for *frame, muscle in np.argwhere(~((weights > 0.0) & (weights < np.inf))):
        place = f"frame {frame[0]}, muscle {muscle}" if frame else f"muscle {muscle}"
        raise input_error(
            "bad_number",
            where=f"the weights of {cost}",
            problem=f"the weight at {place} (from 0) is {weights[(*frame, muscle)]:g}",
            expected="positive, finite numbers, (n,) or (T, n)",
            remedy="a small number, such as 1e-6, for a muscle that costs next to nothing",
        )


def checked_weights(
    weights: Weights, cost: str, what: str, word: str, **limits: float
) -> tuple[tuple[str, float], ...]:
    """Return the weights that a cost has for some things as pairs; refuse what is no table of numbers within limits."""
    try:
        pairs = {str(key): weight for key, weight in dict(weights).items()}
    except (TypeError, ValueError) as error:
        fault = f"the weights of {cost} are {as_text(weights)}"
        expected, remedy = f"words in the names of {what}, with a number each", f'such as {{"{word}": 1.0}}'
        raise input_error("bad_type", problem=fault, expected=expected, remedy=remedy) from error
    expected = "a positive number" if "above" in limits else "a number, zero or more"
    return tuple(
        (key, check_number(number, f"the weight of {key!r} of {cost}", expected, where=cost, **limits))
        for key, number in pairs.items()
    )


def weights_by_name(weights: Weights, names: Sequence[str], usual: Array) -> Array:
    """The weight of each name, (k,): of the last key whose words are all in the name, else the usual one."""
    found, words = usual.copy(), [set(name.split("_")) for name in names]
    for key, number in dict(weights).items():
        found[[set(key.split("_")) <= some for some in words]] = number
    return found


def refuse_unfit_words(weights: Weights, names: Sequence[str], what: str, cost: str) -> None:
    """Refuse a key that fits no name of either side: with the word of a side, "l" or "r", it may be of the other."""
    words = [set(name.split("_")) for name in names]
    for key in dict(weights):
        if not any(set(key.split("_")) - set(SIDES) <= some for some in words):
            raise unknown_name(key, what, names, " in the problem", where=f"the weights of {cost}")


def relative_force(problem: Problem) -> Array:
    """The relative forces F_i / F0_i at activation 1, (T, n): the force capacity over the maximum isometric force."""
    return problem.force_capacity / problem.max_isometric_force


@dataclass(frozen=True, eq=False)
class VariedCost(SumOfTerms):
    """sum_i v_i (c_i a_i)^p of a power sum with coefficients c_i, with another exponent p and factors v_i > 0.

    Args:
        base: the power sum; where its exponent is an option, c_i are its coefficients with the exponent p.
        factor: v (n,).
        exponent: p, at least 1.
    """

    base: SumOfTerms
    factor: Array
    exponent: float = 2.0

    name = "varied_cost"
    formula = "sum_i v_i (c_i a_i)^p"

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the problem's fields that the power sum needs."""
        return self.base.data

    @property
    def label(self) -> str:
        """Name of the varied cost, and the exponent."""
        return f"{self.base.label} varied, p = {self.exponent:g}"

    def coefficient(self, problem: Problem) -> Array:
        """The coefficients c_i, (T, n) or (n,)."""
        return self._with_exponent.coefficient(problem)

    def weight(self, problem: Problem) -> Array | float:
        """The factors v_i times the weights of the power sum, (n,)."""
        return np.asarray(self.factor * self.base.weight(problem))

    def apart(self, problem: Problem) -> Cost:
        """See Cost."""
        whole = self._with_exponent.apart(problem)
        if not isinstance(whole, WeightedSum):
            return self
        parts = [(weight, replace(self, base=part)) for weight, part in whole.summands]  # type: ignore[arg-type]
        return WeightedSum(tuple(parts))

    @property
    def _with_exponent(self) -> SumOfTerms:
        base = self.base
        has_own = "exponent" in getattr(base, "__dataclass_fields__", ())
        return replace(base, exponent=self.exponent) if has_own else base  # type: ignore[type-var]


def can_vary(cost: Cost) -> bool:
    """Whether `varied` can change a cost: a power sum of the activations, or a sum with such a summand."""
    if type(cost) is WeightedSum:
        return any(map(can_vary, cost.costs))
    return (
        isinstance(cost, SumOfTerms)
        and cost.needs == {"separable"}
        and type(cost).target is SumOfTerms.target
        and type(cost.form) is Power
        and bool(np.isinf(cost.form.end))
    )


def varied(cost: Cost, exponent: float, factor: Array) -> Cost:
    """The cost with 1 + (p - 1) x exponent, at most SHARPEST, for its exponent p, and factors (n,) on its terms.

    In a sum of costs the summands that are power sums are varied. Other costs stay as they are: soft saturation, whose
    domain the factors would move, the misfit to EMG, joint reactions, min/max, costs of users.
    """
    if type(cost) is WeightedSum:
        return WeightedSum(
            tuple((weight, varied(summand, exponent, factor)) for weight, summand in cost.summands)
        )
    if not can_vary(cost):
        return cost
    assert isinstance(cost, SumOfTerms)
    return VariedCost(cost, factor, min(1.0 + (cost.form.exponent - 1.0) * exponent, SHARPEST))
