"""Forward dynamics with contact: several models in one simulation, whose surfaces touch each other and the ground.

All models, contacts and straps are one system of differential equations (`World`). Between events the motion is
computed as by `simulate`. A contact begins where a gap becomes zero: there the step ends, the speed of approach is
stored for the law of contact (Silva 2003, 4.3), and the integrator restarts. The speed is deleted when the surfaces
have parted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, vector_product
from musclesolve._util.checks import check_type
from musclesolve._util.messages import Named
from musclesolve.dynamics.contact.belt import Pull, Strap, Straps
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, Touch
from musclesolve.dynamics.forward import simulate
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, fixed
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.errors import InputError, MuscleSolveError, input_error

CONTACT = simulate.Integration(tolerance=1e-6, stepper="rk45")
"""Default integration of a simulation with contact."""
EXTRA = 2
"""Numbers behind the states of the models: energy [J] lost in contacts and straps, work [J] of the applied forces."""
LOOKS = np.array([0.25, 0.5, 0.75, 1.0])
"""Shares of a step at which the gaps are checked for overlap."""
PULL = 10.0
"""Acceleration [m/s2] that surfaces may have toward each other before they touch, for the longest step."""
OVERLAP = 20.0
"""Force of a contact at the start, in weights of all models together, beyond which it is refused."""
FOLLOWED = 1e-3
"""Constraint error [m or 1] over the tolerance of the steps beyond which a step is projected."""


@dataclass(frozen=True)
class Start:
    """A model and how it starts: positions q and velocities qd (N, 3); forces and held points as in `simulate`.

    pulse: a prescribed acceleration (T, 3) [m/s2] at times (T,), which no force changes; the model does not turn
    (`half_sine`, `no_pulse`, or a function of your own). constraints: rows instead of the model's own, for
    loops that the tree of joints does not have.
    """

    model: Model
    q: Array
    qd: Array
    forces: Sequence[Force] = ()
    held: Sequence[str] = ()
    pulse: simulate.Pulse | None = None
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        check_model(self.model)
        if self.pulse is not None and (self.held or not callable(self.pulse)):
            raise input_error(
                "conflict" if self.held else "bad_type",
                problem="a pulse that cannot be called, or beside held points",
                expected="a function of times (T,) that returns accelerations (T, 3), and no held points",
            )


@dataclass(frozen=True)
class ContactEvent:
    """Two surfaces begin to touch, or part, with the rate [m/s] at which they approach each other."""

    time: float
    pair: str
    begins: bool
    speed: float


@dataclass(frozen=True)
class ContactSimulation:
    """Simulated motions by model, and the contacts of the pairs of surfaces (P) at the times (T,) of the frames.

    depth (T, P) [m], negative while apart; force (T, P, 3) [N] on the second surface and its point (T, P, 3) [m];
    stored (T, P) [J] elastic energy; lost (T,) [J] energy lost in damping and friction of contacts and straps since the
    start; work (T,) [J] of applied forces and drives since the start; tension [N] and stretched [J], (T, S) each, of
    the straps; events in their order.
    """

    time: Array
    motions: dict[str, simulate.Simulation]
    pairs: ContactPairs
    depth: Array
    force: Array
    point: Array
    stored: Array
    lost: Array
    work: Array
    tension: Array
    stretched: Array
    events: tuple[ContactEvent, ...]

    @property
    def energy(self) -> Array:
        """Kinetic, potential and elastic energy of all models together (T,) [J]."""
        moving = np.sum([motion.energy for motion in self.motions.values()], axis=0)
        return np.asarray(moving + self.stored.sum(axis=1) + self.stretched.sum(axis=1))

    @property
    def imbalance(self) -> Array:
        """Energy (T,) [J] gained since the start without work: the error of the integration."""
        return np.asarray(self.energy - self.energy[0] - self.work + self.lost)

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
            raise input_error("unknown_name", where=surface, problem=f"no pair has the surface {surface!r}")
        return np.einsum("p,tpx->tx", sign, self.force)


def simulate_contact(
    starts: Mapping[str, Start],
    pairs: ContactPairs,
    duration: float | Array,
    integration: simulate.Integration = CONTACT,
    *,
    straps: Sequence[Strap] = (),
) -> ContactSimulation:
    """Motion of models that touch each other and the ground, under gravity and forces.

    Args:
        starts: name -> model and start, with the names and models from which the pairs were built, in any order.
        pairs: `ContactPairs.build` of the same models.
        duration: [s], for a hundred and one frames, or the times (T,) of the frames, from the start on.
        integration: tolerance, stepper and method.
        straps: belts between bodies, without tension at the start.

    Raises:
        InputError: starts that are no states of their models, or not of the models of the pairs; surfaces that overlap
            deeply at the start.
        MuscleSolveError: steps that become too small, forces that are not finite; with the time and the pair in
            contact.

    Examples:
        >>> model = ms.dynamics.forward_human_model()
        >>> surfaces = ms.dynamics.body_surfaces(model)
        >>> floor = ms.dynamics.Surface.plane("floor", (0.0, 0.0, -2.0), (0.0, 0.0, 1.0))
        >>> laws = floor.pairs_with(surfaces, ms.dynamics.body_laws(surfaces))
        >>> pairs = ms.dynamics.ContactPairs.build({"person": model}, [floor, *surfaces], laws)
        >>> start = ms.dynamics.Start(model, model.standing, 0.0 * model.standing)
        >>> fall = ms.dynamics.simulate_contact({"person": start}, pairs, 0.05)
        >>> fall.motions["person"].q.shape
        (101, 33, 3)
    """
    times = simulate.frame_times(duration)
    check_type(integration, simulate.Integration, "integration", simulate.HOW)
    check_type(pairs, ContactPairs, "pairs", "ContactPairs, from ContactPairs.build")
    if not isinstance(starts, Mapping) or not all(isinstance(start, Start) for start in starts.values()):
        expected = "a mapping from the name of each model to its Start"
        raise input_error("bad_type", problem=f"starts = {starts!r:.60}", expected=expected)
    if not starts:
        raise input_error("missing_argument", where="starts", problem="there is no model to simulate")
    systems: dict[str, simulate.System] = {}
    for name, model in pairs.in_order({name: start.model for name, start in starts.items()}).items():
        start = starts[name]
        rows = model.constraints if start.constraints is None else start.constraints
        simulate.check_forces(start.forces)
        if start.held:
            rows = rows.with_linear(*fixed(model.topology, start.q, start.held))
        parts = model, rows, tuple(start.forces), integration.method
        systems[name] = (
            simulate.System(*parts) if start.pulse is None else simulate.DrivenSystem(*parts, start.pulse)
        )
    states = [
        system.checked_start(np.asarray(starts[name].q), np.asarray(starts[name].qd))
        for name, system in systems.items()
    ]
    models = {name: system.model for name, system in systems.items()}
    poses = [system.split(0.0, state) for system, state in zip(systems.values(), states, strict=True)]
    bodies = BodyStates.from_models([*models.values()], poses)
    world = World(systems, pairs, Straps.build(models, straps, bodies.motions))
    run = _ContactRun(world, integration, times, np.concatenate([*states, np.zeros(EXTRA)]))
    while len(run.states) < len(times):
        run.go_to_next_event()

    frames = zip(times, run.states, run.contacts, strict=True)
    loads = [world.loads(time, state, *contact) for time, state, contact in frames]
    cost = run.drift, run.steps, run.evaluations
    motions = {}
    for k, (name, system) in enumerate(systems.items()):
        path = np.stack([world.parts(state)[k] for state in run.states])
        motions[name] = simulate.simulated(system, times, path, [at.forces[k] for at in loads], *cost)
    depth, force = (np.stack([getattr(at.touch, of) for at in loads]) for of in ("depth", "force"))
    point = np.stack([at.touch.touches.point for at in loads])
    stored = np.zeros(depth.shape)
    for p, law in enumerate(pairs.laws):
        stored[:, p] = law.stored_energy(depth[:, p])
    lost, work = np.stack([state[-EXTRA:] for state in run.states]).T
    tension, stretched = (np.stack([getattr(at.pull, of) for at in loads]) for of in ("tension", "stored"))
    return ContactSimulation(
        time=times,
        motions=Named(motions, "model in the simulation"),
        pairs=pairs,
        depth=depth,
        force=force,
        point=point,
        stored=stored,
        lost=lost,
        work=work,
        tension=tension,
        stretched=stretched,
        events=tuple(sorted(run.events, key=lambda event: event.time)),
    )


@dataclass(frozen=True)
class Loads:
    """Loads of the contact pairs and of the straps, and the generalized force (N, 3) on every model."""

    touch: Touch
    pull: Pull
    forces: list[Array]


@dataclass(frozen=True)
class World:
    """All models as one system; a state holds the states of the models in order, then `EXTRA` numbers."""

    systems: Mapping[str, simulate.System]
    pairs: ContactPairs
    straps: Straps

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([0, *(6 * len(system.model.standing) for system in self.systems.values())]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    @property
    def weight(self) -> float:
        """Weight of all models together [N]."""
        models = [system.model for system in self.systems.values()]
        return sum(model.mass.total * float(np.linalg.norm(model.gravity)) for model in models)

    def parts(self, state: Array) -> list[Array]:
        """The state of every model, cut from the state of all models."""
        return [state[numbers] for numbers in self._slices]

    def bodies(self, time: float, state: Array) -> BodyStates:
        """Poses and velocities of the bodies of all models; refuses a state that is not finite."""
        systems = list(self.systems.values())
        states = [system.split(time, part) for system, part in zip(systems, self.parts(state), strict=True)]
        return BodyStates.from_models([system.model for system in systems], states)

    def gaps(self, time: float, state: Array) -> Array:
        """Gap (P,) [m] of every pair."""
        return self.pairs.gaps(self.bodies(time, state))

    def loads(self, time: float, state: Array, approach: Array, touching: Mask) -> Loads:
        """Return the loads of contact pairs and straps."""
        bodies = self.bodies(time, state)
        touch = self.pairs.touch(bodies, approach, touching)
        pull = self.straps.pull(bodies.motions)
        if not (touch.force.any() or pull.tension.any()):
            return Loads(touch, pull, [np.zeros(q.shape) for q, _ in bodies.states])
        wrench = self.pairs.wrenches(touch, len(bodies.motions.place))
        both = np.concatenate([vector_product(pull.point, pull.force), pull.force], axis=2)
        np.add.at(wrench, self.straps.body, both)
        return Loads(touch, pull, bodies.generalized(wrench))

    def derivative(self, time: float, state: Array, approach: Array, touching: Mask) -> Array:
        """Time derivative dy/dt of the state y of all models."""
        loads = self.loads(time, state, approach, touching)
        rates, work = [], 0.0
        for name, part, contact in zip(self.systems, self.parts(state), loads.forces, strict=True):
            system, (q, qd) = self.systems[name], part.reshape(2, -1, 3)
            try:
                applied = system.applied(time, q, qd)
            except MuscleSolveError as fault:
                if len(self.systems) == 1 or isinstance(fault, InputError):
                    raise
                raise MuscleSolveError(f"{name}: {fault}") from fault
            qdd = system.accelerated(time, q, qd, applied + contact, polished=False).qdd
            rates += [part[part.size // 2 :], qdd]
            work += system.power(q, qd, qdd.reshape(q.shape), applied, contact)
        return np.concatenate([*rates, [loads.touch.loss + loads.pull.loss, work]])

    def violation(self, state: Array) -> float:
        """Return the largest violation of a constraint of all models [m or 1]."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        return max(system.violation(part.reshape(2, -1, 3)[0]) for system, part in parts)

    def projected(self, time: float, state: Array) -> Array:
        """The nearest state that satisfies the constraints of every model."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        return np.concatenate([*(system.projected(time, part)[0] for system, part in parts), state[-EXTRA:]])


class _ContactRun:
    """The state at `now`, the pairs in contact with their speeds at first touch, and the frames so far.

    Pairs that overlap in the first state touch from the beginning, unless they press too hard.
    """

    def __init__(self, world: World, how: simulate.Integration, times: Array, state: Array) -> None:
        self.world, self.how, self.times = world, how, times
        self.now, self.state = float(times[0]), state
        self.states, self.contacts = list[Array](), list[tuple[Array, Mask]]()
        self.events, self.small = list[ContactEvent](), simulate.SmallSteps()
        self.drift, self.steps, self.evaluations = 0.0, 0, 0
        count, names = len(world.pairs.first), world.pairs.names
        self.approach, self.touching = np.full(count, np.inf), np.ones(count, bool)
        touch = self.touch = self._touch(self.now, self.state)
        size = np.linalg.norm(touch.force, axis=1)
        if len(size) and size.max() > OVERLAP * max(world.weight, 1e-3):
            worst = int(np.argmax(size))
            raise input_error(
                "conflict",
                where=names[worst],
                problem=f"{names[worst]} overlap by {1000.0 * touch.depth[worst]:.1f} mm at the "
                f"start, a force of {size[worst]:.3g} N",
                expected="surfaces that are apart or hardly touch",
                remedy="move the models apart, or leave the pair out",
            )
        self.touching = touch.depth > 0.0
        self.approach = np.where(self.touching, np.maximum(touch.rate, 0.0), np.inf)
        self._store(self.state)

    def go_to_next_event(self) -> None:
        """Integrate until a contact begins or the last frame is reached."""

        def derivative(time: float, state: Array) -> Array:
            return self.world.derivative(time, state, self.approach, self.touching)

        solver = simulate.stepper(derivative, self.now, self.state, float(self.times[-1]), self.how)
        while solver.status == "running":
            solver.max_step = min(self.how.largest_step, self._longest_step())
            try:
                fault = self.small.step(solver)
            except MuscleSolveError as error:
                raise MuscleSolveError(f"{error}{self._pressing()}") from error
            self.steps += 1
            if fault:
                raise MuscleSolveError(f"the simulation stops at {solver.t:.4f} s: {fault}{self._pressing()}")
            between = solver.dense_output()
            end, met = self._first_touch(between, self.now, solver.t)
            for time in self.times[len(self.states) : int(np.searchsorted(self.times, end, side="right"))]:
                self._store(self.world.projected(time, between(time)))
            # Project the state at an event, and the state at the end of a step if it violates the constraints.
            self.state = between(end) if len(met) else solver.y
            off = self.world.violation(self.state)
            self.drift = max(self.drift, off)
            if len(met) or off > FOLLOWED * self.how.tolerance:
                self.state = self.world.projected(end, self.state)
                if not len(met):
                    solver.y, solver.f = self.state, derivative(end, self.state)
            self._end_contacts(between)
            self.now = float(end)
            if len(met):
                # The law of contact needs the speeds at which the pairs begin to touch.
                touch = self.touch = self._touch(self.now, self.state)
                for p in met:
                    speed = float(touch.rate[p])
                    self.touching[p], self.approach[p] = True, max(speed, 0.0)
                    self.events.append(ContactEvent(self.now, self.world.pairs.names[p], True, speed))
                break
        self.evaluations += solver.nfev

    def _touch(self, time: float, state: Array) -> Touch:
        return self.world.pairs.touch(self.world.bodies(time, state), self.approach, self.touching)

    def _longest_step(self) -> float:
        """The longest step [s] in which two surfaces cannot pass through each other between two checks of their gap."""
        touch, thickness = self.touch, self.world.pairs.thickness
        free = ~self.touching & np.isfinite(thickness)
        if not free.any():
            return np.inf
        distance = np.maximum(thickness[free] - touch.depth[free], len(LOOKS) * thickness[free])
        speed = np.maximum(touch.rate[free], 0.0)
        return float(((np.sqrt(speed**2 + 2.0 * PULL * distance) - speed) / PULL).min())

    def _first_touch(self, between: Any, begin: float, end: float) -> tuple[float, Indices]:
        """The earliest time in a step at which separate surfaces meet, and their pairs; its end where none meet."""
        from scipy.optimize import brentq

        gaps, free, before = self.world.gaps, np.flatnonzero(~self.touching), begin
        for share in LOOKS if len(free) else ():
            time = begin + share * (end - begin)
            met = free[gaps(time, between(time))[free] < 0.0]
            if len(met):

                def least(at: float, met: Indices = met) -> float:
                    return float(gaps(at, between(at))[met].min())

                if least(before) > 0.0:
                    time = float(brentq(least, before, time, xtol=1e-13, rtol=1e-14))
                elif before > begin:
                    time = before
                else:  # they overlap by round-off already
                    time = begin + 1e-3 * (time - begin)
                gap = gaps(time, between(time))[met]
                return time, met[gap <= max(1e-10, float(gap.min()))]
            before = time
        return end, free[:0]

    def _end_contacts(self, between: Any) -> None:
        """End the contact of the pairs that have parted in a step."""
        from scipy.optimize import brentq

        begin, end = between.t_old, between.t
        touch = self.touch = self._touch(end, self.state)
        for p in np.flatnonzero(self.touching & (touch.depth < 0.0) & (touch.rate < 0.0)):

            def gap(at: float, p: int = int(p)) -> float:
                return float(self.world.gaps(at, between(at))[p])

            time = float(brentq(gap, begin, end, xtol=1e-12) if gap(begin) < 0.0 < gap(end) else end)
            left = self._touch(time, between(time))
            self.touching[p], self.approach[p] = False, np.inf
            self.events.append(ContactEvent(time, self.world.pairs.names[p], False, float(left.rate[p])))

    def _store(self, state: Array) -> None:
        self.states.append(state)
        self.contacts.append((self.approach.copy(), self.touching.copy()))

    def _pressing(self) -> str:
        """Return the pair that presses most and the strap that pulls most at the last good state, for a message."""
        text = ""
        loads = self.world.loads(self.now, self.state, self.approach, self.touching)
        if self.touching.any():
            size = np.linalg.norm(loads.touch.force, axis=1)
            worst = int(np.argmax(size)) if size.any() else int(np.argmax(self.touching))
            text += (
                f" {self.world.pairs.names[worst]} press most, {size[worst]:.3g} N at {self.now:.4f} s. A contact that "
                "is too stiff for the steps is softer with less stiffness, a larger slip_speed or the stepper 'radau'."
            )
        if loads.pull.tension.any():
            worst = int(np.argmax(loads.pull.tension))
            name = self.world.straps.straps[worst].name
            text += f" The strap {name} carries {loads.pull.tension[worst]:.3g} N at {self.now:.4f} s."
        return text
