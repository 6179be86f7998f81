"""Knee and ankle centers by the chord function, where no medial marker shows them.

The center lies in the plane of the center above it, the lateral marker and a marker on the side of the segment, half a
joint width (and the radius of the marker) inwards of the lateral marker, where the line to that marker is square to
the line to the center above (Davis et al. 1991, Hum Mov Sci 10:575-87; Kadaba et al. 1990, J Orthop Res 8:383-92).
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.motion.anatomy.unit_vectors import across, unit

# A wand nearer to the line from the lateral marker to the center above does not show the plane of the joint [m].
NEAREST_WAND = 0.004


def chord_center(above: Array, wand: Array, lateral: Array, offset: float) -> Array:
    """Return the joint center (..., 3) [m] with (above - J) . (lateral - J) = 0 and |lateral - J| = offset.

    With u from the lateral marker to the center above, w square to u towards the wand, and cos b = offset / |above -
    lateral|: J = lateral + offset (cos b u - sin b w). The wand and the center lie on opposite sides of the line u.

    Args:
        above: (..., 3) center above [m].
        wand: (..., 3) marker on the side of the segment [m].
        lateral: (..., 3) lateral marker [m].
        offset: from the lateral marker to the center [m].

    Raises:
        InputError: the center above is no farther away than the offset, or the wand lies on the line to it.
    """
    line = above - lateral
    length = np.linalg.norm(line, axis=-1, keepdims=True)
    if not length.min() > offset:
        raise InputError(
            f"the lateral marker is {1000 * length.min():.0f} mm from the joint center above it, and "
            f"{1000 * offset:.0f} mm from its own",
            code="bad_anatomy",
            expected="half the joint width, and far less than the length of the segment",
            remedy="check the marker, and the joint widths in [subject]",
        )
    u = unit(line)
    beside = np.linalg.norm(np.cross(wand - lateral, u), axis=-1)
    if not beside.min() > NEAREST_WAND:
        raise InputError(
            f"the marker on the side of the segment lies {1000 * beside.min():.0f} mm from the line between the "
            "lateral marker and the joint center above it, so the plane of the joint is unknown",
            code="bad_anatomy",
            expected=f"more than {1000 * NEAREST_WAND:.0f} mm; a few centimetres are usual",
            remedy="check that the two markers are not exchanged or copies of each other",
        )
    w = across(wand - lateral, u)
    cosine = offset / length
    center: Array = lateral + offset * (cosine * u - np.sqrt(1.0 - cosine**2) * w)
    return center
