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

from musclesolve.dynamics.elements import PLACES, Elements

Array = np.ndarray


@dataclass(frozen=True)
class Paths:
    """Path points (P) of n muscles, one muscle after the other, origin to insertion.

    muscle (P,): index of the muscle; body (P,): index into the model's bodies; standing (P, 3) [m].
    Conditional points (C): `switched` (C,) indices into P, with the coordinate that switches them and its range [rad].
    """

    elements: Elements
    muscle: Array
    body: Array
    standing: Array
    switched: Array
    switch_dof: Array
    switch_lower: Array
    switch_upper: Array

    @property
    def count(self) -> int:
        """n, the number of muscles."""
        return int(self.muscle[-1]) + 1

    @cached_property
    def _bodies(self) -> tuple[Array, Array]:
        return np.unique(self.body, return_inverse=True)

    @cached_property
    def _own(self) -> Elements:
        return self.elements.subset(self._bodies[0])

    @cached_property
    def _coordinates(self) -> Array:
        return self.elements.subset(self.body).coordinates(self.standing)

    @cached_property
    def _starts(self) -> Array:
        """First point of each segment."""
        return np.flatnonzero(self.muscle[:-1] == self.muscle[1:])

    @cached_property
    def _sum_segments(self) -> Array:
        return (self.muscle[self._starts] == np.arange(self.count)[:, None]).astype(float)

    def evaluate(self, q: Array, coordinates: Array) -> PathState:
        """Lengths (T, n) and gradients by the path points (T, P, 3).

        Args:
            q: (T, N, 3) natural coordinates.
            coordinates: (T, K+6) joint coordinates, which switch the conditional points.
        """
        basic = self._own.basic(q)[:, self._bodies[1]]
        position = np.einsum("pc,tpcx->tpx", self._coordinates, basic)
        angle = coordinates[:, self.switch_dof]
        on = (angle >= self.switch_lower) & (angle <= self.switch_upper)
        for c, point in enumerate(self.switched):
            # An absent point lies on the one before it: its segment has no length and no direction.
            position[:, point] = np.where(on[:, c, None], position[:, point], position[:, point - 1])
        step = position[:, self._starts + 1] - position[:, self._starts]
        length = np.linalg.norm(step, axis=2)
        unit = step / np.where(length > 0.0, length, 1.0)[..., None]
        gradient = np.zeros_like(position)
        gradient[:, self._starts + 1] += unit
        gradient[:, self._starts] -= unit
        for c, point in reversed(list(enumerate(self.switched))):
            passed = np.where(on[:, c, None], 0.0, gradient[:, point])
            gradient[:, point - 1] += passed
            gradient[:, point] -= passed
        return PathState(self, q, position, gradient, length @ self._sum_segments.T)


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
        own = paths.elements.subset(np.tile(bodies, count))
        forces = own.slot_forces(self.q, force).reshape(frames, count, kinds, PLACES, 3)
        rows = np.zeros((frames, count, self.q.shape[1] + 1, 3))
        for b, body in enumerate(bodies):
            for number, slot in enumerate(paths.elements.slots[body]):
                rows[:, :, slot] += forces[:, :, b, number]
        return rows[:, :, :-1]

    def rate(self, qd: Array) -> Array:
        """dL_MT/dt (T, n) [m/s]: the gradient by the path points times their velocities."""
        paths = self.paths
        basic = paths._own.basic_velocity(self.q, qd)[:, paths._bodies[1]]
        velocity = np.einsum("pc,tpcx->tpx", paths._coordinates, basic)
        return np.einsum("tpx,tpx->tp", self.gradient, velocity) @ self._pick().T

    def pull(self, bodies: Array) -> Array:
        """Sum of dL_MT/dr over the points on some bodies, (T, n, 3): minus the force of unit tension on them."""
        return self._pick(bodies) @ self.gradient

    def moment_arm(self, bodies: Array, axis: Array, pivot: Array) -> Array:
        """-dL_MT/dtheta (T, n) [m] when some bodies turn about an axis through a pivot, both (T, 3).

        Equal to the rows of the Jacobian times the allowed direction of that turn, without forming either.
        """
        pick = self._pick(bodies)
        twist = pick @ np.cross(self.position, self.gradient) - np.cross(pivot[:, None], pick @ self.gradient)
        return -np.einsum("tnx,tx->tn", twist, axis)

    def _pick(self, bodies: Array | None = None) -> Array:
        """(n, P): one where a point belongs to a muscle, and to one of the bodies if they are given."""
        own = self.paths.muscle == np.arange(self.paths.count)[:, None]
        return (own if bodies is None else own & np.isin(self.paths.body, bodies)).astype(float)
