"""Shortest path through the hole of a torus: two straight tangents and a geodesic of the torus between them.

The torus is a tube of radius r about a ring of radius R in the plane across its axis z. At the ring angle u and the
tube angle v, zero on the side of the axis, the surface has the point and the outward normal

    p = R e(u) + r n,    n = -cos v e(u) + sin v z,    e(u) = (cos u, sin u, 0),

and the metric w^2 du^2 + r^2 dv^2 with w = R - r cos v. A geodesic of unit speed follows (do Carmo, Differential
Geometry of Curves and Surfaces, 4-4)

    u'' = -2 r sin v / w u' v',    v'' = w sin v / r u'^2 .

Newton's method finds u, v of the first tangent point and the length of the geodesic that continues the straight line:
the first end lies in the tangent plane of the first point, the second end in the one of the last point and straight
ahead of the geodesic.

The search begins with the path over the cylinder of radius r whose axis is the tangent of the ring at the point of the
ring nearest to the straight line, held on the half toward the axis of the torus. This path decides whether the torus is
touched. A line that passes beside the torus is drawn through its hole. With a quadrant the nearest point of the line
has to be on this half, else the path is straight. Where no geodesic is found, the path is the one over the cylinder.

OpenSim's path (its class WrapTorus) is the one over the cylinder. Its nearest point is not the nearest one: the
derivative of the squared distance |p|^2 + R^2 - 2 R rho of a point p from the ring, with its distance rho from the
axis, has the last term twice, so that the point is the nearest one to a ring of the radius 2 R. From both ends of the
line OpenSim searches for it and takes the one nearer to the ring itself.
"""

from math import atan2, cos, hypot, inf, sin, sqrt

from musclesolve._util.compiled_code import compiled_in_order, int64
from musclesolve.muscles.paths.kernel.arrays import ARC, EXTRA, HEADING, INSIDE, NONE, POINT, SHORTEST_PATH
from musclesolve.muscles.paths.kernel.cylinder import touch_cylinder
from musclesolve.muscles.paths.kernel.vectors import straight_parts

SAMPLES = 64
"""Number of places of a line at which its distance from the ring is computed."""
HALVINGS = 60
BEYOND = 0.5
"""Part of its length by which a line is prolonged at both ends: OpenSim's search does not stop at the ends."""
MOST_STEPS = 25
SEARCH_STEPS = 100
FIRST_REACH = 0.1
"""Step of OpenSim's search times the second derivative of half the squared distance along the line [m]."""
GEODESIC_STEPS = 48
"""Runge-Kutta steps of a geodesic."""
CONVERGED = 1e-12
"""Size of a Newton step that ends the search [rad, ring radii]."""
LARGEST_STEP = 0.3
"""Of Newton's method [rad, ring radii]."""
DIFFERENCE = 1e-6
"""Step of difference quotients [rad, ring radii]."""
STAGES = (1, 8, 64)
"""Numbers of stages of the growth from cylinder to torus in successive attempts."""
X = int64(0)


@compiled_in_order
def touch_torus(ends, radii, axis, sign, rules, contact, local):
    """Tangent points, arc and extra length of the segment between two ends (2, 3), all in the torus' frame.

    radii: of the tube and of the ring. rules: SHORTEST, or another for the path that OpenSim takes. local: work array
    with two rows.
    """
    tube, ring = radii[0], radii[1]
    angle = _nearest(ends, ring, axis, sign)
    if rules != SHORTEST_PATH:
        angle = _opensim_nearest(ends, ring, axis, sign)
    if angle == inf:
        return NONE
    c, s = cos(angle), sin(angle)
    for end in range(2):
        x, y, z = ends[end, 0] - ring * c, ends[end, 1] - ring * s, ends[end, 2]
        local[end, 0] = -(c * x + s * y)
        local[end, 1] = -z
        local[end, 2] = s * x - c * y
    code = touch_cylinder(local, tube, inf, X, 1.0, rules, contact)
    if code <= INSIDE:
        return code
    turn, along = atan2(-contact[1], contact[0]), -contact[2] / ring
    for end in range(2):
        x, y, z = contact[3 * end], contact[3 * end + 1], contact[3 * end + 2]
        contact[3 * end] = ring * c - c * x + s * z
        contact[3 * end + 1] = ring * s - s * x - c * z
        contact[3 * end + 2] = -y
    if rules == SHORTEST_PATH:
        _geodesic(ends, tube, ring, angle, contact, turn, along, local)
    return code


