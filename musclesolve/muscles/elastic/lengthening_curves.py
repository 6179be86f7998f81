"""Force-velocity curves that can be solved for the velocity: strictly increasing, and without end.

Between -v_max and v_max the curve is that of the muscles (smooth_curves.py), but nowhere flatter than `LEAST_SLOPE`:
some families are constant where the fiber lengthens fast. Beyond, it goes on straight, with its slope at the end and no
less than `OUTER_SLOPE`. So a fiber without load shortens at v_max; one that recoils faster, because its passive
force exceeds that of the tendon, is braked by the contractile element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.muscles.elastic.sampled_curves import Grid, SampledCurves

LEAST_SLOPE = 1e-3
OUTER_SLOPE = 0.1
"""Per v_max, over the isometric force."""

_GRID = Grid(-1.0, 1.0, 2000)
_NEWTON_STEPS = 12
_CONVERGED = 1e-15
_MARGIN = 1e-6


@dataclass(frozen=True, eq=False)
class LengtheningCurves:
    """The curve of each of n muscles; outer (2, n): slopes below -v_max and above v_max."""

    curve: SampledCurves
    outer: Array

    @classmethod
    def of(cls, velocity: SampledCurves) -> LengtheningCurves:
        """From force-velocity curves, by v / v_max."""
        from scipy.interpolate import PchipInterpolator

        kinds, column = np.unique(velocity.column, return_inverse=True)
        points = np.broadcast_to(_GRID.points[:, None], (_GRID.steps + 1, len(kinds)))
        own = SampledCurves(velocity.grid, velocity.coefficient, velocity.value, kinds)
        samples = _increasing(own(points).value)
        spline = PchipInterpolator(_GRID.points, samples)  # keeps what increases increasing
        coefficient = np.ascontiguousarray(spline.c[::-1])
        slopes = np.maximum(spline.derivative()(np.array([-1.0, 1.0])), OUTER_SLOPE)
        curve = SampledCurves(_GRID, coefficient, samples, column.astype(np.intp))
        return cls(curve, slopes[:, column])

    def __call__(self, velocity: Array) -> Array:
        """Force over the isometric one, at v / v_max (..., n)."""
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
        inner = self._within(strength, damping, np.clip(force, *ends))
        return np.where(force < ends[0], below, np.where(force > ends[1], above, inner))

    def _within(self, strength: Array, damping: float, force: Array) -> Array:
        """Between -1 and 1: the step of the grid by bisection, then Newton steps that stay in it."""
        place = self._place(strength, damping, force)
        low = _GRID.first + (place - _MARGIN) * _GRID.step  # a solution at a sample must not be cut off
        high = low + (1.0 + 2.0 * _MARGIN) * _GRID.step
        at = 0.5 * (low + high)
        for _ in range(_NEWTON_STEPS):
            curve = self.curve(at)
            miss = strength * curve.value + damping * at - force
            low, high = np.where(miss < 0.0, at, low), np.where(miss > 0.0, at, high)
            step = at - miss / (strength * curve.slope + damping)
            better = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            done = np.abs(better - at).max(initial=0.0) < _CONVERGED
            at = better
            if done:
                break
        return np.asarray(at)

    def _place(self, strength: Array, damping: float, force: Array) -> Indices:
        """Number of the step of the grid in which the force is borne."""
        samples, column = self.curve.value, self.curve.column
        if damping == 0.0:
            return self._place_undamped(force / strength)
        low, high = np.zeros(force.shape, dtype=np.intp), np.full(force.shape, _GRID.steps, dtype=np.intp)
        while (high - low).max(initial=0) > 1:
            middle = (low + high) // 2
            borne = strength * samples[middle, column] + damping * (_GRID.first + middle * _GRID.step)
            low, high = np.where(borne <= force, middle, low), np.where(borne <= force, high, middle)
        return np.minimum(low, _GRID.steps - 1)

    def _place_undamped(self, factor: Array) -> Indices:
        """The same for a force over the isometric one, where no damping makes it depend on the strength."""
        place = np.empty(factor.shape, dtype=np.intp)
        for kind, samples in enumerate(self.curve.value.T):
            own = self.curve.column == kind
            place[..., own] = np.searchsorted(samples, factor[..., own], side="right") - 1
        return np.clip(place, 0, _GRID.steps - 1)


def _increasing(samples: Array) -> Array:
    """Samples (steps + 1, k) that rise by no less than `LEAST_SLOPE` allows; unchanged at rest, and on to both sides
    as far as they are steeper.
    """
    rise = np.maximum(np.diff(samples, axis=0), LEAST_SLOPE * _GRID.step)
    rest = _GRID.steps // 2
    upward = np.cumsum(rise[rest:], axis=0)
    downward = np.cumsum(rise[:rest][::-1], axis=0)[::-1]
    return np.concatenate([samples[rest] - downward, samples[rest : rest + 1], samples[rest] + upward])
