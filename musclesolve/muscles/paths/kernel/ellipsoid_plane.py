"""The path over an ellipsoid that lies in a plane: two tangents and an arc of the section between them.

On the scale of the unit sphere the section is a circle, and tangents stay tangents.

OpenSim's WrapEllipsoid takes the plane through both ends and a point of the surface. The point is nearest to the
straight line in a sense that depends on `method` (PathWrap; all lengths are in mean radii):

    midpoint   nearest to the middle of the part of the line inside the ellipsoid;
    axial      where the line crosses the plane of two axes that is most across it, nearest in that plane's section;
    hybrid     as axial where the line is within 26 degrees of an axis; where it is more than 45 degrees from every
               axis, the mean of the directions to the nearest points from 298 places along the line; a mixture
               between.

If the point is not on the stated half it is reflected to it. Where the mean of directions has a share, the point is
moved back by this share toward the middle of both, the edge of the half, and put on the surface again, so that a path
stays on the edge when its line passes on the other half. Such a path is held on its half and is not a shortest path.

The path in this plane is longer than the shortest path over the ellipsoid, mostly by less than 0.3 mm.

The section with a plane v.r + c = 0 has two tangent points seen from an end p. OpenSim looks for one by a damped
Newton method for r and d with n = 2 r / a^2 in

    v.r + c = 0,   sum (r / a)^2 = 1,   n.r + d = 0,   n.p + d = 0

which starts at the point of the surface and may end at either of them. If the point was reflected, the path may lie on
the wrong half, or have one tangent point on either side of the line, which is impossible for a path under tension. The
arc is divided into parts of 1 mm by equal angles about the point where an axis meets the plane; where this point is
outside of the ellipsoid, the length may be NaN.
"""

from math import acos, atan2, cos, inf, pi, sin, sqrt

