"""The path of one muscle: its contacts with wrap objects, its length and its gradient by the nodes.

The rules of contact come from OpenSim's GeometryPath. Each object takes one segment within its range of points: the
first whose straight line cuts it, or else the one that it lengthens least. Objects take turns; for each, the tangent
points of the others are points of the path. OpenSim stops after eight rounds or at a change of 0.5 mm; here the rounds
continue until the tangent points rest, so that the path is the shortest one and its gradient the derivative of its
length. Objects on whose side the path is held (`HELD`) are passed in their order.

The length of a path over several objects that OpenSim 4 reports is not the length of the path that it draws. Its rounds
(GeometryPath::applyWrapObjects) are as here, at most eight, until the length changes by less than 0.5 mm. OpenSim adds
the arcs of the last round (PathWrapPoint keeps the length of its arc) to straight parts between tangent points of the
first round: PathWrapPoint::setLocation does not invalidate the location in the ground that Point::getLocationInGround
has stored for the pose, so every distance that is measured after the first one in a pose belongs to the first location
of a tangent point, although the wraps themselves go on from the latest. Directions of the tension come from the stored
locations as well, its points of application from the latest.

The medial gastrocnemius of the Rajagopal models wraps over two cylinders: standing, OpenSim reports 452.0 mm where its
points are 460.7 mm apart. A path over a single object has one round, and no such error.
"""

from math import inf, nan, sqrt

from musclesolve._util.compiled_code import compiled_for_some, compiled_in_order, int64
from musclesolve.muscles.paths.kernel.arrays import (
    ARC,
    CYLINDER,
    EXTRA,
    HELD,
    INSIDE,
    MANDATORY,
    NONE,
    OFF,
    OPENSIM,
    SEVERAL,
    SHORTEST_PATH,
    SPHERE,
    STAYS_OFF,
    TORUS,
)
from musclesolve.muscles.paths.kernel.cylinder import touch_cylinder
from musclesolve.muscles.paths.kernel.ellipsoid import touch_ellipsoid
from musclesolve.muscles.paths.kernel.sphere import touch_sphere
from musclesolve.muscles.paths.kernel.torus import touch_torus

NONE_YET = int64(0)
MOST_ROUNDS = 100
SETTLED = 20
"""Rounds after which a wrap that comes off stays off; without this limit two wraps could switch each other forever."""
AT_REST = 1e-12
"""The greatest movement of a tangent point that ends the rounds [m]."""
OPENSIM_ROUNDS = 8
"""Most rounds that OpenSim makes."""
SAME_LENGTH = 0.0005
"""Change of length that ends the rounds of OpenSim [m]."""


@compiled_in_order
def solve_muscle(layout, poses, out, work, t, muscle, rules):
    """Compute one muscle in one pose, on the shortest path or by OpenSim's rules; return the number of nodes in its
    chain.

    A muscle without points on the path is skipped: its length is NaN.
    """
    first, last = layout.first_point[muscle], layout.first_point[muscle + 1]
    size = NONE_YET
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
    if size == 0:
        out.length[t, muscle] = nan
        return size
    wraps = layout.first_wrap[muscle + 1] - layout.first_wrap[muscle]
    place = out.position[t]
    if wraps > 0 and rules == SHORTEST_PATH:
        work.rules[0] = SHORTEST_PATH
        size = wrap_muscle(layout, poses, out, work, t, muscle, size)
    elif wraps > 0:
        work.rules[0] = OPENSIM if wraps == 1 else SEVERAL
        size = _by_opensim(layout, poses, out, work, t, muscle, size, work.seen)
        place = _first_places(place, work.seen)
    out.length[t, muscle] = _along(poses, out, work, t, size, place)
    return size


@compiled_for_some
def _by_opensim(layout, poses, out, work, t, muscle, size, seen):
    """Size of the chain by OpenSim's rules; not compiled where `seen` is None."""
    if seen is None:
        return size
    return opensim_rounds(layout, poses, out, work, t, muscle, size)


@compiled_for_some
def _first_places(place, seen):
    """The places of nodes from which OpenSim measures; `place` where `seen` is None."""
    if seen is None:
        return place
    return seen


@compiled_in_order
def _along(poses, out, work, t, size, place):
    """Add the gradient of the chain's length to its nodes; return the length between their places."""
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


@compiled_in_order
def wrap_muscle(layout, poses, out, work, t, muscle, size):
    """Insert the tangent points of the wraps of a muscle into the chain of its points; return the size of the chain."""
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


@compiled_in_order
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


@compiled_in_order
def rewrap(layout, poses, out, work, t, wrap, size):
    """Remove a wrap from the chain and compute it again; return the chain's size, last code, move of its nodes [m]."""
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


@compiled_in_order
def _take_off(chain, size, node):
    """Remove two neighboring nodes, of which `node` is the first, if they are on the chain."""
    for k in range(size):
        if chain[k] == node:
            for j in range(k + 2, size):
                chain[j - 2] = chain[j]
            return size - 2
    return size


