"""Which segments of a path touch which of its wrap objects.

The rules are those of OpenSim's GeometryPath: each object takes one segment within its range of points, the first whose
straight line cuts it, or else the one that it lengthens least; objects take turns, each seeing the tangent points of
the others as points of the path. OpenSim stops after eight rounds or at a change of 0.5 mm; here the rounds go on until
the tangent points rest, so that the path is the shortest one and its gradient the derivative of its length.
"""

from __future__ import annotations

from math import inf

from musclesolve.muscles.paths.kernel.arrays import ARC, EXTRA, INSIDE, MANDATORY, NONE, OFF, STAYS_OFF
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.touch import place_contact, touch

MOST_ROUNDS = 100
SETTLED = 20
"""After so many rounds what comes off stays off: objects that push each other's wraps on and off have no end."""
AT_REST = 1e-12
"""The greatest movement of a tangent point that ends the rounds [m]."""


@compiled
def wrap_muscle(layout, poses, out, work, t, muscle, size):
    """Insert the tangent points of the wraps of a muscle into the chain of its points; the size of the chain."""
    first, last = layout.first_wrap[muscle], layout.first_wrap[muscle + 1]
    if last - first == 1:
        size, _, _ = rewrap(layout, poses, out, work, t, first, size)
        return size
    swapped, missed = False, False
    for sweep in range(MOST_ROUNDS):
        moved = 0.0
        for number in range(last - first):
            wrap = first + (1 - number if swapped and number < 2 else number)
            size, code, change = rewrap(layout, poses, out, work, t, wrap, size)
            if sweep > SETTLED and out.arc[t, wrap] == OFF and change > 0.0:
                out.arc[t, wrap] = STAYS_OFF
            moved = max(moved, change)
            if sweep == 0 and number == 0:
                missed = code == NONE
            if sweep == 0 and number == 1 and missed and code == INSIDE:
                # the first object is out of reach until the second has bent the path
                swapped = True
        if moved < AT_REST and not (sweep == 0 and swapped):
            break
        if sweep % 2 == 0 and sweep > 0 and moved < inf:
            points = poses.position.shape[1]
            _extrapolate(out.position[t], work.step, points + 2 * first, points + 2 * last)
    return size


@compiled
def _extrapolate(position, step, first, last):
    """Move tangent points to the limit of a geometric series with the ratio of their last two steps (Aitken)."""
    along, square = 0.0, 0.0
    for node in range(first, last):
        for k in range(3):
            along += step[0, node, k] * step[1, node, k]
            square += step[1, node, k] ** 2
    if 0.0 < along < 0.9 * square:
        factor = along / (square - along)
        for node in range(first, last):
            for k in range(3):
                position[node, k] += factor * step[0, node, k]


@compiled
def rewrap(layout, poses, out, work, t, wrap, size):
    """Take one wrap off the chain and put it on again: size of the chain, last code, movement of its nodes [m]."""
    node = poses.position.shape[1] + 2 * wrap
    if out.arc[t, wrap] == STAYS_OFF:
        return size, NONE, 0.0
    was_on = out.arc[t, wrap] >= 0.0
    size = _take_off(work.chain, size, node)
    item = layout.wrap_object[wrap]
    code, segment = _best_segment(layout, poses, out, work, t, wrap, size)
    if segment < 0:
        out.arc[t, wrap] = OFF
        work.step[:, node : node + 2] = 0.0
        return size, code, inf if was_on else 0.0
    moved = place_contact(poses, out, work, t, node, item)
    out.arc[t, wrap] = work.best[ARC]
    for k in range(size - 1, segment, -1):
        work.chain[k + 2] = work.chain[k]
    work.chain[segment + 1] = node
    work.chain[segment + 2] = node + 1
    return size + 2, code, moved if was_on else inf


@compiled
def _take_off(chain, size, node):
    """Remove two neighboring nodes, the first of them given, if they are on the chain."""
    for k in range(size):
        if chain[k] == node:
            for j in range(k + 2, size):
                chain[j - 2] = chain[j]
            return size - 2
    return size


@compiled
def _best_segment(layout, poses, out, work, t, wrap, size):
    """Code of the last segment tried, and place in the chain of the segment that a wrap takes, -1 for none."""
    points = poses.position.shape[1]
    low, high = layout.wrap_range[wrap, 0], layout.wrap_range[wrap, 1]
    least, taken, code, inside = inf, -1, NONE, False
    for k in range(size - 1):
        first, last = work.chain[k], work.chain[k + 1]
        # a tangent point belongs to the range if the points around it do
        if first < points:
            inside = low <= first < high
        if not inside or (last < points and last > high):
            continue
        if first >= points and last >= points and (first - points) // 2 == (last - points) // 2:
            continue
        code = touch(layout, poses, out, work, t, first, last, wrap)
        if code <= INSIDE:
            continue
        if code == MANDATORY or work.contact[EXTRA] < least:
            least, taken = work.contact[EXTRA], k
            for j in range(work.best.size):
                work.best[j] = work.contact[j]
        if code == MANDATORY:
            break
    return code, taken
