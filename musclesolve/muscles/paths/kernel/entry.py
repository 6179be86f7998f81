"""The compiled functions that Python calls, kept in numba's cache."""

from pathlib import Path

from numba import types

from musclesolve._util.compiled_code import IN_ORDER, OPTIONS, compiled_in_order, on_disk, tuple_of, types_of
from musclesolve.dynamics.kernel.arrays import BodyArrays, BodyMotions
from musclesolve.dynamics.kernel.bodies import move_body
from musclesolve.muscles.paths.kernel.arrays import (
    CarriedArrays,
    FrameMotion,
    LayoutArrays,
    LineArrays,
    PathArrays,
    PoseArrays,
    WorkArrays,
)
from musclesolve.muscles.paths.kernel.placing import (
    place_frames,
    place_objects,
    place_points,
    set_spline,
    set_turn,
)
from musclesolve.muscles.paths.kernel.trace import trace_muscle
from musclesolve.muscles.paths.kernel.wrapping import solve_muscle


@compiled_in_order
def solve_poses(layout, poses, out, work, lines, rules):
    """Compute lengths and gradients of all muscles in all poses, and the points of their lines if `lines` has slots."""
    for t in range(out.length.shape[0]):
        for muscle in range(out.length.shape[1]):
            size = solve_muscle(layout, poses, out, work, t, muscle, rules)
            if lines.first.size > 0:
                trace_muscle(layout, poses, out, work, lines, t, muscle, size)


def paths(layout, poses, out, work, lines, rules):
    """See `solve_poses`."""
    solve_poses(layout, poses, out, work, lines, rules)


def paths_over_cylinders(layout, poses, out, work, lines, rules):
    """See `solve_poses`: shortest paths over cylinders or nothing, compiled in a third of the time."""
    solve_poses(layout, poses, out, work, lines, rules)


def opensim_over_cylinders(layout, poses, out, work, lines, rules):
    """See `solve_poses`: paths over cylinders or nothing by OpenSim's rules."""
    solve_poses(layout, poses, out, work, lines, rules)


def gather_wrenches(position, gradient, group, wrench):
    """Sums of r x dL/dr and dL/dr, (T, G, 6), over the nodes (N) of each group; group (N,)."""
    for t in range(wrench.shape[0]):
        wrench[t] = 0.0
        for node in range(group.size):
            g = group[node]
            x, y, z = position[t, node, 0], position[t, node, 1], position[t, node, 2]
            u, v, w = gradient[t, node, 0], gradient[t, node, 1], gradient[t, node, 2]
            wrench[t, g, 0] += y * w - z * v
            wrench[t, g, 1] += z * u - x * w
            wrench[t, g, 2] += x * v - y * u
            wrench[t, g, 3] += u
            wrench[t, g, 4] += v
            wrench[t, g, 5] += w


def explicit_rates(wrench, muscle, frame, column, frames, rate):
    """Explicit rates dL/dtheta (T, n, D) with the bodies at rest, of groups (G,) on moving frames.

    frame (G,): -1 for none; column (F,): of the angle that moves a frame; frames: `FrameMotion` in space.
    """
    for t in range(rate.shape[0]):
        rate[t] = 0.0
        for g in range(muscle.size):
            f = frame[g]
            if f >= 0:
                spin, origin, total = frames.spin[t, f], frames.origin[t, f], 0.0
                for x in range(3):
                    y, z = (x + 1) % 3, (x + 2) % 3
                    shift = frames.velocity[t, f, x] - (spin[y] * origin[z] - spin[z] * origin[y])
                    total += spin[x] * wrench[t, g, x] + shift * wrench[t, g, 3 + x]
                rate[t, muscle[g], column[f]] += total


