"""Consistent positions, velocities and accelerations of a whole recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from musclesolve.dynamics.model import Model
from musclesolve.dynamics.rotations import cardan_rates, from_cardan

Array = np.ndarray


@dataclass(frozen=True)
class Motion:
    """Natural coordinates and their derivatives, all satisfying the constraints and their time derivatives.

    time (T,) [s]; coordinates, rates, second (T, K+6): joint angles [rad], then base position [m] and Cardan angles
    (those of a spherical joint are a rotation vector);
    speeds and speed_rates (T, K+6): joint rates, base velocity, base angular velocity (global axes), and derivatives;
    q, qd, qdd (T, N, 3).
    """

    time: Array
    coordinates: Array
    rates: Array
    second: Array
    speeds: Array
    speed_rates: Array
    q: Array
    qd: Array
    qdd: Array

    def frames(self, keep: Array) -> Motion:
        """The same motion at some frames: a slice, a mask or indices."""
        return Motion(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


def differentiate(model: Model, time: Array, coordinates: Array) -> Motion:
    """Velocities and accelerations of joint coordinates given over time, by quintic splines.

    qd = D s and qdd = D ds/dt + Ddot s satisfy Phi_q qd = 0 and Phi_q qdd = gamma exactly (5.8, 5.9).

    Args:
        model: the person.
        time: (T,) [s], increasing, at least six frames.
        coordinates: (T, K+6).
    """
    spline = make_interp_spline(time, coordinates, k=5)
    return motion_from(model, time, coordinates, spline(time, 1), spline(time, 2))


def motion_from(model: Model, time: Array, coordinates: Array, rates: Array, second: Array) -> Motion:
    """The motion of joint coordinates whose derivatives are known, all (T, K+6)."""
    tree, joints = model.tree, model.tree.joint_count
    base = coordinates[:, joints + 3 :]
    position, velocity = coordinates[:, joints : joints + 3], rates[:, joints : joints + 3]
    turning, turning_rate = cardan_rates(base, rates[:, joints + 3 :], second[:, joints + 3 :])
    joint = tree.speeds(coordinates[:, :joints], rates[:, :joints], second[:, :joints])
    speeds = np.column_stack([joint[0], rates[:, joints : joints + 3], turning])
    speed_rates = np.column_stack([joint[1], second[:, joints : joints + 3], turning_rate])
    q = tree.pose(coordinates[:, :joints], position, from_cardan(*base.T))
    qd = tree.velocity(q, speeds, position)
    qdd = tree.acceleration(q, qd, speeds, speed_rates, position, velocity)
    return Motion(time, coordinates, rates, second, speeds, speed_rates, q, qd, qdd)
