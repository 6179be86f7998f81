"""Joint moments as pairs of couples on the two bodies of a joint, and joint rates from the bodies' angular velocities.

A moment tau about the axis a of a joint is the couple tau a on the far body and -tau a on the near one. The cross of a
universal joint is massless and no body; as its two axes are perpendicular, the couples of both joints act on the
bodies on its two sides (power tau_1 a_1.w + tau_2 a_2.w with w = a_1 s_1 + a_2 s_2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.elements import Elements
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.topology import Topology

Array = np.ndarray


def joint_bodies(topology: Topology) -> tuple[Array, Array]:
    """Far and near body (K,) of every joint degree of freedom; beyond the cross where there is one."""
    behind = {dof.parent: dof.child for dof in topology.dofs}
    before = {dof.child: dof.parent for dof in topology.dofs}
    far, near = [], []
    for dof in topology.dofs:
        child, parent = dof.child, dof.parent
        while child not in topology.body_index:
            child = behind[child]
        while parent not in topology.body_index:
            parent = before[parent]
        far.append(topology.body_index[child])
        near.append(topology.body_index[parent])
    return np.array(far, dtype=int), np.array(near, dtype=int)


@dataclass(frozen=True)
class Couples:
    """Joint moments of one model as generalized forces. spread (B, K): +1 on the far body, -1 on the near one."""

    model: Model
    far: Array
    near: Array
    spread: Array

    @classmethod
    def build(cls, model: Model) -> Couples:
        """Couples of every joint of a model."""
        far, near = joint_bodies(model.topology)
        spread = np.zeros((len(model.topology.bodies), len(far)))
        spread[far, np.arange(len(far))] += 1.0
        spread[near, np.arange(len(far))] -= 1.0
        return cls(model, far, near, spread)

    def force(self, q: Array, moments: Array) -> Array:
        """Generalized force (T, N, 3) of joint moments (T, K) [N m] about their axes (2.77-2.82, correction B4)."""
        return self.body_force(q, self.spread @ (self.model.tree.axes(q) * moments[..., None]))

    def body_force(self, q: Array, couple: Array) -> Array:
        """Generalized force (T, N, 3) of couples (T, B, 3) [N m] on the bodies."""
        return self.model.elements.generalized(q, self.model.elements.moment_forces(q, couple))

    def rates(self, q: Array, qd: Array) -> Array:
        """Rates (T, K) [rad/s]: the relative angular velocity about each axis."""
        spin = body_spin(self.model.elements, q, qd)
        return np.einsum("tkx,tkx->tk", self.model.tree.axes(q), spin[:, self.far] - spin[:, self.near])


def body_spin(elements: Elements, q: Array, qd: Array) -> Array:
    """Angular velocity (T, B, 3) [rad/s] of every body, global axes: w = 1/2 sum_a e_a x de_a/dt over its axes."""
    moving = elements.basic_velocity(q, qd)
    columns = np.stack([moving[:, :, 1] - moving[:, :, 0], moving[:, :, 2], moving[:, :, 3]], axis=-1)
    axes_rate, axes = columns @ elements.inverse, elements.rotation(q)
    return 0.5 * np.cross(axes, axes_rate, axisa=-2, axisb=-2, axisc=-2).sum(axis=-1)
