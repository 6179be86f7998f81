"""Rigid bodies in natural coordinates: from their points and vectors to any material point, and back with forces.

Every body is reduced to the basic body of two points i, j and two vectors u, v (Silva 2003, 2.40-2.47):

    r = r_i + c1 (r_j - r_i) + c2 u + c3 v,      c = X'^-1 (r' - r_i'),   X' = [r_ij', u', v']

with v = (r_k - r_j) / L for three points and a vector (2.57), v = u x r_ij / L for two points and a vector (2.64,
with the signs of corrections B1 and B2). Forces travel the other way by virtual power; no matrix is formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve.dynamics.topology import Topology

Array = np.ndarray


@dataclass(frozen=True)
class Elements:
    """The bodies of a model as arrays over bodies (B). Slots index the generalized coordinates (N)."""

    i: Array
    j: Array
    u: Array
    k: Array
    crossed: Array
    length: Array
    base: Array
    inverse: Array
    origin: Array
    incidence: Array

    @classmethod
    def build(cls, topology: Topology, standing: Array) -> Elements:
        """Elements of every body from the standing layout (N, 3)."""
        slot = topology.slot
        i = np.array([slot[b.points[0]] for b in topology.bodies])
        j = np.array([slot[b.points[1]] for b in topology.bodies])
        k = np.array([slot[b.points[-1]] for b in topology.bodies])
        u = np.array([slot[b.vector] for b in topology.bodies])
        crossed = np.array([len(b.points) == 2 for b in topology.bodies])
        r_ij, axis = standing[j] - standing[i], standing[u]
        v = np.where(crossed[:, None], np.cross(axis, r_ij), standing[k] - standing[j])
        length = np.linalg.norm(v, axis=1)
        base = np.stack([r_ij, axis, v / length[:, None]], axis=2)
        incidence = np.zeros((len(standing), len(i), 4))
        bodies = np.arange(len(i))
        for place, slots in enumerate((i, j, u, k)):
            incidence[slots, bodies, place] = 1.0
        return cls(i, j, u, k, crossed, length, base, np.linalg.inv(base), standing[i], incidence)

    def subset(self, bodies: Array) -> Elements:
        """The same for some bodies, in the given order (a body may come more than once)."""
        names = ("i", "j", "u", "k", "crossed", "length", "base", "inverse", "origin")
        picked = {name: getattr(self, name)[bodies] for name in names}
        return replace(self, **picked, incidence=self.incidence[:, bodies])

    def coordinates(self, standing_point: Array) -> Array:
        """Coefficients (B, 4) of r_i, r_j, u, v that give a material point, from its standing position (B, 3)."""
        c = np.einsum("bij,bj->bi", self.inverse, standing_point - self.origin)
        return np.column_stack([1.0 - c[:, 0], c])

    def basic(self, q: Array) -> Array:
        """r_i, r_j, u, v of every body, (T, B, 4, 3), from q (T, N, 3)."""
        u, r_ij = q[:, self.u], q[:, self.j] - q[:, self.i]
        return self._stack(q, np.cross(u, r_ij))

    def basic_velocity(self, q: Array, qd: Array) -> Array:
        """Time derivative of `basic` (2.66)."""
        u, r_ij = q[:, self.u], q[:, self.j] - q[:, self.i]
        ud, rd_ij = qd[:, self.u], qd[:, self.j] - qd[:, self.i]
        return self._stack(qd, np.cross(ud, r_ij) + np.cross(u, rd_ij))

    def basic_acceleration(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Second time derivative of `basic` (2.67, second block of V with the sign of correction B2)."""
        u, r_ij = q[:, self.u], q[:, self.j] - q[:, self.i]
        ud, rd_ij = qd[:, self.u], qd[:, self.j] - qd[:, self.i]
        udd, rdd_ij = qdd[:, self.u], qdd[:, self.j] - qdd[:, self.i]
        return self._stack(qdd, np.cross(udd, r_ij) + 2.0 * np.cross(ud, rd_ij) + np.cross(u, rdd_ij))

    def _stack(self, q: Array, cross: Array) -> Array:
        v = np.where(self.crossed[:, None], cross, q[:, self.k] - q[:, self.j]) / self.length[:, None]
        return np.stack([q[:, self.i], q[:, self.j], q[:, self.u], v], axis=2)

    def rotation(self, q: Array) -> Array:
        """Rotation of every body from the standing pose, (T, B, 3, 3): R = X X'^-1 (2.46)."""
        basic = self.basic(q)
        columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], axis=-1)
        return columns @ self.inverse

    def slot_forces(self, q: Array, force: Array) -> Array:
        """Forces on (r_i, r_j, u, v), (T, B, 4, 3), carried over to the slots (i, j, u, k) by virtual power.

        The transpose of V (2.58, 2.68): a force on v = (r_k - r_j)/L is a pair on k and j; one on
        v = u x r_ij / L acts on u as r_ij x f / L and on r_ij as f x u / L.
        """
        f_i, f_j, f_u, f_v = np.moveaxis(force, 2, 0)
        f_v = f_v / self.length[:, None]
        u, r_ij = q[:, self.u], q[:, self.j] - q[:, self.i]
        crossed = self.crossed[:, None]
        on_line = np.where(crossed, np.cross(f_v, u), 0.0)
        f_k = np.where(crossed, 0.0, f_v)
        return np.stack(
            [f_i - on_line, f_j + on_line - f_k, f_u + np.where(crossed, np.cross(r_ij, f_v), 0.0), f_k],
            axis=2,
        )

    def generalized(self, q: Array, force: Array) -> Array:
        """Generalized force (T, N, 3) of forces (T, B, 4, 3) on the basic coordinates of the bodies."""
        slots = self.slot_forces(q, force)
        frames, bodies = slots.shape[:2]
        return self.incidence.reshape(-1, bodies * 4) @ slots.reshape(frames, bodies * 4, 3)

    def moment_forces(self, q: Array, moment: Array) -> Array:
        """Forces on the basic coordinates (T, B, 4, 3) that do the work of a couple (T, B, 3) [N m].

        The power of a couple is m.w = 1/2 sum_a de_a/dt . (m x e_a) over the axes e_a of the body, and
        de/dt = dX/dt X'^-1; unlike (2.80) it holds for a couple along r_ij as well (correction B4).
        """
        axes = np.moveaxis(self.rotation(q), -1, 2)  # (T, B, axis a, 3)
        on_axes = 0.5 * np.cross(moment[:, :, None, :], axes)
        on_columns = np.einsum("bsa,tbax->tbsx", self.inverse, on_axes)
        return np.concatenate([-on_columns[:, :, :1], on_columns], axis=2)
