"""Force-velocity curves that increase strictly and without bound, for the balance of fiber and tendon.

Over the maximum isometric force F0, with the coordinate z of the tendon (elastic_muscles.py) and its rate dz/dt,

    f_T(z) = [a f_l(l / L0) f_v(v / v_max) + b v / v_max] cos(alpha) + p(l) cos(alpha),
    v = (dL_MT/dt - stretch dz/dt) cos(alpha)

(Zajac 1989, Crit Rev Biomed Eng 17:359-411; with the damping b: Millard et al. 2013, J Biomech Eng 135:021005).
Without damping, an activation below `LEAST_ACTIVATION` is raised to it: otherwise no force would hold a fiber.

Between -v_max and v_max the curve is the curve of the muscles (smooth_curves.py), with a slope of at least
`LEAST_SLOPE`: some families are constant where the fiber lengthens fast. Beyond, it is a straight line with the slope
of its end, at least `OUTER_SLOPE`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.smooth_curves import SampledCurves, SampleGrid

LEAST_ACTIVATION = 0.01
"""Least activation in the balance without damping, as in OpenSim's equilibrium muscles."""
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
