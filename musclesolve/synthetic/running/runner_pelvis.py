"""How the pelvis of a runner moves, given the joint angles and what the ground does: by conservation of momentum.

With joint angles as functions of time, the momentum of the whole body about its center of mass is H = R (I w + h):
R rotates the pelvis, I is the inertia of the body and h the momentum of the joints' motion, both in the axes of the
pelvis, w its angular velocity there. H is known from the ground forces, so dR/dt = R [w] follows. After half a stride
the pelvis has to be its mirror image: that determines the three unknown amounts of H.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from musclesolve._util.arrays import Array
from musclesolve.dynamics.forward.simulate import mass_center, momentum
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan, nearest_rotation, to_vector
from musclesolve.synthetic.running.runner_ground import MIRROR, RunGround

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
