"""Points along paths, for drawing: the nodes of the chain, and points on the arcs between tangent points.

The path is a shortest one, so an arc is the geodesic that continues the straight segment before it: a helix on a
cylinder, a great circle on a sphere, on an ellipsoid or a torus a geodesic (ellipsoid.py, torus.py).
"""

from math import cos, sin, sqrt

from musclesolve._util.compiled_code import compiled_for_some, compiled_in_order
from musclesolve.muscles.paths.kernel.arrays import CYLINDER, ELLIPSOID, HEADING, INVERSE, POINT, TORUS
from musclesolve.muscles.paths.kernel.ellipsoid import advance
from musclesolve.muscles.paths.kernel.torus import advance_on_torus

ARC_POINTS = 4
"""Points of an arc between its tangent points."""
STEPS_BETWEEN = 4
"""Integration steps from one of them to the next."""


@compiled_in_order
def trace_muscle(layout, poses, out, work, lines, t, muscle, size):
    """Store the points of a chain with `size` nodes in the slots of its muscle."""
    points = poses.position.shape[1]
    slot = lines.first[muscle]
    for k in range(size):
        node = work.chain[k]
        for j in range(3):
            lines.position[t, slot, j] = out.position[t, node, j]
        slot += 1
        first_of_two = node >= points and (node - points) % 2 == 0
        if first_of_two and k + 1 < size and work.chain[k + 1] == node + 1:
            wrap = (node - points) // 2
            item = layout.wrap_object[wrap]
            _begin(poses, out, work, t, item, work.chain[k - 1] if k > 0 else node, node)
            slot = _trace_arc(layout, poses, work, lines.position, t, slot, item, out.arc[t, wrap])
    lines.used[t, muscle] = slot - lines.first[muscle]
    for unused in range(slot, lines.first[muscle + 1]):
        for j in range(3):
            lines.position[t, unused, j] = lines.position[t, slot - 1, j]


@compiled_in_order
def _trace_arc(layout, poses, work, line, t, slot, item, length):
    """Store points of an arc between its tangent points, from its begin; return the slot after them."""
    step = length / (ARC_POINTS + 1)
    for number in range(ARC_POINTS):
        _onwards(layout, work, item, step, number + 1)
        for j in range(3):
            place = poses.center[t, item, j]
            for k in range(3):
                place += poses.rotation[t, item, j, k] * work.contact[k]
            line[t, slot, j] = place
        slot += 1
    return slot


@compiled_in_order
def _begin(poses, out, work, t, item, before, node):
    """Set the first tangent point and the unit direction of the segment before it, in the frame of the object."""
    size = 0.0
    for j in range(3):
        size += (out.position[t, node, j] - out.position[t, before, j]) ** 2
    # a segment without length has no direction: then the one of the chord
    start, end = (before, node) if size > 0.0 else (node, node + 1)
    size = 0.0
    for k in range(3):
        place, along = 0.0, 0.0
        for j in range(3):
            axis = poses.rotation[t, item, j, k]
            place += axis * (out.position[t, node, j] - poses.center[t, item, j])
            along += axis * (out.position[t, end, j] - out.position[t, start, j])
        work.round[POINT + k] = place
        work.round[HEADING + k] = along
        size += along * along
    for k in range(3):
        work.round[HEADING + k] /= sqrt(size) if size > 0.0 else 1.0


@compiled_in_order
def _onwards(layout, work, item, step, number):
    """Set `work.contact` to the point of an arc after a number of steps."""
    if layout.kind[item] == ELLIPSOID or layout.kind[item] == TORUS:
        _onwards_on_geodesic(layout, work, item, step, work.matrix)
        return
    radius, along = layout.radii[item, 0], number * step
    around = 1.0
    if layout.kind[item] == CYLINDER:
        around = sqrt(work.round[HEADING] ** 2 + work.round[HEADING + 1] ** 2)
    angle = along * around / radius
    scale = radius / around if around > 0.0 else 0.0
    for k in range(3):
        point, heading = work.round[POINT + k], work.round[HEADING + k]
        work.contact[k] = cos(angle) * point + sin(angle) * scale * heading
        if layout.kind[item] == CYLINDER and k == 2:
            work.contact[k] = point + along * heading


@compiled_for_some
def _onwards_on_geodesic(layout, work, item, step, matrix):
    """Set `work.contact` to the point one step further; not compiled where `matrix` is None."""
    if matrix is None:
        return
    if layout.kind[item] == TORUS:
        advance_on_torus(work.round, layout.radii[item, 0], layout.radii[item, 1], step, STEPS_BETWEEN)
    else:
        for k in range(3):
            work.round[INVERSE + k] = 1.0 / layout.radii[item, k] ** 2
        for _ in range(STEPS_BETWEEN):
            advance(work.round, step / STEPS_BETWEEN)
    for k in range(3):
        work.contact[k] = work.round[POINT + k]
