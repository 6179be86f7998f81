"""The path engine from Python."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.muscles.paths.layout import PathLayout, PathNodes

if TYPE_CHECKING:
    from musclesolve.muscles.paths.kernel.arrays import Layout


def solve_paths(layout: PathLayout, position: Array, on: Mask, center: Array, rotation: Array) -> PathNodes:
    """Lengths and gradients of paths in T poses.

    Args:
        layout: muscles, points, wrap objects.
        position: points (T, P, 3) [m].
        on: which of them are on the path, (T, P); two of each muscle at least.
        center: of the wrap objects (T, O, 3) [m].
        rotation: their axes as columns, (T, O, 3, 3).
    """
    from musclesolve.muscles.paths.kernel.arrays import WORK_SIZE, Output, Poses, Work
    from musclesolve.muscles.paths.kernel.entry import PATHS

    frames = len(position)
    nodes = layout.points + 2 * layout.wraps
    out = Output(
        np.empty((frames, layout.muscles)),
        np.empty((frames, nodes, 3)),
        np.empty((frames, nodes, 3)),
        np.empty((frames, layout.wraps)),
    )
    poses = Poses(_flat(position), _flat(on, bool), _flat(center), _flat(rotation))
    work = Work(
        chain=np.empty(nodes + 2, dtype=np.intp),
        local=np.empty((2, 3)),
        contact=np.empty(8),
        best=np.empty(8),
        step=np.empty((2, nodes, 3)),
        round=np.empty(WORK_SIZE),
    )
    PATHS.load()(_arrays(layout), poses, out, work)
    return PathNodes(out.length, out.position, out.gradient)


def gather_wrenches(position: Array, gradient: Array, group: Indices) -> Array:
    """Sums of r x dL/dr and dL/dr over nodes (T, N, 3) of the same group (N,), (T, G, 6)."""
    from musclesolve.muscles.paths.kernel.entry import WRENCHES

    wrench = np.empty((len(position), int(group.max()) + 1, 6))
    WRENCHES.load()(position, gradient, _flat(group, np.intp), wrench)
    return wrench


def sum_powers(wrench: Array, muscle: Indices, moved: Mask, screw: Array) -> Array:
    """Rates of length (T, m, n) where screw motions w, v (T, m, 6) move groups of nodes (m, G) of muscles (G,)."""
    from musclesolve.muscles.paths.kernel.entry import POWERS

    power = np.empty((*screw.shape[:2], int(muscle.max()) + 1))
    POWERS.load()(wrench, _flat(muscle, np.intp), _flat(moved, bool), _flat(screw), power)
    return power


def _flat(values: Any, kind: type = float) -> Any:
    return np.require(values, kind, ["C", "W"])


@cache
def _arrays(layout: PathLayout) -> Layout:
    """The layout as the compiled code takes it."""
    from musclesolve.muscles.paths.kernel.arrays import CYLINDER, Layout

    edges = np.arange(layout.muscles + 1)
    along = (layout.kind == CYLINDER) & (layout.side_axis == 2)
    whole = np.intp
    return Layout(
        _flat(np.searchsorted(layout.point_muscle, edges), whole),
        _flat(np.searchsorted(layout.wrap_muscle, edges), whole),
        _flat(layout.wrap_object, whole),
        _flat(np.stack([layout.wrap_first, layout.wrap_last], axis=1), whole),
        _flat(layout.kind, whole),
        _flat(layout.radii),
        _flat(layout.half_length),
        _flat(np.where(along, 0, layout.side_axis), whole),
        _flat(np.where(along, 0.0, layout.side_sign)),
    )
