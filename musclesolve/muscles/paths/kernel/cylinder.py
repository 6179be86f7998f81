"""Shortest path around a circular cylinder, in closed form.

In the plane across the axis the angle at the center between a point at distance d and its tangent point on the circle
of radius r is acos(r / d). Unrolled, the straight parts of lengths sqrt(d^2 - r^2) and the arc r w are one straight
line, so the axial coordinate is linear in the unrolled length: the helix of the shortest path. The direction around the
cylinder, and whether the path touches it, follow the rules of OpenSim's WrapCylinder (its class documentation and
sources). With a `side` the path stays on this half of the surface even where the straight line passes on the other
side. Without, it takes the shorter direction, and only where the straight line cuts the infinite cylinder. A path whose
tangent points are both beyond the ends is straight. Where all tangent points are on the stated half, OpenSim always
takes the same direction; here the path takes the shorter one.

OpenSim's WrapCylinder puts the tangent points near the helix of the shortest path, not on it. Across the axis they are
the same. Their heights are where the plane through both ends and an apex of the cylinder cuts the two lines of
tangency. If a path wraps over several objects, OpenSim then slides the tangent points until helix and straight parts
meet within 0.1 degrees; for a single wrap they stay there. Its lengths over one cylinder are up to some 0.6 mm greater
than the lengths of the shortest path, and its moment arms, which belong to the tangent points, are not the slopes of
its lengths where the path runs obliquely.
"""

from math import atan2, cos, hypot, pi, sin, sqrt

from musclesolve._util.compiled_code import compiled_in_order, int64
from musclesolve.muscles.paths.kernel.arrays import (
    ARC,
    EXTRA,
    INSIDE,
    MANDATORY,
    NONE,
    POSSIBLE,
    SEVERAL,
    SHORTEST_PATH,
)
from musclesolve.muscles.paths.kernel.vectors import straight_parts

ONE, OTHER = int64(0), int64(1)
"""The ends of a segment."""
ROUND_OFF = 1e-7
"""Size [rad] of a negative wrap angle that counts as zero."""


@compiled_in_order
def touch_cylinder(ends, radius, half_length, axis, sign, rules, contact):
    """Tangent points, arc and extra length of the segment between two ends (2, 3), all in the cylinder's frame.

    rules: SHORTEST, or OPENSIM or SEVERAL for OpenSim's result of a single wrap or of one of several.
    """
    square_1 = ends[0, 0] * ends[0, 0] + ends[0, 1] * ends[0, 1]
    square_2 = ends[1, 0] * ends[1, 0] + ends[1, 1] * ends[1, 1]
    if square_1 < radius * radius or square_2 < radius * radius:
        return INSIDE
    code = _contact_of_line(ends, radius, axis, sign)
    if code == NONE:
        return NONE
    d1, d2 = sqrt(square_1), sqrt(square_2)
    c1, c2 = radius / d1, radius / d2
    turn, far = _shorter(ends), False
    if sign != 0.0:
        turn, far = _turn(ends, c1, c2, axis, sign, rules)
    s1, s2 = turn * sqrt(1.0 - c1 * c1), turn * sqrt(1.0 - c2 * c2)
    contact[0] = c1 * (ends[0, 0] * c1 - ends[0, 1] * s1)
    contact[1] = c1 * (ends[0, 1] * c1 + ends[0, 0] * s1)
    contact[3] = c2 * (ends[1, 0] * c2 + ends[1, 1] * s2)
    contact[4] = c2 * (ends[1, 1] * c2 - ends[1, 0] * s2)
    angle = atan2(
        turn * (contact[0] * contact[4] - contact[1] * contact[3]),
        contact[0] * contact[3] + contact[1] * contact[4],
    )
    if angle < -ROUND_OFF:
        angle += 2.0 * pi
    angle = max(angle, 0.0)
    if rules != SHORTEST_PATH:
        opensim_heights(ends, radius, angle, turn, far, rules == SEVERAL, contact)
        return NONE if abs(contact[2]) > half_length and abs(contact[5]) > half_length else code
    first, last = sqrt(square_1 - radius * radius), sqrt(square_2 - radius * radius)
    flat = first + radius * angle + last
    rise = ends[1, 2] - ends[0, 2]
    contact[2] = ends[0, 2] + rise * first / flat
    contact[5] = ends[1, 2] - rise * last / flat
    if abs(contact[2]) > half_length and abs(contact[5]) > half_length:
        return NONE
    length = sqrt(flat * flat + rise * rise)
    contact[ARC] = radius * angle / flat * length
    contact[EXTRA] = length - sqrt(
        (ends[1, 0] - ends[0, 0]) ** 2 + (ends[1, 1] - ends[0, 1]) ** 2 + rise * rise
    )
    return code


