"""Squared distance of the activations from measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_terms import Terms, one_term
from musclesolve.sharing.cost.power_sum import check_positive
from musclesolve.sharing.kernel.constants import TERM_TARGET
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class EmgTracking(Cost):
    """sum over measured muscles of (a_i - e_i)^2 + w sum over the others of a_i^2, without unit.

    In the manner of the EMG-assisted solution of CEINMS (Pizzolato et al. 2015), which weighs the distance from
    measured excitations against their size. Assumes that the envelope e_i is already on the scale of activation and
    delayed as activation is; a muscle that was not measured in a frame (NaN) is as inactive as the moments allow.
    Measured co-contraction is kept as far as the moments permit, so the cost is not least at rest.

    Args:
        unmeasured_weight: w.
    """

    unmeasured_weight: float = 1.0

    name: ClassVar[str] = "emg_tracking"
    formula: ClassVar[str] = "sum_measured (a_i - e_i)^2 + w sum_others a_i^2, w = 1"
    source: ClassVar[str] = "Pizzolato et al. 2015"
    data: ClassVar[tuple[str, ...]] = ("emg",)
    parameter_rows: ClassVar[int] = 2  # type: ignore[misc]

    def __post_init__(self) -> None:
        check_positive(self.name, "unmeasured_weight", self.unmeasured_weight)

    @property
    def quadratic(self) -> bool:
        """Yes."""
        return True

    def _target(self, problem: Problem) -> Array:
        return np.nan_to_num(self.field(problem, "emg"))

    def _weight(self, problem: Problem) -> Array:
        return np.where(np.isnan(self.field(problem, "emg")), self.unmeasured_weight, 1.0)

    def value(self, problem: Problem, activation: Array) -> Array:
        """(T,)."""
        return (self._weight(problem) * np.square(activation - self._target(problem))).sum(axis=-1)

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """(T, n)."""
        return 2.0 * self._weight(problem) * (activation - self._target(problem))

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """(T, n)."""
        return 2.0 * self._weight(problem)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """-2 de_i of the measured muscles, (K, T, n)."""
        return np.asarray(np.where(np.isnan(self.field(problem, "emg")), 0.0, -2.0 * change.get("emg")))

    def kernel_terms(self, problem: Problem) -> Terms | None:
        """See Cost."""
        return one_term(TERM_TARGET, 2.0, np.sqrt(self._weight(problem)), self._target(problem))

    def parameters(self, problem: Problem) -> Array:
        """Targets and weights, (T, 2, n)."""
        return np.stack([self._target(problem), self._weight(problem)], axis=1)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        return casadi.sum1(parameters[1, :].T * (activation - parameters[0, :].T) ** 2)
