"""Constraint rows of any mechanism, closed loops and drivers included (Silva 2003, section 2.3, Table 2.1).

A mechanism is a list of kinds of rows. Each gives, for all frames at once, its value Phi, its Jacobian Phi_q, and the
right-hand sides of Phi_q qd = nu (2.8) and Phi_q qdd = gamma (2.11; the sign of nu_t by correction B7). `assembly`
closes it.

    Rigid         what stays: lengths, unit norms, angles of any two directions (2.13), linear combinations (2.19),
                  spherical joints (2.20), common axes (2.21), fixed points
    AngleDriver   angle about an axis as a function of time; by a vector of each body, or by two points of each
    LengthDriver  distance of two points of different bodies as a function of time
    MotionDriver  every degree of freedom of a model through a motion
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from musclesolve.dynamics.constraints import Constraints, _text
from musclesolve.dynamics.drivers import angle_rows, driver_rows
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import Motion
from musclesolve.dynamics.topology import Direction, Topology
from musclesolve.errors import InputError

Array = np.ndarray

Guide = Callable[[Array], tuple[Array, Array, Array]]
"""From time (T,) to a guided quantity and its first and second derivative, (T,) each."""


@dataclass(frozen=True)
class Rows:
    """Rows of all frames: value, nu and gamma (T, c), jacobian (T, c, N, 3)."""

    names: tuple[str, ...]
    value: Array
    jacobian: Array
    nu: Array
    gamma: Array


class Kind(Protocol):
    """What gives rows."""

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """Rows at time (T,) in the pose q (T, N, 3) with velocities qd (T, N, 3)."""


def all_rows(kinds: Iterable[Kind], time: Array, q: Array, qd: Array | None = None) -> Rows:
    """The rows of several kinds under each other; velocities are zero unless given."""
    qd = np.zeros_like(q) if qd is None else qd
    parts = [kind.rows(time, q, qd) for kind in kinds]
    names = tuple(name for part in parts for name in part.names)
    stacked = (
        np.concatenate([getattr(p, f) for p in parts], axis=1) for f in ("value", "jacobian", "nu", "gamma")
    )
    return Rows(names, *stacked)


@dataclass(frozen=True)
class Rigid:
    """Constraints that do not know the time: those of bodies and joints (2.13-2.21)."""

    constraints: Constraints

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """All rows; nu is zero (2.16)."""
        own = self.constraints
        return Rows(own.names, value := own.value(q), own.jacobian(q), np.zeros_like(value), own.gamma(qd))


def scalar_products(
    topology: Topology, standing: Array, pairs: Iterable[tuple[Direction, Direction]]
) -> Constraints:
    """Rows a . b = const of pairs of directions, of one body or of several (Table 2.1)."""
    pairs = list(pairs)
    first = np.array([topology.slots_of(a) for a, _ in pairs])
    second = np.array([topology.slots_of(b) for _, b in pairs])
    names, size = tuple(f"{_text(a)} . {_text(b)}" for a, b in pairs), len(standing)
    none = (np.zeros((0, size)), np.zeros((0, 3)))
    blank = Constraints(names, first, second, np.zeros(len(pairs)), size, *none)
    return replace(blank, constant=blank.value(standing[None])[0])


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
            InputError: v or u is not square to the axis, so no angle about it can be driven.
        """
        lines = {
            key: np.array([topology.slots_of(line)]) for key, line in zip("nvu", (axis, v, u), strict=True)
        }
        padded = np.vstack([standing, np.zeros(3)])
        n0, v0, u0 = (padded[slots[0, 1]] - padded[slots[0, 0]] for slots in lines.values())
        sizes = [float(np.linalg.norm(line)) for line in (n0, v0, u0)]
        for key, line, size in (("v", v0, sizes[1]), ("u", u0, sizes[2])):
            if abs(line @ n0) > 1e-6 * size * sizes[0] or size == 0.0:
                raise InputError(
                    f"driver about {axis}: {key} is {np.degrees(np.arccos(line @ n0 / (size * sizes[0]))):.1f} "
                    "degrees from the axis" if size else f"driver about {axis}: {key} has no length",
                    expected="directions square to the joint axis",
                )  # fmt: skip
        length = np.array([sizes[1] * sizes[2]])
        return cls(f"angle {_text(v)} to {_text(u)}", lines, length, length * sizes[0], guide)

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


Linear = tuple[list[str], Array, Array]
"""Names (l,), weights (l, N) and targets (l, 3) of rows sum_n w_n q_n = target, for `Constraints.with_linear`."""


def coincident(topology: Topology, pairs: Iterable[tuple[str, str]]) -> Linear:
    """Points in one place, a spherical joint (2.20), or vectors of one direction, as in a revolute joint (2.21)."""
    pairs = list(pairs)
    weights = np.zeros((len(pairs), len(topology.coordinate_names)))
    for row, (one, other) in zip(weights, pairs, strict=True):
        row[topology.slot[one]], row[topology.slot[other]] = 1.0, -1.0
    return [f"{one} = {other}" for one, other in pairs], weights, np.zeros((len(pairs), 3))


def fixed(topology: Topology, standing: Array, names: Iterable[str]) -> Linear:
    """Points and vectors that stay where they stand: the ground."""
    names = list(names)
    slots = [topology.slot[name] for name in names]
    return [f"{name} fixed" for name in names], np.eye(len(standing))[slots], standing[slots]


def combination(
    topology: Topology, standing: Array, target: Direction, base: tuple[Direction, ...]
) -> Linear:
    """A direction as the combination of three directions that it is in the standing pose (2.19).

    Raises:
        InputError: the three lie in one plane.
    """
    lines = np.zeros((4, len(standing) + 1))
    for line, direction in zip(lines, (target, *base), strict=True):
        start, end = topology.slots_of(direction)
        line[end] += 1.0
        line[start] -= 1.0
    lines = lines[:, :-1]
    axes = (lines @ standing)[1:].T
    if abs(np.linalg.det(axes)) < 1e-9 * np.prod(np.linalg.norm(axes, axis=0)):
        raise InputError(f"combination of {list(base)}", expected="three directions that span space")
    alpha = np.linalg.solve(axes, lines[0] @ standing)
    return [f"{_text(target)} combined"], (lines[0] - alpha @ lines[1:])[None], np.zeros((1, 3))


@dataclass(frozen=True)
class MotionDriver:
    """Drives every degree of freedom of a model through a motion (5.7)."""

    model: Model
    motion: Motion

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """One row for each degree of freedom."""
        found = driver_rows(self.model, self.motion, q, qd)
        return Rows(self.model.topology.dof_names, found.value, found.jacobian, found.nu, found.gamma)
