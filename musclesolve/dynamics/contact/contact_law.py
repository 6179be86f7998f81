"""Forces between two surfaces: a nonlinear spring with hysteresis, and friction (Silva 2003, 4.1-4.4, 4.8).

    N = K d^n (1 + 3 (1 - e^2) / 4 * d' / d'-)     while the surfaces overlap by the depth d      (4.3)
    F = -mu N v / sqrt(|v|^2 + v_s^2)              along the tangential velocity v                (4.4, regularised)

d' is the rate of the depth and d'- the one at which the contact began (Lankarani and Nikravesh 1990). Print (4.2)
lacks K d^n (correction C13). N is never negative: surfaces do not stick to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number


class ContactLaw(Protocol):
    """Compliance of a pair of surfaces."""

    friction: float
    slip_speed: float

    def normal_force(self, depth: Array, rate: Array, approach: Array) -> Array:
        """Normal force [N], zero where depth [m] is negative, of its rate [m/s] and that of the first touch."""
        ...

    def stored_energy(self, depth: Array) -> Array:
        """Energy [J] of the spring alone."""
        ...


@dataclass(frozen=True)
class HertzContact:
    """The law of Lankarani and Nikravesh (4.1-4.4).

    stiffness K [N/m^n]; exponent n; restitution e of the law, which is the ratio of the speeds after and before only
    for e near 1 (correction C13: e = 0.9, 0.7, 0.5, 0 give 0.913, 0.796, 0.725, 0.663); friction mu; slip_speed v_s
    [m/s], where friction has 71 % of its full size; least_approach [m/s], what d'- is at least, for surfaces that
    begin to touch at rest.
    """

    stiffness: float
    exponent: float = 1.5
    restitution: float = 0.5
    friction: float = 0.5
    slip_speed: float = 0.01
    least_approach: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what is no contact."""
        positive = "a positive number"
        check_number(self.stiffness, "stiffness", positive, above=0.0)
        check_number(self.exponent, "exponent", "1 or more", least=1.0)
        check_number(self.restitution, "restitution", "0 to 1", least=0.0, most=1.0)
        check_friction(self.friction, self.slip_speed)
        check_number(self.least_approach, "least_approach", positive, above=0.0)

    def normal_force(self, depth: Array, rate: Array, approach: Array) -> Array:
        """Normal force [N] (4.3)."""
        loss = 0.75 * (1.0 - self.restitution**2)
        damping = 1.0 + loss * rate / np.maximum(approach, self.least_approach)
        return self.stiffness * np.maximum(depth, 0.0) ** self.exponent * np.maximum(damping, 0.0)

    def stored_energy(self, depth: Array) -> Array:
        """K d^(n+1) / (n+1) [J]."""
        power = self.exponent + 1.0
        return self.stiffness * np.maximum(depth, 0.0) ** power / power


@dataclass(frozen=True)
class CushionContact:
    """A seat cushion, N = A (exp(B d) - 1) + C d' (4.8): A [N], B [1/m], C [N s/m]."""

    size: float
    growth: float
    damping: float
    friction: float = 0.3
    slip_speed: float = 0.01

    def __post_init__(self) -> None:
        """Refuse what is no cushion."""
        check_number(self.size, "size", "a positive number", above=0.0)
        check_number(self.growth, "growth", "a positive number", above=0.0)
        check_number(self.damping, "damping", "zero or more", least=0.0)
        check_friction(self.friction, self.slip_speed)

    def normal_force(self, depth: Array, rate: Array, approach: Array) -> Array:
        """Normal force [N] (4.8); the damper fades in over the first millimeter, so that the force begins at zero."""
        pressed = np.maximum(depth, 0.0)
        damper = self.damping * rate * np.minimum(pressed / 0.001, 1.0)
        force = self.size * np.expm1(self.growth * pressed) + damper
        return np.where(depth > 0.0, np.maximum(force, 0.0), 0.0)

    def stored_energy(self, depth: Array) -> Array:
        """A ((exp(B d) - 1) / B - d) [J]."""
        pressed = np.maximum(depth, 0.0)
        return self.size * (np.expm1(self.growth * pressed) / self.growth - pressed)


def check_friction(friction: float, slip_speed: float) -> None:
    """Refuse what is no friction."""
    check_number(friction, "friction", "zero or more", least=0.0)
    check_number(slip_speed, "slip_speed", "a positive number", above=0.0)
