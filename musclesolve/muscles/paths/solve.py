"""The path engine from Python."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.muscles.paths.kernel.arrays import (
    OPENSIM,
    SHORTEST,
    WORK_SIZE,
    Lines,
    Output,
    Poses,
    Work,
    contiguous,
)
from musclesolve.muscles.paths.layout import PathLayout, PathLines, PathNodes


def solve_paths(
    layout: PathLayout,
    position: Array,
    on: Mask,
    center: Array,
    rotation: Array,
    *,
    as_opensim: bool = False,
) -> PathNodes:
    """Lengths and gradients of paths in T poses.

    Args:
        layout: muscles, points, wrap objects.
        position: points (T, P, 3) [m].
        on: which of them are on the path, (T, P); two of each muscle at least.
        center: of the wrap objects (T, O, 3) [m].
        rotation: their axes as columns, (T, O, 3, 3).
        as_opensim: lengths as OpenSim 4 reports them and gradients that give its moment arms, which are not their
            derivatives: see kernel/opensim_cylinder.py, opensim_plane.py and opensim_rounds.py.
    """
    from musclesolve.muscles.paths.kernel.entry import PATHS

    given, out, work = _arrays(layout, position, on, center, rotation)
    PATHS.load()(layout.arrays, given, out, work, _no_lines(), int(OPENSIM if as_opensim else SHORTEST))
    return PathNodes(out.length, out.position, out.gradient)


def _arrays(
    layout: PathLayout, position: Array, on: Mask, center: Array, rotation: Array
) -> tuple[Poses, Output, Work]:
    """What the path engine is given, fills and works in."""
    frames = len(position)
    nodes = layout.points + 2 * layout.wraps
    out = Output(
        np.empty((frames, layout.muscles)),
        np.empty((frames, nodes, 3)),
        np.empty((frames, nodes, 3)),
        np.empty((frames, layout.wraps)),
    )
    poses = Poses(contiguous(position), contiguous(on, bool), contiguous(center), contiguous(rotation))
    work = Work(
        chain=np.empty(nodes + 2, dtype=np.intp),
        local=np.empty((2, 3)),
        contact=np.empty(8),
        best=np.empty(8),
        step=np.empty((2, nodes, 3)),
        round=np.empty(WORK_SIZE),
        matrix=np.empty((12, 7)),
        rules=np.zeros(1, dtype=np.intp),
        seen=np.empty((nodes, 3)),
    )
    return poses, out, work


def _no_lines() -> Lines:
    return Lines(np.zeros(0, np.intp), np.zeros((0, 0, 3), np.float32), np.zeros((0, 0), np.intp))


def trace_paths(layout: PathLayout, position: Array, on: Mask, center: Array, rotation: Array) -> PathLines:
    """Paths as lines through points, for drawing; arguments as in `solve_paths`."""
    from musclesolve.muscles.paths.kernel.entry import PATHS
    from musclesolve.muscles.paths.kernel.trace import ARC_POINTS

    given, out, work = _arrays(layout, position, on, center, rotation)
    needed = np.bincount(layout.point_muscle, minlength=layout.muscles)
    needed += (2 + ARC_POINTS) * np.bincount(layout.wrap_muscle, minlength=layout.muscles)
    first = np.concatenate([[0], np.cumsum(needed)]).astype(np.intp)
    line = np.empty((len(position), first[-1], 3), dtype=np.float32)
    lines = Lines(first, line, np.empty((len(position), layout.muscles), dtype=np.intp))
    PATHS.load()(layout.arrays, given, out, work, lines, int(SHORTEST))
    return PathLines(np.repeat(np.arange(layout.muscles), needed), lines.position, lines.used)


def gather_wrenches(position: Array, gradient: Array, group: Indices) -> Array:
    """Sums of r x dL/dr and dL/dr over nodes (T, N, 3) of the same group (N,), (T, G, 6)."""
    from musclesolve.muscles.paths.kernel.entry import WRENCHES

    wrench = np.empty((len(position), int(group.max()) + 1, 6))
    WRENCHES.load()(position, gradient, contiguous(group, np.intp), wrench)
    return wrench


def sum_powers(wrench: Array, muscle: Indices, moved: Mask, screw: Array) -> Array:
    """Rates of length (T, m, n) where screw motions w, v (T, m, 6) move groups of nodes (m, G) of muscles (G,)."""
    from musclesolve.muscles.paths.kernel.entry import POWERS

    power = np.empty((*screw.shape[:2], int(muscle.max()) + 1))
    POWERS.load()(wrench, contiguous(muscle, np.intp), contiguous(moved, bool), contiguous(screw), power)
    return power
