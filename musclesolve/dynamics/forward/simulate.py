"""Forward dynamics: the motion that follows from forces.

The natural coordinates and their velocities are the state. Accelerations come from the augmented Lagrangian
iteration (Silva 2003, 2.37) or directly, a Runge-Kutta method of order eight (scipy's DOP853) takes the steps, and
after each one positions and velocities are projected back on the constraints, orthogonally in the sense of the mass
matrix, so that the constraints do not drift and the projection does no work at first order.

`System` is a model under forces as a system of ordinary differential equations. `DrivenSystem` is a model with a
prescribed motion (a sled on its rail, a vehicle with a recorded pulse): it moves without turning, with a stated
acceleration through time. The drive does the work that this takes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import (
    check_array,
    check_choice,
    check_increasing,
    check_number,
    check_type,
    one_or_several,
)
from musclesolve._util.messages import shortened
from musclesolve.dynamics.forward.accelerations import (
    DAMPING,
    FREQUENCY,
    METHODS,
    Accelerations,
    CompiledEquations,
    UnsolvableError,
    direct,
    massless_motion,
)
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_of
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, fixed
from musclesolve.dynamics.model.model import Model, check_model, mass_center, mass_weighted
from musclesolve.dynamics.model.rigid_body import inertia_force, mass_matrix, weight_force
from musclesolve.errors import InputError, MuscleSolveError, input_error

STEPPERS = ("dop853", "rk45", "radau")
"""Names of the integrators of scipy that take the steps."""
SMALLEST_STEP, PATIENCE = 1e-9, 20
"""Number of successive steps shorter than a time [s] after which the forces count as too stiff."""

HOW = 'Integration(stepper="radau"), for instance'


@dataclass(frozen=True)
class Simulation:
    """A simulated motion: time (T,) [s]; q, qd, qdd (T, N, 3); multipliers (T, c) of the constraint rows.

    violation, velocity_violation (T,): largest error of a constraint [m or 1] and of its rate, at the output.
    drift: largest error that any step left before it was projected away. steps, evaluations: the effort.
    """

    model: Model
    time: Array
    q: Array
    qd: Array
    qdd: Array
    multipliers: Array
    violation: Array
    velocity_violation: Array
    drift: float
    steps: int
    evaluations: int

    @cached_property
    def motion(self) -> Motion:
        """The simulated motion with joint coordinates, ready for inverse dynamics."""
        return motion_of(self.model, self.time, self.q, self.qd, self.qdd)

    @property
    def energy(self) -> Array:
        """Kinetic energy and energy of the weight together (T,) [J]."""
        return kinetic_energy(self.model, self.q, self.qd) + potential_energy(self.model, self.q)


@dataclass(frozen=True)
class Integration:
    """Settings of the integration of a motion.

    method of the accelerations: "augmented_lagrangian" or "direct"; tolerance: error allowed in a step, relative and
    [m, m/s]; largest_step [s], needed only where forces are too short to be noticed; stepper: "dop853", of order eight
    for smooth forces, "rk45" for short contacts, or "radau", implicit, for stiff forces.
    """

    method: str = "augmented_lagrangian"
    tolerance: float = 1e-9
    largest_step: float = np.inf
    stepper: str = "dop853"

    def __post_init__(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_choice(self.stepper, "stepper", STEPPERS)
        check_number(
            self.tolerance, "tolerance", "a number between 0 and 1, such as 1e-9", above=0.0, below=1.0
        )
        if self.largest_step != np.inf:
            check_number(self.largest_step, "largest_step", "a positive number of seconds", above=0.0)


def simulate(
    model: Model,
    q0: Array,
    qd0: Array,
    duration: float | Array,
    forces: Sequence[Force] = (),
    *,
    held: Sequence[str] = (),
    constraints: Constraints | None = None,
    integration: Integration | None = None,
) -> Simulation:
    """Motion of a model under gravity and forces, from a starting position and velocity.

    Args:
        q0: (N, 3) starting position; `Motion.q[k]`, or `Tree.pose` of joint coordinates.
        qd0: (N, 3) starting velocity.
        duration: [s], for a hundred and one frames, or the times (T,) of the frames, from the start on.
        forces: `JointMoments`, `ExternalForces`, `JointResistance`, or functions of time (T,), q and qd (T, N, 3) that
            return generalized forces (T, N, 3).
        held: points and vectors that stay where they start (a seat, a rig, a hinge on the ground).
        constraints: rows instead of the model's own, for loops that the tree of joints does not have.
        integration: method, tolerance and largest step.

    Raises:
        InputError: a start that is not finite or violates the constraints, a bad duration or force, a motion that no
            mass resists; names rows, bodies and coordinates.
        MuscleSolveError: a loop that cannot close, forces that are not finite, steps that become too small; with the
            time.

    Examples:
        >>> model = ms.dynamics.forward_human_model()
        >>> fall = ms.dynamics.simulate(model, model.standing, 0.0 * model.standing, 0.1)
        >>> hip = model.slot("hip_r")
        >>> round(float(fall.q[-1, hip, 2] - fall.q[0, hip, 2]), 6)     # -g t^2 / 2
        -0.049033
    """
    times = frame_times(duration)
    check_forces(forces)
    how = Integration() if integration is None else integration
    check_type(how, Integration, "integration", HOW)
    rows = check_model(model).constraints if constraints is None else constraints
    check_type(rows, Constraints, "constraints", "rows, as Model.constraints")
    if len(held := one_or_several(held)):
        rows = rows.with_linear(*fixed(model.topology, q0, held))
    system = System(model, rows, tuple(forces), how.method)
    start = system.checked_start(q0, qd0)
    solver = stepper(system.derivative, float(times[0]), start, float(times[-1]), how)
    states, drift, steps, small = [start], 0.0, 0, SmallSteps()
    while solver.status == "running":
        if fault := small.step(solver):
            raise MuscleSolveError(
                f"the simulation stops at {solver.t:.4f} s: {fault} Forces that jump, or are very stiff, are the "
                "usual reason."
            )
        steps += 1
        passed = times[len(states) : int(np.searchsorted(times, solver.t, side="right"))]
        if len(passed):
            between = solver.dense_output()
            states += [system.projected(t, between(t))[0] for t in passed]
        solver.y, off = system.projected(solver.t, solver.y)
        solver.f = system.derivative(solver.t, solver.y)
        drift = max(drift, off)
    zeros = [0.0] * len(times)
    return simulated(system, times, np.stack(states), zeros, drift, steps, solver.nfev + steps)


def simulated(
    system: "System",
    times: Array,
    states: Array,
    contact: Sequence[Array | float],
    drift: float,
    steps: int,
    evaluations: int,
) -> Simulation:
    """Accelerations, multipliers and errors at the times (T,) of frames with states (T, 6N) and forces of contact."""
    q, qd = np.moveaxis(states.reshape(len(times), 2, -1, 3), 1, 0)
    solved = [system.accelerations(*frame) for frame in zip(times, q, qd, contact, strict=True)]
    rows = system.constraints
    rates = np.einsum("tcnx,tnx->tc", rows.jacobian(q), qd)
    return Simulation(
        system.model,
        times,
        q,
        qd,
        np.stack([solution.qdd for solution in solved]).reshape(q.shape),
        np.stack([solution.multipliers for solution in solved]),
        np.abs(rows.violation(q)).max(axis=1, initial=0.0),
        np.abs(rates).max(axis=1, initial=0.0),
        drift,
        steps,
        evaluations,
    )


def stepper(
    derivative: Callable[[float, Array], Array], begin: float, state: Array, end: float, how: Integration
) -> Any:
    """The integrator of scipy that an `Integration` names, at the beginning of its first step.

    At a trial state without a solution the derivative is NaN, so that the integrator tries a shorter step.

    Raises:
        UnsolvableError: the first state has no solution.
    """
    from scipy import integrate

    def tried(time: float, at: Array) -> Array:
        try:
            return derivative(time, at)
        except UnsolvableError:
            return np.full(len(at), np.nan)

    derivative(begin, state)  # with a first derivative that is not a number scipy would never end
    kind = {"dop853": integrate.DOP853, "rk45": integrate.RK45, "radau": integrate.Radau}[how.stepper]
    limits = {"rtol": max(how.tolerance, 1e-13), "atol": how.tolerance, "max_step": how.largest_step}
    return kind(tried, begin, state, end, **limits)


@dataclass
class SmallSteps:
    """Counts the steps shorter than `SMALLEST_STEP` that follow each other."""

    count: int = 0

    def step(self, solver: Any) -> str:
        """Take one step; return why it failed, empty where it succeeded."""
        try:
            message = solver.step()
        except InputError:
            raise
        except (ValueError, np.linalg.LinAlgError) as fault:
            return f"{str(fault).rstrip('.')}."
        self.count = self.count + 1 if solver.t - solver.t_old < SMALLEST_STEP else 0
        if solver.status == "failed":
            return f"{str(message).rstrip('.')}."
        if self.count > PATIENCE:
            return f"{self.count} steps of less than {SMALLEST_STEP:g} s follow each other."
        return ""


def frame_times(duration: float | Array) -> Array:
    """The times (T,) [s] of the frames: an array as it is, or 101 times over a duration."""
    if np.ndim(duration):
        return check_increasing(duration, 2)
    end = check_number(duration, "duration", "a positive number of seconds, or times of frames", above=0.0)
    return np.linspace(0.0, end, 101)


def check_forces(forces: Sequence[Force]) -> None:
    """Refuse anything but a list of forces."""
    if callable(forces) or not isinstance(forces, Iterable) or not all(callable(force) for force in forces):
        raise input_error(
            "bad_type",
            problem=f"forces = {forces!r:.60}",
            expected="a list of functions of time, q and qd",
            remedy="put a single force into a list" if callable(forces) else None,
        )


def kinetic_energy(model: Model, q: Array, qd: Array) -> Array:
    """1/2 qd^T M qd (T,) [J], body by body (2.48), in the poses q with the velocities qd (T, N, 3) [m, m/s]."""
    moving = model.rigid_bodies.basic(q, qd)
    return 0.5 * np.einsum("bef,tbex,tbfx->t", model.basic_mass, moving, moving, optimize=True)


def potential_energy(model: Model, q: Array) -> Array:
    """Energy of the weight (T,) [J] in the poses q (T, N, 3) [m], zero with the center of mass at the global origin."""
    return -model.mass.total * mass_center(model, q) @ model.gravity


def momentum(model: Model, q: Array, qd: Array) -> tuple[Array, Array]:
    """Linear momentum [kg m/s] and angular momentum about the center of mass [kg m2/s], (T, 3) each.

    In the poses q with the velocities qd (T, N, 3) [m, m/s].
    """
    place, moving = model.rigid_bodies.basic(q), model.rigid_bodies.basic(q, qd)
    linear = mass_weighted(model, moving)
    pushed = np.einsum("bef,tbfx->tbex", model.basic_mass, moving)
    return linear, np.cross(place, pushed).sum(axis=(1, 2)) - np.cross(mass_center(model, q), linear)


_START = 1e-6  # Largest violation of a constraint [m or 1] or of its rate [m/s or 1/s] at the start

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
        """Mass matrix and weight where they are the same in every pose: no body needs a cross product (2.62)."""
        if (bodies := self.model.rigid_bodies).crossed.any():
            return None
        q = self.model.standing[None]
        mass = mass_matrix(bodies, self.model.basic_mass, q)[0]
        weight = weight_force(bodies, self.model.mass, q, self.model.gravity)[0]
        return (mass, self.equations.elements(mass)), weight

    def masses(self, q: Array) -> tuple[Array, tuple[Array, float]]:
        """Mass matrix (3N, 3N) of a pose (N, 3), and its elements for compiled code."""
        if self._constant is not None:
            return self._constant[0]
        mass = mass_matrix(self.model.rigid_bodies, self.model.basic_mass, q[None])[0]
        return mass, self.equations.elements(mass)

    def own_force(self, q: Array, qd: Array) -> Array:
        """Weight and velocity-dependent inertia (N, 3) (2.71)."""
        if self._constant is not None:
            return self._constant[1]
        bodies, model, still = self.model.rigid_bodies, self.model, np.zeros_like(q[None])
        weight = weight_force(bodies, model.mass, q[None], model.gravity)[0]
        return np.asarray(weight - inertia_force(bodies, model.basic_mass, q[None], qd[None], still)[0])

    def applied(self, time: float, q: Array, qd: Array) -> Array:
        """The forces of this simulation (N, 3)."""
        at, total, topology = np.array([time]), np.zeros(q.shape), self.model.topology
        for force in self.forces:
            acting = np.asarray(force(at, q[None], qd[None]))
            kind = getattr(force, "__name__", type(force).__name__)
            if acting.size != total.size:
                raise input_error(
                    "bad_shape",
                    problem=f"the force {kind} has the shape {acting.shape}",
                    expected=f"generalized forces (1, {len(q)}, 3)",
                )
            if not np.isfinite(acting).all():
                bad = np.flatnonzero(~np.isfinite(acting.reshape(-1, 3)).all(axis=1))
                names = {topology.coordinate_names[k] for k in bad}
                bodies = [body.name for body in topology.bodies if names & set(body.members)]
                raise MuscleSolveError(
                    f"the simulation stops at {time:.4f} s: the force {kind} on {', '.join(sorted(names)[:_SHOWN])} "
                    f"(body {', '.join(bodies[:_SHOWN])}) is not finite"
                )
            total += acting.reshape(total.shape)
        return total

    def accelerations(
        self, time: float, q: Array, qd: Array, contact: Array | float = 0.0, polished: bool = True
    ) -> Accelerations:
        """Accelerations (3N,) and multipliers of one state, with stabilization (2.30, 2.37).

        contact (N, 3): generalized force of contacts with other bodies, beyond the forces of the system; polished:
        multipliers free of round-off.
        """
        return self.accelerated(time, q, qd, self.applied(time, q, qd) + contact, polished)

    def accelerated(self, time: float, q: Array, qd: Array, applied: Array, polished: bool) -> Accelerations:
        """Accelerations (3N,) and multipliers of one state under the weight and the applied forces (N, 3)."""
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
        """Power [W] of the applied forces (N, 3), without weight and contact."""
        return float(applied.ravel() @ qd.ravel())

    def derivative(self, time: float, state: Array) -> Array:
        """Time derivative dy/dt (6N,) of a state y (6N,): velocities [m/s], then accelerations [m/s2]."""
        q, qd = self.split(time, state)
        return np.concatenate([state[state.size // 2 :], self.accelerations(time, q, qd, polished=False).qdd])

    def split(self, time: float, state: Array) -> tuple[Array, Array]:
        """Positions and velocities (N, 3) of a state; refuses a state that is not finite."""
        q, qd = state.reshape(2, -1, 3)
        if not np.isfinite(state).all():
            names = self.model.topology.coordinate_names
            bad = [name for k, name in enumerate(names) if not np.isfinite([q[k], qd[k]]).all()]
            raise UnsolvableError(
                f"the simulation stops at {time:.4f} s: the coordinates of {', '.join(bad[:_SHOWN])} are not finite"
            )
        return q, qd

    def projected(self, time: float, state: Array) -> tuple[Array, float]:
        """The nearest state that satisfies the constraints, in the norm of the mass matrix, and the largest violation
        before.

        Positions minimize 1/2 |q - q*|^2_M subject to Phi = 0, then velocities 1/2 |qd - qd*|^2_M subject to
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
                f"{self._largest_violations(self.constraints.violation(q[None])[0])}"
            )
        mass, elements = self.masses(q)
        qd = self.equations.held(q, (mass @ moving.ravel()).reshape(q.shape), elements)
        return np.concatenate([q.ravel(), qd.ravel()]), drift

    def violation(self, q: Array) -> float:
        """Return the largest violation of a constraint in a pose (N, 3) [m or 1]."""
        return float(np.abs(self.constraints.violation(q[None])).max(initial=0.0))

    def _jacobian(self, q: Array) -> Array:
        return self.constraints.jacobian(q[None])[0].reshape(len(self.constraints.names), -1)

    def checked_start(self, q0: Array, qd0: Array) -> Array:
        """The starting state (6N,), on the constraints to round-off, from positions q0 and velocities qd0 (N, 3)."""
        topology, names, rows = self.model.topology, self.model.topology.coordinate_names, self.constraints
        q0 = check_array(q0, "q0", (len(names), 3), names, axis=0)
        qd0 = check_array(qd0, "qd0", (len(names), 3), names, axis=0)
        violation = rows.violation(q0[None])[0]
        if np.abs(violation).max(initial=0.0) > _START:
            worst = self._largest_violations(violation)
            raise input_error(
                "conflict",
                problem=f"the starting position violates the constraints: {worst}",
                expected="bodies that are rigid and loops that are closed",
                remedy="take it from joint coordinates (Tree.pose, motion_from), or assemble it",
            )
        jacobian = self._jacobian(q0)
        rate = jacobian @ qd0.ravel()
        if np.abs(rate).max(initial=0.0) > _START:
            raise input_error(
                "conflict",
                problem=f"the starting velocity violates the constraints: {self._largest_violations(rate)} per second",
                remedy="take it from joint rates (Tree.velocity, motion_from)",
            )
        if (direction := massless_motion(self.masses(q0)[0], jacobian)) is not None:
            size = np.linalg.norm(direction.reshape(-1, 3), axis=1)
            moved = [names[k] for k in np.argsort(-size) if size[k] > 0.1 * size.max()]
            bodies = [body.name for body in topology.bodies if {*body.members} & set(moved)]
            raise input_error(
                "bad_model",
                problem="the mass matrix is singular: no mass resists a motion of "
                f"{', '.join(map(str, moved[:_SHOWN]))} (body {', '.join(map(str, bodies[:_SHOWN]))})",
                expected="masses and inertias that resist every motion that the constraints allow",
            )
        return self.projected(0.0, np.concatenate([q0.ravel(), qd0.ravel()]))[0]

    def _largest_violations(self, off: Array) -> str:
        """The constraint rows with the largest violations, with the amounts."""
        order = [k for k in np.argsort(-np.abs(off)) if abs(off[k]) > 0.1 * np.abs(off).max()]
        return shortened([f"{self.constraints.names[k]} by {off[k]:.3g}" for k in order], _SHOWN, "; ")


