"""Forward dynamics with contact: several models in one simulation, whose surfaces touch each other and the ground.

Between events the motion is that of `simulate`. A contact begins where a gap becomes zero: there the step ends, the
speed of approach is stored for the law of contact (Silva 2003, 4.3), and the integrator starts anew; it is deleted
when the surfaces have parted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.contact.belt import Pull, Strap
from musclesolve.dynamics.contact.contact_pairs import ContactPairs
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.forward.contact_run import ContactEvent, Run
from musclesolve.dynamics.forward.contact_world import EXTRA, World
from musclesolve.dynamics.forward.driven import DrivenSystem, Pulse
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.dynamics.forward.simulate import (
    Integration,
    Simulation,
    check_forces,
    check_integration,
    frame_times,
    simulated,
)
from musclesolve.dynamics.model.joint_and_body_constraints import fixed
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError

CONTACT = Integration(tolerance=1e-6, stepper="rk45")
"""How a simulation with contact is integrated unless said otherwise."""


@dataclass(frozen=True)
class Start:
    """A model and how it starts: positions q and velocities qd (N, 3); forces and held points as in `simulate`.

    pulse: where it is given, the model does not turn and has this acceleration (T, 3) [m/s2] at times (T,), whatever
    acts on it (`half_sine`, `no_pulse`, or a function of your own).
    """

    model: Model
    q: Array
    qd: Array
    forces: Sequence[Force] = ()
    held: Sequence[str] = ()
    pulse: Pulse | None = None

    def __post_init__(self) -> None:
        if self.pulse is not None and (self.held or not callable(self.pulse)):
            raise InputError(
                "a pulse that cannot be called, or beside held points",
                code="conflict" if self.held else "bad_type",
                expected="a function of times (T,) that returns accelerations (T, 3), and no held points",
            )


@dataclass(frozen=True)
class ContactSimulation:
    """Simulated motions by model, and what the pairs of surfaces (P) did at the times (T,) of the frames.

    depth (T, P) [m], negative while apart; force (T, P, 3) [N] on the second surface and its point (T, P, 3) [m];
    stored (T, P) [J] elastic energy; lost (T,) [J] what damping and friction of contacts and straps took since the
    start; work (T,) [J] what applied forces and drives did since then; tension [N] and stretched [J], (T, S) each, of
    the straps; events in their order.
    """

    time: Array
    motions: dict[str, Simulation]
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
        """Energy (T,) [J] that appeared from nowhere since the start: the error of the integration."""
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
            raise InputError(f"no pair has the surface {surface!r}", code="unknown_name", where=surface)
        return np.einsum("p,tpx->tx", sign, self.force)


def simulate_contact(
    starts: Mapping[str, Start],
    pairs: ContactPairs,
    duration: float | Array,
    integration: Integration = CONTACT,
    *,
    straps: Sequence[Strap] = (),
) -> ContactSimulation:
    """Motion of models that touch each other and the ground, under gravity and forces.

    Args:
        starts: name -> model and start; the names and models are those that the pairs were built with, in any order.
        pairs: `ContactPairs.build` of the same models.
        duration: [s], for a hundred and one frames, or the times (T,) of the frames, from the start on.
        integration: tolerance, stepper and method.
        straps: belts between bodies, without tension at the start.

    Raises:
        InputError: starts that are no states of their models, or not of the models of the pairs; surfaces that overlap
            deeply at the start.
        MuscleSolveError: steps that become too small, forces that are not finite; says when, and which pair presses.
    """
    times = frame_times(duration)
    check_integration(integration)
    _check_starts(starts)
    models = pairs.in_order({name: start.model for name, start in starts.items()})
    systems = {name: _system(starts[name], integration) for name in models}
    begin = np.concatenate(
        [
            system.checked_start(np.asarray(starts[name].q), np.asarray(starts[name].qd))
            for name, system in systems.items()
        ]
    )
    run = Run(World.build(systems, pairs, straps, begin), integration, times)
    run.start(begin)
    while len(run.states) < len(times):
        run.go_to_next_event()
    return _simulation(run)


def _check_starts(starts: Mapping[str, Start]) -> None:
    """Refuse what is no mapping from names to starts."""
    if not isinstance(starts, Mapping) or not all(isinstance(start, Start) for start in starts.values()):
        raise InputError(
            f"starts = {starts!r:.60}",
            code="bad_type",
            expected="a mapping from the name of each model to its Start",
        )
    if not starts:
        raise InputError("there is no model to simulate", code="missing_argument", where="starts")


def _system(start: Start, how: Integration) -> System:
    check_forces(start.forces)
    rows = start.model.constraints
    if start.held:
        rows = rows.with_linear(*fixed(start.model.topology, np.asarray(start.q), start.held))
    if start.pulse is not None:
        return DrivenSystem(start.model, rows, tuple(start.forces), how.method, start.pulse)
    return System(start.model, rows, tuple(start.forces), how.method)


def _simulation(run: Run) -> ContactSimulation:
    """Everything at the times of the frames."""
    world = run.world
    whole = [
        world.loads(time, state, *contact)
        for time, state, contact in zip(run.times, run.states, run.contacts, strict=True)
    ]
    touches = [loads.touch for loads in whole]
    motions = {
        name: simulated(
            system,
            run.times,
            np.stack([world.parts(state)[k] for state in run.states]),
            [loads.forces[k] for loads in whole],
            run.drift,
            run.steps,
            run.evaluations,
        )
        for k, (name, system) in enumerate(world.systems.items())
    }
    depth = np.stack([touch.depth for touch in touches])
    stored = np.zeros(depth.shape)
    for p, law in enumerate(world.pairs.laws):
        stored[:, p] = law.stored_energy(depth[:, p])
    force, point = (np.stack([getattr(touch, name) for touch in touches]) for name in ("force", "point"))
    lost, work = np.stack([state[-EXTRA:] for state in run.states]).T
    tension, stretched = _strap_courses([loads.pull for loads in whole])
    events = tuple(sorted(run.events, key=lambda event: event.time))
    return ContactSimulation(
        *(
            run.times,
            motions,
            world.pairs,
            depth,
            force,
            point,
            stored,
            lost,
            work,
            tension,
            stretched,
            events,
        )
    )


def _strap_courses(pulls: Sequence[Pull | None]) -> tuple[Array, Array]:
    """Tension and elastic energy (T, S) of the straps."""
    found = [pull for pull in pulls if pull is not None]
    if not found:
        return np.zeros((len(pulls), 0)), np.zeros((len(pulls), 0))
    return np.stack([pull.tension for pull in found]), np.stack([pull.stored for pull in found])