@compiled_in_order
def _contact_of_line(ends, radius, axis, sign):
    """Whether the path touches the cylinder, by its straight line."""
    dx, dy = ends[1, 0] - ends[0, 0], ends[1, 1] - ends[0, 1]
    square = dx * dx + dy * dy
    if square == 0.0:
        return NONE
    along = -(ends[0, 0] * dx + ends[0, 1] * dy) / square
    cross = ends[0, 0] * ends[1, 1] - ends[0, 1] * ends[1, 0]
    cut = 0.0 < along < 1.0 and cross * cross < radius * radius * square
    if sign == 0.0:
        return MANDATORY if cut else NONE
    near, far = _on_side(ends[0, axis], sign), _on_side(ends[1, axis], sign)
    if not near and not far:
        return POSSIBLE
    if cut:
        return MANDATORY
    closest = ends[0, axis] + along * (ends[1, axis] - ends[0, axis])
    return POSSIBLE if near != far and not _on_side(closest, sign) else NONE


@compiled_in_order
def _on_side(value, sign):
    """Whether a coordinate is on the half of a sign."""
    return (value >= 0.0) == (sign > 0.0)


@compiled_in_order
def _shorter(ends):
    """The shorter direction around a cylinder between two ends: +1 or -1 about z."""
    return 1.0 if ends[0, 0] * ends[1, 1] >= ends[0, 1] * ends[1, 0] else -1.0


@compiled_in_order
def _turn(ends, c1, c2, axis, sign, rules):
    """Return the direction, +1 or -1 about z, whose tangent points lie on the stated half.

    Returns also whether OpenSim takes the apex on the far side. For a half along the axis the ends decide, as in
    OpenSim.
    """
    s1, s2 = sqrt(1.0 - c1 * c1), sqrt(1.0 - c2 * c2)
    x1, y1, x2, y2 = ends[0, 0] * c1, ends[0, 1] * c1, ends[1, 0] * c2, ends[1, 1] * c2
    cosine = x1 * x2 + y1 * y2
    sine = x1 * y2 - y1 * x2
    c, s = c1 * c2 - s1 * s2, s1 * c2 + c1 * s2
    # cosines of the angles between the tangent points of either way: the one with the larger angle
    larger = 1.0 if cosine * c + sine * s < cosine * c - sine * s else -1.0
    turn = _by_half(ends, c1, c2, s1, s2, axis, sign, larger, rules)
    return turn, turn == larger


@compiled_in_order
def _by_half(ends, c1, c2, s1, s2, axis, sign, larger, rules):
    """The direction: +1 to the tangent points `left_1` and `right_2`, -1 to the other two."""
    if axis == 2:
        left_1 = right_1 = _on_side(ends[0, 2], sign)
        left_2 = right_2 = _on_side(ends[1, 2], sign)
    else:
        other = -1.0 if axis == 0 else 1.0
        left_1 = _on_side(ends[0, axis] * c1 + other * ends[0, 1 - axis] * s1, sign)
        right_1 = _on_side(ends[0, axis] * c1 - other * ends[0, 1 - axis] * s1, sign)
        left_2 = _on_side(ends[1, axis] * c2 + other * ends[1, 1 - axis] * s2, sign)
        right_2 = _on_side(ends[1, axis] * c2 - other * ends[1, 1 - axis] * s2, sign)
    if left_1 != right_1:
        return 1.0 if left_1 else -1.0
    if left_1 and left_2 and right_2:
        return _shorter(ends) if rules == SHORTEST_PATH else -1.0
    if left_1 or left_2 or right_2:
        return -1.0 if left_2 else 1.0
    return larger  # none of the four


TANGENT = sin(0.1 * pi / 180.0)
"""Sine of the angle between helix and straight part below which OpenSim regards them as tangent."""
MOST_SLIDES = 100
HELIX_STEP = 0.002
"""Length of the parts into which OpenSim divides a helix [m]."""
TANGENT_REACH = 10.0
"""Distance [m] along the axis within which OpenSim searches for a tangent point."""


