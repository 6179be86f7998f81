"""The compiled functions that Python calls, kept in numba's cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import types

from musclesolve._util.compiled_code import OPTIONS, CompiledFunction, source_version
from musclesolve.muscles.paths.kernel.arrays import (
    LayoutArrays,
    LineArrays,
    PathArrays,
    PoseArrays,
    WorkArrays,
)
from musclesolve.muscles.paths.kernel.trace import trace_muscle
from musclesolve.muscles.paths.kernel.wrapping import solve_muscle

MESSAGE = "compiling the path engine for this machine, once (ten to twenty seconds)"


def _given(kind: Any, axes: int) -> types.Array:
    return types.Array(kind, axes, "C", readonly=True)


_REAL, _WHOLE = types.float64, types.intp
# arrays in tuples cannot be read-only where the compiled type is not, or the other way around
_LAYOUT = types.NamedTuple(
    [
        *(_WHOLE[::1], _WHOLE[::1], _WHOLE[::1], _WHOLE[:, ::1], _WHOLE[::1]),
        *(_REAL[:, ::1], _REAL[::1], _WHOLE[::1], _REAL[::1], _WHOLE[::1]),
    ],
    LayoutArrays,
)
_POSES = types.NamedTuple(
    [_REAL[:, :, ::1], types.boolean[:, ::1], _REAL[:, :, ::1], _REAL[:, :, :, ::1]], PoseArrays
)
_OUTPUT = types.NamedTuple([_REAL[:, ::1], _REAL[:, :, ::1], _REAL[:, :, ::1], _REAL[:, ::1]], PathArrays)
_WORK = types.NamedTuple(
    [
        *(_WHOLE[::1], _REAL[:, ::1], _REAL[::1], _REAL[::1], _REAL[:, :, ::1], _REAL[::1]),
        *(_REAL[:, ::1], _WHOLE[::1], _REAL[:, ::1]),
    ],
    WorkArrays,
)
_LINES = types.NamedTuple([_WHOLE[::1], types.float32[:, :, ::1], _WHOLE[:, ::1]], LineArrays)


def paths(layout, poses, out, work, lines, rules):
    """Lengths and gradients of all muscles in all poses, and the points of their lines where there are slots."""
    for t in range(out.length.shape[0]):
        for muscle in range(out.length.shape[1]):
            size = solve_muscle(layout, poses, out, work, t, muscle, rules)
            if lines.first.size > 0:
                trace_muscle(layout, poses, out, work, lines, t, muscle, size)


def gather_wrenches(position, gradient, group, wrench):
    """Sums of r x dL/dr and dL/dr, (T, G, 6), over the nodes (N) of each group; group (N,)."""
    for t in range(wrench.shape[0]):
        for g in range(wrench.shape[1]):
            for k in range(6):
                wrench[t, g, k] = 0.0
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


def sum_powers(wrench, muscle, moved, screw, power):
    """Rates of length (T, m, n) for screw motions (T, m, 6) of the groups that each moves, (m, G)."""
    for t in range(power.shape[0]):
        for row in range(power.shape[1]):
            for n in range(power.shape[2]):
                power[t, row, n] = 0.0
            for g in range(muscle.size):
                if moved[row, g]:
                    total = 0.0
                    for k in range(6):
                        total += wrench[t, g, k] * screw[t, row, k]
                    power[t, row, muscle[g]] += total


def natural_splines(first, knots, values, curvatures, x, value, slope):
    """Values and slopes (T, F, 6) of natural splines at x (T, F): `NaturalSpline.at`."""
    for t in range(x.shape[0]):
        for f in range(x.shape[1]):
            start, last = first[f], first[f + 1] - 1
            inside = min(max(x[t, f], knots[start]), knots[last])
            k = start
            while k < last - 1 and knots[k + 1] <= inside:
                k += 1
            gap = knots[k + 1] - knots[k]
            b = (inside - knots[k]) / gap
            a = 1.0 - b
            for c in range(value.shape[2]):
                low, high = values[k, c], values[k + 1, c]
                bent_low, bent_high = (
                    curvatures[k, c] * gap * gap / 6.0,
                    curvatures[k + 1, c] * gap * gap / 6.0,
                )
                rise = high - low + (1.0 - 3.0 * a * a) * bent_low + (3.0 * b * b - 1.0) * bent_high
                slope[t, f, c] = rise / gap
                value[t, f, c] = a * low + b * high + (a * a * a - a) * bent_low + (b * b * b - b) * bent_high
                value[t, f, c] += slope[t, f, c] * (x[t, f] - inside)


_VERSION = source_version(Path(__file__).parent)


def _on_disk(function: Any, *signature: Any) -> CompiledFunction:
    in_order = OPTIONS | {"fastmath": {"contract", "nsz", "arcp"}}
    return CompiledFunction(function, signature, in_order, _VERSION, MESSAGE)


PATHS = _on_disk(paths, _LAYOUT, _POSES, _OUTPUT, _WORK, _LINES, _WHOLE)
WRENCHES = _on_disk(gather_wrenches, _given(_REAL, 3), _given(_REAL, 3), _given(_WHOLE, 1), _REAL[:, :, ::1])
POWERS = _on_disk(
    sum_powers,
    _given(_REAL, 3),
    _given(_WHOLE, 1),
    _given(types.boolean, 2),
    _given(_REAL, 3),
    _REAL[:, :, ::1],
)
SPLINES = _on_disk(
    natural_splines,
    *(_WHOLE[::1], _REAL[::1], _REAL[:, ::1], _REAL[:, ::1], _REAL[:, ::1]),
    *(_REAL[:, :, ::1], _REAL[:, :, ::1]),
)
