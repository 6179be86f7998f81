"""Lengths of paths and their gradients by the nodes, given which segments wrap."""

from __future__ import annotations

from math import sqrt

from musclesolve.muscles.paths.kernel.arrays import OFF, OPENSIM, SEVERAL, SHORTEST
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.opensim_rounds import opensim_rounds
from musclesolve.muscles.paths.kernel.wrapping import wrap_muscle


@compiled
def solve_muscle(layout, poses, out, work, t, muscle, rules):
    """One muscle in one pose, on the shortest path or by the rules of OpenSim; how many nodes its chain has."""
    first, last = layout.first_point[muscle], layout.first_point[muscle + 1]
    size = 0
    for point in range(first, last):
        for k in range(3):
            out.position[t, point, k] = poses.position[t, point, k]
            out.gradient[t, point, k] = 0.0
        if poses.on[t, point]:
            work.chain[size] = point
            size += 1
    points = poses.position.shape[1]
    for wrap in range(layout.first_wrap[muscle], layout.first_wrap[muscle + 1]):
        out.arc[t, wrap] = OFF
        for node in range(points + 2 * wrap, points + 2 * wrap + 2):
            for k in range(3):
                out.position[t, node, k] = poses.center[t, layout.wrap_object[wrap], k]
                out.gradient[t, node, k] = 0.0
    wraps = layout.first_wrap[muscle + 1] - layout.first_wrap[muscle]
    place = out.position[t]
    if wraps > 0 and rules == SHORTEST:
        work.rules[0] = SHORTEST
        size = wrap_muscle(layout, poses, out, work, t, muscle, size)
    elif wraps > 0:
        work.rules[0] = OPENSIM if wraps == 1 else SEVERAL
        size = opensim_rounds(layout, poses, out, work, t, muscle, size)
        place = work.seen
    out.length[t, muscle] = _along(poses, out, work, t, size, place)
    return size


@compiled
def _along(poses, out, work, t, size, place):
    """Length of the chain between the places of its nodes; its gradient is added to the nodes."""
    points = poses.position.shape[1]
    total = 0.0
    for k in range(size - 1):
        a, b = work.chain[k], work.chain[k + 1]
        if a >= points and b == a + 1 and (a - points) % 2 == 0:
            total += out.arc[t, (a - points) // 2]
            continue
        x = place[b, 0] - place[a, 0]
        y = place[b, 1] - place[a, 1]
        z = place[b, 2] - place[a, 2]
        length = sqrt(x * x + y * y + z * z)
        total += length
        if length > 0.0:
            x, y, z = x / length, y / length, z / length
        out.gradient[t, a, 0] -= x
        out.gradient[t, a, 1] -= y
        out.gradient[t, a, 2] -= z
        out.gradient[t, b, 0] += x
        out.gradient[t, b, 1] += y
        out.gradient[t, b, 2] += z
    return total
