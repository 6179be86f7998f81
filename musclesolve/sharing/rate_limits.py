"""Limits on the rate of activation, and the force-sharing problem of a whole motion that respects them.

Activation a follows excitation u, 0 <= u <= 1, with a delay (Zajac 1989, "Muscle and tendon", Crit Rev Biomed Eng
17:359-411):

    da/dt = (u - (beta + (1 - beta) u) a) / tau_a,      beta = tau_a / tau_d,

with the time constants of activation, tau_a, and of deactivation, tau_d. The right-hand side grows with u, so that the
activations within reach after a time h lie between those for u = 0 and for u = 1, and all of them can be reached:

    e_d a(t)  <=  a(t + h)  <=  1 - e_a (1 - a(t)),      e_d = exp(-h / tau_d),  e_a = exp(-h / tau_a).

This is exact, whatever the time between two frames, and linear in the activations: the motion stays a convex problem.
(De Groote et al. 2009, Comput Methods Biomech Biomed Engin 12:563-574, bring activation dynamics into inverse dynamics
with linear limits of this kind. The time constants of Thelen 2003, J Biomech Eng 125:70-77, depend on the activation,
tau_a (0.5 + 1.5 a) and tau_d / (0.5 + 1.5 a); the limits that follow from them are not convex. At a = 1/3 both models
agree.)
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number


@dataclass(frozen=True)
class RateLimits:
    """The time constants of activation dynamics.

    Args:
        activation_time: tau_a [s]; zero: activation may rise at once.
        deactivation_time: tau_d [s]; zero: it may fall at once.

    Raises:
        InputError: a time that is negative or not finite.
    """

    activation_time: float = 0.010
    deactivation_time: float = 0.040

    def __post_init__(self) -> None:
        for name in ("activation_time", "deactivation_time"):
            expected = "seconds, zero or more; 0.010 and 0.040 are usual"
            check_number(getattr(self, name), name, expected, least=0.0)

    def decay(self, step: Array) -> tuple[Array, Array]:
        """The decays e_a and e_d for times between frames (T-1,) [s]."""
        rise, fall = (
            np.exp(-step / constant) if constant > 0 else np.zeros_like(step)
            for constant in (self.activation_time, self.deactivation_time)
        )
        return rise, fall

    def reach(self, activation: Array, step: ArrayLike) -> tuple[Array, Array]:
        """The least and the greatest activation after a step [s], from activations of any shape to that shape."""
        e_a, e_d = self.decay(np.asarray(step, dtype=np.float64))
        return e_d * activation, 1.0 - e_a * (1.0 - activation)

    def excess(self, activation: Array, time: Array) -> Array:
        """How far each change of activation (T, n) is out of reach, (T-1, n); zero within the limits."""
        low, high = self.reach(activation[:-1], np.diff(time)[:, None])
        return np.maximum(np.maximum(low - activation[1:], activation[1:] - high), 0.0)


@dataclass(frozen=True, eq=False)
class ActivationLimits:
    """The limits G a >= h of activations a (T, n) between neighboring frames, (2, T-1, n): of falling, then of rising.

    a_t+1 - e_d a_t >= 0 and 1 - e_a - a_t+1 + e_a a_t >= 0, with e_a and e_d (T-1, 1).
    """

    e_a: Array
    e_d: Array

    @classmethod
    def from_rate_limits(cls, limits: RateLimits | None, time: Array) -> Self:
        """The limits of frames at times (T,) [s]; without time constants, limits that every activation satisfies."""
        e_a, e_d = (limits or RateLimits(0.0, 0.0)).decay(np.diff(time))
        return cls(e_a[:, None], e_d[:, None])

    def slack(self, a: Array) -> Array:
        """The slack G a - h, (2, T-1, n): how much farther each activation (T, n) could have fallen and risen."""
        rise = (1.0 - self.e_a) - a[1:] + self.e_a * a[:-1]
        return np.stack([a[1:] - self.e_d * a[:-1], rise])

    def change(self, d: Array) -> Array:
        """The change G d, (2, T-1, n), of the slack for a change d of activations (T, n)."""
        return np.stack([d[1:] - self.e_d * d[:-1], self.e_a * d[:-1] - d[1:]])

    def pull(self, multiplier: Array) -> Array:
        """The pull G^T y, (T, n), of multipliers y of the limits, (2, T-1, n)."""
        fall, rise = multiplier
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall - rise
        total[:-1] += self.e_a * rise - self.e_d * fall
        return total

    def size_of_pull(self, multiplier: Array) -> Array:
        """The sums of the sizes of the terms of `pull`, (T, n)."""
        fall, rise = np.abs(multiplier)
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall + rise
        total[:-1] += self.e_a * rise + self.e_d * fall
        return total

    def diagonal(self, ratio: Array) -> Array:
        """The diagonal of G^T diag(ratio) G, (T, n), for ratios (2, T-1, n)."""
        fall, rise = ratio
        total = np.zeros((fall.shape[0] + 1, fall.shape[1]))
        total[1:] += fall + rise
        total[:-1] += self.e_d**2 * fall + self.e_a**2 * rise
        return total

    def beside(self, ratio: Array) -> Array:
        """The entries of G^T diag(ratio) G between a muscle and itself in the next frame, (T-1, n)."""
        return -self.e_d * ratio[0] - self.e_a * ratio[1]