from musclesolve._util.compiled_code import compiled_in_order, int64
from musclesolve.muscles.paths.kernel.arrays import (
    AXIAL,
    CENTER,
    END,
    FIRST,
    HYBRID,
    LAST,
    MIDDLE,
    NEAREST,
    NORMAL,
    ON_TRIAL,
    OUT,
    P1,
    P2,
    PLACE,
    RADII,
    SIDE,
    SLOPE,
    SPARE,
    SURFACE,
    TRIAL,
    U1,
    U2,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.vectors import cross, dot, resize

FIRST_AXIS, EVERY = int64(0), int64(-1)
PARTS = 64
"""Parts of an arc, for its length by the midpoint rule."""
PLANES = 24


@compiled_in_order
def section_path(work):
    """Set the tangent points U1 and U2 of the path in the plane through both ends and SURFACE; return the arc's length.

    SIDE is set to the side of the plane from the line, and NEAREST is turned to it.
    """
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
    _set_center(work)
    return _section(work)


@compiled_in_order
def other_section(work):
    """Set the path on the opposite side of the line from `section_path`; return the length of the arc."""
    for k in range(3):
        work[SIDE + k] *= -1.0
        work[NEAREST + k] *= -1.0
    return _section(work)


@compiled_in_order
def shortest_section(work):
    """Set the tangent points U1, U2 in the plane through the line with the shortest path; return the arc's length."""
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


@compiled_in_order
def _turn_plane(work, angle):
    """Turn the plane around the line."""
    for k in range(3):
        work[SPARE + k] = work[W2 + k] - work[W1 + k]
    resize(work, SPARE, 1.0)
    cross(work, SPARE, SIDE, CENTER)
    for k in range(3):
        work[SIDE + k] = cos(angle) * work[SIDE + k] + sin(angle) * work[CENTER + k]
    _set_center(work)


@compiled_in_order
def _set_center(work):
    """Set the center of the circle in the plane through SIDE and the line, whose direction is SPARE."""
    cross(work, SPARE, SIDE, CENTER)
    height = dot(work, W1, CENTER)
    for k in range(3):
        work[CENTER + k] *= height


@compiled_in_order
def _section(work):
    """Set the tangent points on SIDE of the line; return the length of the arc between them."""
    radius = sqrt(max(1.0 - dot(work, CENTER, CENTER), 0.0))
    _tangent(work, W2, radius)
    for k in range(3):
        work[END + k] = work[OUT + k]
        work[U2 + k] = work[CENTER + k] + radius * work[OUT + k]
    _tangent(work, W1, radius)
    for k in range(3):
        work[U1 + k] = work[CENTER + k] + radius * work[OUT + k]
    angle, arc = atan2(dot(work, END, SLOPE), dot(work, END, OUT)), 0.0
    if angle < 0.0:
        angle += 2.0 * pi
    for part in range(PARTS):
        psi = angle * (part + 0.5) / PARTS
        speed = 0.0
        for k in range(3):
            speed += (work[RADII + k] * (cos(psi) * work[SLOPE + k] - sin(psi) * work[OUT + k])) ** 2
        arc += sqrt(speed)
    return arc * radius * angle / PARTS


@compiled_in_order
def _tangent(work, end, radius):
    """Set the direction from an end to its tangent point, and the direction of the arc there."""
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


FAN = 300
"""Number of parts into which OpenSim divides the part of the line inside the ellipsoid."""
ALL_FAN, ALL_AXIAL = 0.7073, 0.9
"""Cosine of the angle between line and nearest axis: below the first the fan alone, above the second axial alone."""
AXIAL_FADE = 0.3
"""Share of the inner part of the line, at each end, in which the axial rule fades out."""
SMALL = 1e-9
NEWTON_STEPS = 60


@compiled_in_order
def plane_point(axis, sign, method, work):
    """Set SURFACE, the point of the surface, from W1, W2 and RADII; return whether it was reflected.

    FIRST and LAST are set to the points at which OpenSim begins to search for the tangent points.
    """
    _set_cuts(work)
    size, best, share = 0.0, FIRST_AXIS, 0.0
    for k in range(3):
        size += (work[RADII + k] * (work[W2 + k] - work[W1 + k])) ** 2
    for k in range(3):
        cosine = work[RADII + k] * abs(work[W2 + k] - work[W1 + k]) / sqrt(size)
        if cosine > share:
            best, share = k, cosine
    fan = -1.0  # no share of the fan
    if method != HYBRID and method != AXIAL:
        _set_inner_point(work, 0.5, MIDDLE)
        nearest(work, MIDDLE, EVERY, SURFACE)
    else:
        fan = _axial_and_fan(method == HYBRID, best, share, work)
    crossing = -work[FIRST + best] / (work[LAST + best] - work[FIRST + best])
    if method != AXIAL or 0.0 < crossing < 1.0:
        _begin_at_point(work)
    if sign == 0.0 or work[SURFACE + axis] * sign > 0.0 or (work[SURFACE + axis] == 0.0 and sign > 0.0):
        return False
    work[SURFACE + axis] *= -1.0
    _begin_at_point(work)
    work[SURFACE + axis] *= -1.0
    # reflected by 1 - fan, since the middle of both is on the edge
    work[SURFACE + axis] *= -(1.0 - max(fan, 0.0))
    if fan > 0.0:
        for k in range(3):
            work[TRIAL + k] = work[SURFACE + k]
        nearest(work, TRIAL, EVERY, SURFACE)
    return True


@compiled_in_order
def _begin_at_point(work):
    for k in range(3):
        work[FIRST + k] = work[LAST + k] = work[SURFACE + k]


@compiled_in_order
def _set_cuts(work):
    """Set the points at which the line cuts the surface: FIRST toward the first end, LAST toward the second."""
    a, b, c = 0.0, 0.0, -1.0
    for k in range(3):
        along = work[W2 + k] - work[W1 + k]
        a += along * along
        b += along * work[W1 + k]
        c += work[W1 + k] ** 2
    root = sqrt(max(b * b - a * c, 0.0))
    for k in range(3):
        along = work[W2 + k] - work[W1 + k]
        work[FIRST + k] = work[RADII + k] * (work[W1 + k] + (-b - root) / a * along)
        work[LAST + k] = work[RADII + k] * (work[W1 + k] + (-b + root) / a * along)


@compiled_in_order
def _set_inner_point(work, share, to):
    """Set the point at a share of the part of the line inside the ellipsoid."""
    for k in range(3):
        work[to + k] = work[FIRST + k] + share * (work[LAST + k] - work[FIRST + k])


@compiled_in_order
def _axial_and_fan(hybrid, best, share, work):
    """Set MIDDLE and SURFACE by the rules axial and hybrid; return the share of the fan, negative without a fan."""
    along = work[LAST + best] - work[FIRST + best]
    at = -work[FIRST + best] / along if along != 0.0 else -1.0
    if hybrid and share > ALL_FAN:
        fade = min(at, 1.0 - at) / AXIAL_FADE
        share = ALL_FAN + min(max(fade, 0.0), 1.0) * (share - ALL_FAN)
    if not hybrid or share > ALL_FAN:
        _set_inner_point(work, at, MIDDLE)
        work[MIDDLE + best] = 0.0
        nearest(work, MIDDLE, best, SURFACE)
    if not hybrid or share >= ALL_AXIAL:
        return -1.0
    _set_fan_point(work)
    if share <= ALL_FAN:
        nearest(work, TRIAL, EVERY, SURFACE)
        return 1.0
    part = (share - ALL_FAN) / (ALL_AXIAL - ALL_FAN)
    nearest(work, TRIAL, EVERY, ON_TRIAL)
    for k in range(3):
        work[TRIAL + k] = part * work[SURFACE + k] + (1.0 - part) * work[ON_TRIAL + k]
    nearest(work, TRIAL, EVERY, SURFACE)
    return 1.0 - part


@compiled_in_order
def _set_fan_point(work):
    """Set TRIAL to the middle of the inner part of the line, moved by a mean radius in the mean direction outward."""
    x, y, z = 0.0, 0.0, 0.0
    for part in range(1, FAN - 1):
        _set_inner_point(work, part / FAN, TRIAL)
        nearest(work, TRIAL, EVERY, ON_TRIAL)
        dx = work[ON_TRIAL] - work[TRIAL]
        dy = work[ON_TRIAL + 1] - work[TRIAL + 1]
        dz = work[ON_TRIAL + 2] - work[TRIAL + 2]
        size = sqrt(dx * dx + dy * dy + dz * dz)
        if size > 0.0:
            x, y, z = x + dx / size, y + dy / size, z + dz / size
    size = sqrt(x * x + y * y + z * z)
    if size == 0.0:
        size = 1.0
    _set_inner_point(work, 0.5, TRIAL)
    work[TRIAL] += x / size
    work[TRIAL + 1] += y / size
    work[TRIAL + 2] += z / size


@compiled_in_order
def nearest(work, point, flat, to):
    """Set the point of the surface nearest to a point; flat: axis across which a section replaces the surface, or
    EVERY.

    x_k = a_k^2 u_k / (t + a_k^2) with the greatest root t of sum (a_k u_k / (t + a_k^2))^2 = 1 (Eberly, Graphics Gems
    IV). The sum is convex and falls, so Newton's method from the left reaches the root without passing it.
    """
    t = -1e300
    for k in range(3):
        if k != flat:
            a = work[RADII + k]
            t = max(t, a * max(abs(work[point + k]), SMALL) - a * a)
    for _ in range(NEWTON_STEPS):
        value, slope = -1.0, 0.0
        for k in range(3):
            if k != flat:
                a = work[RADII + k]
                part = a * max(abs(work[point + k]), SMALL) / (t + a * a)
                value += part * part
                slope -= 2.0 * part * part / (t + a * a)
        step = value / slope
        t -= step
        if abs(step) < 1e-15 * (1.0 + abs(t)):
            break
    for k in range(3):
        u = work[point + k]
        if k == flat:
            work[to + k] = u
        else:
            a = work[RADII + k]
            work[to + k] = a * a * (max(abs(u), SMALL) if u >= 0.0 else min(u, -SMALL)) / (t + a * a)


CONVERGED = 1e-8
"""Sum of the squares of the four equations."""
MOST_STEPS = 50
MOST_TRIALS = 1000
ON_SURFACE = 1e-4
"""Largest |sum (x / a)^2 - 1| of an end that is its own tangent point."""
PART = 0.001
"""Length of the parts of an arc [m]."""
MOST_PARTS = 499


@compiled_in_order
def plane_normal(work):
    """Set NORMAL to the unit normal of the plane through both ends and SURFACE."""
    for k in range(3):
        work[SPARE + k] = work[P1 + k] - work[P2 + k]
        work[PLACE + k] = work[P1 + k] - work[SURFACE + k]
    cross(work, SPARE, PLACE, NORMAL)
    resize(work, NORMAL, 1.0)


@compiled_in_order
def opensim_tangent(work, matrix, end, to):
    """Move the point at the place `to` to OpenSim's tangent point of an end."""
    outside = -1.0
    for k in range(3):
        outside += (work[end + k] / work[RADII + k]) ** 2
    if abs(outside) < ON_SURFACE:
        for k in range(3):
            work[to + k] = work[end + k]
        return
    shift = -dot(work, NORMAL, SURFACE)
    d = 0.0
    for k in range(3):
        d -= 2.0 * (work[to + k] / work[RADII + k]) ** 2
    value = _squares(work, end, to, shift, d, matrix)
    before, damping = value, 0.01
    for _ in range(MOST_STEPS):
        if not value > CONVERGED:
            return
        _equations(work, end, to, matrix)
        trials = 0
        while value >= before and trials < MOST_TRIALS:
            _step(matrix, damping, _length(work, end, to))
            d += matrix[3, 5]
            _move(work, matrix, 1.0, to)
            before, value = value, _squares(work, end, to, shift, d, matrix)
            damping *= 4.0
            trials += 1
        damping /= 8.0
        stretch, trials = 0.5, 0
        while value <= before and trials < MOST_TRIALS:
            stretch *= 2.0
            d += stretch * matrix[3, 5]
            _move(work, matrix, stretch, to)
            before, value = value, _squares(work, end, to, shift, d, matrix)
            trials += 1
        d -= stretch * matrix[3, 5]
        _move(work, matrix, -stretch, to)
        before = value = _squares(work, end, to, shift, d, matrix)


@compiled_in_order
def _squares(work, end, at, shift, d, matrix):
    """Store the equations in the last column of the matrix; return the sum of their squares."""
    on, surface, tangent = -1.0, d, d
    for k in range(3):
        square = work[RADII + k] ** 2
        on += work[at + k] ** 2 / square
        surface += 2.0 * work[at + k] ** 2 / square
        tangent += 2.0 * work[at + k] * work[end + k] / square
    matrix[0, 6], matrix[1, 6] = dot(work, NORMAL, at) + shift, on
    matrix[2, 6], matrix[3, 6] = surface, tangent
    total = 0.0
    for k in range(4):
        total += matrix[k, 6] ** 2
    return total


@compiled_in_order
def _equations(work, end, at, matrix):
    """Store J J' and, in the next column, -J e in the rows 4 to 7; J: derivatives of the equations e by r and d."""
    slope = matrix[8:12]
    for k in range(3):
        square = work[RADII + k] ** 2
        slope[k, 0] = work[NORMAL + k]
        slope[k, 1] = 2.0 * work[at + k] / square
        slope[k, 2] = 4.0 * work[at + k] / square
        slope[k, 3] = 2.0 * work[end + k] / square
    slope[3, 0], slope[3, 1], slope[3, 2], slope[3, 3] = 0.0, 0.0, 1.0, 1.0
    for i in range(4):
        matrix[4 + i, 4] = 0.0
        for j in range(4):
            matrix[4 + i, j] = 0.0
            matrix[4 + i, 4] -= slope[i, j] * matrix[j, 6]
            for k in range(4):
                matrix[4 + i, j] += slope[i, k] * slope[j, k]


@compiled_in_order
def _length(work, end, at):
    """OpenSim's factor of a step, small for a tangent toward the center."""
    square, far, along = 0.0, 0.0, 0.0
    for k in range(3):
        tangent = work[end + k] - work[at + k]
        square += tangent * tangent
        far += work[end + k] ** 2
        along += tangent * work[end + k]
    cosine = along / sqrt(square * far) if square > 0.0 else 0.0
    return (1.0 - cosine**100 if cosine > 0.1 else 1.0) / 16.0


@compiled_in_order
def _step(matrix, damping, factor):
    """Solve for the step, with the diagonal raised, into column 5 (Gauss, largest pivot first)."""
    for i in range(4):
        for j in range(5):
            matrix[i, j] = matrix[4 + i, j]
        matrix[i, i] *= 1.0 + damping
    for i in range(4):
        pivot = i
        for row in range(i + 1, 4):
            if abs(matrix[row, i]) > abs(matrix[pivot, i]):
                pivot = row
        for j in range(5):
            matrix[i, j], matrix[pivot, j] = matrix[pivot, j], matrix[i, j]
        for row in range(i + 1, 4):
            share = matrix[row, i] / matrix[i, i]
            for j in range(i, 5):
                matrix[row, j] -= share * matrix[i, j]
    for i in range(3, -1, -1):
        total = matrix[i, 4]
        for j in range(i + 1, 4):
            total -= matrix[i, j] * matrix[j, 5] / factor
        matrix[i, 5] = factor * total / matrix[i, i]


@compiled_in_order
def _move(work, matrix, stretch, to):
    for k in range(3):
        work[to + k] += stretch * matrix[k, 5]


@compiled_in_order
def tangent_side(work, end, at):
    """Side of a tangent point from the line between an end and the section's center: 1 on the side of SIDE, or -1."""
    square, lean, along = 0.0, 0.0, 0.0
    for k in range(3):
        out = work[end + k] / work[RADII + k] - work[CENTER + k]
        square += out * out
        lean += out * work[SIDE + k]
        along += out * (work[at + k] / work[RADII + k] - work[CENTER + k])
    across = -lean * along / square
    for k in range(3):
        across += work[SIDE + k] * (work[at + k] / work[RADII + k] - work[CENTER + k])
    return 1.0 if across >= 0.0 else -1.0


@compiled_in_order
def opensim_arc(work, unit, one_half):
    """Length of the arc from FIRST to LAST [mean radii]; the longer arc where a path on one half turns back."""
    chord = 0.0
    for k in range(3):
        chord += (work[LAST + k] - work[FIRST + k]) ** 2
    chord = sqrt(chord)
    parts = min(int(unit * chord / PART), MOST_PARTS)
    if parts < 1:
        return chord
    most = 0
    for k in range(1, 3):
        if abs(work[NORMAL + k]) > abs(work[NORMAL + most]):
            most = k
    for k in range(3):
        work[PLACE + k] = 0.0
    work[PLACE + most] = dot(work, NORMAL, SURFACE) / work[NORMAL + most]
    for k in range(3):
        work[SPARE + k] = work[FIRST + k] - work[PLACE + k]
        work[TRIAL + k] = work[LAST + k] - work[PLACE + k]
    resize(work, SPARE, 1.0)
    resize(work, TRIAL, 1.0)
    cosine = dot(work, SPARE, TRIAL)
    angle = acos(min(max(cosine, -1.0), 1.0))
    for k in range(3):
        work[TRIAL + k] -= cosine * work[SPARE + k]
    resize(work, TRIAL, 1.0)
    length, back = _parts(work, parts, angle)
    if one_half and parts > 1 and back:
        length, back = _parts(work, parts, angle - 2.0 * pi)
    return length


@compiled_in_order
def _parts(work, parts, angle):
    """Length of an arc from a number of parts; whether its first or last part runs back along its tangent."""
    length, back = 0.0, False
    x, y, z = work[FIRST], work[FIRST + 1], work[FIRST + 2]
    for part in range(1, parts + 1):
        u, v, w = work[LAST], work[LAST + 1], work[LAST + 2]
        if part < parts:
            c, s = cos(angle * part / parts), sin(angle * part / parts)
            ahead, out, square = 0.0, -1.0, 0.0
            for k in range(3):
                ray = (c * work[SPARE + k] + s * work[TRIAL + k]) / work[RADII + k]
                place = work[PLACE + k] / work[RADII + k]
                square += ray * ray
                ahead += ray * place
                out += place * place
            reach = (-ahead + sqrt(ahead * ahead - square * out)) / square
            u = work[PLACE] + reach * (c * work[SPARE] + s * work[TRIAL])
            v = work[PLACE + 1] + reach * (c * work[SPARE + 1] + s * work[TRIAL + 1])
            w = work[PLACE + 2] + reach * (c * work[SPARE + 2] + s * work[TRIAL + 2])
        if part == 1:
            back = (u - x) * (work[P1] - x) + (v - y) * (work[P1 + 1] - y) + (w - z) * (
                work[P1 + 2] - z
            ) > 0.0
        if part == parts:
            back = back or (
                (x - u) * (work[P2] - u) + (y - v) * (work[P2 + 1] - v) + (z - w) * (work[P2 + 2] - w) > 0.0
            )
        length += sqrt((u - x) ** 2 + (v - y) ** 2 + (w - z) ** 2)
        x, y, z = u, v, w
    return length, back
