"""Several models and what touches between them as one system of differential equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, Touch
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.errors import InputError, MuscleSolveError

EXTRA = 2
"""Numbers behind the states of the models: energy [J] that the contacts have lost, work [J] of the applied forces."""


@dataclass(frozen=True)
class World:
    """All models as one system; a state is theirs one after the other, then `EXTRA` numbers."""

    systems: Mapping[str, System]
    pairs: ContactPairs

    @cached_property
    def _slices(self) -> list[slice]:
        ends = np.cumsum([0, *(6 * len(system.model.standing) for system in self.systems.values())]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    @cached_property
    def _bodies(self) -> int:
        return sum(len(system.model.topology.bodies) for system in self.systems.values()) + 1

    @property
    def weight(self) -> float:
        """Of all models together [N]."""
        models = [system.model for system in self.systems.values()]
        return sum(model.mass.total * float(np.linalg.norm(model.gravity)) for model in models)

    def parts(self, state: Array) -> list[Array]:
        """The state of every model."""
        return [state[own] for own in self._slices]

    def split(self, time: float, state: Array) -> list[tuple[Array, Array]]:
        """Positions and velocities (N, 3) of every model; refuses what is no finite number."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        return [system.split(time, part) for system, part in parts]

    def bodies(self, states: list[tuple[Array, Array]]) -> BodyStates:
        """Poses and velocities of the bodies of all models."""
        return BodyStates.of([system.model for system in self.systems.values()], states)

    def gaps(self, time: float, state: Array) -> Array:
        """Gap (P,) [m] of every pair."""
        return self.pairs.gaps(self.bodies(self.split(time, state)))

    def touch(self, time: float, state: Array, approach: Array, touching: Mask) -> Touch:
        """What the pairs do."""
        return self.pairs.touch(self.bodies(self.split(time, state)), approach, touching)

    def contact_forces(
        self, time: float, state: Array, approach: Array, touching: Mask
    ) -> tuple[Touch, list[Array]]:
        """What the pairs do, and the generalized force (N, 3) of the contacts on every model."""
        bodies = self.bodies(self.split(time, state))
        touch = self.pairs.touch(bodies, approach, touching)
        if not touch.force.any():
            return touch, [np.zeros(q.shape) for q, _ in bodies.states]
        return touch, bodies.generalized(self.pairs.wrenches(touch, self._bodies))

    def derivative(self, time: float, state: Array, approach: Array, touching: Mask) -> Array:
        """dy/dt."""
        touch, forces = self.contact_forces(time, state, approach, touching)
        rates, work = [], 0.0
        for name, part, force in zip(self.systems, self.parts(state), forces, strict=True):
            system, (q, qd) = self.systems[name], part.reshape(2, -1, 3)
            applied = self._applied(name, time, q, qd)
            found = system.accelerated(time, q, qd, applied + force, polished=False)
            rates += [part[part.size // 2 :], found.qdd]
            work += float(applied.ravel() @ qd.ravel())
        return np.concatenate([*rates, [touch.loss, work]])

    def _applied(self, name: str, time: float, q: Array, qd: Array) -> Array:
        """The forces on one model; where there are several, an error names it."""
        try:
            return self.systems[name].applied(time, q, qd)
        except MuscleSolveError as fault:
            if len(self.systems) == 1 or isinstance(fault, InputError):
                raise
            raise MuscleSolveError(f"{name}: {fault}") from fault

    def violation(self, state: Array) -> float:
        """How far the worst constraint of all models is from being met [m or 1]."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        return max(system.violation(part.reshape(2, -1, 3)[0]) for system, part in parts)

    def projected(self, time: float, state: Array) -> Array:
        """The nearest state that satisfies the constraints of every model."""
        parts = zip(self.systems.values(), self.parts(state), strict=True)
        found = [system.projected(time, part)[0] for system, part in parts]
        return np.concatenate([*found, state[-EXTRA:]])
