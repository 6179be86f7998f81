"""Length of a path over several objects as OpenSim 4 reports it, which is not the length of the path that it draws.

Its rounds (GeometryPath::applyWrapObjects) are those of wrapping.py, at most eight, until the length changes by less
than 0.5 mm. It adds the arcs of the last round (PathWrapPoint keeps the length of its arc) to straight parts between
tangent points of the first round: PathWrapPoint::setLocation does not invalidate the location in the ground that
Point::getLocationInGround has stored for the pose, so every distance that is measured after the first one in a pose
belongs to the first location of a tangent point, although the wraps themselves go on from the latest. Directions of the
tension come from the stored locations as well, its points of application from the latest.

The medial gastrocnemius of the Rajagopal models wraps over two cylinders: standing, OpenSim reports 452.0 mm where its
points are 460.7 mm apart. A path over a single object has one round, and no such error.
"""

from __future__ import annotations

from math import inf, sqrt

from musclesolve.muscles.paths.kernel.arrays import INSIDE, NONE
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.wrapping import rewrap

ROUNDS = 8
AT_REST = 0.0005
"""[m]"""


@compiled
def opensim_rounds(layout, poses, out, work, t, muscle, size):
    """Insert the tangent points into the chain, where they were first seen into `work.seen`; size of the chain."""
    first, last = layout.first_wrap[muscle], layout.first_wrap[muscle + 1]
    points = poses.position.shape[1]
    for node in range(points + 2 * first, points + 2 * last):
        work.seen[node, 0] = inf
    for point in range(layout.first_point[muscle], layout.first_point[muscle + 1]):
        for k in range(3):
            work.seen[point, k] = out.position[t, point, k]
    swapped, missed, before = False, False, inf
    for sweep in range(ROUNDS if last - first > 1 else 1):
        inside = False
        for number in range(last - first):
            wrap = first + (1 - number if swapped and number < 2 else number)
            size, code, _ = rewrap(layout, poses, out, work, t, wrap, size)
            if number == 0:
                missed = code == NONE
            if number == 1:
                inside = missed and code == INSIDE
        length = _length(poses, out, work, t, size)
        if abs(length - before) < AT_REST:
            break
        before = length
        swapped = swapped or (sweep == 0 and inside)
    return size


@compiled
def _length(poses, out, work, t, size):
    """Length of the chain as OpenSim adds it up; tangent points that are new are seen."""
    points = poses.position.shape[1]
    total = 0.0
    for k in range(size):
        node = work.chain[k]
        if work.seen[node, 0] == inf:
            for j in range(3):
                work.seen[node, j] = out.position[t, node, j]
    for k in range(size - 1):
        a, b = work.chain[k], work.chain[k + 1]
        if a >= points and b == a + 1 and (a - points) % 2 == 0:
            total += out.arc[t, (a - points) // 2]
            continue
        square = 0.0
        for j in range(3):
            square += (work.seen[b, j] - work.seen[a, j]) ** 2
        total += sqrt(square)
    return total
