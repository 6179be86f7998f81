"""Muscle paths: musculotendon length and its gradient by the natural coordinates.

L_MT = sum_k |r_{k+1} - r_k| over the points that are on the path. The gradient by a path point is the difference of
the unit vectors of its two segments, so the tension is the same in every segment; in terms of the thesis, row k of
the segment constraints enters with 1 / (2 L_k) (6.8 and 6.13 with correction A1). The generalized force of a tension F
is -F dL_MT/dq, the moment arm -dL_MT/dtheta.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.model.rigid_body import PLACES, RigidBodies
from musclesolve.dynamics.vectors import blocks, components, cross


@dataclass(frozen=True)
class Paths:
    """Path points (P) of n muscles, one muscle after the other, origin to insertion.

    muscle (P,): index of the muscle; body (P,): index into the model's bodies; standing (P, 3) [m].
    Conditional points (C): `switched` (C,) indices into P, with the coordinate that switches them and its range [rad].
    """

    rigid_bodies: RigidBodies
    muscle: Indices
    body: Indices
    standing: Array
    switched: Indices
    switch_dof: Indices
    switch_lower: Array
    switch_upper: Array

    @property
    def count(self) -> int:
        """n, the number of muscles."""
        return int(self.muscle[-1]) + 1

    @cached_property
    def _bodies(self) -> tuple[Indices, Indices]:
        return np.unique(self.body, return_inverse=True)

    @cached_property
    def _own(self) -> RigidBodies:
        return self.rigid_bodies.subset(self._bodies[0])

    @cached_property
    def _coordinates(self) -> Array:
        return self.rigid_bodies.subset(self.body).coordinates(self.standing)

    @cached_property
    def _placing(self) -> Array:
        """(4 b, P): the same coefficients against r_i, r_j, u and v of all bodies (b) that have points."""
        bodies, place = self._bodies
        placing = np.zeros((len(bodies), 4, len(place)))
        placing[place, :, np.arange(len(place))] = self._coordinates
        return placing.reshape(-1, len(place))

    @cached_property
    def _first(self) -> Indices:
        """(n,) first point of each muscle."""
        return np.searchsorted(self.muscle, np.arange(self.count))

    @cached_property
    def _joined(self) -> Array:
        """(P-1,): one where a point and the next are of the same muscle."""
        return (self.muscle[:-1] == self.muscle[1:]).astype(float)

    def of_muscles(self, values: Array) -> Array:
        """Sums over the points or segments of each muscle, from (..., P) or (..., P-1) to (..., n)."""
        return np.add.reduceat(values, self._first, axis=-1)

    def _placed(self, basic: Array) -> Array:
        """Path points, or their velocities, by components (3, T, P), from r_i, r_j, u and v of the bodies."""
        flat = components(basic)
        return flat.reshape(*flat.shape[:2], -1) @ self._placing

    def _segments(self, q: Array, on: Mask) -> tuple[Array, Array, Array]:
        """Position (3, T, P), step to the next point (3, T, P-1), its length (T, P-1); on (T, C) as in `evaluate`."""
        position = self._placed(self._own.basic(q))
        for c, point in enumerate(self.switched):
            # An absent point lies on the one before it: its segment has no length and no direction.
            position[..., point] = np.where(on[:, c], position[..., point], position[..., point - 1])
        step = (position[..., 1:] - position[..., :-1]) * self._joined
        return position, step, np.sqrt((step**2).sum(axis=0))

    def lengths(self, q: Array, on: Mask) -> Array:
        """Lengths (T, n) [m] with given conditional points (T, C) on the path."""
        return self.of_muscles(self._segments(q, on)[2])

    def evaluate(self, q: Array, coordinates: Array) -> PathState:
        """Lengths (T, n) and gradients by path points (T, P, 3); coordinates (T, K+6) switch conditional points."""
        angle = coordinates[:, self.switch_dof]
        on = (angle >= self.switch_lower) & (angle <= self.switch_upper)
        position, step, length = self._segments(q, on)
        unit = step / np.where(length > 0.0, length, 1.0)
        gradient = np.zeros_like(position)
        gradient[..., 1:] += unit
        gradient[..., :-1] -= unit
        for c, point in reversed(list(enumerate(self.switched))):
            passed = np.where(on[:, c], 0.0, gradient[..., point])
            gradient[..., point - 1] += passed
            gradient[..., point] -= passed
        return PathState(
            self, q, position.transpose(1, 2, 0), gradient.transpose(1, 2, 0), self.of_muscles(length)
        )


@dataclass(frozen=True)
class PathState:
    """Paths in given poses: position and gradient (T, P, 3), length (T, n) [m]."""

    paths: Paths
    q: Array
    position: Array
    gradient: Array
    length: Array

    @cached_property
    def rows(self) -> Array:
        """dL_MT/dq, (T, n, N, 3): the muscle rows of the Jacobian, one per unit of tendon force."""
        paths, frames = self.paths, len(self.q)
        bodies, place = paths._bodies
        count, kinds = paths.count, len(bodies)
        pick = np.zeros((count * kinds, len(place)))
        pick[paths.muscle * kinds + place, np.arange(len(place))] = 1.0
        on_basic = paths._coordinates[None, :, :, None] * self.gradient[:, :, None, :]
        force = (pick @ on_basic.reshape(frames, len(place), 12)).reshape(frames, count * kinds, 4, 3)
        own = paths.rigid_bodies.subset(np.tile(bodies, count))
        forces = own.slot_forces(self.q, force).reshape(frames, count, kinds, PLACES, 3)
        rows = np.zeros((frames, count, self.q.shape[1] + 1, 3))
        for b, body in enumerate(bodies):
            for number, slot in enumerate(paths.rigid_bodies.slots[body]):
                rows[:, :, slot] += forces[:, :, b, number]
        return rows[:, :, :-1]

    def rate(self, qd: Array) -> Array:
        """dL_MT/dt (T, n) [m/s]: the gradient by the path points times their velocities."""
        velocity = self.paths._placed(self.paths._own.basic_velocity(self.q, qd))
        return self.paths.of_muscles((components(self.gradient) * velocity).sum(axis=0))

    def pull(self, bodies: Indices) -> Array:
        """Sum of dL_MT/dr over the points on some bodies, (T, n, 3): minus the force of unit tension on them."""
        own = components(self.gradient) * np.isin(self.paths.body, bodies)
        return np.ascontiguousarray(self.paths.of_muscles(own).transpose(1, 2, 0))

    def moment_arms(self, moved: Array, axis: Array, pivot: Array) -> Array:
        """-dL_MT/dtheta (T, m, n) [m] of rotations about unit axes a through pivots o [m], both (T, m, 3).

        -dL/dtheta = -sum (a x (r - o)) . dL/dr = -(a . sum r x dL/dr + (o x a) . sum dL/dr): equal to the rows of the
        Jacobian times the allowed directions, without forming either. moved (m, P): one where a rotation moves a point.
        """
        screw = np.concatenate([axis, np.cross(pivot, axis)], axis=2)
        arms = np.empty((*screw.shape[:2], self.paths.count))
        for block in blocks(len(screw)):
            position, gradient = components(self.position[block]), components(self.gradient[block])
            wrench = np.concatenate([cross(position, gradient), gradient]).transpose(1, 0, 2)
            arms[block] = -self.paths.of_muscles((screw[block] @ wrench) * moved)
        return arms
