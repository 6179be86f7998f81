"""What the path engine is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve.muscles.paths.kernel.arrays import Layout, contiguous

KINDS = ("cylinder", "sphere", "ellipsoid")
METHODS = ("hybrid", "midpoint", "axial")
"""How OpenSim finds the way around an ellipsoid (kernel/opensim_plane.py)."""


def _no_indices() -> Indices:
    return np.zeros(0, dtype=np.intp)


def _no_numbers() -> Array:
    return np.zeros(0)


def _no_vectors() -> Array:
    return np.zeros((0, 3))


@dataclass(frozen=True, eq=False)
class PathLayout:
    """Paths of n muscles through points (P), and wrap objects (O) that some of them touch (W path wraps).

    point_muscle (P,): muscle of each point, one after the other, points in the order of the path, every muscle has
    some. kind (O,): index into `KINDS`; radii (O, 3) [m], a cylinder's in the first place; half_length (O,) [m] of
    cylinders; side_axis, side_sign (O,): own axis 0, 1, 2 and sign of the half of the surface on which paths lie, sign
    0: either. wrap_muscle, wrap_object (W,): one muscle after the other, in OpenSim's order; wrap_first, wrap_last
    (W,): points (indices into P) between which the wrap acts; wrap_method (W,): index into `METHODS`, hybrid if None.
    """

    point_muscle: Indices
    kind: Indices = field(default_factory=_no_indices)
    radii: Array = field(default_factory=_no_vectors)
    half_length: Array = field(default_factory=_no_numbers)
    side_axis: Indices = field(default_factory=_no_indices)
    side_sign: Array = field(default_factory=_no_numbers)
    wrap_muscle: Indices = field(default_factory=_no_indices)
    wrap_object: Indices = field(default_factory=_no_indices)
    wrap_first: Indices = field(default_factory=_no_indices)
    wrap_last: Indices = field(default_factory=_no_indices)
    wrap_method: Indices | None = None

    @property
    def muscles(self) -> int:
        """N."""
        return int(self.point_muscle[-1]) + 1

    @property
    def points(self) -> int:
        """P."""
        return len(self.point_muscle)

    @property
    def wraps(self) -> int:
        """W."""
        return len(self.wrap_object)

    @cached_property
    def node_muscle(self) -> Indices:
        """(N,) muscle of each node: the points, then two tangent points for each wrap."""
        return np.concatenate([self.point_muscle, np.repeat(self.wrap_muscle, 2)])

    @cached_property
    def node_object(self) -> Indices:
        """(2 W,) object of each tangent point."""
        return np.repeat(self.wrap_object, 2)

    @cached_property
    def arrays(self) -> Layout:
        """The layout as the compiled code takes it."""
        edges = np.arange(self.muscles + 1)
        method = np.zeros(self.wraps) if self.wrap_method is None else self.wrap_method
        return Layout(
            contiguous(np.searchsorted(self.point_muscle, edges), np.intp),
            contiguous(np.searchsorted(self.wrap_muscle, edges), np.intp),
            contiguous(self.wrap_object, np.intp),
            contiguous(np.stack([self.wrap_first, self.wrap_last], axis=1), np.intp),
            contiguous(self.kind, np.intp),
            contiguous(self.radii),
            contiguous(self.half_length),
            contiguous(self.side_axis, np.intp),
            contiguous(self.side_sign),
            contiguous(method, np.intp),
        )

    def subset(self, muscles: Indices) -> PathLayout:
        """Some muscles (k,), increasing, with all objects."""
        points, wraps = np.isin(self.point_muscle, muscles), np.isin(self.wrap_muscle, muscles)
        place = np.cumsum(points) - 1
        return replace(
            self,
            point_muscle=np.searchsorted(muscles, self.point_muscle[points]),
            wrap_muscle=np.searchsorted(muscles, self.wrap_muscle[wraps]),
            wrap_object=self.wrap_object[wraps],
            wrap_first=place[self.wrap_first[wraps]],
            wrap_last=place[self.wrap_last[wraps]],
            wrap_method=None if self.wrap_method is None else self.wrap_method[wraps],
        )


class PathNodes(NamedTuple):
    """Paths in T poses: length (T, n) [m]; position [m] and gradient of the nodes, (T, N, 3) each.

    Nodes: P points, then the two tangent points of each wrap, fixed to its object; those of a wrap that is not touched
    lie at the center of its object. gradient: dL / d(place of the material point at the node), zero where the path
    does not pass.
    """

    length: Array
    position: Array
    gradient: Array


class PathLines(NamedTuple):
    """Paths in T poses as lines, for drawing: muscle (S,) of each point; its position (T, S, 3) [m], single precision.

    used (T, n): number of points that each muscle has in a pose; those beyond it repeat the last one.
    """

    muscle: Indices
    position: AnyArray
    used: Indices

    def trimmed(self) -> PathLines:
        """Without the points that a muscle never has."""
        rank = np.arange(len(self.muscle)) - np.searchsorted(self.muscle, self.muscle)
        kept = rank < self.used.max(axis=0, initial=1)[self.muscle]
        return PathLines(self.muscle[kept], self.position[:, kept], self.used)