Pulse = Callable[[Array], Array]
"""Acceleration (T, 3) [m/s2] at times (T,) [s]."""

_TURNS = 1e-9  # Velocity [m/s or 1/s] that a driven model may have beside its translation


def half_sine(velocity: Array, duration: float, begin: float = 0.0) -> Pulse:
    """Pulse of half a sine that changes a velocity, for `Start.pulse`.

    Args:
        velocity: (3,) [m/s] change.
        duration: [s].
        begin: time [s].

    Returns:
        Function of times (T,) [s] with the acceleration (T, 3) [m/s^2].

    Examples:
        >>> stop = ms.dynamics.half_sine((-5.0, 0.0, 0.0), 0.1)
        >>> stop(np.array([0.05]))[0].round(2).tolist()
        [-78.54, 0.0, 0.0]
    """
    change = check_array(velocity, "velocity", (3,), axis=0)
    duration = check_number(duration, "duration", "a positive number of seconds", above=0.0)
    begin = check_number(begin, "begin", "a number of seconds")
    peak = 0.5 * np.pi / duration * change

    def pulse(time: Array) -> Array:
        phase = np.clip((np.asarray(time) - begin) / duration, 0.0, 1.0)
        return np.sin(np.pi * phase)[:, None] * peak

    return pulse


