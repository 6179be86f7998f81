"""The path engine from Python."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
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
    from musclesolve.muscles.paths.kernel.entry import RUN

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
        np.empty(nodes + 2, dtype=np.intp), np.empty((2, 3)), np.empty(8), np.empty(8), np.empty(WORK_SIZE)
    )
    RUN(_arrays(layout), poses, out, work)
    return PathNodes(out.length, out.position, out.gradient)


def _flat(values: Any, kind: type = float) -> Any:
    return np.ascontiguousarray(values, dtype=kind)


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
