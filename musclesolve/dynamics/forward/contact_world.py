"""Several models and what touches and pulls between them as one system of differential equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.contact.belt import Pull, Strap, Straps
from musclesolve.dynamics.contact.contact_pairs import BodyStates, ContactPairs, Touch
from musclesolve.dynamics.forward.ode_system import System
from musclesolve.errors import InputError, MuscleSolveError

EXTRA = 2
"""Numbers behind the states of the models: energy [J] lost in contacts and straps, work [J] of what is applied."""


@dataclass(frozen=True)
class Loads:
    """What the pairs do, what the straps do (None without any), and the generalized force (N, 3) on every model."""

    touch: Touch
    pull: Pull | None
    forces: list[Array]

    @property
    def loss(self) -> float:
        """Power [W] that contacts and straps lose."""
        return self.touch.loss + (0.0 if self.pull is None else self.pull.loss)


@dataclass(frozen=True)
class World:
    """All models as one system; a state is theirs one after the other, then `EXTRA` numbers."""

    systems: Mapping[str, System]
    pairs: ContactPairs
    straps: Straps | None = None

    @classmethod
    def build(
        cls, systems: Mapping[str, System], pairs: ContactPairs, straps: Sequence[Strap], start: Array
    ) -> World:
        """A world whose straps are without tension in the first state, that of the models alone."""
        bare = cls(systems, pairs)
        if not straps:
            return bare
        models = {name: system.model for name, system in systems.items()}
        motions = bare.bodies(bare.split(0.0, np.concatenate([start, np.zeros(EXTRA)]))).motions
        return cls(systems, pairs, Straps.build(models, straps, motions))

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

    def loads(self, time: float, state: Array, approach: Array, touching: Mask) -> Loads:
        """What pairs and straps do."""
        bodies = self.bodies(self.split(time, state))
        touch = self.pairs.touch(bodies, approach, touching)
        pull = None if self.straps is None else self.straps.pull(bodies.motions)
        is_pulled = pull is not None and pull.tension.any()
        if not (touch.force.any() or is_pulled):
            return Loads(touch, pull, [np.zeros(q.shape) for q, _ in bodies.states])
        wrench = self.pairs.wrenches(touch, self._bodies)
        if self.straps is not None and pull is not None:
            self.straps.add_wrenches(pull, wrench)
        return Loads(touch, pull, bodies.generalized(wrench))

    def derivative(self, time: float, state: Array, approach: Array, touching: Mask) -> Array:
        """dy/dt."""
        loads = self.loads(time, state, approach, touching)
        rates, work = [], 0.0
        for name, part, force in zip(self.systems, self.parts(state), loads.forces, strict=True):
            system, (q, qd) = self.systems[name], part.reshape(2, -1, 3)
            applied = self._applied(name, time, q, qd)
            found = system.accelerated(time, q, qd, applied + force, polished=False)
            rates += [part[part.size // 2 :], found.qdd]
            work += system.power(q, qd, found.qdd.reshape(q.shape), applied, force)
        return np.concatenate([*rates, [loads.loss, work]])

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
