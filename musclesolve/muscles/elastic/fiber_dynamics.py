"""Rates of tendon and fiber length: the balance of their forces, solved for the velocity.

Over the maximum isometric force F0, with the coordinate z of the tendon (elastic_muscles.py) as state,

    f_T(z) = [a f_l(l / L0) f_v(v / v_max) + b v / v_max] cos(alpha) + p(l) cos(alpha),
    dz/dt = (dL_MT/dt - v / cos(alpha)) / stretch

(Zajac 1989, Crit Rev Biomed Eng 17:359-411; with the damping b: Millard et al. 2013, J Biomech Eng 135:021005).
The first line increases with v and is solved for v, so that every state has a rate:

- without damping, an activation below `LEAST_ACTIVATION` is raised to it: otherwise no force would hold a fiber;
- a slack tendon, z below its start, has no force; its "length" is the distance between its ends;
- beyond the maximum velocities the force-velocity curve continues as a straight line.

The force-velocity curve must increase strictly and without bound, so that it can be solved for the velocity. Between
-v_max and v_max it is the curve of the muscles (smooth_curves.py), with a slope of at least `LEAST_SLOPE`: some
families are constant where the fiber lengthens fast. Beyond, it is a straight line with the slope of its end, at least
`OUTER_SLOPE`. A fiber without load shortens at v_max. The contractile element brakes a fiber that recoils faster,
because its passive force exceeds the force of the tendon.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices
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
    """Equations of the fiber lengths of n muscles; damping b of the fiber, over F0 at v_max (Millard et al.: 0.1).

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

    def fiber_velocity(self, forces: FiberForces, activation: Array) -> Array:
        """The v / v_max (..., n) at which fiber and tendon bear the same force."""
        strength = self.effective(activation) * forces.isometric
        active = forces.tendon / forces.cos_pennation - forces.passive
        return self._curves.solve(strength, self.damping, active)

    def rate(self, forces: FiberForces, velocity: Array, activation: Array) -> Array:
        """Rate dz/dt (..., n) [1/s]; zero for a rigid tendon, for which z is not a state."""
        muscles = self.muscles
        fiber = self.fiber_velocity(forces, activation) * self.fastest
        change = velocity - fiber / forces.cos_pennation
        return np.divide(change, muscles.stretch, out=np.zeros_like(change), where=muscles.elastic)

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
_NEWTON_STEPS = 12
_CONVERGED = 1e-15
_MARGIN = 1e-6


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

    def solve(self, strength: Array, damping: float, force: Array) -> Array:
        """The v / v_max with strength h(v) + damping v = force, (..., n) each; strength or damping positive."""
        strength, force = np.broadcast_arrays(strength, force)
        samples, column = self.curve.value, self.curve.column
        ends = [strength * samples[k, column] + damping * v for k, v in ((0, -1.0), (-1, 1.0))]
        steep = strength * self.outer[0] + damping, strength * self.outer[1] + damping
        below, above = (force - ends[0]) / steep[0] - 1.0, (force - ends[1]) / steep[1] + 1.0
        # between -1 and 1: step of the grid by bisection, then Newton steps that stay in it
        inner = np.clip(force, *ends)
        place = self._place(strength, damping, inner)
        low = _GRID.first + (place - _MARGIN) * _GRID.step  # a solution at a sample must not be cut off
        high = low + (1.0 + 2.0 * _MARGIN) * _GRID.step
        at = 0.5 * (low + high)
        for _ in range(_NEWTON_STEPS):
            curve = self.curve(at)
            miss = strength * curve.value + damping * at - inner
            low, high = np.where(miss < 0.0, at, low), np.where(miss > 0.0, at, high)
            step = at - miss / (strength * curve.slope + damping)
            better = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            done = np.abs(better - at).max(initial=0.0) < _CONVERGED
            at = better
            if done:
                break
        return np.where(force < ends[0], below, np.where(force > ends[1], above, at))

    def _place(self, strength: Array, damping: float, force: Array) -> Indices:
        """Number of the grid interval with the solution of `solve`."""
        samples, column = self.curve.value, self.curve.column
        if damping == 0.0:
            place, factor = np.empty(force.shape, dtype=np.intp), force / strength
            for kind, curve in enumerate(samples.T):
                chosen = column == kind
                place[..., chosen] = np.searchsorted(curve, factor[..., chosen], side="right") - 1
            return np.clip(place, 0, _GRID.steps - 1)
        low, high = np.zeros(force.shape, dtype=np.intp), np.full(force.shape, _GRID.steps, dtype=np.intp)
        while (high - low).max(initial=0) > 1:
            middle = (low + high) // 2
            borne = strength * samples[middle, column] + damping * (_GRID.first + middle * _GRID.step)
            low, high = np.where(borne <= force, middle, low), np.where(borne <= force, high, middle)
        return np.minimum(low, _GRID.steps - 1)
