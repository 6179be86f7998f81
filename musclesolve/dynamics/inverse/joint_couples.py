"""Joint moments as pairs of couples on the two bodies of a joint, and joint rates from the bodies' angular velocities.

A moment tau about the axis a of a joint is the couple tau a on the far body and -tau a on the near one. The cross of a
universal joint is massless and no body: the couples of both its joints act on the bodies on its two sides. Where its
axes are not square, w = a_1 s_1 + a_2 s_2 asks for the couples tau_1 b_1 + tau_2 b_2 about the dual axes, b_k . a_l = 1
for k = l, else 0, so that each moment works on its own angle alone and s_k = b_k . w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Elements


def acting_bodies(model: Model) -> tuple[Array, Array]:
    """Bodies before and behind every joint (K,); a massless cross is passed over to the next body."""
    tree, count = model.tree, len(model.topology.bodies)
    into = {int(c): int(p) for p, c in zip(tree.parent, tree.child, strict=True)}
    out = {int(p): int(c) for p, c in zip(tree.parent, tree.child, strict=True)}
    before, behind = tree.parent.copy(), tree.child.copy()
    for k in range(len(before)):
        while before[k] >= count:
            before[k] = into[int(before[k])]
        while behind[k] >= count:
            behind[k] = out[int(behind[k])]
    return before, behind


def dual_axes(axes: Array) -> Array:
    """(T, a, 3) with dual_k . axis_l = 1 for k = l, else 0."""
    return np.swapaxes(np.linalg.pinv(axes), 1, 2)


@dataclass(frozen=True)
class Couples:
    """Joint moments of one model as generalized forces.

    far, near (K,): the bodies on the two sides of every joint; spread (B, K): +1 on the far one, -1 on the near one.
    groups: joints that share both bodies, a massless cross lying between; those of a spherical joint are square anyway.
    """

    model: Model
    far: Array
    near: Array
    spread: Array
    groups: tuple[Array, ...]

    @classmethod
    def build(cls, model: Model) -> Couples:
        """Couples of every joint of a model."""
        near, far = acting_bodies(model)
        spread = np.zeros((len(model.topology.bodies), len(far)))
        spread[far, np.arange(len(far))] += 1.0
        spread[near, np.arange(len(far))] -= 1.0
        balls = set(model.tree.spherical.ravel().tolist())
        together: dict[tuple[int, int], list[int]] = {}
        for k, pair in enumerate(zip(near.tolist(), far.tolist(), strict=True)):
            together.setdefault(pair, []).append(k)
        groups = tuple(np.array(g) for g in together.values() if len(g) > 1 and not balls.issuperset(g))
        return cls(model, far, near, spread, groups)

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
        axes, elements = self.axes(q), self.model.elements
        rows = np.zeros((*axes.shape[:2], *q.shape[1:]), axes.dtype)
        for bodies, sign in ((self.far, 1.0), (self.near, -1.0)):
            picked = elements.subset(bodies)
            force = picked.slot_forces(q, picked.moment_forces(q, sign * axes))
            rows += np.einsum("nks,tksx->tknx", picked.incidence, force)
        return rows

    def body_force(self, q: Array, couple: Array) -> Array:
        """Generalized force (T, N, 3) of couples (T, B, 3) [N m] on the bodies."""
        return self.model.elements.generalized(q, self.model.elements.moment_forces(q, couple))

    def rates(self, q: Array, qd: Array) -> Array:
        """Rates (T, K) [rad/s], the shares of the axes in the relative angular velocity."""
        spin = body_spin(self.model.elements, q, qd)
        return np.einsum("tkx,tkx->tk", self.axes(q), spin[:, self.far] - spin[:, self.near])


def body_spin(elements: Elements, q: Array, qd: Array) -> Array:
    """Angular velocity (T, B, 3) [rad/s] of every body, global axes: w = 1/2 sum_a e_a x de_a/dt over its axes."""
    moving = elements.basic_velocity(q, qd)
    columns = np.stack([moving[:, :, 1] - moving[:, :, 0], moving[:, :, 2], moving[:, :, 3]], axis=-1)
    axes_rate, axes = columns @ elements.inverse, elements.rotation(q)
    return 0.5 * np.cross(axes, axes_rate, axisa=-2, axisb=-2, axisc=-2).sum(axis=-1)
