"""Support functions of ellipsoids of any order: how far a convex shape reaches in a direction.

    h(n) = max over the points x of the shape of n . x = |(a_1 n_1, a_2 n_2, a_3 n_3)|_p,   1/p + 1/order = 1

for |x_1 / a_1|^order + |x_2 / a_2|^order + |x_3 / a_3|^order = 1 (Silva 2003, 4.5). The gradient is the point of the
surface where n is its normal, and the second derivatives are its radii of curvature.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array

EDGE = 1e-5
"""Squared half-width of the rounding, as a share of a semi-axis, where an order above 2 has flat faces."""


def support(semi_axes: Array, order: Array, normal: Array) -> tuple[Array, Array, Array]:
    """Reach (...), point (..., 3) and its derivatives (..., 3, 3) in directions normal (..., 3), in own axes.

    semi_axes (..., 3) [m], zero for a point; order (...), 2 for an ellipsoid, larger for boxes with round edges.
    """
    p = (order / (order - 1.0))[..., None]
    rounding = np.where(p < 2.0, EDGE, 0.0)
    square = semi_axes**2
    size = square * (normal**2 + rounding)
    safe = np.where(size > 0.0, size, 1.0)
    weight = np.where(size > 0.0, safe ** (p / 2.0 - 1.0), 0.0)
    reach = np.sum(size * weight, axis=-1) ** (1.0 / p[..., 0])
    scale = np.where(reach > 0.0, reach, 1.0)[..., None]
    point = square * normal * weight * scale ** (1.0 - p)
    straight = 1.0 + (p - 2.0) * np.where(size > 0.0, square * normal**2 / safe, 0.0)
    diagonal = square * weight * straight * scale ** (1.0 - p)
    outer = point[..., :, None] * point[..., None, :]
    second = diagonal[..., None] * np.eye(3) - ((p - 1.0) / scale)[..., None] * outer
    return reach, point, second
