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
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import PLACES, RigidBodies
from musclesolve.dynamics.vectors import vector_product
from musclesolve.muscles.paths.carriers import FrameMotion, MovingFrames, WrapObjects
from musclesolve.muscles.paths.engine import (
    PathLayout,
    PathLines,
    gather_wrenches,
    solve_paths,
    sum_powers,
    trace_paths,
)


class Groups(NamedTuple):
    """Groups (G) of nodes: that of each node (N,), and the muscle, body and moving frame of each group, (G,)."""

    of_node: Indices
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
    objects: WrapObjects
    frames: MovingFrames
    point_frame: Indices

    @cached_property
    def body(self) -> Indices:
        """(N,) body of each node."""
        return np.concatenate([self.point_body, np.repeat(self.objects.body[self.layout.wrap_object], 2)])

    @cached_property
    def groups(self) -> Groups:
        """Nodes of one muscle on one body or moving frame."""
        frame = [self.point_frame, np.repeat(self.objects.frame[self.layout.wrap_object], 2)]
        key = np.stack([self.layout.node_muscle, self.body, np.concatenate(frame)])
        (muscle, body, frames), group = np.unique(key, axis=1, return_inverse=True)
        return Groups(group.ravel(), muscle, body, frames)

    @cached_property
    def moved_by_body(self) -> tuple[Indices, Mask]:
        """The bodies (b,) that carry groups, and which groups each of them moves (b, G)."""
        bodies, own = np.unique(self.groups.body, return_inverse=True)
        return bodies, own == np.arange(len(bodies))[:, None]

    def groups_on(self, bodies: Indices, frames: Indices | None = None) -> Mask:
        """(G,) which groups are on some bodies, or on some moving frames."""
        key = (np.asarray(bodies).tobytes(), b"" if frames is None else np.asarray(frames).tobytes())
        if key not in self._on:
            on = np.isin(self.groups.body, bodies)
            self._on[key] = on if frames is None else on | np.isin(self.groups.frame, frames)
        return self._on[key]

    @cached_property
    def _on(self) -> dict[tuple[bytes, bytes], Mask]:
        """Groups that were asked for: the same ones are, frame by frame."""
        return {}

    @cached_property
    def _carried(self) -> tuple[RigidBodies, Array, Indices]:
        """Bodies (b) that carry anything, how they do, and which of them carries each moving frame (F,).

        (4 b, P + 4 O): coefficients of r_i, r_j, u and v of the bodies in points, and in centers and axes of objects.
        """
        points, objects = len(self.point_body), len(self.objects.body)
        every = np.concatenate([self.point_body, self.objects.body, self.frames.body])
        bodies, place = np.unique(every, return_inverse=True)
        on = self.rigid_bodies.subset(np.concatenate([self.point_body, np.repeat(self.objects.body, 4)]))
        stand = self.objects.center[:, None] + np.concatenate(
            [np.zeros((objects, 1, 3)), np.swapaxes(self.objects.axes, 1, 2)], axis=1
        )
        coefficients = on.coordinates(np.concatenate([self.standing, stand.reshape(-1, 3)]))
        # an axis is the difference of two points
        of_objects = coefficients[points:].reshape(objects, 4, 4)
        of_objects[:, 1:] -= of_objects[:, :1]
        where = np.concatenate([place[:points], np.repeat(place[points : points + objects], 4)])
        matrix = np.zeros((len(bodies), 4, len(where)))
        matrix[where, :, np.arange(len(where))] = coefficients
        return self.rigid_bodies.subset(bodies), matrix.reshape(-1, len(where)), place[points + objects :]

    def place(self, q: Array, coordinates: Array) -> tuple[Array, Array, Array, FrameMotion]:
        """Points (T, P, 3) [m], centers (T, O, 3) [m] and axes (T, O, 3, 3) of objects, and the frames in space.

        A body or frame moves what stands at s to x = r + R (s - o), o being the standing place of its origin r.

        Args:
            q: poses (T, N, 3) [m].
            coordinates: joint coordinates (T, K+6) [rad], with which frames move.
        """
        bodies, coefficients, _ = self._carried
        frames, points, objects = len(q), len(self.point_body), len(self.objects.body)
        basic = bodies.basic(q)
        flat = basic.reshape(frames, -1, 3).transpose(2, 0, 1).reshape(3 * frames, -1) @ coefficients
        placed = flat.reshape(3, frames, -1)
        position = np.ascontiguousarray(placed[..., :points].transpose(1, 2, 0))
        rest = placed[..., points:].reshape(3, frames, objects, 4)
        center = np.ascontiguousarray(rest[..., 0].transpose(1, 2, 0))
        axes = np.ascontiguousarray(rest[..., 1:].transpose(1, 2, 0, 3))
        motion = self._frames_in_space(basic, coordinates)
        if len(self.frames):
            surfaces = self.objects
            for x, stand, frame in (
                (position, self.standing, self.point_frame),
                (center, surfaces.center, surfaces.frame),
            ):
                (on,) = np.nonzero(frame >= 0)
                carrier = frame[on]
                lever = stand[on] - self.frames.pivot[carrier]
                x[:, on] = motion.origin[:, carrier]
                x[:, on] += np.einsum("tfxy,fy->tfx", motion.rotation[:, carrier], lever)
            (on,) = np.nonzero(surfaces.frame >= 0)
            axes[:, on] = motion.rotation[:, surfaces.frame[on]] @ surfaces.axes[on]
        return position, center, axes, motion

    def _frames_in_space(self, basic: Array, coordinates: Array) -> FrameMotion:
        """The moving frames, from r_i, r_j, u and v of the bodies that carry anything, (T, b, 4, 3)."""
        body, basic = self.rigid_bodies.subset(self.frames.body), basic[:, self._carried[2]]
        columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], axis=-1)
        rotation, local = columns @ body.inverse, self.frames.at(coordinates)
        origin, velocity, spin = (
            np.einsum("tfxy,tfy->tfx", rotation, vectors)
            for vectors in (local.origin - body.origin, local.velocity, local.spin)
        )
        return FrameMotion(basic[:, :, 0] + origin, rotation @ local.rotation, velocity, spin)

    def point_rotation(self, q: Array, coordinates: Array) -> Array:
        """Rotation of what carries each point from standing, (T, P, 3, 3); arguments as in `place`."""
        rotation = self.rigid_bodies.subset(self.point_body).rotation(q)
        (on,) = np.nonzero(self.point_frame >= 0)
        if on.size:
            motion = self._frames_in_space(self._carried[0].basic(q), coordinates)
            rotation[:, on] = motion.rotation[:, self.point_frame[on]]
        return rotation

    def on_path(self, coordinates: Array) -> Mask:
        """(T, P) which points are on the path at joint coordinates (T, K+6) [rad]."""
        angle = coordinates[:, self.switch_dof]
        on = np.ones((len(coordinates), len(self.standing)), dtype=bool)
        on[:, self.switched] = (angle >= self.switch_lower) & (angle <= self.switch_upper)
        return on

    def subset(self, muscles: Indices) -> Paths:
        """The paths of some muscles (k,), increasing, without conditional points: these are stated to `evaluate`."""
        points = np.isin(self.layout.point_muscle, muscles)
        none = np.zeros(0, dtype=np.intp)
        return replace(
            self,
            layout=self.layout.subset(muscles),
            point_body=self.point_body[points],
            standing=self.standing[points],
            point_frame=self.point_frame[points],
            switched=none,
            switch_dof=none,
            switch_lower=none.astype(float),
            switch_upper=none.astype(float),
        )

    def evaluate(self, q: Array, coordinates: Array, on: Mask | None = None) -> PathState:
        """Lengths and gradients in poses q (T, N, 3) [m]; coordinates (T, K+6) [rad] move frames.

        on: points on the path (T, P), those that the coordinates switch on unless given.
        """
        position, center, axes, motion = self.place(q, coordinates)
        on = self.on_path(coordinates) if on is None else on
        return PathState(self, q, *solve_paths(self.layout, position, on, center, axes), motion)

    def lines(self, q: Array, coordinates: Array, trimmed: bool = True) -> PathLines:
        """The paths as lines through points, arcs on wrap objects included, for drawing.

        trimmed: without the points that a muscle has in none of these poses; else all poses have the same points.
        """
        position, center, axes, _ = self.place(q, coordinates)
        lines = trace_paths(self.layout, position, self.on_path(coordinates), center, axes)
        return lines.trimmed() if trimmed else lines


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
        groups = self.paths.groups
        return gather_wrenches(self.position, self.gradient, groups.of_node, len(groups.muscle))

    @cached_property
    def explicit(self) -> Array:
        """dL_MT / dtheta (T, n, D) [m] for the bodies at rest."""
        groups = self.paths.groups
        rate = np.zeros((len(self.q), self.paths.layout.muscles, len(self.moving_dofs)))
        (on,) = np.nonzero(groups.frame >= 0)
        if on.size:
            frame = groups.frame[on]
            place = np.searchsorted(self.moving_dofs, self.paths.frames.dof)[frame]
            screw = screws(self.frames.spin, self.frames.velocity, self.frames.origin)[:, frame]
            moved = (screw * self.wrench[:, on]).sum(axis=2)
            for k, muscle in enumerate(groups.muscle[on]):
                rate[:, muscle, place[k]] += moved[:, k]
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
        c = np.linalg.solve(columns, (self.position - basic[:, :, 0])[..., None])[..., 0]
        on_basic = np.concatenate([1.0 - c[..., :1], c], axis=2)[..., None] * self.gradient[:, :, None, :]
        bodies, place = np.unique(paths.body, return_inverse=True)
        count, kinds = paths.layout.muscles, len(bodies)
        pick = np.zeros((count * kinds, len(place)))
        pick[paths.layout.node_muscle * kinds + place, np.arange(len(place))] = 1.0
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
        bodies, moved = self.paths.moved_by_body
        screw = self.paths.rigid_bodies.subset(bodies).twists(self.q, qd)
        rate = sum_powers(self.wrench, self.paths.groups.muscle, moved, screw).sum(axis=1)
        return rate + np.einsum("tnd,td->tn", self.explicit, rates[:, self.moving_dofs])

    def pull(self, bodies: Indices, frames: Indices | None = None) -> Array:
        """Sum of dL_MT/dr over the nodes on some bodies, (T, n, 3): minus the force of unit tension on them.

        Of a node on a moving frame the body is the frame's, unless frames (k,) are given: then theirs count, too.
        """
        return self._sums(bodies, np.broadcast_to(np.eye(3, 6, 3), (len(self.q), 3, 6)), frames)

    def pull_moment(self, bodies: Indices, center: Array) -> Array:
        """Sum of (r - c) x dL_MT/dr over the nodes on some bodies, (T, n, 3) [m], about points c (T, 3) [m]."""
        spin = np.broadcast_to(np.eye(3), (len(self.q), 3, 3))
        return self._sums(bodies, screws(spin, np.zeros(3), center[:, None]))

    def pulls(self, bodies: Sequence[Indices], centers: Array) -> tuple[Array, Array]:
        """`pull` and `pull_moment` of j sets of bodies at once, about centers (T, j, 3) [m]: (T, j, n, 3) each."""
        frames, count = centers.shape[:2]
        on = np.stack([self.paths.groups_on(each) for each in bodies])
        screw = np.zeros((frames, count, 2, 3, 6))
        screw[:, :, 0, :, 3:] = np.eye(3)
        spin = np.broadcast_to(np.eye(3), (frames, count, 3, 3))
        screw[:, :, 1] = screws(spin, np.zeros(3), centers[:, :, None])
        power = sum_powers(
            self.wrench, self.paths.groups.muscle, np.repeat(on, 6, axis=0), screw.reshape(frames, -1, 6)
        )
        each = power.reshape(frames, count, 2, 3, -1).transpose(2, 0, 1, 4, 3)
        return each[0], each[1]

    def _sums(self, bodies: Indices, motions: Array, frames: Indices | None = None) -> Array:
        """Rates of length (T, n, k) where screw motions (T, k, 6) move the nodes on some bodies and frames."""
        on = self.paths.groups_on(bodies, frames)
        moved = np.broadcast_to(on, (motions.shape[1], len(on)))
        power = sum_powers(self.wrench, self.paths.groups.muscle, moved, motions)
        return np.ascontiguousarray(power.transpose(0, 2, 1))

    def moment_arms(self, dofs: Indices, moved: Array, axis: Array, pivot: Array) -> Array:
        """-dL_MT/dtheta (T, m, n) [m] of coordinates (m,), rotations about unit axes a through pivots o [m], both
        (T, m, 3).

        -dL/dtheta = -sum (a x (r - o)) . dL/dr = -(a . sum r x dL/dr + (o x a) . sum dL/dr): equal to the rows of the
        Jacobian times the allowed directions, without forming either; and less the explicit part. moved (m, G): one
        where a rotation moves a group of nodes.
        """
        groups = self.paths.groups
        screw = screws(axis, np.zeros(3), pivot)
        arms = -sum_powers(self.wrench, groups.muscle, moved > 0.0, screw)
        for d, dof in enumerate(self.moving_dofs):
            arms[:, np.asarray(dofs) == dof] -= self.explicit[:, None, :, d]
        return arms


def screws(spin: Array, velocity: Array, at: Array) -> Array:
    """Angular velocity and velocity of the global origin (..., 6) of what moves at some place `at`."""
    return np.concatenate([spin, velocity - vector_product(spin, at)], axis=-1)


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
        point_frame=_renumbered([part.point_frame for part in parts], frames),
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
