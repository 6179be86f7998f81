"""The point of the ground where a force acts."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.constants import LOADED_FROM_N


def center_of_pressure(force: Array, moment: Array, height: Array | float = 0.0) -> Array:
    """Return the point (T, 3) [m] of the plane z = height about which the horizontal moments vanish; NaN below 20 N.

    The height is one number or (T,), on steps.
    x = (z Fx - My) / Fz, y = (z Fy + Mx) / Fz (Hof 1992, 11), of forces (T, 3) [N] and moments (T, 3) about the global
    origin [N m].
    """
    vertical = np.where(np.abs(force[:, 2]) < LOADED_FROM_N, np.nan, force[:, 2])
    x = (height * force[:, 0] - moment[:, 1]) / vertical
    y = (height * force[:, 1] + moment[:, 0]) / vertical
    return np.stack([x, y, np.where(np.isnan(vertical), np.nan, height)], axis=1)
