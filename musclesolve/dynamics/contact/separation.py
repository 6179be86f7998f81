"""Distance, normal and nearest points of pairs of convex surfaces.

The distance is the largest over all unit normals n of the gap between the two tangent planes,

    g(n) = n . c - h_1(n) - h_2(n),        c from the center of the first surface to that of the second,

negative where they overlap: then it is minus the least translation that parts them. h is how far a shape reaches along
n (its support function), for an ellipsoid of any order (Silva 2003, 4.5)

    h(n) = |(a_1 n_1, a_2 n_2, a_3 n_3)|_p,    1/p + 1/order = 1,    plus the radius of the ball rolled over it;

its gradient is the point where n is the normal, its second derivatives are the radii of curvature. Newton's method on
the sphere of normals finds the largest gap, from the line of centers (`kernel.separation`). Where surfaces overlap by
about half their size, the gap may have several maxima; the one found then need not be the largest.

Orders above 2 have flat faces; these are made to bulge by up to 0.4 % of the semi-axes (`kernel.support.EDGE`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.contact.surfaces import Surface
from musclesolve.dynamics.kernel.arrays import WORK, Motions, Pairs, Placed, Shapes, Touches, contiguous


@dataclass(frozen=True)
class Separation:
    """Two surfaces: gap [m], negative where they overlap; normal (3,), from the first to the second; point (3,) halfway
    between the nearest points of the two [m].
    """

    gap: float
    normal: Array
    point: Array


def separation(first: Surface, second: Surface) -> Separation:
    """Separation of two surfaces that lie as their centers and axes say; the first may be a plane.

    Where neither is a plane and they are more than a tenth of their size apart, the gap is a lower bound.
    """
    from musclesolve.dynamics.kernel.entry import TOUCH

    shapes = shape_arrays([first, second], np.zeros(2, dtype=int))
    touches, pairs = Touches.of(1), pair_arrays(np.array([0]), np.array([1]), [first.is_plane])
    TOUCH.load()(Motions.of(1), shapes, pairs, placed_arrays(2), touches)
    return Separation(float(touches.gap[0]), touches.normal[0], touches.point[0])


def shape_arrays(surfaces: Sequence[Surface], bodies: Indices) -> Shapes:
    """Surfaces for compiled code, with the numbers of their bodies (S,)."""
    whole = [(one.center, one.axes, one.semi_axes, one.order, one.radius) for one in surfaces]
    center, axes, semi_axes, order, radius = zip(*whole, strict=True) if whole else ((),) * 5
    extent = [0.0 if one.is_plane else one.extent for one in surfaces]
    return Shapes(
        contiguous(bodies, np.intp),
        contiguous(center).reshape(-1, 3),
        contiguous(axes).reshape(-1, 3, 3),
        contiguous(semi_axes).reshape(-1, 3),
        *(contiguous(each) for each in (order, radius, extent)),
    )


def pair_arrays(first: Indices, second: Indices, plane: Sequence[bool]) -> Pairs:
    """Pairs for compiled code."""
    return Pairs(contiguous(first, np.intp), contiguous(second, np.intp), contiguous(plane, bool))


def placed_arrays(count: int) -> Placed:
    """Arrays for so many surfaces in space."""
    return Placed(np.zeros((count, 3)), np.zeros((count, 3, 3)), np.zeros(WORK))
