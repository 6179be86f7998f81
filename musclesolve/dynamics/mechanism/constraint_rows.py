"""Constraint rows of any mechanism, closed loops and drivers included (Silva 2003, section 2.3, Table 2.1).

A mechanism is a list of constraints of rows. Each gives, for all frames at once, its value Phi, its Jacobian Phi_q,
and the right-hand sides of Phi_q qd = nu (2.8) and Phi_q qdd = gamma (2.11; the sign of nu_t by correction B7).
`assembly` closes it.

    Rigid         constants: lengths, unit norms, angles of any two directions (2.13), linear combinations (2.19),
                  spherical joints (2.20), common axes (2.21), fixed points
    AngleDriver   angle about an axis as a function of time; by a vector of each body, or by two points of each
    LengthDriver  distance of two points of different bodies as a function of time
    MotionDriver  every degree of freedom of a model through a motion

Other rooms add constraints of their own with the method `rows`, such as muscles of prescribed length.

The row of an angle has two solutions. A constraint with such rows also gives the distance from the intended solution
(`HasClosureErrors`), which `assembly` uses.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np

from musclesolve._util.arrays import Array, Indices, nearest_times
from musclesolve._util.checks import check_array
from musclesolve.dynamics.kinematics.joint_drivers import (
    ConstraintRows,
    DrivenAngles,
    base_closure_errors,
    driver_rows,
)
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, direction_text
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import lines_of
from musclesolve.dynamics.model.topology import Direction, Topology
from musclesolve.errors import input_error


@runtime_checkable
class Constraint(Protocol):
    """A part of a mechanism that gives constraint rows."""

    def rows(self, time: Array, q: Array, qd: Array) -> ConstraintRows:
        """Rows at time (T,) in the pose q (T, N, 3) with velocities qd (T, N, 3)."""


class TensionDriver(Protocol):
    """A constraint of one row that prescribes a length, and whose multiplier gives a tension."""

    @property
    def name(self) -> str:
        """Name of the row."""

    def tension(self, time: Array, multiplier: Array) -> Array:
        """Tension (T,) [N] from the multiplier (T,) at times (T,) [s]."""


@dataclass(frozen=True)
class ClosureErrors:
    """Closure errors of a pose: names (c,), value (T, c), jacobian (T, c, N, 3).

    part (T, c): how much of the value one step is to take on, so that a rotation is followed and not jumped.
    """

    names: tuple[str, ...]
    value: Array
    jacobian: Array
    part: Array


@runtime_checkable
class HasClosureErrors(Protocol):
    """A constraint whose rows have an unintended solution besides the intended one, such as the mirrored angle."""

    def closure_errors(self, time: Array, q: Array) -> ClosureErrors:
        """Return errors that are zero in the intended pose, and only there."""


def all_rows(
    constraints: Iterable[Constraint], time: Array, q: Array, qd: Array | None = None
) -> ConstraintRows:
    """The rows of several constraints under each other; velocities are zero unless given."""
    qd = np.zeros_like(q) if qd is None else qd
    parts = [constraint.rows(time, q, qd) for constraint in constraints]
    names = tuple(name for part in parts for name in part.names)
    value, jacobian, nu, gamma = (
        np.concatenate([getattr(p, f) for p in parts], axis=1) for f in ("value", "jacobian", "nu", "gamma")
    )
    check_array(value + nu + gamma, "the constraint row", ("T", "c"), names)
    return ConstraintRows(names, value, jacobian, nu, gamma)


def all_closure_errors(constraints: Iterable[Constraint], time: Array, q: Array) -> ClosureErrors:
    """Return the errors to close: the closure errors of the constraints that have them, the rows of the others."""
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
    """Constraints that do not depend on time: constraints of bodies and joints (2.13-2.21)."""

    constraints: Constraints

    def rows(self, time: Array, q: Array, qd: Array) -> ConstraintRows:
        """Rows of all constraints in the poses q (T, N, 3); nu is zero (2.16)."""
        fixed = self.constraints
        if q.shape[1] != fixed.size:
            raise input_error(
                "bad_shape",
                problem=f"poses of {q.shape[1]} points and vectors for constraints of {fixed.size}",
                expected="the coordinates of one topology",
            )
        return ConstraintRows(
            fixed.names, value := fixed.value(q), fixed.jacobian(q), np.zeros_like(value), fixed.gamma(qd)
        )


def mirrored(constraints: Iterable[Constraint], q: Array) -> dict[str, int]:
    """Bodies that the rows close as their mirror image, which is impossible, with the first such frame."""
    bodies: dict[str, int] = {}
    for constraint in constraints:
        if isinstance(constraint, Rigid) and len(constraint.constraints.handed):
            wrong = constraint.constraints.handedness(q) * constraint.constraints.hand < 0.0
            for body in np.flatnonzero(wrong.any(axis=0)):
                bodies.setdefault(constraint.constraints.handed[body], int(np.argmax(wrong[:, body])))
    return bodies


DrivenCourse = Callable[[Array], tuple[Array, Array, Array]]
"""A function of time (T,) that gives a driven quantity and its first and second derivative, (T,) each."""

_ROTATION_STEP = 0.3  # Largest change of a driven angle in one step of the assembly [rad]


def course_values(course: DrivenCourse, time: Array, name: str) -> tuple[Array, Array, Array]:
    """Value, first and second derivative, each (T,), of a course at times (T,) [s]."""
    try:
        value, rate, second = (
            np.broadcast_to(np.asarray(x, dtype=float), np.shape(time)) for x in course(time)
        )
    except (TypeError, ValueError) as fault:
        raise input_error(
            "bad_type",
            problem=f"the function of driver {name!r}: {fault}",
            expected="from time (T,) to the quantity and its first and second derivative, (T,) each",
        ) from fault
    return value, rate, second


@dataclass(frozen=True)
class AngleDriver:
    """The angle from direction v of one body to u of another about their common axis n follows a course (Table 2.1).

    v and u are perpendicular to n. Scalar product, or cross product near 0 and 180 degrees (correction B3).
    """

    name: str
    angle: DrivenAngles
    course: DrivenCourse

    @classmethod
    def build(
        cls,
        topology: Topology,
        standing: Array,
        axis: Direction,
        v: Direction,
        u: Direction,
        course: DrivenCourse,
    ) -> Self:
        """The driver of the angle between lines by the names of their points or vectors.

        Raises:
            InputError: v or u has no length or is not perpendicular to the axis, so that no angle about it can be
                driven.
        """
        slots = [np.array([topology.slots_of(line)]) for line in (axis, v, u)]
        n0, v0, u0 = (lines_of(standing[None], line)[0, 0] for line in slots)
        sizes = [float(np.linalg.norm(line)) for line in (n0, v0, u0)]
        names = [direction_text(line) for line in (axis, v, u)]
        if 0.0 in sizes:
            raise input_error(
                "bad_model", problem=f"driver about {names[0]}: {names[sizes.index(0.0)]} has no length"
            )
        for name, line, size in zip(names[1:], (v0, u0), sizes[1:], strict=True):
            slant = line @ n0 / (size * sizes[0])
            if abs(slant) > 1e-6:
                raise input_error(
                    "bad_model",
                    problem=f"driver about {names[0]}: {name} is {np.degrees(np.arccos(slant)):.1f} "
                    "degrees from the axis",
                    expected="directions perpendicular to the joint axis",
                )
        name = f"angle {direction_text(v)} to {direction_text(u)}"
        return cls(name, DrivenAngles.build(standing, *slots), course)

    def rows(self, time: Array, q: Array, qd: Array) -> ConstraintRows:
        """The one row of the driven angle at times (T,) [s], poses q and velocities qd (T, N, 3)."""
        value, jacobian, nu, gamma, _ = self._all(time, q, qd)
        return ConstraintRows((self.name,), value, jacobian, nu, gamma)

    def closure_errors(self, time: Array, q: Array) -> ClosureErrors:
        """The error of the angle from the course [rad], which, unlike the row, is not zero at the mirrored angle."""
        angle = course_values(self.course, time, self.name)[0][:, None]
        error, jacobian = self.angle.errors(angle, q)
        return ClosureErrors((self.name,), error, jacobian, np.clip(error, -_ROTATION_STEP, _ROTATION_STEP))

    def moment(self, time: Array, q: Array, multiplier: Array) -> Array:
        """Moment (T,) on the body of u about n, from the multiplier (T,) (correction B3) [N m]."""
        return self._all(time, q, np.zeros_like(q))[4][:, 0] * multiplier

    def _all(self, time: Array, q: Array, qd: Array) -> tuple[Array, ...]:
        angle = tuple(part[:, None] for part in course_values(self.course, time, self.name))
        return self.angle.rows(angle, q, qd)


@dataclass(frozen=True)
class LengthDriver:
    """The distance of two points follows a course: r.r - L(t)^2 = 0 (Table 2.1).

    nu = +2 L Ldot and gamma = 2 (L Lddot + Ldot^2) - 2 rdot.rdot (corrections A13 and A14); the multiplier gives the
    tension 2 L lambda.
    """

    name: str
    start: int
    end: int
    course: DrivenCourse

    def rows(self, time: Array, q: Array, qd: Array) -> ConstraintRows:
        """The one row of the driven length at times (T,) [s], poses q and velocities qd (T, N, 3)."""
        length, rate, second = course_values(self.course, time, self.name)
        line, moving = q[:, self.end] - q[:, self.start], qd[:, self.end] - qd[:, self.start]
        jacobian = np.zeros((len(q), 1, *q.shape[1:]))
        jacobian[:, 0, self.end], jacobian[:, 0, self.start] = 2.0 * line, -2.0 * line
        value = (line**2).sum(axis=1) - length**2
        gamma = 2.0 * (length * second + rate**2) - 2.0 * (moving**2).sum(axis=1)
        return ConstraintRows(
            (self.name,), value[:, None], jacobian, (2.0 * length * rate)[:, None], gamma[:, None]
        )

    def tension(self, time: Array, multiplier: Array) -> Array:
        """Force (T,) with which the driver draws its points together [N]."""
        return 2.0 * course_values(self.course, time, self.name)[0] * multiplier


@dataclass(frozen=True)
class MotionDriver:
    """Driver of every degree of freedom of a model through a motion (5.7), at the times of its frames.

    free: degrees of freedom of joints that it leaves to other drivers, such as muscles (6.3).
    """

    model: Model
    motion: Motion
    free: tuple[str, ...] = ()

    def rows(self, time: Array, q: Array, qd: Array) -> ConstraintRows:
        """One row for each degree of freedom that is not free."""
        rows = driver_rows(self.model, self._at(time), q, qd)
        driven = self._driven(rows.names)
        arrays = (array[:, driven] for array in (rows.value, rows.jacobian, rows.nu, rows.gamma))
        return ConstraintRows(tuple(rows.names[k] for k in driven), *arrays)

    def closure_errors(self, time: Array, q: Array) -> ClosureErrors:
        """Errors of all joint angles from the motion, then errors of the base's point and directions."""
        motion, topology = self._at(time), self.model.topology
        angles = DrivenAngles.from_model(self.model)
        error, slope = angles.errors(angles.of_motion(self.model, motion)[0], q)
        joints = error, slope, np.clip(error, -_ROTATION_STEP, _ROTATION_STEP)
        base = base_closure_errors(self.model, motion, q, _ROTATION_STEP)
        value, jacobian, part = (np.concatenate(both, axis=1) for both in zip(joints, base, strict=True))
        hold = [f"{topology.root} {what} [{x}]" for what in ("point", "line", "front") for x in "xyz"]
        names = topology.dof_names[: len(topology.dofs)] + tuple(hold)
        driven = self._driven(names)
        arrays = (array[:, driven] for array in (value, jacobian, part))
        return ClosureErrors(tuple(names[k] for k in driven), *arrays)

    def _driven(self, names: tuple[str, ...]) -> Indices:
        """Places (c,) of the rows that are not free; an unknown joint is an InputError."""
        return np.delete(np.arange(len(names)), [self.model.joint(name) for name in self.free])

    def _at(self, time: Array) -> Motion:
        """The motion at some of its times."""
        if np.array_equal(time, self.motion.time):
            return self.motion
        nearest = nearest_times(self.motion.time, np.asarray(time))
        if not np.array_equal(self.motion.time[nearest], time):
            raise input_error(
                "bad_range",
                problem="the times differ from the times of the motion that drives the model",
                expected="times of its frames",
            )
        return self.motion.frames(nearest)
