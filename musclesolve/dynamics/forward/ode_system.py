"""A model under forces as a system of ordinary differential equations, and the way back onto its constraints.

A model whose motion is prescribed (`DrivenSystem`: a sled on its rail, a vehicle whose pulse was recorded) moves
without turning, with a given acceleration through time. What drives it does whatever work that takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_number
from musclesolve.dynamics.forward.accelerations import (
    DAMPING,
    FREQUENCY,
    Accelerations,
    CompiledEquations,
    UnsolvableError,
    direct,
    massless_motion,
)
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.dynamics.model.mass_matrix import inertia_force, mass_matrix, weight_force
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError, MuscleSolveError

_START = 1e-6  # A start may violate a constraint by so much [m or 1], or a rate by so much [m/s or 1/s]

_CLOSED = 1e-13
_PROJECTIONS = 12
_SHOWN = 4


@dataclass(frozen=True)
class System:
    """Equations of motion of one simulation; a state y is q, then qd, (6N,)."""

    model: Model
    constraints: Constraints
    forces: tuple[Force, ...]
    method: str

    @cached_property
    def equations(self) -> CompiledEquations:
        """The equations for compiled code."""
        return CompiledEquations.build(self.constraints, self.model.rigid_bodies.slots)

    @cached_property
    def _constant(self) -> tuple[tuple[Array, tuple[Array, float]], Array] | None:
        """What `masses` and `own_force` give where no body needs a cross product: the same in every pose (2.62)."""
        if self.model.rigid_bodies.crossed.any():
            return None
        q = self.model.standing
        return self._masses(q), self._own_force(q, np.zeros_like(q))

    def masses(self, q: Array) -> tuple[Array, tuple[Array, float]]:
        """Mass matrix (3N, 3N) of a pose (N, 3), and its elements for compiled code."""
        return self._masses(q) if self._constant is None else self._constant[0]

    def _masses(self, q: Array) -> tuple[Array, tuple[Array, float]]:
        mass = mass_matrix(self.model.rigid_bodies, self.model.basic_mass, q[None])[0]
        return mass, self.equations.elements(mass)

    def own_force(self, q: Array, qd: Array) -> Array:
        """Weight and velocity-dependent inertia (N, 3) (2.71)."""
        return self._own_force(q, qd) if self._constant is None else self._constant[1]

    def _own_force(self, q: Array, qd: Array) -> Array:
        bodies, model = self.model.rigid_bodies, self.model
        weight = weight_force(bodies, model.mass, q[None], model.gravity)[0]
        if not bodies.crossed.any():
            return weight
        still = np.zeros_like(q[None])
        return np.asarray(weight - inertia_force(bodies, model.basic_mass, q[None], qd[None], still)[0])

    def force(self, time: float, q: Array, qd: Array) -> Array:
        """Right-hand side g (N, 3): weight, velocity-dependent inertia and the forces of this simulation."""
        return self.own_force(q, qd) + self.applied(time, q, qd)

    def applied(self, time: float, q: Array, qd: Array) -> Array:
        """The forces of this simulation (N, 3)."""
        at, total = np.array([time]), np.zeros(q.shape)
        for force in self.forces:
            applied = np.asarray(force(at, q[None], qd[None]))
            if applied.size != total.size or not np.isfinite(applied).all():
                self._refuse_force(force, applied, time)
            total += applied.reshape(total.shape)
        return total

    def accelerations(
        self, time: float, q: Array, qd: Array, contact: Array | float = 0.0, polished: bool = True
    ) -> Accelerations:
        """Accelerations (3N,) and multipliers of one state, with stabilisation (2.30, 2.37).

        contact (N, 3): generalized force of contacts with other bodies, beyond the forces of the system; polished:
        multipliers free of round-off.
        """
        return self.accelerated(time, q, qd, self.applied(time, q, qd) + contact, polished)

    def accelerated(self, time: float, q: Array, qd: Array, applied: Array, polished: bool) -> Accelerations:
        """The same under given forces (N, 3) beside the weight."""
        force, (mass, elements) = self.own_force(q, qd) + applied, self.masses(q)
        try:
            if self.method == "augmented_lagrangian":
                return self.equations.accelerations(q, qd, force, elements, polished)
            jacobian = self._jacobian(q)
            right = self.constraints.gamma(qd[None])[0] - FREQUENCY**2 * self.constraints.value(q[None])[0]
            right -= 2.0 * DAMPING * FREQUENCY * (jacobian @ qd.ravel())
            return direct(mass, jacobian, force.ravel(), right)
        except (MuscleSolveError, np.linalg.LinAlgError) as fault:
            raise UnsolvableError(f"the simulation stops at {time:.4f} s: {fault}") from fault

    def power(self, q: Array, qd: Array, qdd: Array, applied: Array, contact: Array) -> float:
        """That of what acts beside weight and contact [W]: the applied forces (N, 3)."""
        return float(applied.ravel() @ qd.ravel())

    def derivative(self, time: float, state: Array) -> Array:
        """dy/dt (6N,)."""
        q, qd = self.split(time, state)
        return np.concatenate([state[state.size // 2 :], self.accelerations(time, q, qd, polished=False).qdd])

    def split(self, time: float, state: Array) -> tuple[Array, Array]:
        """Positions and velocities (N, 3) of a state; refuses what is no finite number."""
        q, qd = state.reshape(2, -1, 3)
        if not np.isfinite(state).all():
            names = self.model.topology.coordinate_names
            bad = [name for k, name in enumerate(names) if not np.isfinite([q[k], qd[k]]).all()]
            raise UnsolvableError(
                f"the simulation stops at {time:.4f} s: the coordinates of {', '.join(bad[:_SHOWN])} are not finite"
            )
        return q, qd

    def projected(self, time: float, state: Array) -> tuple[Array, float]:
        """The nearest state that satisfies the constraints, nearest by the mass matrix, and how far it was off.

        Positions minimise 1/2 |q - q*|^2_M subject to Phi = 0, then velocities 1/2 |qd - qd*|^2_M subject to
        Phi_q qd = 0: the equations of (2.37) with M (q* - q) or M qd* for the force.
        """
        before, moving = self.split(time, state)
        (mass, elements), q = self.masses(before), before
        drift = worst = self.violation(q)
        for _ in range(_PROJECTIONS):
            if worst < _CLOSED:
                break
            back = (mass @ (before - q).ravel()).reshape(q.shape)
            q, last = q + self.equations.returned(q, back, elements), worst
            worst = self.violation(q)
            if worst > 0.1 * last and worst < 1e-10:
                break
        if not worst <= 1e-9:
            raise MuscleSolveError(
                f"the simulation stops at {time:.4f} s: a loop cannot close, "
                f"{self._worst(self.constraints.violation(q[None])[0])}"
            )
        mass, elements = self.masses(q)
        qd = self.equations.held(q, (mass @ moving.ravel()).reshape(q.shape), elements)
        return np.concatenate([q.ravel(), qd.ravel()]), drift

    def violation(self, q: Array) -> float:
        """How far the worst constraint of a pose (N, 3) is from being met [m or 1]."""
        return float(np.abs(self.constraints.violation(q[None])).max(initial=0.0))

    def _jacobian(self, q: Array) -> Array:
        return self.constraints.jacobian(q[None])[0].reshape(len(self.constraints.names), -1)

    def checked_start(self, q0: Array, qd0: Array) -> Array:
        """The starting state, on the constraints to round-off."""
        names, rows = self.model.topology.coordinate_names, self.constraints
        q0 = check_array(q0, "q0", (len(names), 3), names, axis=0)
        qd0 = check_array(qd0, "qd0", (len(names), 3), names, axis=0)
        violation = rows.violation(q0[None])[0]
        if np.abs(violation).max(initial=0.0) > _START:
            raise InputError(
                f"the starting position violates the constraints: {self._worst(violation)}",
                code="conflict",
                expected="bodies that are rigid and loops that are closed",
                remedy="take it from joint coordinates (Tree.pose, motion_from), or assemble it",
            )
        rate = self._jacobian(q0) @ qd0.ravel()
        if np.abs(rate).max(initial=0.0) > _START:
            raise InputError(
                f"the starting velocity violates the constraints: {self._worst(rate)} per second",
                code="conflict",
                remedy="take it from joint rates (Tree.velocity, motion_from)",
            )
        if (direction := massless_motion(self.masses(q0)[0], self._jacobian(q0))) is not None:
            raise self._massless(direction)
        return self.projected(0.0, np.concatenate([q0.ravel(), qd0.ravel()]))[0]

    def _massless(self, direction: Array) -> InputError:
        size = np.linalg.norm(direction.reshape(-1, 3), axis=1)
        topology = self.model.topology
        moved = [topology.coordinate_names[k] for k in np.argsort(-size) if size[k] > 0.1 * size.max()]
        bodies = [body.name for body in topology.bodies if {*body.members} & set(moved)]
        return InputError(
            f"the mass matrix is singular: no mass resists a motion of {', '.join(moved[:_SHOWN])} "
            f"(body {', '.join(bodies[:_SHOWN])})",
            code="bad_model",
            expected="masses and inertias that resist every motion that the constraints allow",
        )

    def _worst(self, off: Array) -> str:
        """The rows that are farthest off, with the amounts."""
        order = [k for k in np.argsort(-np.abs(off)) if abs(off[k]) > 0.1 * np.abs(off).max()]
        more = f" and {len(order) - _SHOWN} more" if len(order) > _SHOWN else ""
        return "; ".join(f"{self.constraints.names[k]} by {off[k]:.3g}" for k in order[:_SHOWN]) + more

    def _refuse_force(self, force: Force, applied: Array, time: float) -> None:
        kind = getattr(force, "__name__", type(force).__name__)
        if applied.size != 3 * len(self.model.standing):
            raise InputError(
                f"the force {kind} has the shape {applied.shape}",
                code="bad_shape",
                expected=f"generalized forces (1, {len(self.model.standing)}, 3)",
            )
        bad = np.flatnonzero(~np.isfinite(applied.reshape(-1, 3)).all(axis=1))
        topology = self.model.topology
        names = {topology.coordinate_names[k] for k in bad}
        bodies = [body.name for body in topology.bodies if names & set(body.members)]
        raise MuscleSolveError(
            f"the simulation stops at {time:.4f} s: the force {kind} on {', '.join(sorted(names)[:_SHOWN])} "
            f"(body {', '.join(bodies[:_SHOWN])}) is not finite"
        )


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
        needed = (self.masses(q)[0] @ qdd.ravel()).reshape(q.shape) - self.own_force(q, qd) - contact
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
