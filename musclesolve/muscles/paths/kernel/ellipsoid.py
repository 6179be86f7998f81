"""Shortest path over an ellipsoid: two straight tangents and a geodesic between them.

With every axis scaled by its radius, the tangent points seen from an end lie on a circle of the unit sphere
(sphere.py). The angle on this circle and the length of the geodesic that starts there are found by Newton's method so
that at its other end the geodesic runs straight to the second end: this lies in the tangent plane and not beside the
direction of the geodesic. The search begins with the shortest path in a plane (plane_section.py). Where that does not
lead to a solution nearby, or there is none on the given side, it begins with the great circle of the sphere and follows
the solution while the sphere is deformed into the ellipsoid.
"""

from __future__ import annotations

from math import sqrt

from musclesolve.muscles.paths.kernel.arrays import (
    ARC,
    DIRECTION,
    EXTRA,
    HEADING,
    INSIDE,
    INVERSE,
    MANDATORY,
    NONE,
    P2,
    POINT,
    RADII,
    U1,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.geodesic import follow
from musclesolve.muscles.paths.kernel.plane_section import shortest_section
from musclesolve.muscles.paths.kernel.sphere import great_circle, straight_parts, tangent_point, unit_sphere

MOST_STEPS = 12
CONVERGED = 1e-13
"""Newton steps no larger end the search [rad, mean radii]."""
FURTHEST = 0.5
"""A solution whose tangent point is further from where the search began may be another geodesic [rad]."""
SMALL = 1e-6
"""Step of difference quotients [rad]."""
STAGES = (1, 8, 64)
"""Into how many stages the deformation of the sphere is divided, one attempt after the other."""


@compiled
def touch_ellipsoid(ends, radii, axis, sign, contact, work):
    """Tangent points, arc and extra length of the segment between two ends (2, 3), all in the ellipsoid's frame."""
    code = unit_sphere(ends, radii, axis, sign, work)
    if code <= INSIDE:
        return code
    unit = (radii[0] + radii[1] + radii[2]) / 3.0
    arc = great_circle(work)
    _deform(radii, unit, 1.0, work)
    angle, length = shortest_section(axis, sign, work)
    converged = False
    if length >= 0.0:
        converged, angle, length = _newton(work, angle, length)
    for stages in STAGES:
        if converged:
            break
        angle, length = 0.0, arc
        for stage in range(stages):
            _deform(radii, unit, (stage + 1.0) / stages, work)
            converged, angle, length = _newton(work, angle, length)
            if not converged:
                break
    if not converged or length < 0.0:
        return NONE
    _shoot(work, angle, length)
    for k in range(3):
        contact[k] = radii[k] * work[U1 + k]
        contact[3 + k] = unit * work[POINT + k]
    contact[ARC] = unit * length
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
    return MANDATORY


@compiled
def _deform(radii, unit, share, work):
    """Radii between those of the unit sphere and those of the ellipsoid, and what depends on them."""
    for k in range(3):
        work[RADII + k] = 1.0 + share * (radii[k] / unit - 1.0)
        work[INVERSE + k] = 1.0 / work[RADII + k] ** 2
        work[P2 + k] = work[RADII + k] * work[W2 + k]


@compiled
def _newton(work, angle, length):
    """Solve for the angle of the first tangent point and the length of the geodesic: converged, angle, length."""
    begin = angle
    for _ in range(MOST_STEPS):
        _shoot(work, angle + SMALL, length)
        height_1, side_1 = _miss(work)
        _shoot(work, angle - SMALL, length)
        height_2, side_2 = _miss(work)
        height_a, side_a = (height_1 - height_2) / (2.0 * SMALL), (side_1 - side_2) / (2.0 * SMALL)
        _shoot(work, angle, length + SMALL)
        height_1, side_1 = _miss(work)
        _shoot(work, angle, length)
        height, side = _miss(work)
        height_l, side_l = (height_1 - height) / SMALL, (side_1 - side) / SMALL
        determinant = height_a * side_l - side_a * height_l
        if determinant == 0.0:
            return False, angle, length
        turn = (height * side_l - side * height_l) / determinant
        more = (height_a * side - side_a * height) / determinant
        angle, length = angle - turn, length - more
        if not abs(angle - begin) < FURTHEST:
            return False, angle, length
        if abs(turn) < CONVERGED and abs(more) < CONVERGED:
            return True, angle, length
    return False, angle, length


@compiled
def _shoot(work, angle, length):
    """Follow the geodesic that continues the straight line from the first end."""
    tangent_point(work, W1, angle)
    size = 0.0
    for k in range(3):
        work[POINT + k] = work[RADII + k] * work[U1 + k]
        work[HEADING + k] = work[RADII + k] * work[DIRECTION + k]
        size += work[HEADING + k] ** 2
    size = sqrt(size)
    for k in range(3):
        work[HEADING + k] /= size
    follow(work, length)


@compiled
def _miss(work):
    """Of the second end: height above the tangent plane where the geodesic ends, and distance beside its direction."""
    height, side, size = 0.0, 0.0, 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        normal = work[INVERSE + k] * work[POINT + k]
        height += normal * work[P2 + k]
        size += normal * normal
        binormal = (
            work[HEADING + i] * work[INVERSE + j] * work[POINT + j]
            - work[HEADING + j] * work[INVERSE + i] * work[POINT + i]
        )
        side += binormal * (work[P2 + k] - work[POINT + k])
    return height - 1.0, side / sqrt(size)
