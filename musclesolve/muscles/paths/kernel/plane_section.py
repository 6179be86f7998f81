"""Paths over an ellipsoid that lie in a plane through both ends: where the search for the geodesic begins.

On the scale of the unit sphere the section is a circle, and tangents stay tangents. Of the planes around the straight
line the one with the shortest path is taken, so that the geodesic found from there is the shortest as well, also where
the line passes near the center and the nearest way out is not the side on which it passes.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from musclesolve.muscles.paths.kernel.arrays import (
    ACROSS,
    CENTER,
    END,
    NEAREST,
    OUT,
    RADII,
    SIDE,
    SLOPE,
    SPARE,
    TOWARDS,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.vectors import cross, dot, resize

PLANES = 24
PARTS = 16
"""Of an arc, for its length by the midpoint rule."""


@compiled
def shortest_section(axis, sign, work):
    """Angle of the tangent point seen from the first end, and length of the arc, of the shortest path in a plane.

    Of the paths that are shorter than those in the neighboring planes and, with a side, have their middle on that half.
    The length is negative if there is none. RADII and the basis at the first end are given.
    """
    best, angle, length = -1.0, 0.0, -1.0
    before, _ = _section(work, -2.0 * pi / PLANES)
    here, arc = _section(work, 0.0)
    for k in range(PLANES):
        on, point = _middle_is_on(axis, sign, work), atan2(dot(work, OUT, ACROSS), dot(work, OUT, TOWARDS))
        after, next_arc = _section(work, 2.0 * pi * (k + 1) / PLANES)
        if on and here <= before and here <= after and (best < 0.0 or here < best):
            best, angle, length = here, point, arc
        before, here, arc = here, after, next_arc
    return angle, length


@compiled
def _middle_is_on(axis, sign, work):
    """Whether the middle of the arc of the last section is on the given half."""
    angle = 0.5 * _angle(work)
    radius = sqrt(1.0 - dot(work, CENTER, CENTER))
    out = cos(angle) * work[OUT + axis] + sin(angle) * work[SLOPE + axis]
    return sign * (work[CENTER + axis] + radius * out) >= 0.0


@compiled
def _section(work, turn):
    """Lengths of the path in the plane at an angle from the nearest side, and of its arc."""
    _plane(work, turn)
    radius = sqrt(1.0 - dot(work, CENTER, CENTER))
    straight = _tangent(work, W2, radius)
    for k in range(3):
        work[END + k] = work[OUT + k]
    straight += _tangent(work, W1, radius)
    angle, arc = _angle(work), 0.0
    for part in range(PARTS):
        psi = angle * (part + 0.5) / PARTS
        speed = 0.0
        for k in range(3):
            speed += (work[RADII + k] * (cos(psi) * work[SLOPE + k] - sin(psi) * work[OUT + k])) ** 2
        arc += sqrt(speed)
    arc *= radius * angle / PARTS
    return straight + arc, arc


@compiled
def _angle(work):
    """Angle of the arc of the last section."""
    angle = atan2(dot(work, END, SLOPE), dot(work, END, OUT))
    return angle + 2.0 * pi if angle < 0.0 else angle


@compiled
def _plane(work, turn):
    """The direction in the plane away from the line, and the center of the circle."""
    size = sqrt(dot(work, NEAREST, NEAREST))
    for k in range(3):
        work[SPARE + k] = work[W2 + k] - work[W1 + k]
    resize(work, SPARE, 1.0)
    cross(work, SPARE, NEAREST, SIDE)
    for k in range(3):
        work[SIDE + k] = (cos(turn) * work[NEAREST + k] + sin(turn) * work[SIDE + k]) / size
    cross(work, SPARE, SIDE, CENTER)
    height = dot(work, W1, CENTER)
    for k in range(3):
        work[CENTER + k] *= height


@compiled
def _tangent(work, end, radius):
    """Put the direction to the tangent point seen from an end and the one of the arc there; length of the tangent."""
    for k in range(3):
        work[SPARE + k] = work[end + k] - work[CENTER + k]
    distance = sqrt(dot(work, SPARE, SPARE))
    resize(work, SPARE, 1.0)
    share = dot(work, SIDE, SPARE)
    c = min(radius / distance, 1.0)
    s = sqrt(1.0 - c * c)
    size = sqrt(1.0 - share * share)
    length = 0.0
    for k in range(3):
        across = (work[SIDE + k] - share * work[SPARE + k]) / size
        work[OUT + k] = c * work[SPARE + k] + s * across
        work[SLOPE + k] = c * across - s * work[SPARE + k]
        length += (work[RADII + k] * (work[CENTER + k] + radius * work[OUT + k] - work[end + k])) ** 2
    return sqrt(length)
