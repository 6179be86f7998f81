"""Shortest path over a sphere: the great circle in the plane of the two ends and the center, in closed form.

On the unit sphere the tangent points seen from w lie on the circle u.w = 1, around w / |w|^2 with the radius
sqrt(1 - 1 / |w|^2). A path touches where its straight line cuts the sphere (OpenSim's WrapSphere); it goes around the
center on the side on which the line passes it or, where that is not the given `side`, the long way around.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from musclesolve.muscles.paths.kernel.arrays import (
    ACROSS,
    ARC,
    DIRECTION,
    EXTRA,
    INSIDE,
    MANDATORY,
    NEAREST,
    NONE,
    POSSIBLE,
    TOWARDS,
    U1,
    U2,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.vectors import cross, dot, resize

ROUND_OFF = 1e-7
"""An angle no further below zero is zero [rad]."""
CENTRAL = 1e-9
"""A line that passes nearer to the center, in radii, has no side of its own."""


@compiled
def touch_sphere(ends, radii, axis, sign, contact, work):
    """Tangent points, arc and extra length of the segment between two ends (2, 3), all in the sphere's frame."""
    code = unit_sphere(ends, radii, axis, sign, work)
    if code <= INSIDE:
        return code
    angle = great_circle(work)
    radius = radii[0]
    for k in range(3):
        contact[k] = radius * (work[U1 + k])
        contact[3 + k] = radius * work[U2 + k]
    contact[ARC] = radius * angle
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
    sided = sign != 0.0 and (ends[0, axis] * sign >= 0.0 or ends[1, axis] * sign >= 0.0)
    return MANDATORY if sided else POSSIBLE


@compiled
def unit_sphere(ends, radii, axis, sign, work):
    """Scale the ellipsoid to the unit sphere and choose the side of its center: NONE, INSIDE or MANDATORY."""
    for k in range(3):
        work[W1 + k] = ends[0, k] / radii[k]
        work[W2 + k] = ends[1, k] / radii[k]
    first, last, both = dot(work, W1, W1), dot(work, W2, W2), dot(work, W1, W2)
    if first < 1.0 or last < 1.0:
        return INSIDE
    square = first + last - 2.0 * both
    along = (first - both) / square if square > 0.0 else 0.0
    if not 0.0 < along < 1.0:
        return NONE
    for k in range(3):
        work[NEAREST + k] = work[W1 + k] + along * (work[W2 + k] - work[W1 + k])
    distance = dot(work, NEAREST, NEAREST)
    if distance >= 1.0:
        return NONE
    if distance < CENTRAL * CENTRAL:
        _any_side(axis, sign, work)
    elif sign * work[NEAREST + axis] < 0.0:
        for k in range(3):
            work[NEAREST + k] *= -1.0
    return MANDATORY


@compiled
def _any_side(axis, sign, work):
    """A direction across a line through the center: the given side, or the axis that is most across."""
    size = sqrt(dot(work, W1, W1))
    if sign == 0.0:
        for k in range(3):
            if abs(work[W1 + k]) < abs(work[W1 + axis]):
                axis = k
    for k in range(3):
        work[NEAREST + k] = -work[W1 + axis] * work[W1 + k] / (size * size)
    work[NEAREST + axis] += 1.0
    if sign < 0.0:
        for k in range(3):
            work[NEAREST + k] *= -1.0


@compiled
def great_circle(work):
    """Tangent points on the unit sphere around the chosen side, and the angle between them [rad]."""
    _basis(work, W2)
    tangent_point(work, W2, 0.0)
    for k in range(3):
        work[U2 + k] = work[U1 + k]
    _basis(work, W1)
    tangent_point(work, W1, 0.0)
    angle = atan2(dot(work, DIRECTION, U2), dot(work, U1, U2))
    if angle < -ROUND_OFF:
        angle += 2.0 * pi
    return max(angle, 0.0)


@compiled
def _basis(work, end):
    """Unit vectors across the line from the center to an end: towards the chosen side, and across that."""
    share = dot(work, NEAREST, end) / dot(work, end, end)
    for k in range(3):
        work[TOWARDS + k] = work[NEAREST + k] - share * work[end + k]
    resize(work, TOWARDS, 1.0)
    cross(work, end, TOWARDS, ACROSS)
    resize(work, ACROSS, 1.0)


@compiled
def tangent_point(work, end, angle):
    """Put the tangent point seen from an end, at an angle from the chosen side, and the direction from there on."""
    size = sqrt(dot(work, end, end))
    height = sqrt(1.0 - 1.0 / (size * size))
    c, s = cos(angle), sin(angle)
    for k in range(3):
        out = c * work[TOWARDS + k] + s * work[ACROSS + k]
        work[U1 + k] = work[end + k] / (size * size) + height * out
        work[DIRECTION + k] = out / size - height * work[end + k] / size


@compiled
def straight_parts(ends, contact):
    """The two straight parts less the straight line [m]."""
    first, last, line = 0.0, 0.0, 0.0
    for k in range(3):
        first += (contact[k] - ends[0, k]) ** 2
        last += (contact[3 + k] - ends[1, k]) ** 2
        line += (ends[1, k] - ends[0, k]) ** 2
    return sqrt(first) + sqrt(last) - sqrt(line)
