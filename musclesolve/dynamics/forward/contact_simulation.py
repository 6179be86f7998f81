"""Forward dynamics with contact: several models in one simulation, whose surfaces touch each other and the ground.

Between events the motion is that of `simulate`. A contact begins where a gap becomes zero: there the step ends, the
speed of approach is stored for the law of contact (Silva 2003, 4.3), and the integrator starts anew; it is deleted
when the surfaces have parted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, Touch
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.dynamics.forward.simulate import (
    Integration,
    Simulation,
    check_forces,
    frame_times,
    simulated,
    stepper,
)
from musclesolve.dynamics.inverse.external_wrenches import force_on_bodies
from musclesolve.dynamics.model.joint_and_body_constraints import fixed
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError, MuscleSolveError

CONTACT = Integration(tolerance=1e-6, stepper="rk45")
"""How a simulation with contact is integrated unless said otherwise."""
LOOKS = np.array([0.25, 0.5, 0.75, 1.0])
"""Shares of a step at which it is seen whether surfaces overlap."""
OVERLAP = 20.0
"""Force of a contact at the start, in weights of all models together, beyond which it is refused."""


@dataclass(frozen=True)
class Start:
    """A model and how it starts: positions q and velocities qd (N, 3); forces and held points as in `simulate`."""

    model: Model
    q: Array
    qd: Array
    forces: Sequence[Force] = ()
    held: Sequence[str] = ()


@dataclass(frozen=True)
class ContactEvent:
    """Two surfaces begin to touch, with the speed of approach [m/s], or part."""

    time: float
    pair: str
    begins: bool
    speed: float


@dataclass(frozen=True)
class ContactSimulation:
    """Simulated motions by model, and what the pairs of surfaces (P) did at the times (T,) of the frames.

    depth (T, P) [m], negative while apart; force (T, P, 3) [N] on the second surface and its point (T, P, 3) [m];
    stored (T, P) [J] elastic energy; events in their order.
    """

    time: Array
    motions: dict[str, Simulation]
    pairs: ContactPairs
    depth: Array
    force: Array
    point: Array
    stored: Array
    events: tuple[ContactEvent, ...]

    @property
    def energy(self) -> Array:
        """Kinetic, potential and elastic energy of all models together (T,) [J]."""
        return np.sum([motion.energy for motion in self.motions.values()], axis=0) + self.stored.sum(axis=1)

    def force_on(self, surface: str) -> Array:
        """Sum of the forces (T, 3) [N] that a surface receives.

        Raises:
            InputError: no pair has this surface.
        """
        names = [one.name for one in self.pairs.surfaces]
        sign = np.zeros(len(self.pairs.first))
        for side, numbers in ((1.0, self.pairs.second), (-1.0, self.pairs.first)):
            sign += side * np.array([names[k] == surface for k in numbers], dtype=float)
        if not sign.any():
            raise InputError(f"no pair has the surface {surface!r}", code="unknown_name", where=surface)
        return np.einsum("p,tpx->tx", sign, self.force)


def simulate_contact(
    starts: Mapping[str, Start],
    pairs: ContactPairs,
    duration: float | Array,
    integration: Integration = CONTACT,
) -> ContactSimulation:
    """Motion of models that touch each other and the ground, under gravity and forces.

    Args:
        starts: name -> model and start; the names are those that the pairs were built with.
        pairs: `ContactPairs.build` of the same models.
        duration: [s], for a hundred and one frames, or the times (T,) of the frames, from the start on.
        integration: tolerance, stepper and method.

    Raises:
        InputError: starts that are no states of their models, or surfaces that overlap deeply at the start.
        MuscleSolveError: steps that become too small, forces that are not finite; says when, and which pair presses.
    """
    times = frame_times(duration)
    systems = {name: _system(start, integration) for name, start in starts.items()}
    world = _World(systems, pairs)
    begin = [
        systems[name].checked_start(np.asarray(start.q), np.asarray(start.qd))
        for name, start in starts.items()
    ]
    run = _Run(world, integration, times)
    run.start(np.concatenate(begin))
    while len(run.states) < len(times):
        run.go_to_next_event()
    return _simulation(run)


def _system(start: Start, how: Integration) -> System:
    check_forces(start.forces)
    rows = start.model.constraints
    if start.held:
        rows = rows.with_linear(*fixed(start.model.topology, np.asarray(start.q), start.held))
    return System(start.model, rows, tuple(start.forces), how.method)


@dataclass(frozen=True)
class _World:
    """All models as one system of differential equations; a state is theirs one after the other."""

    systems: Mapping[str, System]
    pairs: ContactPairs

    def parts(self, state: Array) -> list[Array]:
        """The state of every model."""
        sizes = [6 * len(system.model.standing) for system in self.systems.values()]
        return np.split(state, np.cumsum(sizes)[:-1])

    def bodies(self, time: float, state: Array) -> BodyStates:
        """Poses and velocities of the bodies of all models."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        states = [system.split(time, part) for system, part in parts]
        return BodyStates.of([system.model for system in self.systems.values()], states)

    def touch(self, time: float, state: Array, approach: Array) -> Touch:
        """What the pairs do."""
        return self.pairs.touch(self.bodies(time, state), approach)

    def contact_forces(self, state: Array, touch: Touch) -> list[Array]:
        """Generalized force (N, 3) of the contacts on every model."""
        counts = [len(system.model.topology.bodies) for system in self.systems.values()]
        force, moment = self.pairs.on_bodies(touch, sum(counts) + 1)
        found, first = [], 0
        for system, part, count in zip(self.systems.values(), self.parts(state), counts, strict=True):
            own, q = slice(first, first + count), part.reshape(2, -1, 3)[:1]
            found.append(force_on_bodies(system.model, q, force[None, own], moment[None, own])[0])
            first += count
        return found

    def derivative(self, time: float, state: Array, approach: Array) -> Array:
        """dy/dt."""
        forces = self.contact_forces(state, self.touch(time, state, approach))
        rates = []
        for system, part, force in zip(self.systems.values(), self.parts(state), forces, strict=True):
            q, qd = system.split(time, part)
            rates += [part[part.size // 2 :], system.accelerations(time, q, qd, force).qdd]
        return np.concatenate(rates)

    def projected(self, time: float, state: Array) -> tuple[Array, float]:
        """The nearest state that satisfies the constraints of every model, and how far it was off."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        found = [system.projected(time, part) for system, part in parts]
        return np.concatenate([part for part, _ in found]), max(off for _, off in found)


@dataclass
class _Run:
    """A simulation under way: the state at `now`, which pairs touch and at what speed they began to, and the frames."""

    world: _World
    how: Integration
    times: Array
    now: float = 0.0
    state: Array = field(default_factory=lambda: np.zeros(0))
    touching: Mask = field(default_factory=lambda: np.zeros(0, bool))
    approach: Array = field(default_factory=lambda: np.zeros(0))
    states: list[Array] = field(default_factory=list)
    approaches: list[Array] = field(default_factory=list)
    events: list[ContactEvent] = field(default_factory=list)
    drift: float = 0.0
    steps: int = 0
    evaluations: int = 0

    def start(self, state: Array) -> None:
        """Take the first state; pairs that overlap touch from the beginning."""
        self.now, self.state = float(self.times[0]), state
        count = len(self.world.pairs.first)
        touch = self.world.touch(self.now, state, np.full(count, np.inf))
        self._refuse_overlap(touch)
        self.touching = touch.depth > 0.0
        self.approach = np.where(self.touching, np.maximum(touch.rate, 0.0), np.inf)
        self._store(state)

    def go_to_next_event(self) -> None:
        """Integrate until a contact begins or the last frame is reached."""
        solver = stepper(self._derivative, self.now, self.state, float(self.times[-1]), self.how)
        while solver.status == "running":
            try:
                message = solver.step()
            except MuscleSolveError as fault:
                raise MuscleSolveError(f"{fault}{self._pressing()}") from fault
            if solver.status == "failed":
                raise MuscleSolveError(
                    f"the simulation stops at {solver.t:.4f} s: {message}{self._pressing()}"
                )
            self.steps += 1
            between = solver.dense_output()
            event = self._first_touch(between, self.now, solver.t)
            end = solver.t if event is None else event
            self._store_frames(between, end)
            reached = solver.y if event is None else between(end)
            self.state, off = self.world.projected(end, reached)
            self.now, self.drift = end, max(self.drift, off)
            self._update_contacts()
            if event is not None:
                break
            solver.y, solver.f = self.state, self._derivative(end, self.state)
        self.evaluations += solver.nfev

    def _derivative(self, time: float, state: Array) -> Array:
        return self.world.derivative(time, state, self.approach)

    def _gaps(self, time: float, state: Array) -> Array:
        return self.world.pairs.separation(self.world.bodies(time, state)).gap

    def _first_touch(self, between: object, begin: float, end: float) -> float | None:
        """The earliest time in a step at which surfaces that were apart meet; None where none do."""
        from scipy.optimize import brentq

        free = np.flatnonzero(~self.touching)
        before = begin
        for share in LOOKS if len(free) else ():
            time = begin + share * (end - begin)
            met = free[self._gaps(time, between(time))[free] < 0.0]  # type: ignore[operator]
            if len(met):

                def least(at: float, met: Array = met) -> float:
                    return float(self._gaps(at, between(at))[met].min())  # type: ignore[operator]

                if least(before) <= 0.0:
                    return before if before > begin else begin + 1e-3 * (time - begin)
                return float(brentq(least, before, time, xtol=1e-13, rtol=1e-14))
            before = time
        return None

    def _update_contacts(self) -> None:
        """Note which pairs touch now, those on the verge included; speeds of approach are kept while they do."""
        touch = self.world.touch(self.now, self.state, self.approach)
        names = self.world.pairs.names
        verge = 1e-10 * (touch.rate > 0.0)
        touching = touch.depth > np.where(self.touching, 0.0, -verge)
        for p in np.flatnonzero(touching != self.touching):
            speed = float(touch.rate[p])
            self.approach[p] = max(speed, 0.0) if touching[p] else np.inf
            self.events.append(ContactEvent(self.now, names[p], bool(touching[p]), speed))
        self.touching = touching

    def _store_frames(self, between: object, end: float) -> None:
        wanted = self.times[len(self.states) : int(np.searchsorted(self.times, end, side="right"))]
        for time in wanted:
            self._store(self.world.projected(time, between(time))[0])  # type: ignore[operator]

    def _store(self, state: Array) -> None:
        self.states.append(state)
        self.approaches.append(self.approach.copy())

    def _refuse_overlap(self, touch: Touch) -> None:
        models = [system.model for system in self.world.systems.values()]
        weight = sum(model.mass.total * float(np.linalg.norm(model.gravity)) for model in models)
        size = np.linalg.norm(touch.force, axis=1)
        if not len(size) or size.max() <= OVERLAP * max(weight, 1e-3):
            return
        worst = int(np.argmax(size))
        raise InputError(
            f"{self.world.pairs.names[worst]} overlap by {1000.0 * touch.depth[worst]:.1f} mm at the start, "
            f"a force of {size[worst]:.3g} N",
            code="conflict",
            where=self.world.pairs.names[worst],
            expected="surfaces that are apart or hardly touch",
            remedy="move the models apart, or leave the pair out",
        )

    def _pressing(self) -> str:
        """The pair that presses most at the last good state, for a message."""
        touch = self.world.touch(self.now, self.state, self.approach)
        size = np.linalg.norm(touch.force, axis=1)
        if not size.any():
            return ""
        worst = int(np.argmax(size))
        pair = self.world.pairs.names[worst]
        return f" The largest force of contact is that of {pair}, {size[worst]:.3g} N at {self.now:.4f} s."


def _simulation(run: _Run) -> ContactSimulation:
    """Everything at the times of the frames."""
    world = run.world
    touches = [world.touch(*each) for each in zip(run.times, run.states, run.approaches, strict=True)]
    forces = [world.contact_forces(state, touch) for state, touch in zip(run.states, touches, strict=True)]
    cost = {"drift": run.drift, "steps": run.steps, "evaluations": run.evaluations}
    motions = {
        name: simulated(
            system,
            run.times,
            np.stack([world.parts(state)[k] for state in run.states]),
            [force[k] for force in forces],
            **cost,
        )
        for k, (name, system) in enumerate(world.systems.items())
    }
    depth = np.stack([touch.depth for touch in touches])
    laws = world.pairs.laws
    stored = np.column_stack([law.stored_energy(depth[:, p]) for p, law in enumerate(laws)])
    force, point = (np.stack([getattr(touch, name) for touch in touches]) for name in ("force", "point"))
    return ContactSimulation(run.times, motions, world.pairs, depth, force, point, stored, tuple(run.events))