@compiled_in_order
def _nearest(ends, ring, axis, sign):
    """Angle of the point of the ring nearest to the line, which may be on one half of it; inf without such a point."""
    best, least, chosen = inf, inf, 0.0
    step = (1.0 + 2.0 * BEYOND) / SAMPLES
    for k in range(SAMPLES + 1):
        share = k * step - BEYOND
        if sign != 0.0 and sign * (ends[0, axis] + share * (ends[1, axis] - ends[0, axis])) < 0.0:
            continue
        distance = _distance(ends, ring, share)
        if distance < least:
            least, best, chosen = distance, share, share
    if best == inf:
        return inf
    low, high = best - step, best + step
    if _slope(ends, ring, low) < 0.0 < _slope(ends, ring, high):
        for _ in range(HALVINGS):
            chosen = 0.5 * (low + high)
            if _slope(ends, ring, chosen) < 0.0:
                low = chosen
            else:
                high = chosen
    x = ends[0, 0] + chosen * (ends[1, 0] - ends[0, 0])
    y = ends[0, 1] + chosen * (ends[1, 1] - ends[0, 1])
    return atan2(y, x)


@compiled_in_order
def _opensim_nearest(ends, ring, axis, sign):
    """The angle that OpenSim takes for the one of `_nearest`; inf without such a point."""
    line = sqrt(
        (ends[1, 0] - ends[0, 0]) ** 2 + (ends[1, 1] - ends[0, 1]) ** 2 + (ends[1, 2] - ends[0, 2]) ** 2
    )
    least, angle = inf, inf
    for end in range(2):
        share = _stationary(ends, 2.0 * ring, float(end), line)
        place = ends[0, axis] + share * (ends[1, axis] - ends[0, axis])
        if sign != 0.0 and (place >= 0.0) != (sign > 0.0):
            continue
        distance = _distance(ends, ring, share)
        if distance < least:
            x = ends[0, 0] + share * (ends[1, 0] - ends[0, 0])
            y = ends[0, 1] + share * (ends[1, 1] - ends[0, 1])
            least, angle = distance, atan2(y, x)
    return angle


@compiled_in_order
def _stationary(ends, ring, share, line):
    """Share of the line where its distance from a ring is stationary, by Newton's method from one end."""
    for _ in range(SEARCH_STEPS):
        slope = _slope(ends, ring, share)
        rate = (_slope(ends, ring, share + DIFFERENCE) - slope) / DIFFERENCE
        if rate == 0.0:
            break
        reach = FIRST_REACH * line / abs(rate)
        step = min(max(-slope / rate, -reach), reach)
        share += step
        if abs(step) < CONVERGED:
            break
    return share


@compiled_in_order
def _distance(ends, ring, share):
    """Square of the distance from the ring of the point of the line at a share of its length."""
    x = ends[0, 0] + share * (ends[1, 0] - ends[0, 0])
    y = ends[0, 1] + share * (ends[1, 1] - ends[0, 1])
    z = ends[0, 2] + share * (ends[1, 2] - ends[0, 2])
    return (hypot(x, y) - ring) ** 2 + z * z


@compiled_in_order
def _slope(ends, ring, share):
    """Half the derivative of `_distance` by the share."""
    dx, dy, dz = ends[1, 0] - ends[0, 0], ends[1, 1] - ends[0, 1], ends[1, 2] - ends[0, 2]
    x, y, z = ends[0, 0] + share * dx, ends[0, 1] + share * dy, ends[0, 2] + share * dz
    away = hypot(x, y)
    if away == 0.0:
        return z * dz
    return (1.0 - ring / away) * (x * dx + y * dy) + z * dz


