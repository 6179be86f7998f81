"""Knee and ankle centers by the chord function, where no medial marker shows them.

The center lies in the plane of the center above it, the lateral marker and a marker on the side of the segment, half a
joint width (and the radius of the marker) inwards of the lateral marker, where the line to that marker is square to
the line to the center above (Davis et al. 1991, Hum Mov Sci 10:575-87; Kadaba et al. 1990, J Orthop Res 8:383-92).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from musclesolve.motion.vectors import across, unit

Array = NDArray[np.float64]


def chord_center(above: Array, wand: Array, lateral: Array, offset: float) -> Array:
    """Return the joint center (..., 3) [m] with (above - J) . (lateral - J) = 0 and |lateral - J| = offset.

    With u from the lateral marker to the center above, w square to u towards the wand, and cos b = offset / |above -
    lateral|: J = lateral + offset (cos b u - sin b w). The wand and the center lie on opposite sides of the line u.

    Args:
        above: (..., 3) center above [m].
        wand: (..., 3) marker on the side of the segment [m].
        lateral: (..., 3) lateral marker [m].
        offset: from the lateral marker to the center [m].
    """
    line = above - lateral
    u = unit(line)
    w = across(wand - lateral, u)
    cosine = offset / np.linalg.norm(line, axis=-1, keepdims=True)
    center: Array = lateral + offset * (cosine * u - np.sqrt(1.0 - cosine**2) * w)
    return center
