"""The smallest possible largest load."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Parameters
from musclesolve.sharing.cost.sum_of_terms import relative_force
from musclesolve.sharing.problem import Problem


@dataclass(frozen=True)
class MinMax(Cost):
    """The largest load max_i F_i / F0_i, lexicographic, without unit (Rasmussen, Damsgaard and Voigt 2001).

    The largest relative load is made as small as the moments allow; then, with the muscles that cannot be relieved
    held at that level, the largest load of the others, and so on until every muscle is fixed (the secondary
    problems of Damsgaard, Rasmussen and Christensen 2001). Each level is a linear program. The loads of all levels
    together are unique: there are no ties. A muscle without load (F_i = 0 at full activation) stays at its lower
    bound. The levels are certified where the strengths of the muscles differ by up to six decades; over more, a frame
    may have no certificate, because round-off of the strongest muscles hides the weakest. Assumes that
    recruitment delays fatigue, which begins in the muscle with the largest relative load. The criterion is the limit of
    sum_i (F_i / F0_i)^p for p -> infinity: all synergists are loaded alike, and a small change of the load changes
    all of them.

    `value` is the first level. The value has kinks: the Hessian is zero between kinks and `gradient` is a subgradient,
    so gradient-based solvers cannot take this cost.
    """

    name = "min_max"
    formula = "max_i F_i / F0_i, lexicographic"
    source = "Rasmussen et al. 2001"
    works = ("rasmussen_2001",)
    use = "the largest load of any muscle as small as possible"

    @property
    def needs(self) -> frozenset[str]:
        """Ability that a solver must have: levels of linear programs."""
        return frozenset({"linear_program"})

    @property
    def linear(self) -> bool:
        """True: a linear program with the largest load as one more unknown."""
        return True

    def relative_load(self, problem: Problem) -> Array:
        """The loads F_i / F0_i at activation 1, (T, n); the load of a muscle is this number times its activation."""
        return relative_force(problem)

    def term_value(self, problem: Problem, activation: Array) -> Array:
        """The largest load max_i F_i / F0_i, (T,), at activations (T, n)."""
        return (self.relative_load(problem) * activation).max(axis=-1)

    def term_gradient(self, problem: Problem, activation: Array) -> Array:
        """A subgradient: the slope of the muscle with the largest load, zero for the others, (T, n)."""
        ratio = self.relative_load(problem)
        load = ratio * activation
        first = load.argmax(axis=-1)
        return np.where(np.arange(load.shape[-1]) == first[..., None], ratio, 0.0)

    def term_hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """Zeros between the kinks, (T, n)."""
        return np.zeros_like(self.relative_load(problem) * activation)

    def term_parameters(self, problem: Problem) -> Parameters:
        """The relative load at activation 1, (T, n)."""
        return (self.relative_load(problem),)

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.mmax(parameters[0] * activation)
