"""Muscle paths: musculotendon length and its gradient by the natural coordinates.

L_MT is the length of straight segments between points and of the curves over wrap objects. The gradient by a point is
the difference of the unit vectors of its two segments, so the tension is the same in every segment; in terms of the
thesis, row k of the segment constraints enters with 1 / (2 L_k) (6.8 and 6.13 with correction A1). A curve over an
object is the shortest, so while it moves with its object L_MT changes only by what the straight segments do at the two
tangent points. Where a point or an object also moves on its body with a joint angle theta, dL_MT/dtheta has an explicit
part, the gradient times dr/dtheta on the resting body. The generalized force of a tension F is -F dL_MT/dq, the moment
arm -dL_MT/dtheta.

Joint angles are functions of the natural coordinates too: a driver row Phi = g(q) - h(theta) holds an angle, so along
the constraints dtheta/dq = (dg/dq) / (dh/dtheta): the row of the driver over minus its moment per unit multiplier
(joint_drivers.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import PLACES, RigidBodies
from musclesolve.muscles.paths.carriers import Carriers, FrameMotion, MovingFrames, WrapObjects
from musclesolve.muscles.paths.engine import (
    PathLayout,
    PathLines,
    gather_wrenches,
    solve_paths,
    sum_powers,
    trace_paths,
)


class Groups(NamedTuple):
    """Groups (G) of nodes: that of each node (N,), one node of each, and its muscle, body and moving frame, (G,)."""

    of_node: Indices
    first: Indices
    muscle: Indices
    body: Indices
    frame: Indices


@dataclass(frozen=True)
class Paths:
    """Paths of n muscles on a model, in nodes (N): P points, then the tangent points of the wraps (see `PathNodes`).

    point_body (P,): index into the model's bodies; standing (P, 3) [m]. Conditional points (C): `switched` (C,) indices
    into P, with the coordinate that switches them and its range [rad]. frames: those that move on bodies; point_frame
    (P,): which of them carries a point, -1 for none; its body is then that of the frame. objects: wrap objects.
    """

    rigid_bodies: RigidBodies
    layout: PathLayout
    point_body: Indices
    standing: Array
    switched: Indices
    switch_dof: Indices
    switch_lower: Array
    switch_upper: Array
    objects: WrapObjects = field(default_factory=WrapObjects)
    frames: MovingFrames = field(default_factory=MovingFrames)
    point_frame: Indices | None = None

    @property
    def count(self) -> int:
        """Number n of muscles."""
        return self.layout.muscles

    @property
    def muscle(self) -> Indices:
        """(N,) muscle of each node."""
        return self.layout.node_muscle

    @cached_property
    def body(self) -> Indices:
        """(N,) body of each node."""
        return np.concatenate([self.point_body, self.objects.body[self.layout.node_object]])

    @cached_property
    def frame(self) -> Indices:
        """(N,) moving frame of each node, -1 for none."""
        return np.concatenate([self.carriers.point_frame, self.objects.frame[self.layout.node_object]])

    @cached_property
    def carriers(self) -> Carriers:
        """Bodies and frames with what is on them."""
        frame = np.full(len(self.standing), -1) if self.point_frame is None else self.point_frame
        return Carriers(self.rigid_bodies, self.frames, self.objects, self.point_body, frame, self.standing)

    @cached_property
    def groups(self) -> Groups:
        """Nodes of one muscle on one body or moving frame."""
        key = np.stack([self.muscle, self.body, self.frame])
        (muscle, body, frame), first, group = np.unique(key, axis=1, return_index=True, return_inverse=True)
        return Groups(group.ravel(), first, muscle, body, frame)

    def conditions(self, coordinates: Array) -> Mask:
        """(T, C) which conditional points are on the path."""
        angle = coordinates[:, self.switch_dof]
        return (angle >= self.switch_lower) & (angle <= self.switch_upper)

    def on_path(self, conditions: Mask) -> Mask:
        """(T, P) which points are on the path."""
        on = np.ones((len(conditions), len(self.standing)), dtype=bool)
        on[:, self.switched] = conditions
        return on

    def subset(self, muscles: Indices) -> Paths:
        """The paths of some muscles (k,), increasing, without conditional points: see `solve`."""
        points = np.isin(self.layout.point_muscle, muscles)
        none = np.zeros(0, dtype=np.intp)
        return replace(
            self,
            layout=self.layout.subset(muscles),
            point_body=self.point_body[points],
            standing=self.standing[points],
            point_frame=self.carriers.point_frame[points],
            switched=none,
            switch_dof=none,
            switch_lower=none.astype(float),
            switch_upper=none.astype(float),
        )

    def lengths(self, q: Array, coordinates: Array, conditions: Mask) -> Array:
        """Lengths (T, n) [m] with given conditional points (T, C) on the path."""
        return self.solve(q, coordinates, self.on_path(conditions)).length

    def solve(self, q: Array, coordinates: Array, on: Mask) -> PathState:
        """Lengths and gradients with given points (T, P) on the path; coordinates (T, K+6) move frames."""
        position, center, axes, motion = self.carriers.place(q, coordinates)
        return PathState(self, q, *solve_paths(self.layout, position, on, center, axes), motion)

    def lines(self, q: Array, coordinates: Array) -> PathLines:
        """The paths as lines through points, arcs on wrap objects included, for drawing."""
        position, center, axes, _ = self.carriers.place(q, coordinates)
        on = self.on_path(self.conditions(coordinates))
        return trace_paths(self.layout, position, on, center, axes).trimmed()

    def evaluate(self, q: Array, coordinates: Array) -> PathState:
        """Lengths and gradients; coordinates (T, K+6) switch conditional points and move frames."""
        return self.solve(q, coordinates, self.on_path(self.conditions(coordinates)))


@dataclass(frozen=True)
class PathState:
    """Paths in given poses: position and gradient of the nodes (T, N, 3), length (T, n) [m], and the moving frames."""

    paths: Paths
    q: Array
    length: Array
    position: Array
    gradient: Array
    frames: FrameMotion

    @cached_property
    def moving_dofs(self) -> Indices:
        """(D,) coordinates on which L_MT depends explicitly."""
        return np.unique(self.paths.frames.dof)

    @cached_property
    def wrench(self) -> Array:
        """Sums of r x dL/dr and dL/dr over the nodes of each group (`Paths.groups`), (T, G, 6)."""
        return gather_wrenches(self.position, self.gradient, self.paths.groups.of_node)

    @cached_property
    def explicit(self) -> Array:
        """dL_MT / dtheta (T, n, D) [m] for the bodies at rest."""
        groups = self.paths.groups
        found = np.zeros((len(self.q), self.paths.count, len(self.moving_dofs)))
        (on,) = np.nonzero(groups.frame >= 0)
        if on.size:
            frame = groups.frame[on]
            place = np.searchsorted(self.moving_dofs, self.paths.frames.dof)[frame]
            screw = screws(self.frames.spin, self.frames.velocity, self.frames.origin)[:, frame]
            moved = (screw * self.wrench[:, on]).sum(axis=2)
            for k, muscle in enumerate(groups.muscle[on]):
                found[:, muscle, place[k]] += moved[:, k]
        return found

    @cached_property
    def coefficients(self) -> Array:
        """Coefficients (T, N, 4) of r_i, r_j, u and v of the body of each node in its material point."""
        paths = self.paths
        own = paths.rigid_bodies.subset(paths.body)
        basic = own.basic(self.q)
        columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], axis=-1)
        c = np.linalg.solve(columns, (self.position - basic[:, :, 0])[..., None])[..., 0]
        return np.concatenate([1.0 - c[..., :1], c], axis=2)

    @cached_property
    def rows(self) -> Array:
        """dL_MT/dq, (T, n, N, 3): the muscle rows of the Jacobian, one per unit of tendon force.

        Without the explicit part, which belongs to joint angles (`muscle_rows`).
        """
        paths, frames = self.paths, len(self.q)
        bodies, place = np.unique(paths.body, return_inverse=True)
        count, kinds = paths.count, len(bodies)
        pick = np.zeros((count * kinds, len(place)))
        pick[paths.muscle * kinds + place, np.arange(len(place))] = 1.0
        on_basic = self.coefficients[..., None] * self.gradient[:, :, None, :]
        force = (pick @ on_basic.reshape(frames, len(place), 12)).reshape(frames, count * kinds, 4, 3)
        own = paths.rigid_bodies.subset(np.tile(bodies, count))
        forces = own.slot_forces(self.q, force).reshape(frames, count, kinds, PLACES, 3)
        rows = np.zeros((frames, count, self.q.shape[1] + 1, 3))
        for b, body in enumerate(bodies):
            for number, slot in enumerate(paths.rigid_bodies.slots[body]):
                rows[:, :, slot] += forces[:, :, b, number]
        return rows[:, :, :-1]

    def rate(self, qd: Array, rates: Array) -> Array:
        """dL_MT/dt (T, n) [m/s]: the power of the wrenches; rates (T, K+6) of the coordinates."""
        groups = self.paths.groups
        bodies, own = np.unique(groups.body, return_inverse=True)
        screw = self.paths.rigid_bodies.subset(bodies).twists(self.q, qd)
        rate = sum_powers(self.wrench, groups.muscle, own == np.arange(len(bodies))[:, None], screw).sum(
            axis=1
        )
        return rate + np.einsum("tnd,td->tn", self.explicit, rates[:, self.moving_dofs])

    def pull(self, bodies: Indices) -> Array:
        """Sum of dL_MT/dr over the nodes on some bodies, (T, n, 3): minus the force of unit tension on them."""
        groups = self.paths.groups
        along = np.broadcast_to(np.eye(3, 6, 3), (len(self.q), 3, 6))
        moved = np.broadcast_to(np.isin(groups.body, bodies), (3, len(groups.body)))
        return np.ascontiguousarray(sum_powers(self.wrench, groups.muscle, moved, along).transpose(0, 2, 1))

    def moment_arms(self, dofs: Indices, moved: Array, axis: Array, pivot: Array) -> Array:
        """-dL_MT/dtheta (T, m, n) [m] of coordinates (m,), rotations about unit axes a through pivots o [m], both
        (T, m, 3).

        -dL/dtheta = -sum (a x (r - o)) . dL/dr = -(a . sum r x dL/dr + (o x a) . sum dL/dr): equal to the rows of the
        Jacobian times the allowed directions, without forming either; and less the explicit part. moved (m, N): one
        where a rotation moves a node.
        """
        groups = self.paths.groups
        screw = screws(axis, np.zeros(3), pivot)
        arms = -sum_powers(self.wrench, groups.muscle, moved[:, groups.first] > 0.0, screw)
        for d, dof in enumerate(self.moving_dofs):
            arms[:, np.asarray(dofs) == dof] -= self.explicit[:, None, :, d]
        return arms


def screws(spin: Array, velocity: Array, at: Array) -> Array:
    """Angular velocity and velocity of the global origin (..., 6) of what moves at some place `at`."""
    return np.concatenate([spin, velocity - np.cross(spin, at)], axis=-1)


def joined_paths(parts: Sequence[Paths]) -> Paths:
    """The muscles of all parts in order, on the model that the parts have in common."""
    if len(parts) == 1:
        return parts[0]
    frames, points = [len(part.frames) for part in parts], [part.layout.points for part in parts]
    layouts = [replace(part.layout, wrap_method=part.layout.arrays.wrap_method) for part in parts]
    muscles, objects = [each.muscles for each in layouts], [len(each.kind) for each in layouts]
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
        point_frame=_renumbered([part.carriers.point_frame for part in parts], frames),
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in once},
    )


def _joined(parts: Sequence[Any], **counts: Sequence[int]) -> Any:
    """Records of arrays and tuples one after the other; counts: of what the indices of a field number, by part."""
    values: dict[str, Any] = {}
    for field_ in fields(parts[0]):
        own = [getattr(part, field_.name) for part in parts]
        if field_.name in counts:
            values[field_.name] = _renumbered(own, counts[field_.name])
        else:
            values[field_.name] = tuple(chain(*own)) if isinstance(own[0], tuple) else np.concatenate(own)
    return type(parts[0])(**values)


def _renumbered(parts: Sequence[Indices], counts: Sequence[int]) -> Indices:
    """Indices into parts of so many entries as indices into all of them; -1 stands for none."""
    before = np.cumsum([0, *counts[:-1]])
    numbered = [np.where(part < 0, part, part + shift) for part, shift in zip(parts, before, strict=True)]
    return np.concatenate(numbered).astype(np.intp)


def muscle_rows(model: Model, motion: Motion, state: PathState) -> Array:
    """dL_MT/dq (T, n, N, 3) of paths in the poses of a motion, both of the model."""
    if not len(state.moving_dofs):
        return state.rows
    drivers = driver_rows(model, motion, base=False)
    dofs = state.moving_dofs
    gradient = -drivers.jacobian[:, dofs] / drivers.moment_factor[:, dofs, None, None]
    return state.rows + np.einsum("tnd,tdkx->tnkx", state.explicit, gradient)