@compiled_in_order
def _geodesic(ends, tube, ring, angle, contact, turn, along, local):
    """Replace the contact by the geodesic near the path over a cylinder, if there is one.

    turn, along: of the first tangent point on the cylinder, about its axis and over R along the ring. The torus grows
    from the cylinder, a ring of infinite radius, through rings that touch it at the angle.
    """
    for stages in STAGES:
        u, v, length, converged = angle + along, turn, contact[ARC] / ring, False
        before = ring
        for stage in range(stages):
            larger = ring * stages / (stage + 1.0)
            if stages > 1:
                scale = (before if stage > 0 else ring) / larger
                u, length = angle + (u - angle) * scale, length * scale
            before = larger
            for end in range(2):
                local[end, 0] = ends[end, 0] - (ring - larger) * cos(angle)
                local[end, 1] = ends[end, 1] - (ring - larger) * sin(angle)
                local[end, 2] = ends[end, 2]
            converged, u, v, length = _newton(local, tube, larger, u, v, length)
            if not converged:
                break
        if converged and length >= 0.0 and _ahead(ends, tube, ring, u, v, length) >= 0.0:
            u_rate, v_rate = _heading(ends, tube, ring, u, v)
            contact[0], contact[1], contact[2] = _point(tube, ring, u, v)
            u, v, _, _ = follow_torus(tube, ring, u, v, u_rate, v_rate, ring * length, GEODESIC_STEPS)
            contact[3], contact[4], contact[5] = _point(tube, ring, u, v)
            contact[ARC] = ring * length
            contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)
            return


@compiled_in_order
def _newton(ends, tube, ring, u, v, length):
    """Angles of the first tangent point and length over R of the geodesic; whether they converged."""
    for _ in range(MOST_STEPS):
        a0, b0, c0 = _miss(ends, tube, ring, u, v, length)
        a1, b1, c1 = _miss(ends, tube, ring, u + DIFFERENCE, v, length)
        a2, b2, c2 = _miss(ends, tube, ring, u, v + DIFFERENCE, length)
        a3, b3, c3 = _miss(ends, tube, ring, u, v, length + DIFFERENCE)
        a1, b1, c1 = (a1 - a0) / DIFFERENCE, (b1 - b0) / DIFFERENCE, (c1 - c0) / DIFFERENCE
        a2, b2, c2 = (a2 - a0) / DIFFERENCE, (b2 - b0) / DIFFERENCE, (c2 - c0) / DIFFERENCE
        a3, b3, c3 = (a3 - a0) / DIFFERENCE, (b3 - b0) / DIFFERENCE, (c3 - c0) / DIFFERENCE
        determinant = a1 * (b2 * c3 - b3 * c2) - a2 * (b1 * c3 - b3 * c1) + a3 * (b1 * c2 - b2 * c1)
        if not abs(determinant) > 0.0:
            return False, u, v, length
        du = (a0 * (b2 * c3 - b3 * c2) - a2 * (b0 * c3 - b3 * c0) + a3 * (b0 * c2 - b2 * c0)) / determinant
        dv = (a1 * (b0 * c3 - b3 * c0) - a0 * (b1 * c3 - b3 * c1) + a3 * (b1 * c0 - b0 * c1)) / determinant
        more = (a1 * (b2 * c0 - b0 * c2) - a2 * (b1 * c0 - b0 * c1) + a0 * (b1 * c2 - b2 * c1)) / determinant
        size = max(abs(du), abs(dv), abs(more))
        if not size < inf:
            return False, u, v, length
        share = min(1.0, LARGEST_STEP / size) if size > 0.0 else 1.0
        u, v, length = u - share * du, v - share * dv, length - share * more
        if size < CONVERGED:
            return True, u, v, length
    return False, u, v, length


@compiled_in_order
def _ahead(ends, tube, ring, u, v, length):
    """Product of the direction of the geodesic at its end and the line from there to the second end."""
    u_rate, v_rate = _heading(ends, tube, ring, u, v)
    u, v, u_rate, v_rate = follow_torus(tube, ring, u, v, u_rate, v_rate, ring * length, GEODESIC_STEPS)
    x, y, z = _point(tube, ring, u, v)
    x, y, z = ends[1, 0] - x, ends[1, 1] - y, ends[1, 2] - z
    along = cos(u) * y - sin(u) * x
    around = sin(v) * (cos(u) * x + sin(u) * y) + cos(v) * z
    return along * (ring - tube * cos(v)) * u_rate + around * tube * v_rate


@compiled_in_order
def _point(tube, ring, u, v):
    away = ring - tube * cos(v)
    return away * cos(u), away * sin(u), tube * sin(v)


