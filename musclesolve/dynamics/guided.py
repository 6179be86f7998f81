"""Driven rows of a mechanism: an angle, a length or a whole motion as functions of time (Silva 2003, Table 2.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.drivers import angle_rows, driver_rows
from musclesolve.dynamics.mechanism import Rows, direction_text
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import Motion
from musclesolve.dynamics.topology import Direction, Topology
from musclesolve.errors import InputError

Array = np.ndarray

Guide = Callable[[Array], tuple[Array, Array, Array]]
"""From time (T,) to a guided quantity and its first and second derivative, (T,) each."""


@dataclass(frozen=True)
class AngleDriver:
    """The angle from direction v of one body to u of another about their common axis n follows a guide (Table 2.1).

    v and u are square to n. Scalar product, or cross product near 0 and 180 degrees (correction B3).
    """

    name: str
    lines: dict[str, Array]
    length: Array
    axial: Array
    guide: Guide

    @classmethod
    def build(
        cls, topology: Topology, standing: Array, axis: Direction, v: Direction, u: Direction, guide: Guide
    ) -> AngleDriver:
        """Driver by names.

        Raises:
            InputError: v or u is not square to the axis, so that no angle about it can be driven, or has no length.
        """
        lines = {
            key: np.array([topology.slots_of(line)]) for key, line in zip("nvu", (axis, v, u), strict=True)
        }
        padded = np.vstack([standing, np.zeros(3)])
        n0, v0, u0 = (padded[slots[0, 1]] - padded[slots[0, 0]] for slots in lines.values())
        sizes = [float(np.linalg.norm(line)) for line in (n0, v0, u0)]
        names = [direction_text(line) for line in (axis, v, u)]
        if 0.0 in sizes:
            raise InputError(f"driver about {names[0]}: {names[sizes.index(0.0)]} has no length")
        for name, line, size in zip(names[1:], (v0, u0), sizes[1:], strict=True):
            slant = line @ n0 / (size * sizes[0])
            if abs(slant) > 1e-6:
                raise InputError(
                    f"driver about {names[0]}: {name} is {np.degrees(np.arccos(slant)):.1f} degrees from the axis",
                    expected="directions square to the joint axis",
                )
        length = np.array([sizes[1] * sizes[2]])
        return cls(
            f"angle {direction_text(v)} to {direction_text(u)}", lines, length, length * sizes[0], guide
        )

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """One row."""
        value, jacobian, nu, gamma, _ = self._all(time, q, qd)
        return Rows((self.name,), value, jacobian, nu, gamma)

    def moment(self, time: Array, q: Array, multiplier: Array) -> Array:
        """Moment (T,) on the body of u about n, from the multiplier (T,) (correction B3) [N m]."""
        return self._all(time, q, np.zeros_like(q))[4][:, 0] * multiplier

    def _all(self, time: Array, q: Array, qd: Array) -> tuple[Array, ...]:
        angle = tuple(np.reshape(part, (-1, 1)) for part in self.guide(time))
        return angle_rows(self.lines, self.length, self.axial, angle, q, qd)


@dataclass(frozen=True)
class LengthDriver:
    """The distance of two points follows a guide: r.r - L(t)^2 = 0 (Table 2.1).

    nu = +2 L Ldot and gamma = 2 (L Lddot + Ldot^2) - 2 rdot.rdot (corrections A13 and A14); the multiplier gives the
    tension 2 L lambda.
    """

    name: str
    start: int
    end: int
    guide: Guide

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """One row."""
        length, rate, second = self.guide(time)
        line, moving = q[:, self.end] - q[:, self.start], qd[:, self.end] - qd[:, self.start]
        jacobian = np.zeros((len(q), 1, *q.shape[1:]))
        jacobian[:, 0, self.end], jacobian[:, 0, self.start] = 2.0 * line, -2.0 * line
        value = (line**2).sum(axis=1) - length**2
        gamma = 2.0 * (length * second + rate**2) - 2.0 * (moving**2).sum(axis=1)
        return Rows((self.name,), value[:, None], jacobian, (2.0 * length * rate)[:, None], gamma[:, None])

    def tension(self, time: Array, multiplier: Array) -> Array:
        """Force (T,) with which the driver draws its points together [N]."""
        return 2.0 * self.guide(time)[0] * multiplier


@dataclass(frozen=True)
class MotionDriver:
    """Drives every degree of freedom of a model through a motion (5.7)."""

    model: Model
    motion: Motion

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """One row for each degree of freedom."""
        found = driver_rows(self.model, self.motion, q, qd)
        return Rows(self.model.topology.dof_names, found.value, found.jacobian, found.nu, found.gamma)
