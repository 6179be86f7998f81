"""The compiled functions that Python calls, kept in numba's cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import types

from musclesolve._util.compiled_code import CompiledFunction, source_version
from musclesolve.muscles.paths.kernel.arrays import Layout, Lines, Output, Poses, Work
from musclesolve.muscles.paths.kernel.compile import OPTIONS
from musclesolve.muscles.paths.kernel.trace import trace_muscle
from musclesolve.muscles.paths.kernel.wrapping import solve_muscle
from musclesolve.muscles.paths.kernel.wrenches import gather_wrenches, sum_powers

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
    Layout,
)
_POSES = types.NamedTuple(
    [_REAL[:, :, ::1], types.boolean[:, ::1], _REAL[:, :, ::1], _REAL[:, :, :, ::1]], Poses
)
_OUTPUT = types.NamedTuple([_REAL[:, ::1], _REAL[:, :, ::1], _REAL[:, :, ::1], _REAL[:, ::1]], Output)
_WORK = types.NamedTuple(
    [
        *(_WHOLE[::1], _REAL[:, ::1], _REAL[::1], _REAL[::1], _REAL[:, :, ::1], _REAL[::1]),
        *(_REAL[:, ::1], _WHOLE[::1], _REAL[:, ::1]),
    ],
    Work,
)


def paths(layout, poses, out, work, lines, rules):
    """Lengths and gradients of all muscles in all poses, and the points of their lines where there are slots."""
    for t in range(out.length.shape[0]):
        for muscle in range(out.length.shape[1]):
            size = solve_muscle(layout, poses, out, work, t, muscle, rules)
            if lines.first.size > 0:
                trace_muscle(layout, poses, out, work, lines, t, muscle, size)


def wrenches(position, gradient, group, wrench):
    """Sums of r x dL/dr and dL/dr (T, G, 6) over the nodes (N) of each group: `gather_wrenches`."""
    gather_wrenches(position, gradient, group, wrench)


def powers(wrench, muscle, moved, screw, power):
    """Rates of length (T, m, n) for screw motions (T, m, 6) of groups of nodes: `sum_powers`."""
    sum_powers(wrench, muscle, moved, screw, power)


_LINES = types.NamedTuple([_WHOLE[::1], types.float32[:, :, ::1], _WHOLE[:, ::1]], Lines)

_VERSION = source_version(Path(__file__).parent)


def _on_disk(function: Any, *signature: Any) -> CompiledFunction:
    return CompiledFunction(function, signature, OPTIONS, _VERSION, MESSAGE)


PATHS = _on_disk(paths, _LAYOUT, _POSES, _OUTPUT, _WORK, _LINES, _WHOLE)
WRENCHES = _on_disk(wrenches, _given(_REAL, 3), _given(_REAL, 3), _given(_WHOLE, 1), _REAL[:, :, ::1])
POWERS = _on_disk(
    powers, _given(_REAL, 3), _given(_WHOLE, 1), _given(types.boolean, 2), _given(_REAL, 3), _REAL[:, :, ::1]
)