@compiled_in_order
def _rates(tube, ring, u, v, x, y, z):
    """Rates of u and v of a direction, made tangent and of unit length."""
    out = cos(u) * x + sin(u) * y
    along, around = cos(u) * y - sin(u) * x, sin(v) * out + cos(v) * z
    size = hypot(along, around)
    if size == 0.0:
        return 0.0, 1.0 / tube
    return along / (size * (ring - tube * cos(v))), around / (size * tube)


@compiled_in_order
def _heading(ends, tube, ring, u, v):
    """Rates of u and v at the first tangent point, straight on from the first end."""
    x, y, z = _point(tube, ring, u, v)
    return _rates(tube, ring, u, v, x - ends[0, 0], y - ends[0, 1], z - ends[0, 2])


@compiled_in_order
def _miss(ends, tube, ring, u, v, length):
    """Heights of both ends above the tangent planes, and distance of the second one beside the geodesic, over R."""
    first = _height(ends, 0, tube, ring, u, v)
    u_rate, v_rate = _heading(ends, tube, ring, u, v)
    u, v, u_rate, v_rate = follow_torus(tube, ring, u, v, u_rate, v_rate, ring * length, GEODESIC_STEPS)
    last = _height(ends, 1, tube, ring, u, v)
    x, y, z = _point(tube, ring, u, v)
    x, y, z = ends[1, 0] - x, ends[1, 1] - y, ends[1, 2] - z
    along = cos(u) * y - sin(u) * x
    around = sin(v) * (cos(u) * x + sin(u) * y) + cos(v) * z
    side = along * tube * v_rate - around * (ring - tube * cos(v)) * u_rate
    return first / ring, last / ring, side / ring


@compiled_in_order
def _height(ends, end, tube, ring, u, v):
    """Height of an end above the tangent plane."""
    out, up = cos(u) * ends[end, 0] + sin(u) * ends[end, 1] - ring, ends[end, 2]
    return sin(v) * up - cos(v) * out - tube


@compiled_in_order
def follow_torus(tube, ring, u, v, u_rate, v_rate, length, steps):
    """Angles and rates at the end of a geodesic, by the classical fourth-order method."""
    h = length / steps
    half = 0.5 * h
    for _ in range(steps):
        a1, b1 = _bend(tube, ring, v, u_rate, v_rate)
        u2, v2 = u_rate + half * a1, v_rate + half * b1
        a2, b2 = _bend(tube, ring, v + half * v_rate, u2, v2)
        u3, v3 = u_rate + half * a2, v_rate + half * b2
        a3, b3 = _bend(tube, ring, v + half * v2, u3, v3)
        u4, v4 = u_rate + h * a3, v_rate + h * b3
        a4, b4 = _bend(tube, ring, v + h * v3, u4, v4)
        u += h / 6.0 * (u_rate + 2.0 * (u2 + u3) + u4)
        v += h / 6.0 * (v_rate + 2.0 * (v2 + v3) + v4)
        u_rate += h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
        v_rate += h / 6.0 * (b1 + 2.0 * (b2 + b3) + b4)
    return u, v, u_rate, v_rate


@compiled_in_order
def _bend(tube, ring, v, u_rate, v_rate):
    """Second derivatives of u and v along a geodesic."""
    w, s = ring - tube * cos(v), sin(v)
    return -2.0 * tube * s / w * u_rate * v_rate, w * s / tube * u_rate * u_rate


@compiled_in_order
def advance_on_torus(work, tube, ring, length, steps):
    """Move POINT and HEADING of the work array along the geodesic."""
    x, y, z = work[POINT], work[POINT + 1], work[POINT + 2]
    u, v = atan2(y, x), atan2(z, ring - hypot(x, y))
    u_rate, v_rate = _rates(tube, ring, u, v, work[HEADING], work[HEADING + 1], work[HEADING + 2])
    u, v, u_rate, v_rate = follow_torus(tube, ring, u, v, u_rate, v_rate, length, steps)
    work[POINT], work[POINT + 1], work[POINT + 2] = _point(tube, ring, u, v)
    along, around = (ring - tube * cos(v)) * u_rate, tube * v_rate
    work[HEADING] = sin(v) * cos(u) * around - sin(u) * along
    work[HEADING + 1] = sin(v) * sin(u) * around + cos(u) * along
    work[HEADING + 2] = cos(v) * around
