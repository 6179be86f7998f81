"""Joint moments as pairs of couples on the two bodies of a joint, and joint rates from the bodies' angular velocities.

A moment tau about the axis a of a joint is the couple tau a on the distal body and -tau a on the proximal one. The
cross of a universal joint is massless and no body: the couples of both its joints act on the bodies on its two sides.
Where its axes are not perpendicular, w = a_1 s_1 + a_2 s_2 requires the couples tau_1 b_1 + tau_2 b_2 about the dual
axes, b_k . a_l = 1 for k = l, else 0, so that each moment works on its own angle alone and s_k = b_k . w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.topology import bodies_of_joint


def acting_bodies(model: Model) -> tuple[Indices, Indices]:
    """Proximal and distal body of every joint (K,); a massless cross is passed over to the next body."""
    names = [bodies_of_joint(model.topology, dof) for dof in model.topology.dofs]
    proximal, distal = (
        np.array([[model.body(name) for name in pair] for pair in names], np.intp).reshape(-1, 2).T
    )
    return proximal, distal


def dual_axes(axes: Array) -> Array:
    """(T, a, 3) with dual_k . axis_l = 1 for k = l, else 0."""
    return np.swapaxes(np.linalg.pinv(axes), 1, 2)


@dataclass(frozen=True)
class Couples:
    """Joint moments of one model as generalized forces.

    distal, proximal (K,): the bodies on the two sides of every joint; spread (B, K): +1 on the distal one, -1 on the
    proximal one. groups: joints that share both bodies, a massless cross lying between; the couples of a spherical
    joint are square anyway. In all methods q (T, N, 3) are natural coordinates [m, vectors 1], qd (T, N, 3) their
    rates.
    """

    model: Model
    distal: Indices
    proximal: Indices
    spread: Array
    groups: tuple[Indices, ...]

    @classmethod
    def build(cls, model: Model) -> Couples:
        """Couples of every joint of a model."""
        proximal, distal = acting_bodies(model)
        spread = np.zeros((len(model.topology.bodies), len(distal)))
        spread[distal, np.arange(len(distal))] += 1.0
        spread[proximal, np.arange(len(distal))] -= 1.0
        balls = set(model.tree.spherical.ravel().tolist())
        together: dict[tuple[int, int], list[int]] = {}
        for k, pair in enumerate(zip(proximal.tolist(), distal.tolist(), strict=True)):
            together.setdefault(pair, []).append(k)
        groups = tuple(np.array(g) for g in together.values() if len(g) > 1 and not balls.issuperset(g))
        return cls(model, distal, proximal, spread, groups)

    def axes(self, q: Array) -> Array:
        """Directions (T, K, 3) of the couples of unit moments: the axes, or the dual ones across a massless cross."""
        axes = self.model.tree.axes(q)
        for group in self.groups:
            axes[:, group] = dual_axes(axes[:, group])
        return axes

    def force(self, q: Array, moments: Array) -> Array:
        """Generalized force (T, N, 3) of joint moments (T, K) [N m] about their axes (2.77-2.82, correction B4)."""
        return self.body_force(q, self.spread @ (self.axes(q) * moments[..., None]))

    def unit_forces(self, q: Array) -> Array:
        """Generalized forces (T, K, N, 3) of a unit moment about each axis (2.85)."""
        axes, rigid_bodies = self.axes(q), self.model.rigid_bodies
        rows = np.zeros((*axes.shape[:2], *q.shape[1:]), axes.dtype)
        for bodies, sign in ((self.distal, 1.0), (self.proximal, -1.0)):
            picked = rigid_bodies.subset(bodies)
            force = picked.slot_forces(q, picked.moment_forces(q, sign * axes))
            rows += np.einsum("nks,tksx->tknx", picked.incidence, force)
        return rows

    def body_force(self, q: Array, couple: Array) -> Array:
        """Generalized force (T, N, 3) of couples (T, B, 3) [N m] on the bodies."""
        return self.model.rigid_bodies.generalized(q, self.model.rigid_bodies.moment_forces(q, couple))

    def rates(self, q: Array, qd: Array) -> Array:
        """Rates (T, K) [rad/s], the shares of the axes in the relative angular velocity."""
        spin = self.model.rigid_bodies.twists(q, qd)[..., :3]
        return np.einsum("tkx,tkx->tk", self.axes(q), spin[:, self.distal] - spin[:, self.proximal])
