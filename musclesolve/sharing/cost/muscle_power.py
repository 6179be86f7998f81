"""Sum of squared mechanical powers of the muscles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.power_sum import PowerSum, check_exponent, check_positive
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange


@dataclass(frozen=True)
class MusclePower(PowerSum):
    """sum_i (F_i u_i)^p [W^p] with u_i^2 = v_i^2 + v_0^2, v_i the fiber velocity; p = 2.

    Silva 2003 (6.6.2) names the sum of the instantaneous muscle powers as a criterion without writing it down. Power
    counts here whether it is produced (v_i < 0) or absorbed: a plain sum would be the power of the moments, which
    the motion has fixed, and would be lowest for muscles that work against each other. Squares share the power
    among muscles; `exponent=1` is the sum of the magnitudes, a linear cost.

    Assumes that absorbing power costs as much as producing it. A muscle of constant length has no power, and nothing
    would say how active it is; v_0 makes it cost as much as one that moves at that speed. F_i is the force at the
    tendon, of which the fibers bear slightly more when pennate.

    Args:
        exponent: p, at least 1.
        least_speed: v_0 [m/s].
    """

    exponent: float = 2.0
    least_speed: float = 0.01

    name: ClassVar[str] = "muscle_power"
    formula: ClassVar[str] = "sum_i (F_i u_i)^p, u_i^2 = v_i^2 + v_0^2, p = 2"
    source: ClassVar[str] = "Silva 2003, 6.6.2"
    data: ClassVar[tuple[str, ...]] = ("fiber_velocity",)

    def __post_init__(self) -> None:
        check_exponent(self.name, self.exponent)
        check_positive(self.name, "least_speed", self.least_speed)

    def full(self, problem: Problem) -> Array:
        """force_capacity_i u_i, (T, n) [W]."""
        self.require(problem)
        assert problem.fiber_velocity is not None
        return problem.force_capacity * np.hypot(problem.fiber_velocity, self.least_speed)

    def full_change(self, problem: Problem, change: ProblemChange) -> Array:
        """d(force_capacity_i u_i) with du_i = v_i dv_i / u_i, (K, T, n)."""
        velocity = problem.fiber_velocity
        assert velocity is not None
        speed = np.hypot(velocity, self.least_speed)
        faster = velocity * change.get("fiber_velocity") / speed
        return np.asarray(change.get("force_capacity") * speed + problem.force_capacity * faster)