def length_rates(groups, bodies, motion, moved, explicit, dofs, rates, out):
    """dL/dt (T, n): the power of the wrenches of groups of nodes on bodies of the model, and the explicit part.

    groups: wrenches (T, G, 6), muscles and bodies (G,) of the groups, and the bodies of any of them; motion: q and qd
    (T, N, 3); moved: work array for all bodies.
    """
    wrench, muscle, body, carriers = groups
    for t in range(out.shape[0]):
        for b in carriers:
            move_body(motion[0][t], motion[1][t], bodies, b, moved, b)
        for n in range(out.shape[1]):
            out[t, n] = 0.0
            for d in range(dofs.size):
                out[t, n] += explicit[t, n, d] * rates[t, dofs[d]]
        for g in range(muscle.size):
            for k in range(6):
                out[t, muscle[g]] += wrench[t, g, k] * moved.twist[body[g], k]


def moment_arms(wrench, muscle, moved, axis, pivot, explicit, column, arm):
    """-dL/dtheta (T, m, n) of rotations about axes through pivots (T, m, 3): see `PathState.moment_arms`.

    moved (m, G): groups of nodes that each rotation moves; column (m,): of its explicit part, -1 for none.
    """
    for t in range(arm.shape[0]):
        for row in range(arm.shape[1]):
            a, o, c = axis[t, row], pivot[t, row], column[row]
            for n in range(arm.shape[2]):
                arm[t, row, n] = -explicit[t, n, c] if c >= 0 else 0.0
            u, v, w = o[1] * a[2] - o[2] * a[1], o[2] * a[0] - o[0] * a[2], o[0] * a[1] - o[1] * a[0]
            for g in range(muscle.size):
                if moved[row, g]:
                    along = a[0] * wrench[t, g, 0] + a[1] * wrench[t, g, 1] + a[2] * wrench[t, g, 2]
                    across = u * wrench[t, g, 3] + v * wrench[t, g, 4] + w * wrench[t, g, 5]
                    arm[t, row, muscle[g]] -= along + across


def sum_pulls(wrench, muscle, on, center, pull, about):
    """Sums of dL/dr and of (r - c) x dL/dr, (T, j, n, 3), over j sets (j, G) of groups, about centers c (T, j, 3)."""
    for t in range(pull.shape[0]):
        for j in range(pull.shape[1]):
            pull[t, j], about[t, j] = 0.0, 0.0
            c = center[t, j]
            for g in range(muscle.size):
                if on[j, g]:
                    force, moment = pull[t, j, muscle[g]], about[t, j, muscle[g]]
                    for x in range(3):
                        y, z = (x + 1) % 3, (x + 2) % 3
                        force[x] += wrench[t, g, 3 + x]
                        lever = c[y] * wrench[t, g, 3 + z] - c[z] * wrench[t, g, 3 + y]
                        moment[x] += wrench[t, g, x] - lever


def add_couples(explicit, column, axes, about):
    """Add to moments (T, n, 3) the couples that move points and frames with degrees of freedom (d,) of a joint.

    The couple has the moment dL/dtheta of column (d,) of `explicit` about its own axis and zero about the other axes
    (T, d, 3): it is along the reciprocal vector of the axis in the span of up to three axes.
    """
    for t in range(about.shape[0]):
        for i in range(column.size):
            if column[i] < 0:
                continue
            a = axes[t, i]
            b, c = axes[t, (i + 1) % column.size], axes[t, (i + 2) % column.size]
            for x in range(3):
                y, z = (x + 1) % 3, (x + 2) % 3
                if column.size == 1:
                    along, size = a[x], a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
                elif column.size == 2:  # b x n / n^2 with n = a x b
                    bb, ab = b[0] * b[0] + b[1] * b[1] + b[2] * b[2], a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
                    aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
                    along, size = bb * a[x] - ab * b[x], aa * bb - ab * ab
                else:
                    along = b[y] * c[z] - b[z] * c[y]
                    size = a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                    size += a[2] * (b[0] * c[1] - b[1] * c[0])
                for n in range(about.shape[1]):
                    about[t, n, x] += explicit[t, n, column[i]] * along / size


