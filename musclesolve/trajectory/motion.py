"""What the structured method and the certificate need to know of a motion and of its cost, and the range of z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.activation_limits import ActivationLimits
from musclesolve.trajectory.local_equilibrium import Balance
from musclesolve.trajectory.time_basis import TimeBasis

_STEPS = 60


class Motion(Protocol):
    """A motion of T frames, n muscles and m moments."""

    @property
    def moment(self) -> Array:
        """(T, m) [N m]."""
        ...

    @property
    def lever(self) -> Array:
        """(T, m, n) [N m]: the moment of one unit of tendon force."""
        ...

    @property
    def compliance(self) -> Array:
        """(T, m) of reserves; zero where there is none."""
        ...

    @property
    def lower(self) -> Array:
        """(T, n), the lower bound of activations."""
        ...

    @property
    def upper(self) -> Array:
        """(T, n), the upper one."""
        ...

    @property
    def coordinate_range(self) -> tuple[Array, Array]:
        """Between which values (T, n) the tendon coordinates lie, whatever the cost."""
        ...

    @property
    def weight(self) -> Array:
        """(T,) of the frames in the sum of costs."""
        ...

    @property
    def basis(self) -> TimeBasis:
        """Of the tendon coordinates in time."""
        ...

    @property
    def mean_step(self) -> float:
        """The time between frames [s], as a unit of that of rates."""
        ...

    @property
    def activation_limits(self) -> ActivationLimits:
        """Between neighboring frames."""
        ...

    def state(self, z: Array, y: Array) -> Balance:
        """Tendon and fiber at coordinates z and rates y [1/s], (T, n)."""
        ...


class CostOfMotion(Protocol):
    """The cost of a motion, a sum over muscles."""

    def slopes(self, force: Array, activation: Array) -> tuple[Array, Array, Array, Array]:
        """First and second derivatives (T, n) by the active force, then by the activation."""
        ...

    def largest_force(self) -> Array:
        """The active force (T, n) where the domain of the cost ends; infinite where it does not."""
        ...


def coordinate_bounds(problem: Motion, cost: CostOfMotion) -> tuple[Array, Array]:
    """(T, n) each: from where the tendon has no force to where the domain of the cost ends.

    The active force f - p grows with z, since the tendon pulls harder and the fiber becomes shorter; the bound is the z
    where it is the largest force of the cost.
    """
    lower, upper = problem.coordinate_range
    largest = cost.largest_force()
    if not np.isfinite(largest).any():
        return lower, upper
    low, high, still = lower.copy(), upper, np.zeros_like(upper)
    for _ in range(_STEPS):  # bisection, to the last digit
        middle = 0.5 * (low + high)
        above = problem.state(middle, still).active.value > largest
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return lower, np.maximum(low, lower)


@dataclass(frozen=True, eq=False)
class MotionAttempt:
    """States and multipliers of T frames, n muscles, m moments, with signs as in certificate.py.

    coordinate z and activation a (T, n); multiplier of the moments (T, m) [cost per N m]; balance_multiplier of tendon
    and fiber (T, n); coordinate_multiplier of the bounds of z (T, n), positive at the lower and negative at the upper
    one; limit_multiplier (2, T-1, n), never negative, of falling and of rising. method: its name; message: why it
    ended, if it was not at a solution.
    """

    coordinate: Array
    activation: Array
    multiplier: Array
    balance_multiplier: Array
    coordinate_multiplier: Array
    limit_multiplier: Array
    iterations: int
    method: str
    message: str = ""
