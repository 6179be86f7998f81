"""The plane in which OpenSim's WrapEllipsoid takes a path: through both ends and a point of the surface.

The point is the one that is nearest to the straight line in some sense, which `method` says (PathWrap; all lengths are
in mean radii):

    midpoint   nearest to the middle of the part of the line inside the ellipsoid;
    axial      where the line crosses the plane of two axes that is most across it, nearest in that plane's section;
    hybrid     as axial where the line is within 26 degrees of an axis; where it is more than 45 degrees from every
               axis, the mean of the directions to the nearest points from 298 places along the line; a mixture
               between.

If the point is not on the given half it is reflected to it. Where the mean of directions has a share, the point is
moved back by this share towards the middle of both, the edge of the half, and put on the surface again, so that a path
stays on the edge when its line passes on the other half. That is a path held on its half; no shortest path is there.

In this plane the path consists of two tangents and the arc of the section between them. It is longer than the shortest
path over the ellipsoid, mostly by less than 0.3 mm.
"""

from __future__ import annotations

from math import sqrt

from musclesolve.muscles.paths.kernel.arrays import (
    AXIAL,
    FIRST,
    HYBRID,
    LAST,
    MIDDLE,
    ON_TRIAL,
    RADII,
    SURFACE,
    TRIAL,
    W1,
    W2,
)
from musclesolve.muscles.paths.kernel.compile import compiled

FAN = 300
"""OpenSim divides the part of the line inside of the ellipsoid into so many parts."""
ALL_FAN, ALL_AXIAL = 0.7073, 0.9
"""Cosine of the angle between line and nearest axis: below the first the fan alone, above the second axial alone."""
EDGE = 0.3
"""The axial rule fades out where its point is in the first or last part of the line inside, of this share."""
SMALL = 1e-9
NEWTON_STEPS = 60


@compiled
def plane_point(axis, sign, method, work):
    """Put the point of the surface into SURFACE; whether it was reflected. W1, W2 and RADII are given.

    FIRST and LAST are where OpenSim begins to look for the tangent points (opensim_section.py).
    """
    _cut(work)
    size, best, share = 0.0, 0, 0.0
    for k in range(3):
        size += (work[RADII + k] * (work[W2 + k] - work[W1 + k])) ** 2
    for k in range(3):
        cosine = work[RADII + k] * abs(work[W2 + k] - work[W1 + k]) / sqrt(size)
        if cosine > share:
            best, share = k, cosine
    fan = -1.0  # no share of the fan
    if method != HYBRID and method != AXIAL:
        _along(work, 0.5, MIDDLE)
        nearest(work, MIDDLE, -1, SURFACE)
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
        nearest(work, TRIAL, -1, SURFACE)
    return True


@compiled
def _begin_at_point(work):
    for k in range(3):
        work[FIRST + k] = work[LAST + k] = work[SURFACE + k]


@compiled
def _cut(work):
    """Where the line cuts the surface: FIRST towards the first end, LAST towards the second."""
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


@compiled
def _along(work, share, to):
    """Put the point at a share of the part of the line that is inside."""
    for k in range(3):
        work[to + k] = work[FIRST + k] + share * (work[LAST + k] - work[FIRST + k])


@compiled
def _axial_and_fan(hybrid, best, share, work):
    """Points MIDDLE and SURFACE of the rules axial and hybrid; the share of the fan, negative where it has none."""
    along = work[LAST + best] - work[FIRST + best]
    at = -work[FIRST + best] / along if along != 0.0 else -1.0
    if hybrid and share > ALL_FAN:
        fade = min(at, 1.0 - at) / EDGE
        share = ALL_FAN + min(max(fade, 0.0), 1.0) * (share - ALL_FAN)
    if not hybrid or share > ALL_FAN:
        _along(work, at, MIDDLE)
        work[MIDDLE + best] = 0.0
        nearest(work, MIDDLE, best, SURFACE)
    if not hybrid or share >= ALL_AXIAL:
        return -1.0
    _fan(work)
    if share <= ALL_FAN:
        nearest(work, TRIAL, -1, SURFACE)
        return 1.0
    part = (share - ALL_FAN) / (ALL_AXIAL - ALL_FAN)
    nearest(work, TRIAL, -1, ON_TRIAL)
    for k in range(3):
        work[TRIAL + k] = part * work[SURFACE + k] + (1.0 - part) * work[ON_TRIAL + k]
    nearest(work, TRIAL, -1, SURFACE)
    return 1.0 - part


@compiled
def _fan(work):
    """Put the middle of the line inside, moved by one mean radius in the mean direction to the surface, into TRIAL."""
    x, y, z = 0.0, 0.0, 0.0
    for part in range(1, FAN - 1):
        _along(work, part / FAN, TRIAL)
        nearest(work, TRIAL, -1, ON_TRIAL)
        dx, dy, dz = (
            work[ON_TRIAL] - work[TRIAL],
            work[ON_TRIAL + 1] - work[TRIAL + 1],
            work[ON_TRIAL + 2] - work[TRIAL + 2],
        )
        size = sqrt(dx * dx + dy * dy + dz * dz)
        if size > 0.0:
            x, y, z = x + dx / size, y + dy / size, z + dz / size
    size = sqrt(x * x + y * y + z * z)
    if size == 0.0:
        size = 1.0
    _along(work, 0.5, TRIAL)
    work[TRIAL] += x / size
    work[TRIAL + 1] += y / size
    work[TRIAL + 2] += z / size


@compiled
def nearest(work, point, flat, to):
    """Put the point of the surface that is nearest to a point; flat: of the section across this axis, -1 for none.

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
