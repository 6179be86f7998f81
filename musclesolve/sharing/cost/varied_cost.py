"""Variants of a power sum, with another exponent and other weights of the muscles."""

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.cost.cost_terms import Power
from musclesolve.sharing.cost.sum_of_terms import SHARPEST, SumOfTerms
from musclesolve.sharing.problem import Problem


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
        """The coefficients v_i^(1/p) c_i, (T, n) or (n,)."""
        return np.asarray(
            self._with_exponent.coefficient(problem) * np.power(self.factor, 1.0 / self.exponent)
        )

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
