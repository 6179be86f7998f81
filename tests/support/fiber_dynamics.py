"""The balance of fiber and tendon in numpy, by bisection: a second way to what `musclesolve.symbolic` states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ACTIVATION, ElasticMuscles, LengtheningCurves

_BISECTIONS = 60


class FiberForces(NamedTuple):
    """Muscles (..., n) in some states, forces over F0.

    tendon: f_T, zero where slack; isometric: f_l at activation 1, and passive: p, both along the fiber.
    """

    tendon: Array
    isometric: Array
    passive: Array
    fiber_length: Array
    cos_pennation: Array


@dataclass(frozen=True, eq=False)
class FiberDynamics:
    """Equations of the fiber lengths of n muscles; damping b of the fiber, over F0 at v_max (Millard et al.: 0.1).

    Arguments of the methods are arrays (..., n); `length` [m] and `velocity` [m/s] belong to the whole path.
    """

    muscles: ElasticMuscles
    damping: float = 0.0

    def forces(self, length: Array, z: Array) -> FiberForces:
        """Forces that do not depend on the velocity, at path lengths (..., n) [m] and tendon coordinates z (..., n)."""
        muscles = self.muscles
        element, optimal = muscles.parameters.passive, muscles.parameters.optimal_fiber_length
        along = muscles.along(length, z)
        fiber = np.hypot(along, muscles.thickness)
        strain = fiber / optimal - 1.0
        share = (strain - element.at_zero) / (element.at_one - element.at_zero)
        strength = element.force / muscles.parameters.max_isometric_force
        bears = (z > muscles.start) | ~muscles.elastic
        return FiberForces(
            tendon=np.where(bears, muscles.curves.tendon(z).value, 0.0),
            isometric=muscles.curves.active(1.0 + strain).value,
            passive=strength * muscles.curves.passive(share).value,
            fiber_length=fiber,
            cos_pennation=along / fiber,
        )

    def equilibrium(
        self, length: Array, activation: Array, velocity: Array, rate: float | Array = 0.0
    ) -> Array:
        """The z (..., n) at which tendon and fiber are in balance at a rate dz/dt [1/s].

        Bisection between the slack tendon, which bears less than the fiber, and the fiber of zero length, which bears
        less than the tendon. Among several solutions, possible with a fiber beyond its optimal length, the result is a
        stable one. There is no solution where the fiber would have to shorten faster than it can: then z is at its
        start, without force.
        """
        muscles = self.muscles
        shape = np.broadcast_shapes(
            np.shape(length), np.shape(activation), np.shape(velocity), np.shape(rate)
        )
        room = length - muscles.rest
        most = np.divide(room, muscles.stretch, out=np.zeros(np.shape(room)), where=muscles.elastic)
        low = np.broadcast_to(muscles.start, shape)
        high = np.maximum(np.broadcast_to(most, shape), low) + 0.5
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            tendon = self.forces(length, middle).tendon
            above = tendon > self.fiber_force(length, velocity, middle, activation, rate)
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        rigid = self.fiber_force(length, velocity, np.zeros(shape), activation)
        return np.where(muscles.elastic, 0.5 * (low + high), rigid)

    def fiber_force(
        self, length: Array, velocity: Array, z: Array, activation: Array, rate: float | Array = 0.0
    ) -> Array:
        """Return the fiber force along the tendon over F0 at a rate dz/dt [1/s]: the right-hand side of the balance."""
        forces = self.forces(length, z)
        moved = (velocity - self.muscles.stretch * rate) * forces.cos_pennation / self.fastest
        active = self.effective(activation) * forces.isometric * self._curves(moved) + self.damping * moved
        return (active + forces.passive) * forces.cos_pennation

    def effective(self, activation: Array) -> Array:
        """The activation (..., n) in the balance: without damping at least `LEAST_ACTIVATION`."""
        return np.asarray(activation if self.damping > 0.0 else np.maximum(activation, LEAST_ACTIVATION))

    @cached_property
    def fastest(self) -> Array:
        """Maximum shortening velocities v_max (n,) [m/s]."""
        return self.muscles.parameters.max_shortening_velocity * self.muscles.parameters.optimal_fiber_length

    @cached_property
    def _curves(self) -> LengtheningCurves:
        return LengtheningCurves.from_force_velocity(self.muscles.curves.velocity)
