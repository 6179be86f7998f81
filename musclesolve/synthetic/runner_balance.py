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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import PPoly, make_interp_spline

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.forward.simulate import mass_center, momentum
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan, nearest_rotation, to_vector

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


Joints = Callable[[Array], tuple[Array, Array, Array]]
"""From times (T,) to joint angles and their two derivatives, (T, K) each."""

STEPS = 80
"""Steps of the integration in half a stride."""
PRECISE, NEARBY = 1e-11, 1e-3
"""Misfit after half a stride that is none [rad], and a change of the momentum to find its slope [kg m2/s]."""


@dataclass(frozen=True)
class Carried:
    """What a body has in the axes of its pelvis while the joints move, T instants."""

    center: Array  # (T, 3) center of mass from mid-hip [m]
    drift: Array  # (T, 3) its rate [m/s]
    inertia: Array  # (T, 3, 3) about it [kg m2]
    spin: Array  # (T, 3) angular momentum of the joints' motion about it [kg m2/s]

    @classmethod
    def of(cls, model: Model, joints: tuple[Array, Array, Array]) -> Carried:
        """Compute it from joint angles and their two derivatives (T, K)."""
        base = np.zeros((len(joints[0]), 6))
        still = motion_from(model, base[:, 0], *(np.column_stack([part, base]) for part in joints))
        linear, spin = momentum(model, still.q, still.qd)
        columns = [momentum(model, still.q, np.cross(axis, still.q))[1] for axis in np.eye(3)]
        center = mass_center(model, still.q)
        return cls(center, linear / model.mass.total, np.stack(columns, axis=2), spin)

    def angular_velocity(self, rotation: Array, angular_momentum: Array) -> Array:
        """Angular velocity w (T, 3) in the axes of the pelvis."""
        own = np.einsum("tyx,ty->tx", rotation, angular_momentum) - self.spin
        return np.linalg.solve(self.inertia, own[..., None])[..., 0]


@dataclass(frozen=True)
class Base:
    """Rotation of the pelvis over a stride, and the angular momentum that goes with it."""

    ground: RunGround  # what the ground does
    amount: Array  # (3,) angular momentum in the flight before the right foot strikes [kg m2/s]
    rotations: Callable[[Array], Array]  # spline of the rotation matrices (9,) over a stride

    def rotation(self, time: Array) -> Array:
        """R (T, 3, 3)."""
        matrices = self.rotations(np.mod(time, self.ground.period)).reshape(-1, 3, 3)
        return nearest_rotation(matrices)

    def angular_momentum(self, time: Array) -> tuple[Array, Array]:
        """H (T, 3) about the center of mass, and dH/dt (T, 3)."""
        left, rate = self.ground.alternation(time)
        alternating = self.amount * [1.0, 0.0, 1.0]
        return left[:, None] * alternating + self.amount * [0.0, 1.0, 0.0], rate[:, None] * alternating


def running_base(model: Model, ground: RunGround, joints: Joints, tilt: float) -> Base:
    """The pelvis that goes with joint angles; `tilt` is that of the pelvis at right foot strike [rad]."""
    half = 0.5 * ground.period
    # Middles of the steps as well, for the Runge-Kutta method.
    fine = np.linspace(0.0, half, 2 * STEPS + 1)
    body, left = Carried.of(model, joints(fine)), ground.alternation(fine)[0]
    left[-1] = -1.0
    start = from_cardan(np.array([tilt]), np.zeros(1), np.zeros(1))[0]

    def rotations(amounts: Array) -> Array:
        return _integrated(body, left, amounts, start, half / STEPS)

    def misfit(amounts: Array) -> Array:
        ends = rotations(amounts)[-1]
        return to_vector(start.T @ (MIRROR[:, None] * ends * MIRROR))

    amount = np.zeros(3)
    for _ in range(20):
        off = misfit(np.concatenate([amount[None], amount + NEARBY * np.eye(3)]))
        if np.abs(off[0]).max() < PRECISE:
            break
        amount = amount - np.linalg.solve((off[1:] - off[0]).T / NEARBY, off[0])
    first = rotations(amount[None])[:, 0]
    second = MIRROR[:, None] * first * MIRROR
    matrices = np.concatenate([first[:-1], second]).reshape(-1, 9)
    matrices[-1] = matrices[0]
    time = np.linspace(0.0, ground.period, 2 * STEPS + 1)
    return Base(ground, amount, make_interp_spline(time, matrices, k=5, bc_type="periodic"))


def _integrated(body: Carried, left: Array, amounts: Array, start: Array, step: float) -> Array:
    """R at the steps (STEPS + 1, n, 3, 3) for n amounts of momentum (n, 3), by the Runge-Kutta method of fourth order.

    With R = R_n exp(p) the rate of p is w + p x w / 2 + p x (p x w) / 12, up to the fourth power of p.
    """
    inverse = np.linalg.inv(body.inertia)
    steady, alternating = amounts * [0.0, 1.0, 0.0], amounts * [1.0, 0.0, 1.0]
    found = [np.repeat(start[None], len(amounts), axis=0)]
    for n in range(STEPS):
        here, vector = found[-1], np.zeros_like(amounts)
        rates: list[Array] = []
        for k, share in ((2 * n, 0.0), (2 * n + 1, 0.5), (2 * n + 1, 0.5), (2 * n + 2, 1.0)):
            vector = share * step * rates[-1] if rates else vector
            rotation = here @ _rotation(vector)
            momenta = steady + left[k] * alternating
            spin = (np.einsum("nyx,ny->nx", rotation, momenta) - body.spin[k]) @ inverse[k].T
            half = 0.5 * np.cross(vector, spin)
            rates.append(spin + half + np.cross(vector, half) / 6.0)
        mean = (rates[0] + 2.0 * rates[1] + 2.0 * rates[2] + rates[3]) / 6.0
        found.append(here @ _rotation(step * mean))
    return np.array(found)


def _rotation(vector: Array) -> Array:
    """Rotations (n, 3, 3) about vectors (n, 3) by their length [rad] (Rodrigues)."""
    angle = np.linalg.norm(vector, axis=1)[:, None, None]
    skew = np.cross(np.eye(3), vector[:, None, :])
    return np.eye(3) + np.sinc(angle / np.pi) * skew + 0.5 * np.sinc(0.5 * angle / np.pi) ** 2 * skew @ skew
