"""Energy that is stored in tendons."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.elastic.sampled_curves import SampledCurves


def tendon_energy(muscles: ElasticMuscles, z: Array) -> Array:
    """F0 stretch int f_T dz [J] from the start of the curve, where there is no force, to coordinates z (T, n).

    Zero where the tendon is slack or rigid. The integral is that of the spline, without further error.
    """
    curve, start = muscles.curves.tendon, muscles.start
    stored = _integral(curve, np.maximum(z, start)) - _integral(curve, start)
    return np.asarray(muscles.parameters.max_isometric_force * muscles.stretch * stored)


def _integral(curve: SampledCurves, x: Array) -> Array:
    """From the first sample to x (..., n), straight beyond the ends."""
    grid, step = curve.grid, curve.grid.step
    powers = np.arange(1.0, 5.0)
    pieces = np.einsum("psk,p->sk", curve.coefficient, step**powers / powers)
    sums = np.concatenate([np.zeros((1, pieces.shape[1])), np.cumsum(pieces, axis=0)])
    inside = np.clip(x, grid.first, grid.last)
    place, u = curve.place(inside)
    c0, c1, c2, c3 = curve.coefficient[:, place, curve.column]
    within = u * (c0 + u * (c1 / 2.0 + u * (c2 / 3.0 + u * c3 / 4.0)))
    end, beyond = curve(inside), x - inside
    return np.asarray(sums[place, curve.column] + within + beyond * (end.value + 0.5 * end.slope * beyond))
