"""Consistent positions, velocities and accelerations of a whole recording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array, check_increasing
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import cardan_rates, from_cardan
from musclesolve.errors import InputError


@dataclass(frozen=True)
class Motion:
    """Natural coordinates and their derivatives, all satisfying the constraints and their time derivatives.

    time (T,) [s]; coordinates, rates, second (T, K+6): joint angles [rad], then base position [m] and Cardan angles
    (those of a spherical joint are a rotation vector); speeds and speed_rates (T, K+6): joint rates, base velocity,
    base angular velocity (global axes), and derivatives; q, qd, qdd (T, N, 3).
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

    def __post_init__(self) -> None:
        """Refuse what is no motion."""
        frames, speeds, slots = len(self.time), np.shape(self.coordinates)[1:], np.shape(self.q)[1:]
        check_array(self.time, "time", (frames,))
        for name in ("coordinates", "rates", "second", "speeds", "speed_rates"):
            check_array(getattr(self, name), name, (frames, *speeds))
        for name in ("q", "qd", "qdd"):
            check_array(getattr(self, name), name, (frames, *slots))

    @property
    def origin(self) -> Array:
        """Where the origin of the standing layout is, (T, 3) [m]: the base position."""
        return self.coordinates[:, -6:-3]

    def frames(self, keep: Indices | Mask | slice) -> Motion:
        """The same motion at some frames: a slice, a mask or indices."""
        return Motion(*(getattr(self, name)[keep] for name in self.__dataclass_fields__))


def differentiate(model: Model, time: Array, coordinates: Array) -> Motion:
    """Velocities and accelerations of joint coordinates (T, K+6) given over time (T,) [s], by quintic splines.

    qd = D s and qdd = D ds/dt + Ddot s satisfy Phi_q qd = 0 and Phi_q qdd = gamma exactly (5.8, 5.9).

    Raises:
        InputError: fewer than six frames, time that does not increase, coordinates of another shape or not finite.
    """
    from scipy.interpolate import make_interp_spline

    time = check_increasing(time, 6)
    dofs = model.topology.dof_names
    coordinates = check_array(coordinates, "the coordinate", (len(time), len(dofs)), dofs)
    spline = make_interp_spline(time, coordinates, k=5)
    return motion_from(model, time, coordinates, spline(time, 1), spline(time, 2))


def motion_from(model: Model, time: Array, coordinates: Array, rates: Array, second: Array) -> Motion:
    """The motion of joint coordinates whose derivatives are known, all (T, K+6).

    Raises:
        InputError: arrays of another shape or not finite; names the degree of freedom and the frame.
    """
    tree, joints, dofs = model.tree, model.tree.joint_count, model.topology.dof_names
    time = check_array(time, "time", ("T",))
    coordinates, rates, second = (
        check_array(value, f"the {what}", (len(time), len(dofs)), dofs)
        for value, what in ((coordinates, "coordinate"), (rates, "rate"), (second, "second derivative"))
    )
    base = coordinates[:, joints + 3 :]
    position, velocity = coordinates[:, joints : joints + 3], rates[:, joints : joints + 3]
    spin, spin_rate = cardan_rates(base, rates[:, joints + 3 :], second[:, joints + 3 :])
    joint = tree.speeds(coordinates[:, :joints], rates[:, :joints], second[:, :joints])
    speeds = np.column_stack([joint[0], rates[:, joints : joints + 3], spin])
    speed_rates = np.column_stack([joint[1], second[:, joints : joints + 3], spin_rate])
    q = tree.pose(coordinates[:, :joints], position, from_cardan(*base.T))
    qd = tree.velocity(q, speeds, position)
    qdd = tree.acceleration(q, qd, speeds, speed_rates, position, velocity)
    return Motion(time, coordinates, rates, second, speeds, speed_rates, q, qd, qdd)


def check_fits(model: Model, motion: Motion) -> None:
    """Refuse the motion of another model."""
    have = motion.q.shape[1], motion.coordinates.shape[1]
    want = len(model.topology.coordinate_names), len(model.topology.dof_names)
    if have != want:
        raise InputError(
            f"a motion of {have[0]} points and vectors and {have[1]} degrees of freedom for the model "
            f"{model.topology.name!r}, which has {want[0]} and {want[1]}",
            code="bad_shape",
            expected="the motion of this model",
        )