@compiled_in_order
def opensim_heights(ends, radius, angle, turn, far, several, contact):
    """Move the tangent points in `contact` along the axis, for an arc of some angle, +1 or -1 about the axis.

    far: whether the apex is the far one. For arcs of more than half a turn OpenSim subtracts the shorter angle, signed
    about the axis, from a full turn. For arcs in the positive sense the result is 4 pi - angle, a full turn too much,
    and the helix begins in the wrong sense.
    """
    sense = 1.0
    if angle > pi and turn > 0.0:
        angle, sense = 4.0 * pi - angle, -1.0
    _apex_plane(ends, radius, far, contact)
    if several:
        _slide(ends, radius, angle, sense, contact)
    contact[ARC] = hypot(radius * angle, contact[5] - contact[2])
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)


@compiled_in_order
def _apex_plane(ends, radius, far, contact):
    """Heights in the plane through the ends and the apex of the cylinder, nearest to their line or opposite."""
    x1, y1, z1 = ends[0, 0], ends[0, 1], ends[0, 2]
    x2, y2, z2 = ends[1, 0], ends[1, 1], ends[1, 2]
    d1, d2 = hypot(x1, y1), hypot(x2, y2)
    share = d1 / (d1 + d2)
    x, y, z = x1 + share * (x2 - x1), y1 + share * (y2 - y1), z1 + share * (z2 - z1)
    # horizontal part of the normal of the plane through both ends and the point of the axis at this height
    nx, ny = y1 * (z2 - z) - (z1 - z) * y2, (z1 - z) * x2 - x1 * (z2 - z)
    size = hypot(nx, ny)
    if size > 0.0:
        ax, ay = -radius * ny / size, radius * nx / size
    else:
        ax, ay = 0.0, 0.0
    if ((x - ax) ** 2 + (y - ay) ** 2 < (x + ax) ** 2 + (y + ay) ** 2) == far:
        ax, ay = -ax, -ay
    ux, uy, uz = x1 - ax, y1 - ay, z1 - z
    vx, vy, vz = x2 - ax, y2 - ay, z2 - z
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    contact[2], contact[5] = z1, z2
    if nz == 0.0:
        return
    first = z1 - (nx * (contact[0] - x1) + ny * (contact[1] - y1)) / nz
    last = z1 - (nx * (contact[3] - x1) + ny * (contact[4] - y1)) / nz
    if abs(first - z1) < TANGENT_REACH and abs(first - z2) < abs(z1 - z2):
        contact[2] = first
    if abs(last - z2) < TANGENT_REACH and abs(last - z1) < abs(z1 - z2):
        contact[5] = last


@compiled_in_order
def _slide(ends, radius, angle, sense, contact):
    """Slide the tangent points until the helix begins in the direction of the straight part."""
    known, chord, out, on = 0, 0.0, 0.0, 0.0
    for _ in range(MOST_SLIDES):
        rise = contact[5] - contact[2]
        parts = int(sqrt((radius * angle) ** 2 + rise * rise) / HELIX_STEP)
        if parts < 2:
            return
        if parts != known:
            part = sense * angle / parts
            chord = 2.0 * radius * abs(sin(0.5 * part))
            known, out, on = parts, radius * (cos(part) - 1.0), radius * sin(part)
        slid_1 = _slide_one(ends, chord, out, on, contact[2] + rise / parts, ONE, contact)
        # the helix begins at the first point where this now is
        slid_2 = _slide_one(ends, chord, out, on, contact[2] + (1.0 - 1.0 / parts) * rise, OTHER, contact)
        if not slid_1 and not slid_2:
            return


@compiled_in_order
def _slide_one(ends, chord, out, on, height, end, contact):
    """Slide one tangent point by chord and height of the next point of the helix, which lies outward by `out` and on by
    `on`; return whether it moved.
    """
    at = 3 * end
    along = sqrt((contact[at] - ends[end, 0]) ** 2 + (contact[at + 1] - ends[end, 1]) ** 2)
    up, rise = contact[at + 2] - ends[end, 2], height - contact[at + 2]
    # the angle between the straight part (along, up) and the helix (chord, rise)
    sizes = sqrt((along * along + up * up) * (chord * chord + rise * rise))
    if abs(along * rise - up * chord) <= TANGENT * sizes and along * chord + up * rise > 0.0:
        return False
    # where the line from the end to the next point of the helix passes the line of tangency
    share = along * (along + on) / ((along + on) ** 2 + out**2)
    between = ends[end, 2] + share * (height - ends[end, 2])
    contact[at + 2] += 1.5 * (between - contact[at + 2])
    return True
