"""A model whose motion is prescribed: it moves without turning, with a given acceleration through time.

A sled on its rail, or a vehicle whose pulse was recorded. What drives it does whatever work that takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_number
from musclesolve.dynamics.forward.accelerations import Accelerations
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.errors import InputError, MuscleSolveError

Pulse = Callable[[Array], Array]
"""Acceleration (T, 3) [m/s2] at times (T,) [s]."""

_TURNS = 1e-9  # Velocity [m/s or 1/s] that a driven model may have beside its translation


def half_sine(velocity: Array, duration: float, begin: float = 0.0) -> Pulse:
    """The pulse of half a sine that changes the velocity by (3,) [m/s] within a duration [s] from `begin` on [s]."""
    change = check_array(velocity, "velocity", (3,), axis=0)
    duration = check_number(duration, "duration", "a positive number of seconds", above=0.0)
    begin = check_number(begin, "begin", "a number of seconds")
    peak = 0.5 * np.pi / duration * change

    def pulse(time: Array) -> Array:
        phase = np.clip((np.asarray(time) - begin) / duration, 0.0, 1.0)
        return np.sin(np.pi * phase)[:, None] * peak

    return pulse


def no_pulse(time: Array) -> Array:
    """The acceleration of a model that keeps its velocity whatever it meets."""
    return np.zeros((len(time), 3))


@dataclass(frozen=True)
class DrivenSystem(System):
    """A model that a pulse moves."""

    pulse: Pulse = field(default=no_pulse)

    def accelerated(self, time: float, q: Array, qd: Array, applied: Array, polished: bool) -> Accelerations:
        """The prescribed accelerations; no force changes them."""
        now = np.asarray(self.pulse(np.array([time])), float)
        if now.shape != (1, 3):
            raise InputError(
                f"the pulse has the shape {now.shape}", code="bad_shape", expected="(T, 3) at times (T,)"
            )
        if not np.isfinite(now).all():
            raise MuscleSolveError(f"the simulation stops at {time:.4f} s: the pulse is not finite")
        qdd = np.zeros(q.shape)
        qdd[: self.model.topology.point_count] = now[0]
        return Accelerations(qdd.ravel(), np.zeros(len(self.constraints.names)), 0)

    def power(self, q: Array, qd: Array, qdd: Array, applied: Array, contact: Array) -> float:
        """That of the applied forces and of the drive: what the inertia needs beyond weight and contact [W]."""
        needed = (self.mass(q) @ qdd.ravel()).reshape(q.shape) - self._own_force(q[None], qd[None]) - contact
        return float(needed.ravel() @ qd.ravel())

    def checked_start(self, q0: Array, qd0: Array) -> Array:
        """The same for a driven model, which must not turn."""
        state = super().checked_start(q0, qd0)
        qd, points = state.reshape(2, -1, 3)[1], self.model.topology.point_count
        if (
            np.abs(qd[points:]).max(initial=0.0) > _TURNS
            or np.ptp(qd[:points], axis=0).max(initial=0.0) > _TURNS
        ):
            raise InputError(
                "a model with a pulse turns at the start",
                code="conflict",
                expected="one velocity of all its points, and none of its vectors",
            )
        return state
