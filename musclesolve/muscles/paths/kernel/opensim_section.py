"""Tangent points and arc of OpenSim's WrapEllipsoid in its plane, found as it finds them.

The section with a plane v.r + c = 0 has two tangent points seen from an end p. OpenSim looks for one by a damped
Newton method for r and d with n = 2 r / a^2 in

    v.r + c = 0,   sum (r / a)^2 = 1,   n.r + d = 0,   n.p + d = 0

which starts at the point of the surface (opensim_plane.py) and may end at either of them: if the point was reflected,
a path may so come to lie on the wrong half, or take one tangent point on either side of the line, which is no path that
tension could take. The arc is divided into parts of 1 mm by equal angles about the point where an axis meets the plane;
where that is outside of the ellipsoid its length may be no number.
"""

from __future__ import annotations

from math import acos, cos, pi, sin, sqrt

from musclesolve.muscles.paths.kernel.arrays import (
    CENTER,
    FIRST,
    LAST,
    NORMAL,
    P1,
    P2,
    PLACE,
    RADII,
    SIDE,
    SPARE,
    SURFACE,
    TRIAL,
)
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.vectors import cross, dot, resize

CONVERGED = 1e-8
"""Sum of the squares of the four equations."""
MOST_STEPS = 50
MOST_TRIALS = 1000
ON_SURFACE = 1e-4
"""An end that is no farther from the surface, as sum (x / a)^2 - 1, is its own tangent point."""
PART = 0.001
"""Length of the parts of an arc [m]."""
MOST_PARTS = 499


@compiled
def plane_normal(work):
    """Put the unit normal of the plane through both ends and SURFACE into NORMAL."""
    for k in range(3):
        work[SPARE + k] = work[P1 + k] - work[P2 + k]
        work[PLACE + k] = work[P1 + k] - work[SURFACE + k]
    cross(work, SPARE, PLACE, NORMAL)
    resize(work, NORMAL, 1.0)


@compiled
def opensim_tangent(work, matrix, end, to):
    """Move the point at a place to the tangent point that OpenSim finds for an end."""
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


@compiled
def _squares(work, end, at, shift, d, matrix):
    """Sum of the squares of the equations, which are put into the last column of the matrix."""
    on, own, other = -1.0, d, d
    for k in range(3):
        square = work[RADII + k] ** 2
        on += work[at + k] ** 2 / square
        own += 2.0 * work[at + k] ** 2 / square
        other += 2.0 * work[at + k] * work[end + k] / square
    matrix[0, 6], matrix[1, 6] = dot(work, NORMAL, at) + shift, on
    matrix[2, 6], matrix[3, 6] = own, other
    total = 0.0
    for k in range(4):
        total += matrix[k, 6] ** 2
    return total


@compiled
def _equations(work, end, at, matrix):
    """Put the matrix J J' of the derivatives J of the equations by r and d into the rows 4 to 7, and -J e beside it."""
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


@compiled
def _length(work, end, at):
    """OpenSim's factor of a step, which is small where the tangent runs towards the center."""
    square, far, along = 0.0, 0.0, 0.0
    for k in range(3):
        tangent = work[end + k] - work[at + k]
        square += tangent * tangent
        far += work[end + k] ** 2
        along += tangent * work[end + k]
    cosine = along / sqrt(square * far) if square > 0.0 else 0.0
    return (1.0 - cosine**100 if cosine > 0.1 else 1.0) / 16.0


@compiled
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


@compiled
def _move(work, matrix, stretch, to):
    for k in range(3):
        work[to + k] += stretch * matrix[k, 5]


@compiled
def tangent_side(work, end, at):
    """On which side of the line from an end to the middle of the section a tangent point is: 1, that of SIDE, or -1."""
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


@compiled
def opensim_arc(work, unit, one_half):
    """Length of the arc from FIRST to LAST [mean radii]; the long way around where a path on one half turns back."""
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


@compiled
def _parts(work, parts, angle):
    """Length of so many parts of an arc; whether the first or the last of them runs back along its tangent."""
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
