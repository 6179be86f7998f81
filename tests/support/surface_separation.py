"""Two surfaces alone: their gap, normal and point, by the kernel of contacts."""

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics import ContactPairs, Surface
from musclesolve.dynamics.kernel.arrays import BodyMotions


@dataclass(frozen=True)
class Separation:
    """Two surfaces: gap [m], negative where they overlap; normal (3,), from the first to the second; point (3,) halfway
    between the nearest points of the two [m].
    """

    gap: float
    normal: Array
    point: Array


def separation(first: Surface, second: Surface) -> Separation:
    """Separation of two surfaces that lie where their centers and axes place them; one of them may be a plane."""
    if second.is_plane:
        turned = separation(second, first)
        return replace(turned, normal=-turned.normal)
    on_ground, is_plane = np.zeros(2, dtype=int), np.array([first.is_plane])
    pair = ContactPairs(
        {}, (first, second), np.array([0]), np.array([1]), (), on_ground, is_plane, exact=True
    )
    touches = pair.touches(BodyMotions.allocate(1))
    return Separation(float(touches.gap[0]), touches.normal[0], touches.point[0])
