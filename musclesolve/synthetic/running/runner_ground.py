"""What the ground does to a runner, in closed form, and what follows from it for the center of mass.

In a stance of duration t_s, with u from -1 to 1 over it and tau the time from its middle, the right foot is pushed by

    F_z = A (1 - u^2)^2 (1 + u^2),  F_x = k tau F_z,  F_y = b F_z,

zero with its slope at both ends. A follows from carrying the body weight on average, k from how fast the center of
pressure travels under the foot: no moment about the left axis through the center of mass C is left where it lies at
C_x - C_z F_x / F_z. The left foot does the same half a stride later, mirrored. The angular momentum about the center of
mass is constant in flight; about the forward and the upward axis it goes over into its opposite in proportion to the
impulse, which takes the moment M = dH/dt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import PPoly

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY

SIDEWAYS = 0.035
"""b: horizontal force towards the other foot over the vertical one."""
MIRROR = np.array([1.0, -1.0, 1.0])
"""A vector of the other side; a moment changes its other two signs."""


@dataclass(frozen=True)
class RunGround:
    """Ground forces and path of the center of mass of a run."""

    mass: float  # of the runner [kg]
    speed: float  # mean speed [m/s]
    period: float  # of a stride [s]
    stance: float  # share of the stride in which a foot is on the ground, below one half
    height: float  # mean height of the center of mass [m]
    pressure_travel: float  # how far the center of pressure travels under the foot [m]

    @property
    def contact(self) -> float:
        """Duration of a stance [s]."""
        return self.stance * self.period

    @property
    def drive(self) -> float:
        """The factor k [1/s]."""
        return (self.speed - self.pressure_travel / self.contact) / self.height

    @cached_property
    def _bell(self) -> Polynomial:
        u = Polynomial([-1.0, 2.0 / self.contact])
        bell: Polynomial = (1.0 - u**2) ** 2 * (1.0 + u**2)
        return bell

    @cached_property
    def peak(self) -> float:
        """A [N]."""
        impulse = float(self._bell.integ()(self.contact))
        return 0.5 * self.mass * STANDARD_GRAVITY * self.period / impulse

    def force(self, time: Array, side: int) -> Array:
        """Force on the right (0) or the left foot (1), (T, 3) [N], at times (T,) [s]; right foot strike is at 0."""
        _, since = _whole(time - 0.5 * side * self.period, self.period)
        up = np.where(since < self.contact, self.peak * self._bell(since), 0.0)
        tau = since - 0.5 * self.contact
        force = up[:, None] * np.stack([self.drive * tau, 0.0 * tau + SIDEWAYS, 0.0 * tau + 1.0], axis=1)
        return force * (MIRROR if side else 1.0)

    def alternation(self, time: Array) -> tuple[Array, Array]:
        """How much of the alternating angular momentum is left (T,), from 1 to -1 and back, and its rate (T,) [1/s]."""
        step, since = _whole(time, 0.5 * self.period)
        sign = 1.0 - 2.0 * (step % 2)
        total = self._bell.integ()
        done = np.where(since < self.contact, total(np.minimum(since, self.contact)), total(self.contact))
        rate = np.where(since < self.contact, self._bell(since), 0.0)
        scale = total(self.contact)
        return sign * (1.0 - 2.0 * done / scale), -2.0 * sign * rate / scale

    def center(self, time: Array) -> tuple[Array, Array]:
        """Position (T, 3) [m] and velocity (T, 3) [m/s] of the center of mass."""
        half = 0.5 * self.period
        step, since = _whole(time, half)
        sign = 1.0 - 2.0 * (step % 2)
        (x, y, z), (vx, vy, vz) = (
            [curve(since) for curve in curves] for curves in (self._paths, self._velocities)
        )
        place = np.stack([x + step * half * self.speed, sign * y, z], axis=1)
        return place, np.stack([vx, sign * vy, vz], axis=1)

    @cached_property
    def _velocities(self) -> list[PPoly]:
        half = 0.5 * self.period
        up = self._bell * (self.peak / self.mass)
        tau = Polynomial([-0.5 * self.contact, 1.0])
        forward, left, upward = (
            self._pieces(curve, flying).antiderivative()
            for curve, flying in (
                (self.drive * tau * up, 0.0),
                (SIDEWAYS * up, 0.0),
                (up - STANDARD_GRAVITY, -STANDARD_GRAVITY),
            )
        )
        # Forward on average the speed; sideways the opposite after a step; up and down on average nothing.
        starts = (
            self.speed - forward.integrate(0.0, half) / half,
            -0.5 * left(half),
            -upward.integrate(0.0, half) / half,
        )
        return [_raised(curve, float(by)) for curve, by in zip((forward, left, upward), starts, strict=True)]

    @cached_property
    def _paths(self) -> list[PPoly]:
        half = 0.5 * self.period
        x, y, z = (velocity.antiderivative() for velocity in self._velocities)
        return [
            x,
            _raised(y, float(-0.5 * y(half))),
            _raised(z, float(self.height - z.integrate(0.0, half) / half)),
        ]

    def _pieces(self, contact: Polynomial, flying: float) -> PPoly:
        """A curve over a step: in contact, then in flight."""
        coefficients = np.zeros((contact.coef.size, 2))
        coefficients[:, 0] = contact.coef[::-1]
        coefficients[-1, 1] = flying
        return PPoly(coefficients, [0.0, self.contact, 0.5 * self.period])


def _whole(time: Array, period: float) -> tuple[Array, Array]:
    """How many whole periods have passed (T,), and the time since (T,): they fit whatever round-off does."""
    count = np.floor(time / period)
    return count, np.clip(time - count * period, 0.0, period)


def _raised(curve: PPoly, by: float) -> PPoly:
    coefficients = curve.c.copy()
    coefficients[-1] += by
    return PPoly(coefficients, curve.x)
