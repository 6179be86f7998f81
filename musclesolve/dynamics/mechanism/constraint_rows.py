"""Constraint rows of any mechanism, closed loops and drivers included (Silva 2003, section 2.3, Table 2.1).

A mechanism is a list of kinds of rows. Each gives, for all frames at once, its value Phi, its Jacobian Phi_q, and the
right-hand sides of Phi_q qd = nu (2.8) and Phi_q qdd = gamma (2.11; the sign of nu_t by correction B7). `assembly`
closes it; `guided` has the kinds that know the time.

    Rigid         what stays: lengths, unit norms, angles of any two directions (2.13), linear combinations (2.19),
                  spherical joints (2.20), common axes (2.21), fixed points
    AngleDriver   angle about an axis as a function of time; by a vector of each body, or by two points of each
    LengthDriver  distance of two points of different bodies as a function of time
    MotionDriver  every degree of freedom of a model through a motion

The row of an angle is met at two angles. A kind whose rows have such a second solution also says how far it is from
the first (`SelfClosing`), and `assembly` goes by that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.rigid_body_constraints import Constraints
from musclesolve.errors import InputError


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


@dataclass(frozen=True)
class Gaps:
    """What is left to close in a pose: names (c,), value (T, c), jacobian (T, c, N, 3).

    part (T, c): how much of the value one step is to take on, so that a turn is followed and not jumped.
    """

    names: tuple[str, ...]
    value: Array
    jacobian: Array
    part: Array


@runtime_checkable
class SelfClosing(Protocol):
    """A kind whose rows are also met by a pose that it does not mean, such as the mirrored angle."""

    def gaps(self, time: Array, q: Array) -> Gaps:
        """What is zero in the pose that is meant, and only there."""


def all_rows(kinds: Iterable[Kind], time: Array, q: Array, qd: Array | None = None) -> Rows:
    """The rows of several kinds under each other; velocities are zero unless given.

    Raises:
        InputError: a row is no finite number, as of a guide that is not; names it.
    """
    qd = np.zeros_like(q) if qd is None else qd
    parts = [kind.rows(time, q, qd) for kind in kinds]
    names = tuple(name for part in parts for name in part.names)
    value, jacobian, nu, gamma = (
        np.concatenate([getattr(p, f) for p in parts], axis=1) for f in ("value", "jacobian", "nu", "gamma")
    )
    bad = np.argwhere(~np.isfinite(value + nu + gamma))
    if len(bad):
        frame, row = (int(part) for part in bad[0])
        raise InputError(
            f"row {names[row]!r} is no finite number in frame {frame}",
            expected="guides that give finite numbers at every time, and finite coordinates",
        )
    return Rows(names, value, jacobian, nu, gamma)


def all_gaps(kinds: Iterable[Kind], time: Array, q: Array) -> Gaps:
    """What is left to close: the gaps of the kinds that have them, the rows of the others."""
    parts = []
    for kind in kinds:
        rows = all_rows([kind], time, q)
        plain = Gaps(rows.names, rows.value, rows.jacobian, rows.value)
        parts.append(kind.gaps(time, q) if isinstance(kind, SelfClosing) else plain)
    names = tuple(name for part in parts for name in part.names)
    stacked = (np.concatenate([getattr(p, f) for p in parts], axis=1) for f in ("value", "jacobian", "part"))
    return Gaps(names, *stacked)


@dataclass(frozen=True)
class Rigid:
    """Constraints that do not know the time: those of bodies and joints (2.13-2.21)."""

    constraints: Constraints

    def rows(self, time: Array, q: Array, qd: Array) -> Rows:
        """All rows; nu is zero (2.16)."""
        own = self.constraints
        if q.shape[1] != own.size:
            raise InputError(
                f"poses of {q.shape[1]} points and vectors for constraints of {own.size}",
                expected="the coordinates of one topology",
            )
        return Rows(own.names, value := own.value(q), own.jacobian(q), np.zeros_like(value), own.gamma(qd))


def mirrored(kinds: Iterable[Kind], q: Array) -> dict[str, int]:
    """Bodies that are their own mirror image, which the rows allow and no body can be, with the first such frame."""
    found: dict[str, int] = {}
    for kind in kinds:
        if isinstance(kind, Rigid) and len(kind.constraints.handed):
            wrong = kind.constraints.handedness(q) * kind.constraints.hand < 0.0
            for body in np.flatnonzero(wrong.any(axis=0)):
                found.setdefault(kind.constraints.handed[body], int(np.argmax(wrong[:, body])))
    return found
