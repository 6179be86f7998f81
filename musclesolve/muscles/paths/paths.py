"""Muscle paths and the moving frames that carry them: length and its gradient by the natural coordinates.

L_MT is the length of straight segments between points and of the curves over wrap objects. The gradient by a point is
the difference of the unit vectors of its two segments, so the tension is the same in every segment; in terms of the
thesis, row k of the segment constraints enters with 1 / (2 L_k) (6.8 and 6.13 with correction A1). A curve over an
object is the shortest, so that L_MT changes with the object only through the straight segments at the two tangent
points. Where a point or an object also moves on its body with a joint angle theta, dL_MT/dtheta has an explicit part,
the gradient times dr/dtheta on the resting body. The generalized force of a tension F is -F dL_MT/dq, the moment arm
-dL_MT/dtheta.

Joint angles are functions of the natural coordinates too: a driver row Phi = g(q) - h(theta) holds an angle, so along
the constraints dtheta/dq = (dg/dq) / (dh/dtheta): the row of the driver over minus its moment per unit multiplier
(joint_drivers.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import COMPLEX_STEP, AnyArray, Array, Indices, Mask, contiguous, slices
from musclesolve._util.checks import check_type
from musclesolve.dynamics.kernel.arrays import BodyMotions
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import PLACES, RigidBodies
from musclesolve.muscles.paths.engine import PathLayout, PathLines, PathNodes, solve_paths, trace_paths
from musclesolve.muscles.paths.kernel.arrays import CarriedArrays, FrameMotion, PoseArrays


@dataclass(frozen=True, eq=False)
class WrapObjects:
    """Wrap objects (O) in standing: body (O,), center (O, 3) [m], axes (O, 3, 3), own axes as columns.

    frame (O,): the moving frame that carries each object, -1 for none; the object's body is the frame's body.
    """

    body: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    center: Array = field(default_factory=lambda: np.zeros((0, 3)))
    axes: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))
    frame: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class MovingFrames:
    """Frames (F) that move on bodies: they move a standing point from s to o + t + R (s - o).

    body (F,): index of the body; dof (F,): index of the angle among the coordinates; pivot o (F, 3): a standing
    position [m]; motion: for each frame the translation t [m] and the rotation vector of R [rad] as six functions of
    the angle [rad], along forward, left, up in standing.
    """

    body: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    dof: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    pivot: Array = field(default_factory=lambda: np.zeros((0, 3)))
    motion: "tuple[NaturalSpline, ...]" = ()

    def __len__(self) -> int:
        return len(self.motion)

    @cached_property
    def _tables(self) -> tuple[Indices, Array, Array, Array, Array]:
        """First knot of each spline (F+1,), all knots (k,), values and curvatures there (k, 6), pivots."""
        first = np.cumsum([0, *(len(spline.knots) for spline in self.motion)])
        knots, values, curvatures = (
            np.concatenate([getattr(spline, name) for spline in self.motion])
            for name in ("knots", "values", "curvatures")
        )
        of_all = (contiguous(table) for table in (knots, values, curvatures, self.pivot))
        return contiguous(first, np.intp), *of_all  # type: ignore[return-value]

    def at(self, coordinates: Array) -> FrameMotion:
        """The frames relative to their bodies in standing, at joint coordinates (T, K+6)."""
        out = FrameMotion.allocate(len(coordinates), len(self))
        if len(self):
            from musclesolve.muscles.paths.kernel.entry import FRAMES

            FRAMES.load()(*self._tables, contiguous(coordinates[:, self.dof]), np.empty((2, 6)), out)
        return out

    def bend(self, coordinates: Array) -> tuple[Array, Array]:
        """Derivatives by the angle of `FrameMotion.velocity` and `FrameMotion.spin` in `at`, (T, F, 3) each.

        With the rotation vector r and x = r . r, the spin is r' + B r x r' + C r x (r x r'), where
        B = (1 - cos |r|) / x and C = (|r| - sin |r|) / |r|^3 (see `set_turn`), and its derivative follows by a complex
        step (`COMPLEX_STEP`): r + ih r' and r' + ih r'' in the place of r and r'.
        """
        step = 1j * COMPLEX_STEP
        second, turned = np.zeros((2, len(coordinates), len(self), 3))
        for f, spline in enumerate(self.motion):
            angle = coordinates[:, self.dof[f]]
            (value, slope), curvature = spline.at(angle), spline.curvature(angle)
            r, rate = value[:, 3:] + step * slope[:, 3:], slope[:, 3:] + step * curvature[:, 3:]
            b, c = _turning((r * r).sum(axis=1, keepdims=True))
            across = np.cross(r, rate)
            second[:, f] = curvature[:, :3]
            turned[:, f] = np.imag(rate + b * across + c * np.cross(r, across)) / COMPLEX_STEP
        return second, turned


def _turning(x: AnyArray) -> tuple[AnyArray, AnyArray]:
    """B and C of `MovingFrames.bend`; below 0.1 rad by series, where they would cancel."""
    near = np.real(x) < 0.01
    size = np.sqrt(np.where(near, 1.0, x))
    b = np.where(near, 1 / 2 - x / 24 + x**2 / 720 - x**3 / 40320, (1.0 - np.cos(size)) / size**2)
    c = np.where(near, 1 / 6 - x / 120 + x**2 / 5040 - x**3 / 362880, (size - np.sin(size)) / size**3)
    return b, c


@dataclass(frozen=True, eq=False)
class NaturalSpline:
    """C functions of one variable: knots (K,), increasing, two or more; values (K, C) at the knots.

    Between the knots cubic with continuous second derivatives, which are zero at both ends (de Boor, A Practical Guide
    to Splines, IV); beyond the ends straight.
    """

    knots: Array
    values: Array

    @cached_property
    def curvatures(self) -> Array:
        """Second derivatives at the knots (K, C): h_k m_k + 2 (h_k + h_k+1) m_k+1 + h_k+1 m_k+2 = 6 (s_k+1 - s_k)."""
        gap = np.diff(self.knots)
        slope = np.diff(self.values, axis=0) / gap[:, None]
        curvature = np.zeros_like(self.values)
        if len(gap) > 1:
            matrix = np.diag(2.0 * (gap[:-1] + gap[1:])) + np.diag(gap[1:-1], 1) + np.diag(gap[1:-1], -1)
            curvature[1:-1] = np.linalg.solve(matrix, 6.0 * np.diff(slope, axis=0))
        return curvature

    def mapped(self, matrix: Array, shift: Array) -> "NaturalSpline":
        """The spline through values matrix^T + shift: matrix (D, C), shift (D,); second derivatives follow values."""
        other = NaturalSpline(self.knots, self.values @ matrix.T + shift)
        vars(other)["curvatures"] = self.curvatures @ matrix.T
        return other

    def at(self, x: Array) -> tuple[Array, Array]:
        """Values and slopes (T, C) at x (T,)."""
        inside = np.clip(x, self.knots[0], self.knots[-1])
        k = np.clip(np.searchsorted(self.knots, inside, side="right") - 1, 0, len(self.knots) - 2)
        gap = (self.knots[k + 1] - self.knots[k])[:, None]
        b = (inside - self.knots[k])[:, None] / gap
        a = 1.0 - b
        low, high = self.values[k], self.values[k + 1]
        bent_low, bent_high = self.curvatures[k] * gap**2 / 6.0, self.curvatures[k + 1] * gap**2 / 6.0
        value = a * low + b * high + (a**3 - a) * bent_low + (b**3 - b) * bent_high
        slope = (high - low + (1.0 - 3.0 * a**2) * bent_low + (3.0 * b**2 - 1.0) * bent_high) / gap
        return value + slope * (x - inside)[:, None], slope

    def curvature(self, x: Array) -> Array:
        """Second derivatives (T, C) at x (T,): linear between the knots, zero beyond."""
        return np.stack([np.interp(x, self.knots, column, 0.0, 0.0) for column in self.curvatures.T], axis=1)


_LINES = 1024
"""Number of poses whose lines are computed together: before trimming they need five times the memory."""
_BLOCK = 256
"""Number of poses evaluated together: their nodes fit into the cache of a processor."""


class Groups(NamedTuple):
    """Groups (G) of nodes: the group of each node (N,), and the muscle, body and moving frame of each group, (G,)."""

    of_node: Indices
    muscle: Indices
    body: Indices
    frame: Indices


@dataclass(frozen=True)
class Paths:
    """Paths of n muscles on a model, in nodes (N): P points, then the tangent points of the wraps (see `PathNodes`).

    point_body (P,): index into the model's bodies; standing (P, 3) [m]. Conditional points (C): `switched` (C,) indices
    into P, with the coordinate that switches them and its range [rad]. frames: moving frames on bodies; point_frame
    (P,): the moving frame that carries a point, -1 for none; the point's body is the frame's body. objects: wrap
    objects.
    """

    rigid_bodies: RigidBodies
    layout: PathLayout
    point_body: Indices
    standing: Array
    switched: Indices
    switch_dof: Indices
    switch_lower: Array
    switch_upper: Array
    objects: WrapObjects
    frames: MovingFrames
    point_frame: Indices
    _moved: dict[bytes, tuple[Mask, Indices, Indices]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def body(self) -> Indices:
        """Body (N,) of each node."""
        return np.concatenate([self.point_body, np.repeat(self.objects.body[self.layout.wrap_object], 2)])

    @cached_property
    def groups(self) -> Groups:
        """Groups of nodes: the nodes of one muscle on one body or moving frame."""
        frame = [self.point_frame, np.repeat(self.objects.frame[self.layout.wrap_object], 2)]
        key = self.layout.node_muscle, self.body, np.concatenate(frame) + 1
        sizes = tuple(int(numbers.max(initial=0)) + 1 for numbers in key)
        known, group = np.unique(np.ravel_multi_index(key, sizes), return_inverse=True)
        muscle, body, frames = np.unravel_index(known, sizes)
        return Groups(*(contiguous(numbers, np.intp) for numbers in (group, muscle, body, frames - 1)))

    @cached_property
    def moving_dofs(self) -> Indices:
        """Coordinates (D,) that move frames, on which L_MT depends explicitly."""
        return np.unique(self.frames.dof).astype(np.intp)

    def groups_on(self, bodies: Indices, frames: Indices | None = None) -> Mask:
        """Mask (G,) of the groups on some bodies, or on some moving frames."""
        on = np.isin(self.groups.body, bodies)
        return on if frames is None else on | np.isin(self.groups.frame, frames)

    def moved_by(self, dofs: Indices, tree: Tree) -> tuple[Mask, Indices, Indices]:
        """Return a mask (m, G) of the groups that rotations about axes of the tree move, and numbers of the axes.

        The numbers (m,) are the place of the axis in `moving_dofs`, -1 for none, and the slot of its pivot. The results
        are kept: they are the same for every frame.
        """
        key = np.asarray(dofs).tobytes()
        if key not in self._moved:
            moved = contiguous(tree.distal_frames[self.groups.body][:, dofs].T > 0.0, bool)
            same = np.asarray(dofs)[:, None] == self.moving_dofs
            column = np.where(same.any(axis=1), same.argmax(axis=1) if same.size else 0, -1).astype(np.intp)
            self._moved[key] = moved, column, tree.pivot[dofs]
        return self._moved[key]

    @cached_property
    def _carried(self) -> CarriedArrays:
        """Points, wrap objects and moving frames and the bodies that carry them, as arrays for compiled code."""
        bodies = self.point_body, self.objects.body, self.frames.body
        return CarriedArrays(
            np.unique(np.concatenate(bodies)).astype(np.intp),
            contiguous(self.point_body, np.intp),
            contiguous(self.point_frame, np.intp),
            contiguous(self.standing),
            contiguous(self.switched, np.intp),
            contiguous(self.switch_dof, np.intp),
            contiguous(self.switch_lower),
            contiguous(self.switch_upper),
            contiguous(self.objects.body, np.intp),
            contiguous(self.objects.frame, np.intp),
            contiguous(self.objects.center),
            contiguous(self.objects.axes),
            contiguous(self.frames.body, np.intp),
            contiguous(self.frames.pivot),
        )

    def place(self, q: Array, coordinates: Array) -> tuple[PoseArrays, FrameMotion]:
        """Points and whether they are on the path, centers and axes of objects, and moving frames in space.

        Args:
            q: poses (T, N, 3) [m].
            coordinates: joint coordinates (T, K+6) [rad], which move frames and switch points.
        """
        from musclesolve.muscles.paths.kernel.entry import PLACE

        poses = PoseArrays.allocate(len(q), len(self.point_body), len(self.objects.body))
        bodies, relative = self.rigid_bodies.compiled, self.frames.at(coordinates)
        space, moved = FrameMotion.allocate(len(q), len(self.frames)), BodyMotions.unset(len(bodies.crossed))
        pose = contiguous(q), contiguous(coordinates)
        PLACE.load()(bodies, self._carried, *pose, relative, moved, poses, space)
        return poses, space

    def point_rotation(self, q: Array, coordinates: Array) -> Array:
        """Rotation (T, P, 3, 3), from standing, of the body or frame with each point; arguments as in `place`."""
        rotation = self.rigid_bodies.subset(self.point_body).rotation(q)
        (on,) = np.nonzero(self.point_frame >= 0)
        if on.size:
            frame = self.point_frame[on]
            rotation[:, on] = rotation[:, on] @ self.frames.at(coordinates).rotation[:, frame]
        return rotation

    def on_path(self, coordinates: Array) -> Mask:
        """Mask (T, P) of the points on the path at joint coordinates (T, K+6) [rad]."""
        angle = coordinates[:, self.switch_dof]
        on = np.ones((len(coordinates), len(self.standing)), dtype=bool)
        on[:, self.switched] = (angle >= self.switch_lower) & (angle <= self.switch_upper)
        return on

    def subset(self, muscles: Indices) -> Self:
        """The paths of some muscles (k,), increasing."""
        layout, points = self.layout.picked(muscles)
        chosen = np.isin(self.switched, points)
        of_switches = ("switch_dof", "switch_lower", "switch_upper")
        return replace(
            self,
            layout=layout,
            point_body=self.point_body[points],
            standing=self.standing[points],
            point_frame=self.point_frame[points],
            switched=np.searchsorted(points, self.switched[chosen]),
            **{name: getattr(self, name)[chosen] for name in of_switches},
        )

    def nodes(self, q: Array, coordinates: Array, on: Mask | None = None) -> PathNodes:
        """Lengths, nodes and gradients in poses q (T, N, 3) [m]; coordinates (T, K+6) [rad] move frames.

        on: mask (T, P) of the points on the path, by default from the coordinates.
        """
        poses, _ = self.place(q, coordinates)
        return solve_paths(self.layout, *(poses if on is None else poses._replace(on=on)))

    def lengths(self, q: Array, coordinates: Array) -> Array:
        """Lengths (T, n) [m] in poses q (T, N, 3) [m]; coordinates (T, K+6) [rad] move frames."""
        return self.nodes(q, coordinates).length

    def evaluate(self, q: Array, coordinates: Array) -> "PathState":
        """Lengths and wrenches in poses q (T, N, 3) [m]; coordinates (T, K+6) [rad] move frames.

        Poses are evaluated in blocks, whose nodes are not stored: they need twice the memory of the wrenches.
        """
        parts = [self._evaluated(q[part], coordinates[part]) for part in slices(len(q), _BLOCK)]
        length, wrench, *frames = (
            parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        )
        return PathState(self, q, coordinates, length, wrench, FrameMotion(*frames))

    def _evaluated(self, q: Array, coordinates: Array) -> tuple[Array, ...]:
        """Lengths, wrenches and the arrays of the moving frames in the poses of one block.

        A wrench has the sums of r x dL/dr and dL/dr over the nodes of a group, (T, G, 6).
        """
        from musclesolve.muscles.paths.kernel.entry import WRENCHES

        poses, frames = self.place(q, coordinates)
        length, position, gradient = solve_paths(self.layout, *poses)
        wrench = np.empty((len(q), len(self.groups.muscle), 6))
        WRENCHES.load()(position, gradient, contiguous(self.groups.of_node, np.intp), wrench)
        return length, wrench, *frames

    def lines(
        self, q: Array, coordinates: Array, trimmed: bool = True, most: Indices | None = None
    ) -> PathLines:
        """The paths as lines through points, arcs on wrap objects included, for drawing.

        trimmed: without points that are unused in all of these poses; else with all slots. most (n,): number of points
        of each muscle, instead of the largest one in these poses.
        """
        if not trimmed:
            return self._traced(q, coordinates)
        if most is not None:
            return self._traced(q, coordinates).with_points(most)
        parts = (self._traced(q[part], coordinates[part]) for part in slices(len(q), _LINES))
        return PathLines.joined(parts, len(q))

    def _traced(self, q: Array, coordinates: Array) -> PathLines:
        return trace_paths(self.layout, *self.place(q, coordinates)[0])


@dataclass(frozen=True)
class PathState:
    """Paths in T poses: length (T, n) [m], wrench of each group of nodes (T, G, 6), and the moving frames.

    wrench: sums of r x dL/dr [m] and dL/dr over the nodes of each group (`Paths.groups`).
    """

    paths: Paths
    q: Array
    coordinates: Array
    length: Array
    wrench: Array
    frames: FrameMotion

    @cached_property
    def nodes(self) -> PathNodes:
        """Nodes and gradients, computed again on request."""
        return self.paths.nodes(self.q, self.coordinates)

    @cached_property
    def explicit(self) -> Array:
        """dL_MT / dtheta (T, n, D) [m] for the bodies at rest."""
        from musclesolve.muscles.paths.kernel.entry import EXPLICIT

        groups, dofs, moving = self.paths.groups, self.paths.frames.dof, self.paths.moving_dofs
        column = np.searchsorted(moving, dofs).astype(np.intp)  # of the coordinate of each frame
        rate = np.empty((len(self.q), self.paths.layout.muscles, len(moving)))
        EXPLICIT.load()(self.wrench, groups.muscle, groups.frame, column, self.frames, rate)
        return rate

    @cached_property
    def rows(self) -> Array:
        """dL_MT/dq, (T, n, N, 3): the muscle rows of the Jacobian, one per unit of tendon force.

        Without the explicit part, which belongs to joint angles (`muscle_rows`).
        """
        paths, frames = self.paths, len(self.q)
        # coefficients of r_i, r_j, u and v of the body of each node in its material point
        basic = paths.rigid_bodies.subset(paths.body).basic(self.q)
        columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], axis=-1)
        c = np.linalg.solve(columns, (self.nodes.position - basic[:, :, 0])[..., None])[..., 0]
        on_basic = (
            np.concatenate([1.0 - c[..., :1], c], axis=2)[..., None] * self.nodes.gradient[:, :, None, :]
        )
        bodies, place = np.unique(paths.body, return_inverse=True)
        count, kinds = paths.layout.muscles, len(bodies)
        pick = np.zeros((count * kinds, len(place)))
        pick[paths.layout.node_muscle * kinds + place, np.arange(len(place))] = 1.0
        force = (pick @ on_basic.reshape(frames, len(place), 12)).reshape(frames, count * kinds, 4, 3)
        repeated = paths.rigid_bodies.subset(np.tile(bodies, count))
        forces = repeated.slot_forces(self.q, force).reshape(frames, count, kinds, PLACES, 3)
        rows = np.zeros((frames, count, self.q.shape[1] + 1, 3))
        for b, body in enumerate(bodies):
            for number, slot in enumerate(paths.rigid_bodies.slots[body]):
                rows[:, :, slot] += forces[:, :, b, number]
        return rows[:, :, :-1]

    def rate(self, qd: Array, rates: Array) -> Array:
        """dL_MT/dt (T, n) [m/s]: the power of the wrenches; rates (T, K+6) of the coordinates."""
        from musclesolve.muscles.paths.kernel.entry import RATES

        groups, out = self.paths.groups, np.empty((len(qd), self.paths.layout.muscles))
        bodies, motion = self.paths.rigid_bodies.compiled, (contiguous(self.q), contiguous(qd))
        moved = BodyMotions.unset(len(bodies.crossed))
        of_groups = self.wrench, groups.muscle, groups.body, self.paths._carried.carriers
        RATES.load()(
            of_groups, bodies, motion, moved, self.explicit, self.paths.moving_dofs, contiguous(rates), out
        )
        return out

    def pulls(self, on: Mask, centers: Array) -> tuple[Array, Array]:
        """Sums of dL_MT/dr and of (r - c) x dL_MT/dr [m] over j sets of groups, (T, j, n, 3) each.

        Args:
            on: (j, G) the groups of each set, see `Paths.groups_on`.
            centers: c (T, j, 3) [m].
        """
        from musclesolve.muscles.paths.kernel.entry import PULLS

        pull, about = np.empty((2, *centers.shape[:2], self.paths.layout.muscles, 3))
        PULLS.load()(self.wrench, self.paths.groups.muscle, on, contiguous(centers), pull, about)
        return pull, about

    def moment_arms(self, dofs: Indices, tree: Tree, axes: Array) -> Array:
        """-dL_MT/dtheta (T, m, n) [m] of some coordinates (m,) of the tree with the unit axes a (T, K, 3) of all.

        With pivots o -dL/dtheta = -sum (a x (r - o)) . dL/dr = -(a . sum r x dL/dr + (o x a) . sum dL/dr): equal to the
        rows of the Jacobian times the allowed directions, without forming either; and less the explicit part.
        """
        from musclesolve.muscles.paths.kernel.entry import ARMS

        moved, column, pivot = self.paths.moved_by(dofs, tree)
        arms = np.empty((len(self.q), len(dofs), self.paths.layout.muscles))
        turning = contiguous(axes[:, dofs]), contiguous(self.q[:, pivot])
        ARMS.load()(self.wrench, self.paths.groups.muscle, moved, *turning, self.explicit, column, arms)
        return arms


def joined_paths(parts: Sequence[Paths]) -> Paths:
    """The muscles of all parts in order, on the model that the parts have in common."""
    if len(parts) == 1:
        return parts[0]
    frames, points = [len(part.frames) for part in parts], [part.layout.points for part in parts]
    layouts = [replace(part.layout, wrap_method=part.layout.arrays.wrap_method) for part in parts]
    muscles, objects = [layout.muscles for layout in layouts], [len(layout.kind) for layout in layouts]
    once = ("point_body", "standing", "switch_dof", "switch_lower", "switch_upper")
    return Paths(
        rigid_bodies=parts[0].rigid_bodies,
        layout=_joined(
            layouts,
            point_muscle=muscles,
            wrap_muscle=muscles,
            wrap_object=objects,
            wrap_first=points,
            wrap_last=points,
        ),
        switched=_renumbered([part.switched for part in parts], points),
        objects=_joined([part.objects for part in parts], frame=frames),
        frames=_joined([part.frames for part in parts]),
        point_frame=_renumbered([part.point_frame for part in parts], frames),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in once},
    )


def _joined(parts: Sequence[Any], **counts: Sequence[int]) -> Any:
    """Concatenated records of arrays and tuples; counts: by field of indices, the indexed entries of each part."""
    values: dict[str, Any] = {}
    for field_ in fields(parts[0]):
        arrays = [getattr(part, field_.name) for part in parts]
        if field_.name in counts:
            values[field_.name] = _renumbered(arrays, counts[field_.name])
        else:
            values[field_.name] = (
                tuple(chain(*arrays)) if isinstance(arrays[0], tuple) else np.concatenate(arrays)
            )
    return type(parts[0])(**values)


def _renumbered(parts: Sequence[Indices], counts: Sequence[int]) -> Indices:
    """Indices into parts with `counts` entries as indices into all parts; -1 stands for none."""
    before = np.cumsum([0, *counts[:-1]])
    numbered = [np.where(part < 0, part, part + shift) for part, shift in zip(parts, before, strict=True)]
    return np.concatenate(numbered).astype(np.intp)


def muscle_rows(model: Model, motion: Motion, state: PathState) -> Array:
    """Gradient dL_MT/dq of paths along a motion: the rows of muscles in the Jacobian (Silva 2003, 6.8, 6.13).

    Segment k enters with 1 / (2 L_k) times its row (correction A1), so the multiplier of a row is the tendon force F,
    and the generalized force is -F dL_MT/dq. Angles that move points are functions of q, by the rows of their drivers.

    Args:
        motion: its motion over T frames.
        state: the paths in this motion: `muscle_state(model, muscles, motion).path`.

    Returns:
        Rows (T, n, N, 3) of n muscles over the N points and vectors [1].

    Raises:
        InputError: points move with angles of a model that has spherical joints.

    Examples:
        >>> import muscle_db
        >>> model, time = ms.dynamics.human_model(), np.linspace(0.0, 1.0, 9)
        >>> motion = ms.dynamics.differentiate(model, time, 0.1 * np.sin(time[:, None] + np.arange(44)))
        >>> muscles = ms.muscles.scale_muscles(model, muscle_db.load("gait2392"), "r")
        >>> state = ms.muscles.muscle_state(model, muscles, motion)
        >>> rows = ms.muscles.muscle_rows(model, motion, state.path)
        >>> velocity = np.einsum("tnix,tix->tn", rows, motion.qd)
        >>> np.allclose(velocity, state.musculotendon_velocity)
        True
    """
    check_fits(model, motion)
    check_type(state, PathState, "state", "the paths in this motion, from muscle_state().path")
    if not len(state.paths.moving_dofs):
        return state.rows
    drivers = driver_rows(model, motion, base=False)
    dofs = state.paths.moving_dofs
    gradient = -drivers.jacobian[:, dofs] / drivers.moment_factor[:, dofs, None, None]
    return state.rows + np.einsum("tnd,tdkx->tnkx", state.explicit, gradient)
