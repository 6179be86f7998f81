"""Shortest path over an ellipsoid: two straight tangents and a geodesic between them.

With every axis scaled by its radius, the tangent points seen from an end lie on a circle of the unit sphere
(sphere.py). Newton's method finds the angle on this circle and the length of the geodesic that starts there: at its
other end, the second end lies in the tangent plane straight ahead of the geodesic. The search begins with OpenSim's
path (ellipsoid_plane.py), so that both go around the ellipsoid in the same direction. Where that does not lead to a
solution nearby, it begins with the great circle of the sphere and follows the solution while the sphere is deformed
into the ellipsoid; where the geodesic is longer than the path in the plane, it begins with the shortest path in a
plane. A path that is held on one half of the ellipsoid is not the shortest one on the surface. In this case, and where
no geodesic is found, the path is OpenSim's.

On the surface q.Dq = 1, D = diag(1 / a_i^2), a curve of unit speed without lateral acceleration follows

    q'' = -(q'.Dq') / (q.D^2 q) Dq

(do Carmo, Differential Geometry of Curves and Surfaces, 4-4: the acceleration is along the normal Dq; its size follows
from differentiating q.Dq = 1 twice).
"""

from math import atan2, sqrt

from musclesolve._util.compiled_code import compiled_in_order
from musclesolve.muscles.paths.kernel.arrays import (
    ACROSS,
    ARC,
    DIRECTION,
    EXTRA,
    FIRST,
    HEADING,
    INSIDE,
    INVERSE,
    LAST,
    MANDATORY,
    OUT,
    P1,
    P2,
    POINT,
    RADII,
    SAVED,
    SHORTEST_PATH,
    SPARE,
    TOWARDS,
    U1,
    U2,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.ellipsoid_plane import (
    opensim_arc,
    opensim_tangent,
    other_section,
    plane_normal,
    plane_point,
    section_path,
    shortest_section,
    tangent_side,
)
from musclesolve.muscles.paths.kernel.sphere import great_circle, tangent_point, unit_sphere
from musclesolve.muscles.paths.kernel.vectors import dot, straight_parts

ROUND_OFF = 1e-6
"""Error of the length of a path in a plane [m]."""
DEPTH = 1e-4
"""Depth 1 - sum (x_k / a_k)^2 up to which OpenSim regards an end as on the surface."""
MOST_STEPS = 12
CONVERGED = 1e-13
"""Size of a Newton step that ends the search [rad, mean radii]."""
FURTHEST = 0.5
"""Largest distance [rad] of the tangent point from the start of the search; beyond, it may be another geodesic."""
DIFFERENCE_ANGLE = 1e-6
"""Step of difference quotients [rad]."""
STAGES = (1, 8, 64)
"""Numbers of stages of the deformation of the sphere in successive attempts."""


@compiled_in_order
def touch_ellipsoid(ends, radii, axis, sign, method, rules, contact, work, matrix):
    """Tangent points, arc and extra length of the segment between two ends (2, 3), all in the ellipsoid's frame.

    rules: SHORTEST, or another for the path that OpenSim takes.
    """
    code, _ = unit_sphere(ends, radii, DEPTH, work)
    if code <= INSIDE:
        return code
    unit = (radii[0] + radii[1] + radii[2]) / 3.0
    _deform(radii, unit, 1.0, work)
    reflected = plane_point(axis, sign, method, work)
    arc = section_path(work)
    plane_normal(work)
    opensim_tangent(work, matrix, P1, FIRST)
    opensim_tangent(work, matrix, P2, LAST)
    if rules != SHORTEST_PATH:
        for k in range(3):
            contact[k], contact[3 + k] = unit * work[FIRST + k], unit * work[LAST + k]
        contact[ARC] = unit * opensim_arc(work, unit, sign != 0.0)
        contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
        return MANDATORY
    if tangent_side(work, P1, FIRST) < 0.0 and tangent_side(work, P2, LAST) < 0.0:
        reflected, arc = False, other_section(work)
    for k in range(3):
        contact[k], contact[3 + k] = radii[k] * work[U1 + k], radii[k] * work[U2 + k]
    contact[ARC] = unit * arc
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
    if reflected or _shorter_geodesic(ends, radii, unit, arc, contact, work):
        return MANDATORY
    # the geodesic nearby is no shortest path: look around the line
    _deform(radii, unit, 1.0, work)
    _shorter_geodesic(ends, radii, unit, shortest_section(work), contact, work)
    return MANDATORY


@compiled_in_order
def _shorter_geodesic(ends, radii, unit, arc, contact, work):
    """Replace the contact by the geodesic near the path in the plane if it is shorter; return whether it is."""
    if not _geodesic(radii, unit, arc, work):
        return False
    for k in range(8):
        work[SAVED + k] = contact[k]
    for k in range(3):
        contact[k] = radii[k] * work[U1 + k]
        contact[3 + k] = unit * work[POINT + k]
    contact[ARC] = unit * work[SPARE]
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
    if contact[EXTRA] <= work[SAVED + EXTRA] + ROUND_OFF:
        return True
    for k in range(8):
        contact[k] = work[SAVED + k]
    return False


@compiled_in_order
def _geodesic(radii, unit, arc, work):
    """Find the geodesic near the path in the plane, U1 to POINT, length in SPARE; return whether there is one."""
    for k in range(3):
        work[OUT + k] = work[U1 + k]
    around = great_circle(work)
    angle = atan2(dot(work, OUT, ACROSS), dot(work, OUT, TOWARDS))
    converged, angle, length = _newton(work, angle, arc)
    for stages in STAGES:
        if converged:
            break
        angle, length = 0.0, around
        for stage in range(stages):
            _deform(radii, unit, (stage + 1.0) / stages, work)
            converged, angle, length = _newton(work, angle, length)
            if not converged:
                break
    if not converged or length < 0.0:
        return False
    _shoot(work, angle, length)
    work[SPARE] = length
    return True


@compiled_in_order
def _deform(radii, unit, share, work):
    """Set radii between the unit sphere (share 0) and the ellipsoid (share 1), and values that depend on them."""
    for k in range(3):
        work[RADII + k] = 1.0 + share * (radii[k] / unit - 1.0)
        work[INVERSE + k] = 1.0 / work[RADII + k] ** 2
        work[P1 + k] = work[RADII + k] * work[W1 + k]
        work[P2 + k] = work[RADII + k] * work[W2 + k]


@compiled_in_order
def _newton(work, angle, length):
    """Solve for the angle of the first tangent point and the geodesic's length; return converged, angle, length."""
    begin = angle
    for _ in range(MOST_STEPS):
        _shoot(work, angle + DIFFERENCE_ANGLE, length)
        height_1, side_1 = _miss(work)
        _shoot(work, angle - DIFFERENCE_ANGLE, length)
        height_2, side_2 = _miss(work)
        height_a = (height_1 - height_2) / (2.0 * DIFFERENCE_ANGLE)
        side_a = (side_1 - side_2) / (2.0 * DIFFERENCE_ANGLE)
        _shoot(work, angle, length + DIFFERENCE_ANGLE)
        height_1, side_1 = _miss(work)
        _shoot(work, angle, length)
        height, side = _miss(work)
        height_l, side_l = (height_1 - height) / DIFFERENCE_ANGLE, (side_1 - side) / DIFFERENCE_ANGLE
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


@compiled_in_order
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


@compiled_in_order
def _miss(work):
    """Distances of the second end from the end of a geodesic: above the tangent plane, and beside its direction."""
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


GEODESIC_STEPS = 48
"""Runge-Kutta steps of a geodesic; the step is a fraction of its length, so that the end depends smoothly on it."""


@compiled_in_order
def follow(work, length):
    """Move POINT and HEADING of the work array along the geodesic; INVERSE is the diagonal of D."""
    step = length / GEODESIC_STEPS
    for _ in range(GEODESIC_STEPS):
        advance(work, step)


@compiled_in_order
def advance(work, step):
    """One step of the classical fourth-order method for q'' = f(q, q')."""
    x, y, z = work[POINT], work[POINT + 1], work[POINT + 2]
    u, v, w = work[HEADING], work[HEADING + 1], work[HEADING + 2]
    diagonal = work[INVERSE], work[INVERSE + 1], work[INVERSE + 2]
    half = 0.5 * step
    k1 = _bend(diagonal, x, y, z, u, v, w)
    u2, v2, w2 = u + half * k1[0], v + half * k1[1], w + half * k1[2]
    k2 = _bend(diagonal, x + half * u, y + half * v, z + half * w, u2, v2, w2)
    u3, v3, w3 = u + half * k2[0], v + half * k2[1], w + half * k2[2]
    k3 = _bend(diagonal, x + half * u2, y + half * v2, z + half * w2, u3, v3, w3)
    u4, v4, w4 = u + step * k3[0], v + step * k3[1], w + step * k3[2]
    k4 = _bend(diagonal, x + step * u3, y + step * v3, z + step * w3, u4, v4, w4)
    sixth = step / 6.0
    work[POINT] = x + sixth * (u + 2.0 * (u2 + u3) + u4)
    work[POINT + 1] = y + sixth * (v + 2.0 * (v2 + v3) + v4)
    work[POINT + 2] = z + sixth * (w + 2.0 * (w2 + w3) + w4)
    work[HEADING] = u + sixth * (k1[0] + 2.0 * (k2[0] + k3[0]) + k4[0])
    work[HEADING + 1] = v + sixth * (k1[1] + 2.0 * (k2[1] + k3[1]) + k4[1])
    work[HEADING + 2] = w + sixth * (k1[2] + 2.0 * (k2[2] + k3[2]) + k4[2])


@compiled_in_order
def _bend(diagonal, x, y, z, u, v, w):
    """Acceleration of a curve at x, y, z with the direction u, v, w."""
    d, e, f = diagonal
    nx, ny, nz = d * x, e * y, f * z
    size = -(d * u * u + e * v * v + f * w * w) / (nx * nx + ny * ny + nz * nz)
    return size * nx, size * ny, size * nz
