"""Squared distance of the activations from measured ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms
from musclesolve.sharing.problem import Problem


@dataclass(frozen=True)
class EmgTracking(SumOfTerms):
    """sum over measured muscles of (a_i - e_i)^2 + w sum over the others of a_i^2, without unit.

    In the manner of the EMG-assisted solution of CEINMS (Pizzolato et al. 2015), which weighs the distance from
    measured excitations against their size. Assumes that the envelope e_i is already on the scale of activation and
    delayed as activation is; a muscle that was not measured in a frame (NaN) is as inactive as the moments allow.
    Measured co-contraction is kept as far as the moments permit, so the cost is not least at rest.

    Args:
        unmeasured_weight: w.
    """

    unmeasured_weight: float = 1.0

    name = "emg_tracking"
    formula = "sum_measured (a_i - e_i)^2 + w sum_others a_i^2, w = 1"
    source = "Pizzolato et al. 2015"
    data = ("emg",)
    parameter_rows = 2
    positive = ("unmeasured_weight",)

    def coefficient(self, problem: Problem) -> Array:
        """1 where a muscle was measured, else sqrt(w), (T, n)."""
        return np.where(np.isnan(self.field(problem, "emg")), np.sqrt(self.unmeasured_weight), 1.0)

    def target(self, problem: Problem) -> Array:
        """e_i where it was measured, else zero, (T, n)."""
        emg = self.field(problem, "emg")
        return np.where(np.isnan(emg), 0.0, emg)
