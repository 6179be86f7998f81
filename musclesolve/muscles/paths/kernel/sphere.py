"""Shortest path over a sphere: the great circle in the plane of the two ends and the center, in closed form.

On the unit sphere the tangent points seen from w lie on the circle u.w = 1, around w / |w|^2 with the radius
sqrt(1 - 1 / |w|^2). A path touches where its straight line cuts the sphere; it goes around the center on the side on
which the line passes or, where this is not the stated `side`, around the other side. The rule is OpenSim's
(WrapSphere): of the two tangent points of each end it takes those farther from both ends, and the other two where the
sum of the tangents does not point to the stated side. Where the two points are on opposite sides of the center,
OpenSim's path bends back at both; here the path is on the side of the line nearer to the stated one. A path that is
held (`HELD`) goes around the stated side wherever its straight line passes the center on the other one.
"""

from math import acos, atan2, cos, pi, sin, sqrt

from musclesolve._util.compiled_code import compiled_in_order
from musclesolve.muscles.paths.kernel.arrays import (
    ACROSS,
    ARC,
    DIRECTION,
    EXTRA,
    HELD,
    INSIDE,
    MANDATORY,
    NEAREST,
    NONE,
    POSSIBLE,
    SHORTEST_PATH,
    TOWARDS,
    U1,
    U2,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.vectors import cross, dot, resize, straight_parts

ROUND_OFF = 1e-7
"""Size [rad] of a negative angle that counts as zero."""
CENTRAL = 1e-9
"""Distance of a line from the center, in radii, below which the line does not determine a side."""
GRAZING = 1e-10
"""Depth 1 - |w|^2 of a line up to which it passes outside: round-off would choose the plane."""


@compiled_in_order
def touch_sphere(ends, radii, axis, sign, rules, contact, work):
    """Tangent points, arc and extra length of the segment between two ends (2, 3), all in the sphere's frame.

    rules: SHORTEST, or another for the path that OpenSim takes.
    """
    code, centered = unit_sphere(ends, radii, 0.0, work)
    held, beyond = abs(sign) == HELD, code != INSIDE and sign * work[NEAREST + axis] < 0.0
    if held and beyond:
        code = MANDATORY
    if code <= INSIDE:
        return code
    bent = False
    if centered:
        any_side(axis, sign, work)
    elif held:
        if beyond:
            turn_side(work)
    elif sign != 0.0 and not (ends[0, axis] * sign >= 0.0 and ends[1, axis] * sign >= 0.0):
        bent = _held_side(axis, sign, work)
        if bent and rules == SHORTEST_PATH and sign * work[NEAREST + axis] < 0.0:
            turn_side(work)
    if bent and rules != SHORTEST_PATH:
        angle = _bent_back(axis, sign, work)
    else:
        angle = great_circle(work)
    radius = radii[0]
    for k in range(3):
        contact[k] = radius * (work[U1 + k])
        contact[3 + k] = radius * work[U2 + k]
    contact[ARC] = radius * angle
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
    sided = sign != 0.0 and (ends[0, axis] * sign >= 0.0 or ends[1, axis] * sign >= 0.0)
    return MANDATORY if sided else POSSIBLE


@compiled_in_order
def unit_sphere(ends, radii, depth, work):
    """Scale the ellipsoid to the unit sphere; return NONE, INSIDE or MANDATORY, and whether the line meets its center.

    depth: the depth 1 - |w|^2 up to which an end is on the surface.
    """
    for k in range(3):
        work[W1 + k] = ends[0, k] / radii[k]
        work[W2 + k] = ends[1, k] / radii[k]
    for end in (W1, W2):
        square = dot(work, end, end)
        if square < 1.0 - depth:
            return INSIDE, False
        if square < 1.0:
            resize(work, end, 1.0)
    first, last, both = dot(work, W1, W1), dot(work, W2, W2), dot(work, W1, W2)
    square = first + last - 2.0 * both
    along = (first - both) / square if square > 0.0 else 0.0
    between = 0.0 < along < 1.0
    for k in range(3):
        work[NEAREST + k] = work[W1 + k] + along * (work[W2 + k] - work[W1 + k]) if between else 0.0
    if not between:
        return NONE, False
    distance = dot(work, NEAREST, NEAREST)
    if distance >= 1.0 - GRAZING:
        return NONE, False
    return MANDATORY, distance < CENTRAL * CENTRAL


@compiled_in_order
def turn_side(work):
    """Go around the center on the other side."""
    for k in range(3):
        work[NEAREST + k] *= -1.0


@compiled_in_order
def _held_side(axis, sign, work):
    """Choose the side of the center by OpenSim's rule; return whether its tangent points are on opposite sides."""
    first = _far_tangent(work, W1)
    for k in range(3):
        work[U2 + k] = work[U1 + k]
    last = _far_tangent(work, W2)
    along = work[U1 + axis] + work[U2 + axis] - work[W1 + axis] - work[W2 + axis]
    if along * sign < 0.0:
        first, last = -first, -last
    if first == last and first < 0.0:
        turn_side(work)
    return first != last


@compiled_in_order
def _far_tangent(work, end):
    """Set U1 to the tangent point of an end farther from both ends; return its side of the center."""
    _basis(work, end)
    square, away = dot(work, end, end), 0.0
    for k in range(3):
        away -= work[TOWARDS + k] * (work[W1 + k] + work[W2 + k])
    side = 1.0 if away > 0.0 else -1.0
    for k in range(3):
        work[U1 + k] = work[end + k] / square + side * sqrt(1.0 - 1.0 / square) * work[TOWARDS + k]
    return side


@compiled_in_order
def _bent_back(axis, sign, work):
    """Set OpenSim's tangent points on opposite sides of the center; return the angle between them [rad]."""
    _far_tangent(work, W2)
    for k in range(3):
        work[U2 + k] = work[U1 + k]
    _far_tangent(work, W1)
    along = work[U1 + axis] + work[U2 + axis] - work[W1 + axis] - work[W2 + axis]
    if along * sign < 0.0:
        for end, point in ((W1, U1), (W2, U2)):
            square = dot(work, end, end)
            for k in range(3):
                work[point + k] = 2.0 * work[end + k] / square - work[point + k]
    outwards = 0.0
    for k in range(3):
        both = work[U1 + k] + work[U2 + k]
        outwards += both * (both - work[W1 + k] - work[W2 + k])
    angle = acos(min(max(dot(work, U1, U2), -1.0), 1.0))
    return 2.0 * pi - angle if outwards < 0.0 else angle


@compiled_in_order
def any_side(axis, sign, work):
    """Set a direction across a line through the center: the stated side, or the axis most nearly perpendicular."""
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


@compiled_in_order
def great_circle(work):
    """Set the tangent points on the unit sphere around the chosen side; return the angle between them [rad]."""
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


@compiled_in_order
def _basis(work, end):
    """Set unit vectors across the line from the center to an end: toward the chosen side, and perpendicular to both."""
    share = dot(work, NEAREST, end) / dot(work, end, end)
    for k in range(3):
        work[TOWARDS + k] = work[NEAREST + k] - share * work[end + k]
    resize(work, TOWARDS, 1.0)
    cross(work, end, TOWARDS, ACROSS)
    resize(work, ACROSS, 1.0)


@compiled_in_order
def tangent_point(work, end, angle):
    """Set the tangent point of an end, at an angle from the chosen side, and the direction of the path after it."""
    size = sqrt(dot(work, end, end))
    height = sqrt(max(1.0 - 1.0 / (size * size), 0.0))
    c, s = cos(angle), sin(angle)
    for k in range(3):
        out = c * work[TOWARDS + k] + s * work[ACROSS + k]
        work[U1 + k] = work[end + k] / (size * size) + height * out
        work[DIRECTION + k] = out / size - height * work[end + k] / size
