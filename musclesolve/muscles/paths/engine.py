"""The path engine from Python: arguments and results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import AnyArray, Array, Indices, Mask, contiguous
from musclesolve.muscles.paths.kernel.arrays import (
    CYLINDER,
    HELD,
    OPENSIM,
    SHORTEST_PATH,
    WORK_SIZE,
    LayoutArrays,
    LineArrays,
    PathArrays,
    PoseArrays,
    WorkArrays,
)

KINDS = ("cylinder", "sphere", "ellipsoid", "torus")
_SIGNS = {"al": 0.0, "+": 1.0, "-": -1.0, "held +": HELD}
METHODS = ("hybrid", "midpoint", "axial")
"""OpenSim's methods for a path around an ellipsoid (kernel/ellipsoid_plane.py)."""


@dataclass(frozen=True, eq=False)
class PathLayout:
    """Paths of n muscles through points (P), and wrap objects (O) that some of them touch (W path wraps).

    point_muscle (P,): muscle of each point, muscle after muscle, points in the order of the path, at least one for
    every muscle. kind (O,): index into `KINDS`; radii (O, 3) [m], of a cylinder in the first place, of a torus the tube
    and the ring; half_length (O,) [m] of cylinders; side_axis, side_sign (O,): own axis 0, 1, 2 and sign of the half of
    the surface on which paths lie, sign 0: either, HELD: always. wrap_muscle, wrap_object (W,): one muscle after the
    other, in OpenSim's order;
    wrap_first, wrap_last (W,): points (indices into P) between which the wrap acts; wrap_method (W,): index into
    `METHODS`, hybrid if None.
    """

    point_muscle: Indices
    kind: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    radii: Array = field(default_factory=lambda: np.zeros((0, 3)))
    half_length: Array = field(default_factory=lambda: np.zeros(0))
    side_axis: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    side_sign: Array = field(default_factory=lambda: np.zeros(0))
    wrap_muscle: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    wrap_object: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    wrap_first: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    wrap_last: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    wrap_method: Indices | None = None

    @classmethod
    def from_points(
        cls,
        point_muscle: Indices,
        objects: Sequence[tuple[str, ArrayLike, float, str]],
        wraps: Sequence[tuple[int, int, int | None, int | None, str]],
    ) -> Self:
        """The layout from the entries of a file.

        Args:
            point_muscle: (P,).
            objects: kind, radii (3,) [m], length [m] and side, "all", "+x", "-z" or "held +x", of each wrap object.
            wraps: numbers of muscle and object, the first and the last point of the muscle between which the wrap acts,
                counted from 1 (None: from its first, to its last), and the method.
        """
        kinds, radii, lengths, sides = zip(*objects, strict=True) if objects else ((),) * 4
        muscle, object_, first, last, method = zip(*wraps, strict=True) if wraps else ((),) * 5
        edge = np.searchsorted(point_muscle, np.arange(point_muscle[-1] + 2))
        ends = [edge[m + 1] - 1 if p is None else edge[m] + p - 1 for m, p in zip(muscle, last, strict=True)]
        numbers = partial(np.array, dtype=np.intp)
        return cls(
            point_muscle,
            kind=numbers([KINDS.index(kind) for kind in kinds]),
            radii=np.array(radii, dtype=float).reshape(-1, 3),
            half_length=0.5 * np.array(lengths, dtype=float),
            side_axis=numbers([0 if side == "all" else "xyz".index(side[-1]) for side in sides]),
            side_sign=np.array([_SIGNS[side[:-1]] for side in sides]),
            wrap_muscle=numbers(muscle),
            wrap_object=numbers(object_),
            wrap_first=numbers([edge[m] + (p or 1) - 1 for m, p in zip(muscle, first, strict=True)]),
            wrap_last=numbers(ends),
            wrap_method=numbers([METHODS.index(name) for name in method]),
        )

    @property
    def muscles(self) -> int:
        """Number n of muscles."""
        return int(self.point_muscle[-1]) + 1

    @property
    def points(self) -> int:
        """Number P of path points."""
        return len(self.point_muscle)

    @property
    def wraps(self) -> int:
        """Number W of wraps."""
        return len(self.wrap_object)

    @cached_property
    def cylinders_alone(self) -> bool:
        """Whether muscles wrap over cylinders alone, or over nothing."""
        return bool((self.kind[self.wrap_object] == CYLINDER).all())

    @cached_property
    def node_muscle(self) -> Indices:
        """(N,) muscle of each node: the points, then two tangent points for each wrap."""
        return np.concatenate([self.point_muscle, np.repeat(self.wrap_muscle, 2)])

    @cached_property
    def arrays(self) -> LayoutArrays:
        """The layout as the compiled code takes it."""
        edges = np.arange(self.muscles + 1)
        method = np.zeros(self.wraps) if self.wrap_method is None else self.wrap_method
        return LayoutArrays(
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

    def picked(self, muscles: Indices) -> "tuple[PathLayout, Indices]":
        """Some muscles (k,), in any order and more than once, with all objects; and the numbers of their points."""
        first_point, first_wrap = self.arrays.first_point, self.arrays.first_wrap
        points, wraps = (
            np.concatenate([np.arange(first[m], first[m + 1]) for m in muscles])
            for first in (first_point, first_wrap)
        )
        of_point, of_wrap = (
            np.repeat(np.arange(len(muscles)), np.diff(first)[muscles]) for first in (first_point, first_wrap)
        )
        shift = np.searchsorted(of_point, np.arange(len(muscles))) - first_point[muscles]
        picked = replace(
            self,
            point_muscle=of_point,
            wrap_muscle=of_wrap,
            wrap_object=self.wrap_object[wraps],
            wrap_first=self.wrap_first[wraps] + shift[of_wrap],
            wrap_last=self.wrap_last[wraps] + shift[of_wrap],
            wrap_method=None if self.wrap_method is None else self.wrap_method[wraps],
        )
        return picked, points


class PathNodes(NamedTuple):
    """Paths in T poses: length (T, n) [m]; position [m] and gradient of the nodes, (T, N, 3) each.

    Nodes: P points, then the two tangent points of each wrap, fixed to its object; the points of a wrap that is not
    touched lie at the center of its object. gradient: dL / d(place of the material point at the node), zero at nodes
    that are not on the path.
    """

    length: Array
    position: Array
    gradient: Array


class PathLines(NamedTuple):
    """Paths in T poses as lines, for drawing: muscle (S,) of each point; its position (T, S, 3) [m], single precision.

    used (T, n): number of points of each muscle in a pose; points beyond it repeat the last one.
    """

    muscle: Indices
    position: AnyArray
    used: Indices

    @classmethod
    def joined(cls, blocks: "Iterable[PathLines]", poses: int) -> Self:
        """The lines of all poses from the lines in blocks of poses, without points that no pose uses.

        Each block is stored at once. Rows that are too short for a later block are moved apart in place, from the last
        to the first: there is memory for all points, and pages that are never written take none.
        """
        used, most, stop = np.empty((poses, 0), np.intp), np.empty(0, np.intp), 0
        memory = position = np.empty((poses, 0, 3), np.float32)
        for block in blocks:
            if not stop:
                used = np.zeros((poses, block.used.shape[1]), np.intp)
                most = np.zeros(block.used.shape[1], np.intp)
                memory = np.zeros((poses * prod(block.position.shape[1:]),), np.float32)
            before, most = most, np.maximum(most, block.used.max(axis=0, initial=1))
            rank = np.arange(most.sum()) - np.repeat(np.cumsum(most) - most, most)
            if (most > before).any():
                short, size = position, poses * len(rank) * 3
                position = memory[:size].reshape(poses, len(rank), 3)
                slots = np.repeat(np.cumsum(before) - before, most)
                slots += np.minimum(rank, np.repeat(before, most) - 1)
                for first in range(0, stop, _MOVED)[::-1]:
                    some = slice(first, min(first + _MOVED, stop))
                    position[some] = short[some].take(slots, axis=1)
            frames = slice(stop, stop := stop + len(block.used))
            starts = np.searchsorted(block.muscle, np.arange(len(most)))
            position[frames] = block.position.take(np.repeat(starts, most) + rank, axis=1)
            used[frames] = block.used
        return cls(np.repeat(np.arange(len(most)), most), position, used)

    def with_points(self, most: Indices) -> Self:
        """The lines, which have all slots, with so many points of each muscle (n,), no fewer than are used."""
        rank = np.arange(most.sum()) - np.repeat(np.cumsum(most) - most, most)
        starts = np.searchsorted(self.muscle, np.arange(len(most)))
        position = self.position.take(np.repeat(starts, most) + rank, axis=1)
        return type(self)(np.repeat(np.arange(len(most)), most), position, self.used)


_MOVED = 256
"""Number of poses whose lines are moved together."""
_NO_LINES = LineArrays(np.zeros(0, np.intp), np.zeros((0, 0, 3), np.float32), np.zeros((0, 0), np.intp))


def solve_paths(
    layout: PathLayout, position: Array, on: Mask, center: Array, rotation: Array, *, as_opensim: bool = False
) -> PathNodes:
    """Lengths and gradients of paths in T poses.

    Args:
        layout: muscles, points, wrap objects.
        position: points (T, P, 3) [m].
        on: (T, P) whether each point is on the path: at least two of each muscle; a muscle without any gets the length
            NaN.
        center: of the wrap objects (T, O, 3) [m].
        rotation: their axes as columns, (T, O, 3, 3).
        as_opensim: lengths as OpenSim 4 reports them and gradients that give its moment arms, which are not their
            derivatives: see kernel/cylinder.py, ellipsoid_plane.py, torus.py and wrapping.py.
    """
    rules = int(OPENSIM if as_opensim else SHORTEST_PATH)
    out = _run(layout, PoseArrays(position, on, center, rotation), _NO_LINES, rules)
    return PathNodes(out.length, out.position, out.gradient)


def path_chains(
    layout: PathLayout, position: Array, on: Mask, center: Array, rotation: Array
) -> tuple[Indices, PathArrays]:
    """Nodes of the path of one muscle in their order, (T, N), filled up with -1, and its lengths, nodes and arcs.

    Arguments as in `solve_paths`. Nodes are numbered as in `PathNodes`. The compiled code leaves behind only the order
    in its last pose, so poses are computed one by one.
    """
    chain, parts = np.full((len(position), layout.points + 2 * layout.wraps + 2), -1, dtype=np.intp), []
    for t in range(len(position)):
        now = slice(t, t + 1)
        poses = PoseArrays(position[now], on[now], center[now], rotation[now])
        parts.append(_run(layout, poses, _NO_LINES, int(SHORTEST_PATH), chain[t]))
        size = on[t].sum() + 2 * (parts[-1].arc >= 0.0).sum()
        chain[t, size:] = -1
    return chain, PathArrays(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _run(
    layout: PathLayout, poses: PoseArrays, lines: LineArrays, rules: int, chain: Indices | None = None
) -> PathArrays:
    """Return the paths of all muscles in all poses; also fill `lines`, and `chain` with the last path's nodes."""
    from musclesolve.muscles.paths.kernel.entry import OPENSIM_OVER_CYLINDERS, OVER_CYLINDERS, PATHS

    solve = PATHS
    if cylinders := layout.cylinders_alone:  # faster: the calls within the other one pass all arrays
        solve = OVER_CYLINDERS if rules == SHORTEST_PATH else OPENSIM_OVER_CYLINDERS
    frames, nodes = len(poses.position), layout.points + 2 * layout.wraps
    out = PathArrays(
        np.empty((frames, layout.muscles)),
        np.empty((frames, nodes, 3)),
        np.empty((frames, nodes, 3)),
        np.empty((frames, layout.wraps)),
    )
    work = WorkArrays(
        chain=np.empty(nodes + 2, dtype=np.intp) if chain is None else chain,
        local=np.empty((2, 3)),
        contact=np.empty(8),
        best=np.empty(8),
        step=np.empty((2, nodes, 3)),
        round=np.empty(WORK_SIZE),
        matrix=None if cylinders else np.empty((12, 7)),
        rules=np.zeros(1, dtype=np.intp),
        seen=None if solve is OVER_CYLINDERS else np.empty((nodes, 3)),
    )
    position, on, center, rotation = poses
    poses = PoseArrays(contiguous(position), contiguous(on, bool), contiguous(center), contiguous(rotation))
    solve.load()(layout.arrays, poses, out, work, lines, rules)
    return out


def trace_paths(layout: PathLayout, position: Array, on: Mask, center: Array, rotation: Array) -> PathLines:
    """Paths as lines through points, for drawing; arguments as in `solve_paths`."""
    from musclesolve.muscles.paths.kernel.trace import ARC_POINTS

    needed = np.bincount(layout.point_muscle, minlength=layout.muscles)
    needed += (2 + ARC_POINTS) * np.bincount(layout.wrap_muscle, minlength=layout.muscles)
    first = np.concatenate([[0], np.cumsum(needed)]).astype(np.intp)
    line = np.empty((len(position), first[-1], 3), dtype=np.float32)
    lines = LineArrays(first, line, np.empty((len(position), layout.muscles), dtype=np.intp))
    _run(layout, PoseArrays(position, on, center, rotation), lines, int(SHORTEST_PATH))
    return PathLines(np.repeat(np.arange(layout.muscles), needed), lines.position, lines.used)