def no_pulse(time: Array) -> Array:
    """Zero acceleration, for a model that keeps its velocity under any force (`Start.pulse`).

    Args:
        time: (T,) [s].

    Returns:
        Zeros (T, 3) [m/s^2].
    """
    return np.zeros((len(time), 3))


@dataclass(frozen=True)
class DrivenSystem(System):
    """Equations of motion of a model that moves with a prescribed acceleration, without turning."""

    pulse: Pulse = field(default=no_pulse)

    def accelerated(self, time: float, q: Array, qd: Array, applied: Array, polished: bool) -> Accelerations:
        """The prescribed accelerations, which no force changes."""
        now = check_array(self.pulse(np.array([time])), "the pulse", (1, 3), finite=False, real=True)
        if not np.isfinite(now).all():
            raise MuscleSolveError(f"the simulation stops at {time:.4f} s: the pulse is not finite")
        qdd = np.zeros(q.shape)
        qdd[: self.model.topology.point_count] = now[0]
        return Accelerations(qdd.ravel(), np.zeros(len(self.constraints.names)), 0)

    def power(self, q: Array, qd: Array, qdd: Array, applied: Array, contact: Array) -> float:
        """Power [W] of the applied forces and of the drive: the power of inertia minus weight and contact."""
        needed = (self.masses(q)[0] @ qdd.ravel()).reshape(q.shape) - self.own_force(q, qd) - contact
        return float(needed.ravel() @ qd.ravel())

    def checked_start(self, q0: Array, qd0: Array) -> Array:
        """The starting state (6N,) of a driven model, which must not turn, from q0 and qd0 (N, 3)."""
        state = super().checked_start(q0, qd0)
        qd, points = state.reshape(2, -1, 3)[1], self.model.topology.point_count
        if (
            np.abs(qd[points:]).max(initial=0.0) > _TURNS
            or np.ptp(qd[:points], axis=0).max(initial=0.0) > _TURNS
        ):
            raise input_error(
                "conflict",
                problem="a model with a pulse turns at the start",
                expected="the same velocity for all points, and zero for all vectors",
            )
        return state
