"""Contact of one segment with one wrap object: into the object's frame, and back."""

from __future__ import annotations

from musclesolve.muscles.paths.kernel.arrays import CYLINDER, SPHERE
from musclesolve.muscles.paths.kernel.compile import compiled
from musclesolve.muscles.paths.kernel.cylinder import touch_cylinder
from musclesolve.muscles.paths.kernel.ellipsoid import touch_ellipsoid
from musclesolve.muscles.paths.kernel.sphere import touch_sphere


@compiled
def touch(layout, poses, out, work, t, first, last, wrap):
    """Contact of the segment between two nodes with an object, in `work.contact`, in the object's frame."""
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
    if layout.kind[item] == SPHERE:
        return touch_sphere(work.local, radii, axis, sign, rules, work.contact, work.round)
    method = layout.wrap_method[wrap]
    return touch_ellipsoid(
        work.local, radii, axis, sign, method, rules, work.contact, work.round, work.matrix
    )


@compiled
def place_contact(poses, out, work, t, node, item):
    """Put the two nodes of a wrap at the tangent points of `work.best`; how far they moved [m]."""
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
