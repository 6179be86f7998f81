"""Forward dynamics: the motion that follows from forces.

The natural coordinates and their velocities are the state. Accelerations come from the augmented Lagrangian
iteration (Silva 2003, 2.37) or directly, a Runge-Kutta method of order eight (scipy's DOP853) takes the steps, and
after each one positions and velocities are projected back on the constraints, orthogonally in the sense of the mass
matrix, so that the constraints do not drift and the projection does no work at first order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_increasing, check_number
from musclesolve.dynamics.forward.accelerations import METHODS, UnsolvableError
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_of
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, fixed
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError, MuscleSolveError

STEPPERS = ("dop853", "rk45", "radau")
"""Names of the integrators of scipy that take the steps."""
SMALLEST, PATIENCE = 1e-9, 20
"""So many steps [s] shorter than that one after the other, and forces are too stiff to be followed."""


@dataclass(frozen=True)
class Simulation:
    """A simulated motion: time (T,) [s]; q, qd, qdd (T, N, 3); multipliers (T, c) of the constraint rows.

    violation, velocity_violation (T,): largest error of a constraint [m or 1] and of its rate, at the output.
    drift: largest error that any step left before it was projected away. steps, evaluations: what it cost.
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
        """The same with joint coordinates, ready for inverse dynamics."""
        return motion_of(self.model, self.time, self.q, self.qd, self.qdd)

    @property
    def energy(self) -> Array:
        """Kinetic energy and energy of the weight together (T,) [J]."""
        return kinetic_energy(self.model, self.q, self.qd) + potential_energy(self.model, self.q)


@dataclass(frozen=True)
class Integration:
    """How a motion is integrated.

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
        model: the model.
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
        MuscleSolveError: a loop that cannot close, forces that are not finite, steps that become too small; says when.
    """
    times = frame_times(duration)
    check_forces(forces)
    how = Integration() if integration is None else integration
    check_integration(how)
    rows = model.constraints if constraints is None else constraints
    if held:
        rows = rows.with_linear(*fixed(model.topology, np.asarray(q0), held))
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
        wanted = times[len(states) : int(np.searchsorted(times, solver.t, side="right"))]
        if len(wanted):
            between = solver.dense_output()
            states += [system.projected(t, between(t))[0] for t in wanted]
        solver.y, off = system.projected(solver.t, solver.y)
        solver.f = system.derivative(solver.t, solver.y)
        drift = max(drift, off)
    still = [0.0] * len(times)
    return simulated(system, times, np.stack(states), still, drift, steps, solver.nfev + steps)


def simulated(
    system: System,
    times: Array,
    states: Array,
    contact: Sequence[Array | float],
    drift: float,
    steps: int,
    evaluations: int,
) -> Simulation:
    """Accelerations, multipliers and errors at the times (T,) of frames with states (T, 6N) and forces of contact."""
    q, qd = np.moveaxis(states.reshape(len(times), 2, -1, 3), 1, 0)
    found = [system.accelerations(*frame) for frame in zip(times, q, qd, contact, strict=True)]
    rows = system.constraints
    rates = np.einsum("tcnx,tnx->tc", rows.jacobian(q), qd)
    return Simulation(
        system.model,
        times,
        q,
        qd,
        np.stack([one.qdd for one in found]).reshape(q.shape),
        np.stack([one.multipliers for one in found]),
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

    A trial state without a solution is not a number for it, so that it tries a shorter step.

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
    """Counts the steps shorter than `SMALLEST` that follow each other."""

    count: int = 0

    def step(self, solver: Any) -> str:
        """Take one step; a sentence that says why it failed, empty where it did not."""
        try:
            message = solver.step()
        except (ValueError, np.linalg.LinAlgError) as fault:
            return f"{str(fault).rstrip('.')}."
        self.count = self.count + 1 if solver.t - solver.t_old < SMALLEST else 0
        if solver.status == "failed":
            return f"{str(message).rstrip('.')}."
        if self.count > PATIENCE:
            return f"{self.count} steps of less than {SMALLEST:g} s follow each other."
        return ""


def frame_times(duration: float | Array) -> Array:
    """The times (T,) of the frames: those given, or a hundred and one over a duration."""
    if np.ndim(duration):
        return check_increasing(duration, 2)
    end = check_number(duration, "duration", "a positive number of seconds, or times of frames", above=0.0)
    return np.linspace(0.0, end, 101)


def check_integration(how: Integration) -> None:
    """Refuse what is no `Integration`."""
    if not isinstance(how, Integration):
        raise InputError(
            f"integration = {how!r:.60}",
            code="bad_type",
            expected='Integration(stepper="radau"), for instance',
        )


def check_forces(forces: Sequence[Force]) -> None:
    """Refuse what is no list of forces."""
    if callable(forces) or not all(callable(force) for force in forces):
        raise InputError(
            f"forces = {forces!r:.60}",
            code="bad_type",
            expected="a list of things that can be called with time, q and qd",
            remedy="put a single force into a list" if callable(forces) else None,
        )


def kinetic_energy(model: Model, q: Array, qd: Array) -> Array:
    """1/2 qd^T M qd (T,) [J], body by body (2.48)."""
    moving = model.rigid_bodies.basic_velocity(q, qd)
    return 0.5 * np.einsum("bef,tbex,tbfx->t", model.basic_mass, moving, moving, optimize=True)


def potential_energy(model: Model, q: Array) -> Array:
    """Energy of the weight (T,) [J], zero with the center of mass at the global origin."""
    return -model.mass.total * mass_center(model, q) @ model.gravity


def mass_center(model: Model, q: Array) -> Array:
    """Center of mass of the whole model (T, 3) [m]."""
    return _weighted(model, model.rigid_bodies.basic(q)) / model.mass.total


def momentum(model: Model, q: Array, qd: Array) -> tuple[Array, Array]:
    """Linear momentum [kg m/s] and angular momentum about the center of mass [kg m2/s], (T, 3) each."""
    place, moving = model.rigid_bodies.basic(q), model.rigid_bodies.basic_velocity(q, qd)
    linear = _weighted(model, moving)
    pushed = np.einsum("bef,tbfx->tbex", model.basic_mass, moving)
    return linear, np.cross(place, pushed).sum(axis=(1, 2)) - np.cross(mass_center(model, q), linear)


def _weighted(model: Model, basic: Array) -> Array:
    """Sum over bodies of mass times what the basic coordinates give at the centers of mass, (T, 3)."""
    weights = model.mass.mass[:, None] * model.rigid_bodies.coordinates(model.mass.center)
    return np.einsum("be,tbex->tx", weights, basic)
