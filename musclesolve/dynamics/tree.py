"""Kinematics along the tree: poses from joint coordinates, and the allowed directions of motion D.

The columns of D are closed forms: turning about axis a through o moves a point by a x (r - o) and a vector v by
a x v, for all that hangs behind the joint. They span the null space of Phi_q (Phi_q D = 0; Blajer & Czaplicki 2005,
2.4), so qd = D s with the speeds s = joint rates, base velocity and base angular velocity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.topology import Topology

Array = np.ndarray


@dataclass(frozen=True)
class Tree:
    """Arrays over joints (K): frames, axes and pivots as slots, and what each joint moves.

    moves (N, K): slot n hangs behind joint k. owner (N,): the frame nearest the base that holds slot n.
    """

    root: int
    parent: Array
    child: Array
    axis: Array
    axis_length: Array
    sign: Array
    pivot: Array
    owner: Array
    moves: Array
    carries: Array
    standing: Array
    point_count: int

    @classmethod
    def build(cls, topology: Topology, standing: Array) -> Tree:
        """Joint arrays of a topology for one person's standing layout (N, 3)."""
        frames, dofs = topology.frame_index, topology.dofs
        parent = np.array([frames[dof.parent] for dof in dofs])
        child = np.array([frames[dof.child] for dof in dofs])
        axis = np.array([topology.slots_of(dof.axis) for dof in dofs])
        padded = np.vstack([standing, np.zeros(3)])
        length = np.linalg.norm(padded[axis[:, 1]] - padded[axis[:, 0]], axis=1)
        behind = _behind(parent, child, len(frames))
        owner = _owners(topology, behind)
        return cls(
            root=frames[topology.root],
            parent=parent,
            child=child,
            axis=axis,
            axis_length=length,
            sign=np.array([dof.sign for dof in dofs]),
            pivot=np.array([topology.slot[dof.pivot] for dof in dofs]),
            owner=owner,
            moves=behind[owner],
            carries=behind,
            standing=standing,
            point_count=topology.point_count,
        )

    @property
    def joint_count(self) -> int:
        """K, the number of joint degrees of freedom."""
        return len(self.child)

    def frames(self, angles: Array, base_position: Array, base_rotation: Array) -> tuple[Array, Array]:
        """Every frame as x = t + R x_standing: rotations (T, F, 3, 3) and translations (T, F, 3).

        Args:
            angles: (T, K) joint coordinates [rad].
            base_position: (T, 3) where the standing layout's origin goes [m].
            base_rotation: (T, 3, 3) rotation of the base body from the standing pose.
        """
        count = len(self.carries)
        rotation = np.empty((len(angles), count, 3, 3))
        shift = np.empty((len(angles), count, 3))
        rotation[:, self.root], shift[:, self.root] = base_rotation, base_position
        padded = np.vstack([self.standing, np.zeros(3)])
        for k, (p, c) in enumerate(zip(self.parent, self.child, strict=True)):
            axis = (padded[self.axis[k, 1]] - padded[self.axis[k, 0]]) / self.axis_length[k]
            turn = rotation_about(axis, self.sign[k] * angles[:, k])
            pivot = self.standing[self.pivot[k]]
            rotation[:, c] = rotation[:, p] @ turn
            shift[:, c] = shift[:, p] + (rotation[:, p] - rotation[:, c]) @ pivot
        return rotation, shift

    def pose(self, angles: Array, base_position: Array, base_rotation: Array) -> Array:
        """Natural coordinates q (T, N, 3) of joint coordinates; they satisfy every constraint to round-off."""
        rotation, shift = self.frames(angles, base_position, base_rotation)
        q = np.einsum("tnxy,ny->tnx", rotation[:, self.owner], self.standing)
        q[:, : self.point_count] += shift[:, self.owner[: self.point_count]]
        return q

    def axes(self, q: Array) -> Array:
        """Signed unit axes of the joints (T, K, 3) in the present pose."""
        padded = np.concatenate([q, np.zeros_like(q[:, :1])], axis=1)
        line = padded[:, self.axis[:, 1]] - padded[:, self.axis[:, 0]]
        return line * (self.sign / self.axis_length)[:, None]

    def allowed(self, q: Array, origin: Array) -> Array:
        """D (T, N, 3, K+6): velocity of every slot per unit of each speed.

        The last six speeds are the velocity of `origin` (T, 3) and the angular velocity of the base, global axes.
        """
        frames, slots = q.shape[:2]
        joints = self.joint_count
        arm = self._arms(q, q[:, self.pivot])
        directions = np.zeros((frames, slots, 3, joints + 6))
        turned = np.cross(self.axes(q)[:, :, None], arm) * self.moves.T[:, :, None]
        directions[..., :joints] = np.moveaxis(turned, 1, -1)
        directions[:, : self.point_count, :, joints : joints + 3] = np.eye(3)
        whole = self._arms(q, origin[:, None])[:, 0]
        directions[..., joints + 3 :] = np.cross(np.eye(3)[:, None, None], whole).transpose(1, 2, 3, 0)
        return directions

    def _arms(self, q: Array, pivots: Array) -> Array:
        """From each pivot to each point, and each vector itself, (T, P, N, 3)."""
        arm = np.broadcast_to(q[:, None], (len(q), pivots.shape[1], *q.shape[1:])).copy()
        arm[:, :, : self.point_count] -= pivots[:, :, None]
        return arm

    def angular_velocity(self, q: Array, speeds: Array) -> Array:
        """Angular velocity of every frame (T, F, 3) [rad/s], global axes."""
        turning = np.einsum("tkx,tk,fk->tfx", self.axes(q), speeds[:, : self.joint_count], self.carries)
        return turning + speeds[:, None, self.joint_count + 3 :]

    def bias(self, q: Array, qd: Array, speeds: Array, origin_velocity: Array, origin: Array) -> Array:
        """Ddot s (T, N, 3): the acceleration that is left when all speeds are constant.

        d/dt [a x (r - o)] = adot x (r - o) + a x (rdot - odot), with adot = w_parent x a.
        """
        joints = self.joint_count
        axes, rates = self.axes(q), speeds[:, :joints]
        parents = self.angular_velocity(q, speeds)[:, self.parent]
        turn, turn_rate = axes * rates[..., None], np.cross(parents, axes) * rates[..., None]
        arm, arm_rate = self._arms(q, q[:, self.pivot]), self._arms(qd, qd[:, self.pivot])
        each = np.cross(turn_rate[:, :, None], arm) + np.cross(turn[:, :, None], arm_rate)
        total = np.einsum("tknx,nk->tnx", each, self.moves)
        whole_rate = self._arms(qd, origin_velocity[:, None])[:, 0]
        return total + np.cross(speeds[:, None, joints + 3 :], whole_rate)


def rotation_about(axis: Array, angle: Array) -> Array:
    """Rotation matrices (T, 3, 3) about one unit axis (3,) by angles (T,) (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + sine * skew + (1.0 - cosine) * (skew @ skew)


def _behind(parent: Array, child: Array, count: int) -> Array:
    """(F, K): frame f hangs behind joint k."""
    behind = np.zeros((count, len(child)))
    for k, (p, c) in enumerate(zip(parent, child, strict=True)):
        behind[c] = behind[p]
        behind[c, k] = 1.0
    return behind


def _owners(topology: Topology, behind: Array) -> Array:
    """The body nearest the base among those that hold each slot."""
    depth = behind.sum(axis=1)
    owner: dict[str, int] = {}
    for index in np.argsort(depth[: len(topology.bodies)], kind="stable"):
        body = topology.bodies[index]
        for name in (*body.points, body.vector):
            owner.setdefault(name, int(index))
    return np.array([owner[name] for name in topology.coordinate_names])
