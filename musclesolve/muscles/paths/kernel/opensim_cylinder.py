"""Where OpenSim's WrapCylinder puts the tangent points along the axis: near the helix of the shortest path, not on it.

Across the axis they are those of cylinder.py. Their heights are where the plane through both ends and an apex of the
cylinder cuts the two lines of tangency. If a path wraps over several objects, OpenSim then slides them until helix and
straight parts meet within 0.1 degrees; for a single wrap it leaves them there. Its lengths over one cylinder are up to
some 0.6 mm greater than those of the shortest path, and its moment arms, which belong to the tangent points, are not
the slopes of its lengths where the path runs obliquely.
"""

from __future__ import annotations

from math import acos, cos, hypot, pi, sin

from musclesolve.muscles.paths.kernel.arrays import ARC, EXTRA
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.vectors import straight_parts

TANGENT = 0.1 * pi / 180.0
"""Angle between helix and straight part below which OpenSim takes them for tangent [rad]."""
MOST_SLIDES = 100
STEP = 0.002
"""Length of the parts into which OpenSim divides a helix [m]."""
REACH = 10.0
"""How far from its end OpenSim looks for a tangent point along the axis [m]."""


@compiled
def opensim_heights(ends, radius, angle, turn, far, several, contact):
    """Move the tangent points in `contact` along the axis, for an arc of some angle, +1 or -1 about the axis.

    far: whether the apex is the far one. Of arcs of more than half a turn OpenSim takes the shorter angle, signed
    about the axis, from a full turn. For those that run in the positive sense this gives a full turn more than what is
    left, 4 pi - angle, and the helix begins in the wrong sense.
    """
    sense = 1.0
    if angle > pi and turn > 0.0:
        angle, sense = 4.0 * pi - angle, -1.0
    _apex_plane(ends, radius, far, contact)
    if several:
        _slide(ends, radius, angle, sense, contact)
    contact[ARC] = hypot(radius * angle, contact[5] - contact[2])
    contact[EXTRA] = contact[ARC] + straight_parts(ends, contact)


@compiled
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
    if abs(first - z1) < REACH and abs(first - z2) < abs(z1 - z2):
        contact[2] = first
    if abs(last - z2) < REACH and abs(last - z1) < abs(z1 - z2):
        contact[5] = last


@compiled
def _slide(ends, radius, angle, sense, contact):
    """Slide the tangent points until the first part of the helix goes on as the straight part does."""
    for _ in range(MOST_SLIDES):
        rise = contact[5] - contact[2]
        parts = int(hypot(radius * angle, rise) / STEP)
        if parts < 2:
            return
        part = sense * angle / parts
        slid_1 = _slide_one(ends, radius, part, contact[2] + rise / parts, 0, contact)
        # the helix begins at the first point where this now is
        slid_2 = _slide_one(ends, radius, part, contact[2] + (1.0 - 1.0 / parts) * rise, 1, contact)
        if not slid_1 and not slid_2:
            return


@compiled
def _slide_one(ends, radius, angle, height, end, contact):
    """Slide one tangent point, given angle and height of the next point of the helix; whether it was needed."""
    at = 3 * end
    along = hypot(contact[at] - ends[end, 0], contact[at + 1] - ends[end, 1])
    up, rise = contact[at + 2] - ends[end, 2], height - contact[at + 2]
    chord = 2.0 * radius * sin(0.5 * angle)
    straight = acos(up / hypot(along, up))
    helix = acos(rise / hypot(chord, rise))
    if abs(straight - helix) <= TANGENT:
        return False
    # where the line from the end to the next point of the helix passes the line of tangency
    out, on = radius * (cos(angle) - 1.0), radius * sin(angle)
    share = along * (along + on) / ((along + on) ** 2 + out**2)
    between = ends[end, 2] + share * (height - ends[end, 2])
    contact[at + 2] += 1.5 * (between - contact[at + 2])
    return True