@compiled_in_order
def _best_segment(layout, poses, out, work, t, wrap, size):
    """Return the code of the last segment tried, and the place in the chain of the segment that a wrap takes, or -1."""
    points = poses.position.shape[1]
    low, high = layout.wrap_range[wrap, 0], layout.wrap_range[wrap, 1]
    least, best, code, inside = inf, -1, NONE, False
    in_order = abs(layout.side_sign[layout.wrap_object[wrap]]) == HELD
    for k in range(size - 1):
        first, last = work.chain[k], work.chain[k + 1]
        # a tangent point belongs to the range if the points around it do
        if first < points:
            inside = low <= first < high
        if not inside or (last < points and last > high):
            continue
        before, after = (first - points) // 2, (last - points) // 2
        if first >= points and last >= points and before == after:
            continue
        if in_order and ((first >= points and before > wrap) or (last >= points and after < wrap)):
            continue
        code = touch(layout, poses, out, work, t, first, last, wrap)
        if code <= INSIDE:
            continue
        if code == MANDATORY or work.contact[EXTRA] < least:
            least, best = work.contact[EXTRA], k
            for j in range(work.best.size):
                work.best[j] = work.contact[j]
        if code == MANDATORY:
            break
    return code, best


@compiled_in_order
def touch(layout, poses, out, work, t, first, last, wrap):
    """Set `work.contact`: contact of the segment between two nodes with an object, in the object's frame."""
    item = layout.wrap_object[wrap]
    for end in range(2):
        node = last if end else first
        for k in range(3):
            total = 0.0
            for j in range(3):
                total += poses.rotation[t, item, j, k] * (out.position[t, node, j] - poses.center[t, item, j])
            work.local[end, k] = total
    axis, sign = layout.side_axis[item], layout.side_sign[item]
    rules, radii = work.rules[0], layout.radii[item]
    if layout.kind[item] == CYLINDER:
        return touch_cylinder(work.local, radii[0], layout.half_length[item], axis, sign, rules, work.contact)
    return _touch_curved(layout, work, item, wrap, rules, work.matrix)


@compiled_for_some
def _touch_curved(layout, work, item, wrap, rules, matrix):
    """Contact with a sphere, a torus or an ellipsoid; not compiled where `matrix` is None."""
    if matrix is None:
        return NONE
    axis, sign, radii = layout.side_axis[item], layout.side_sign[item], layout.radii[item]
    if layout.kind[item] == SPHERE:
        return touch_sphere(work.local, radii, axis, sign, rules, work.contact, work.round)
    if layout.kind[item] == TORUS:
        return touch_torus(work.local, radii, axis, sign, rules, work.contact, matrix)
    method = layout.wrap_method[wrap]
    return touch_ellipsoid(work.local, radii, axis, sign, method, rules, work.contact, work.round, matrix)


@compiled_in_order
def place_contact(poses, out, work, t, node, item):
    """Place the two nodes of a wrap at the tangent points of `work.best`; return their movement [m]."""
    moved = 0.0
    for end in range(2):
        for j in range(3):
            place = poses.center[t, item, j]
            for k in range(3):
                place += poses.rotation[t, item, j, k] * work.best[3 * end + k]
            work.step[1, node + end, j] = work.step[0, node + end, j]
            work.step[0, node + end, j] = place - out.position[t, node + end, j]
            moved = max(moved, abs(work.step[0, node + end, j]))
            out.position[t, node + end, j] = place
    return moved


@compiled_in_order
def opensim_rounds(layout, poses, out, work, t, muscle, size):
    """Insert the tangent points into the chain, their first places into `work.seen`; return the size of the chain."""
    first, last = layout.first_wrap[muscle], layout.first_wrap[muscle + 1]
    points = poses.position.shape[1]
    for node in range(points + 2 * first, points + 2 * last):
        work.seen[node, 0] = inf
    for point in range(layout.first_point[muscle], layout.first_point[muscle + 1]):
        for k in range(3):
            work.seen[point, k] = out.position[t, point, k]
    swapped, missed, before = False, False, inf
    for sweep in range(OPENSIM_ROUNDS if last - first > 1 else 1):
        inside = False
        for number in range(last - first):
            wrap = first + (1 - number if swapped and number < 2 else number)
            size, code, _ = rewrap(layout, poses, out, work, t, wrap, size)
            if number == 0:
                missed = code == NONE
            if number == 1:
                inside = missed and code == INSIDE
        length = _length(poses, out, work, t, size)
        if abs(length - before) < SAME_LENGTH:
            break
        before = length
        swapped = swapped or (sweep == 0 and inside)
    return size


@compiled_in_order
def _length(poses, out, work, t, size):
    """Length of the chain by OpenSim's rules; stores the places of new tangent points."""
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
