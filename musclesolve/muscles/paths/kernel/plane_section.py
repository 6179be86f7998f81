"""The path over an ellipsoid that lies in a plane: two tangents and an arc of the section between them.

On the scale of the unit sphere the section is a circle, and tangents stay tangents.
"""

from __future__ import annotations

from math import atan2, cos, inf, pi, sin, sqrt

from musclesolve.muscles.paths.kernel.arrays import (
    CENTER,
    END,
    NEAREST,
    OUT,
    RADII,
    SIDE,
    SLOPE,
    SPARE,
    SURFACE,
    U1,
    U2,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.vectors import cross, dot, resize

PARTS = 64
"""Of an arc, for its length by the midpoint rule."""
PLANES = 24


@compiled
def section_path(work):
    """Path in the plane through both ends and SURFACE: tangent points into U1 and U2; length of the arc.

    The side on which the plane leaves the line is put into SIDE, and NEAREST is turned to it.
    """
    _plane(work)
    return _section(work)


@compiled
def other_section(work):
    """The same on the other side of the line."""
    for k in range(3):
        work[SIDE + k] *= -1.0
        work[NEAREST + k] *= -1.0
    return _section(work)


@compiled
def shortest_section(work):
    """The same in the plane around the line in which the path is shortest."""
    best, at = inf, 0
    for plane in range(PLANES):
        arc = _section(work)
        length = arc
        for end, point in ((W1, U1), (W2, U2)):
            square = 0.0
            for k in range(3):
                square += (work[RADII + k] * (work[point + k] - work[end + k])) ** 2
            length += sqrt(square)
        if length < best:
            best, at = length, plane
        _turn_plane(work, 2.0 * pi / PLANES)
    _turn_plane(work, 2.0 * pi * at / PLANES)
    for k in range(3):
        work[NEAREST + k] = work[SIDE + k]
    return _section(work)


@compiled
def _turn_plane(work, angle):
    """Turn the plane around the line."""
    for k in range(3):
        work[SPARE + k] = work[W2 + k] - work[W1 + k]
    resize(work, SPARE, 1.0)
    cross(work, SPARE, SIDE, CENTER)
    for k in range(3):
        work[SIDE + k] = cos(angle) * work[SIDE + k] + sin(angle) * work[CENTER + k]
    _middle(work)


@compiled
def _middle(work):
    """The center of the circle in the plane through the line, whose direction is SPARE, and SIDE."""
    cross(work, SPARE, SIDE, CENTER)
    height = dot(work, W1, CENTER)
    for k in range(3):
        work[CENTER + k] *= height


@compiled
def _section(work):
    """Tangent points on SIDE of the line, and the length of the arc between them."""
    radius = sqrt(max(1.0 - dot(work, CENTER, CENTER), 0.0))
    _tangent(work, W2, radius)
    for k in range(3):
        work[END + k] = work[OUT + k]
        work[U2 + k] = work[CENTER + k] + radius * work[OUT + k]
    _tangent(work, W1, radius)
    for k in range(3):
        work[U1 + k] = work[CENTER + k] + radius * work[OUT + k]
    angle, arc = _angle(work), 0.0
    for part in range(PARTS):
        psi = angle * (part + 0.5) / PARTS
        speed = 0.0
        for k in range(3):
            speed += (work[RADII + k] * (cos(psi) * work[SLOPE + k] - sin(psi) * work[OUT + k])) ** 2
        arc += sqrt(speed)
    return arc * radius * angle / PARTS


@compiled
def _plane(work):
    """The direction in the plane away from the line, and the center of the circle."""
    for k in range(3):
        work[SPARE + k] = work[W2 + k] - work[W1 + k]
        work[SIDE + k] = work[SURFACE + k] / work[RADII + k] - work[W1 + k]
    resize(work, SPARE, 1.0)
    share = dot(work, SIDE, SPARE)
    for k in range(3):
        work[SIDE + k] -= share * work[SPARE + k]
    resize(work, SIDE, 1.0)
    if dot(work, SIDE, NEAREST) < 0.0:
        for k in range(3):
            work[NEAREST + k] *= -1.0
    _middle(work)


@compiled
def _angle(work):
    """Angle of the arc of the last section."""
    angle = atan2(dot(work, END, SLOPE), dot(work, END, OUT))
    return angle + 2.0 * pi if angle < 0.0 else angle


@compiled
def _tangent(work, end, radius):
    """Put the direction to the tangent point seen from an end and the one of the arc there."""
    for k in range(3):
        work[SPARE + k] = work[end + k] - work[CENTER + k]
    distance = sqrt(dot(work, SPARE, SPARE))
    resize(work, SPARE, 1.0)
    share = dot(work, SIDE, SPARE)
    c = min(radius / distance, 1.0)
    s = sqrt(1.0 - c * c)
    size = sqrt(max(1.0 - share * share, 1e-30))
    for k in range(3):
        across = (work[SIDE + k] - share * work[SPARE + k]) / size
        work[OUT + k] = c * work[SPARE + k] + s * across
        work[SLOPE + k] = c * across - s * work[SPARE + k]