def relative_frames(first, knots, values, curvatures, pivot, x, work, out):
    """Moving frames relative to their bodies in standing at angles x (T, F); work (2, 6)."""
    value, slope = work[0], work[1]
    for t in range(x.shape[0]):
        for f in range(x.shape[1]):
            set_spline(first[f], first[f + 1] - 1, knots, values, curvatures, x[t, f], value, slope)
            for k in range(3):
                out.origin[t, f, k] = pivot[f, k] + value[k]
                out.velocity[t, f, k] = slope[k]
            set_turn(value[3:], slope[3:], out.rotation[t, f], out.spin[t, f])


def place(bodies, carried, q, coordinates, relative, moved, poses, space):
    """Place points, objects and frames in T poses of the model's bodies; moved: work array for bodies with any."""
    for t in range(q.shape[0]):
        for b in carried.carriers:
            move_body(q[t], q[t], bodies, b, moved, b)
        place_frames(carried, moved, relative, space, t)
        place_points(carried, moved, space, coordinates[t], poses, t)
        place_objects(carried, moved, space, poses, t)


# arrays in tuples cannot be read-only where the compiled type is not, or the other way around
_LAYOUT = tuple_of(LayoutArrays, "i1 i1 i1 i2 i1 r2 r1 i1 r1 i1")
_POSES = tuple_of(PoseArrays, "r3 b2 r3 r4")
_CARRIED = tuple_of(CarriedArrays, "i1 i1 i1 r2 i1 i1 r1 r1 i1 i1 r2 r3 i1 r2")
_FRAMES = tuple_of(FrameMotion, "r3 r4 r3 r3")
_BODIES = tuple_of(BodyArrays, "i2 b1 r2 r3 r2")
_MOVED = tuple_of(BodyMotions, "r3 r2 r2 r3")
_OUTPUT = tuple_of(PathArrays, "r2 r3 r3 r2")
_WORK, _WORK_OF_OPENSIM, _WORK_OF_CYLINDERS = (
    tuple_of(WorkArrays, f"i1 r2 r1 r1 r3 r1 {matrix} i1 {seen}")
    for matrix, seen in (("r2", "r2"), ("n", "r2"), ("n", "n"))
)
_LINES = tuple_of(LineArrays, "i1 f3 i2")
_GROUPS = types.Tuple(types_of("r3? i1? i1? i1?"))
_MOTION = types.UniTuple(types_of("r3?")[0], 2)

_HERE = Path(__file__).parent
_DYNAMICS = _HERE.parents[2] / "dynamics" / "kernel"
_on_disk = on_disk(
    "compiling the path engine for this machine, once (ten to twenty seconds)",
    *(_HERE, _DYNAMICS / "arrays.py", _DYNAMICS / "bodies.py"),
    options=OPTIONS | IN_ORDER,
)
PATHS = _on_disk(paths, _LAYOUT, _POSES, _OUTPUT, _WORK, _LINES, "i")
OVER_CYLINDERS = _on_disk(paths_over_cylinders, _LAYOUT, _POSES, _OUTPUT, _WORK_OF_CYLINDERS, _LINES, "i")
OPENSIM_OVER_CYLINDERS = _on_disk(
    *(opensim_over_cylinders, _LAYOUT, _POSES, _OUTPUT, _WORK_OF_OPENSIM, _LINES, "i")
)
WRENCHES = _on_disk(gather_wrenches, "r3? r3? i1? r3")
EXPLICIT = _on_disk(explicit_rates, "r3? i1? i1? i1?", _FRAMES, "r3")
RATES = _on_disk(length_rates, _GROUPS, _BODIES, _MOTION, _MOVED, "r3? i1? r2? r2")
ARMS = _on_disk(moment_arms, "r3? i1? b2? r3? r3? r3? i1? r3")
PULLS = _on_disk(sum_pulls, "r3? i1? b2? r3? r4 r4")
COUPLES = _on_disk(add_couples, "r3? i1? r3? r3:")
FRAMES = _on_disk(relative_frames, "i1 r1 r2 r2 r2 r2 r2", _FRAMES)
PLACE = _on_disk(place, _BODIES, _CARRIED, "r3? r2?", _FRAMES, _MOVED, _POSES, _FRAMES)
