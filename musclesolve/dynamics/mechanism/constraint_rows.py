"""Constraint rows of any mechanism, closed loops and drivers included (Silva 2003, section 2.3, Table 2.1).

A mechanism is a list of constraints of rows. Each gives, for all frames at once, its value Phi, its Jacobian Phi_q,
and the right-hand sides of Phi_q qd = nu (2.8) and Phi_q qdd = gamma (2.11; the sign of nu_t by correction B7).
`assembly` closes it; `driven_rows` has the constraints that depend on time.

    Rigid         what stays: lengths, unit norms, angles of any two directions (2.13), linear combinations (2.19),
                  spherical joints (2.20), common axes (2.21), fixed points
    AngleDriver   angle about an axis as a function of time; by a vector of each body, or by two points of each
    LengthDriver  distance of two points of different bodies as a function of time
    MotionDriver  every degree of freedom of a model through a motion

The row of an angle is met at two angles. A constraint whose rows have such a second solution also gives how far it is
from the first (`HasClosureErrors`), and `assembly` goes by that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.errors import InputError


@dataclass(frozen=True)
class Rows:
    """Rows of all frames: value, nu and gamma (T, c), jacobian (T, c, N, 3)."""

    names: tuple[str, ...]
    value: Array
    jacobian: Array
    nu: Array
    gamma: Array


class Constraint(Protocol):
    """What gives rows."""

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """Rows at time (T,) in the pose q (T, N, 3) with velocities qd (T, N, 3)."""


@dataclass(frozen=True)
class ClosureErrors:
    """What is left to close in a pose: names (c,), value (T, c), jacobian (T, c, N, 3).

    part (T, c): how much of the value one step is to take on, so that a rotation is followed and not jumped.
    """

    names: tuple[str, ...]
    value: Array
    jacobian: Array
    part: Array


@runtime_checkable
class HasClosureErrors(Protocol):
    """A constraint whose rows are also met by a pose that it does not mean, such as the mirrored angle."""

    def closure_errors(self, time: Array, q: Array) -> ClosureErrors:
        """What is zero in the pose that is meant, and only there."""


def all_rows(constraints: Iterable[Constraint], time: Array, q: Array, qd: Array | None = None) -> Rows:
    """The rows of several constraints under each other; velocities are zero unless given."""
    qd = np.zeros_like(q) if qd is None else qd
    parts = [constraint.rows(time, q, qd) for constraint in constraints]
    names = tuple(name for part in parts for name in part.names)
    value, jacobian, nu, gamma = (
        np.concatenate([getattr(p, f) for p in parts], axis=1) for f in ("value", "jacobian", "nu", "gamma")
    )
    check_array(value + nu + gamma, "the constraint row", ("T", "c"), names)
    return Rows(names, value, jacobian, nu, gamma)


def all_closure_errors(constraints: Iterable[Constraint], time: Array, q: Array) -> ClosureErrors:
    """What is left to close: the closure errors of the constraints that have them, the rows of the others."""
    parts = []
    for constraint in constraints:
        rows = all_rows([constraint], time, q)
        plain = ClosureErrors(rows.names, rows.value, rows.jacobian, rows.value)
        parts.append(
            constraint.closure_errors(time, q) if isinstance(constraint, HasClosureErrors) else plain
        )
    names = tuple(name for part in parts for name in part.names)
    stacked = (np.concatenate([getattr(p, f) for p in parts], axis=1) for f in ("value", "jacobian", "part"))
    return ClosureErrors(names, *stacked)


@dataclass(frozen=True)
class Rigid:
    """Constraints that do not depend on time: those of bodies and joints (2.13-2.21)."""

    constraints: Constraints

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """All rows; nu is zero (2.16)."""
        own = self.constraints
        if q.shape[1] != own.size:
            raise InputError(
                f"poses of {q.shape[1]} points and vectors for constraints of {own.size}",
                code="bad_shape",
                expected="the coordinates of one topology",
            )
        return Rows(own.names, value := own.value(q), own.jacobian(q), np.zeros_like(value), own.gamma(qd))


def mirrored(constraints: Iterable[Constraint], q: Array) -> dict[str, int]:
    """Bodies that are their own mirror image, which the rows allow and no body can be, with the first such frame."""
    found: dict[str, int] = {}
    for constraint in constraints:
        if isinstance(constraint, Rigid) and len(constraint.constraints.handed):
            wrong = constraint.constraints.handedness(q) * constraint.constraints.hand < 0.0
            for body in np.flatnonzero(wrong.any(axis=0)):
                found.setdefault(constraint.constraints.handed[body], int(np.argmax(wrong[:, body])))
    return found
