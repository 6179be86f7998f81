"""The balance of tendon and fiber forces.

Over the maximum isometric force F0, with the coordinate z of the tendon (elastic_muscles.py),

    f_T(z) = [a f_l(l / L0) f_v(v / v_max) + b v / v_max] cos(alpha) + p(l) cos(alpha),
    v = (dL_MT/dt - stretch dz/dt) cos(alpha)

(Zajac 1989, Crit Rev Biomed Eng 17:359-411; with the damping b: Millard et al. 2013, J Biomech Eng 135:021005).
Without damping, an activation below `LEAST_ACTIVATION` is raised to it: otherwise no force would hold a fiber. A slack
tendon, z below its start, has no force; its "length" is the distance between its ends.

The force-velocity curve increases strictly and without bound. Between -v_max and v_max it is the curve of the muscles
(smooth_curves.py), with a slope of at least `LEAST_SLOPE`: some families are constant where the fiber lengthens fast.
Beyond, it is a straight line with the slope of its end, at least `OUTER_SLOPE`. A fiber without load shortens at v_max.
The contractile element brakes a fiber that recoils faster, because its passive force exceeds the force of the tendon.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.elastic.smooth_curves import SampledCurves, SampleGrid

LEAST_ACTIVATION = 0.01
"""Least activation in the balance without damping, as in OpenSim's equilibrium muscles."""

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
    """The balance of n muscles; damping b of the fiber, over F0 at v_max (Millard et al.: 0.1).

    Arguments of the methods are arrays (..., n); `length` [m] and `velocity` [m/s] belong to the whole path.
    """

    muscles: ElasticMuscles
    damping: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a negative damping."""
        check_number(self.damping, "damping", "a number from 0, such as 0.1", least=0.0)

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
        less than the tendon. Of several solutions, possible with a fiber beyond its optimal length, the result is a
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


LEAST_SLOPE = 1e-3
OUTER_SLOPE = 0.1
"""Least slope of the force-velocity curve beyond v_max, in isometric forces per v_max."""

_GRID = SampleGrid(-1.0, 1.0, 2000)


@dataclass(frozen=True, eq=False)
class LengtheningCurves:
    """Force-velocity curves of n muscles, without bound; outer (2, n): slopes below -v_max and above v_max."""

    curve: SampledCurves
    outer: Array

    @classmethod
    def from_force_velocity(cls, velocity: SampledCurves) -> LengtheningCurves:
        """Curves over v / v_max from force-velocity curves."""
        from scipy.interpolate import PchipInterpolator

        kinds, column = np.unique(velocity.column, return_inverse=True)
        points = np.broadcast_to(_GRID.points[:, None], (_GRID.steps + 1, len(kinds)))
        curves = SampledCurves(velocity.grid, velocity.coefficient, velocity.value, kinds)
        # slopes of at least `LEAST_SLOPE`: the curves are unchanged from rest to either side as far as they are steeper
        forces, rest = curves(points).value, _GRID.steps // 2
        rise = np.maximum(np.diff(forces, axis=0), LEAST_SLOPE * _GRID.step)
        upward = np.cumsum(rise[rest:], axis=0)
        downward = np.cumsum(rise[:rest][::-1], axis=0)[::-1]
        at_rest = forces[rest : rest + 1]
        samples = np.concatenate([at_rest - downward, at_rest, at_rest + upward])
        spline = PchipInterpolator(_GRID.points, samples)  # keeps an increasing function increasing
        coefficient = np.ascontiguousarray(spline.c[::-1])
        slopes = np.maximum(spline.derivative()(np.array([-1.0, 1.0])), OUTER_SLOPE)
        curve = SampledCurves(_GRID, coefficient, samples, column.astype(np.intp))
        return cls(curve, slopes[:, column])

    def __call__(self, velocity: Array) -> Array:
        """Force over the isometric force, at v / v_max (..., n)."""
        inside = np.clip(velocity, -1.0, 1.0)
        beyond = (
            np.minimum(velocity + 1.0, 0.0) * self.outer[0] + np.maximum(velocity - 1.0, 0.0) * self.outer[1]
        )
        return self.curve(inside).value + beyond
