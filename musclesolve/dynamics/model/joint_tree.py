"""Kinematics along the tree: poses from joint coordinates, and the allowed directions of motion D.

The columns of D are closed forms: rotation about axis a through o moves a point by a x (r - o) and a vector v by
a x v, for all points and vectors distal to the joint. They span the null space of Phi_q (Phi_q D = 0; Blajer &
Czaplicki 2005, 2.4), so qd = D s with the speeds s = joint rates, base velocity and base angular velocity.

A spherical joint has three axes fixed in its parent. Its coordinates are the rotation vector of the child against the
parent (angle times axis), and its three speeds the relative angular velocity, both by components on these axes.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous, slices, vector_product
from musclesolve._util.messages import Names
from musclesolve.dynamics.kernel.arrays import TreeArrays
from musclesolve.dynamics.model.rigid_body import RigidBodies, lines_of
from musclesolve.dynamics.model.topology import Topology
from musclesolve.dynamics.rotations import (
    continuous,
    from_vector,
    to_vector,
    vector_jacobian,
    vector_jacobian_rate,
)

_TOGETHER = 8
"""Number of joints whose angles are unwrapped together."""


@dataclass(frozen=True)
class Tree:
    """Arrays over joints (K): frames, axes and pivots as slots, and the slots and frames that each joint moves.

    distal_slots (N, K), distal_frames (F, K): one where a slot or frame is distal to a joint. owner (N,): the frame
    nearest the base that holds slot n. spherical: the joints of each spherical joint, (S, 3), with their axes in the
    parent, (S, 3 axes, 3). axis_weights (K, N): the lines along the axes as linear combinations of the coordinates;
    axis_length (K,): of these lines.
    """

    root: int
    parent: Indices
    child: Indices
    axis: Indices
    axis_length: Array
    sign: Indices
    pivot: Indices
    owner: Indices
    distal_slots: Array
    distal_frames: Array
    standing: Array
    point_count: int
    spherical: Indices
    fixed_axes: Array
    axis_weights: Array

    @classmethod
    def build(cls, topology: Topology, standing: Array) -> Self:
        """Joint arrays of a topology for a standing layout (N, 3)."""
        numbers = joint_numbers(topology)
        length = np.linalg.norm(lines_of(standing[None], numbers["axis"])[0], axis=1)
        # The axes of spherical joints, fixed in the parent, as combinations of its points and vectors.
        balls, fixed_axes = numbers["spherical"].ravel(), numbers["fixed_axes"].reshape(-1, 3)
        length[balls] = 1.0
        ends = np.eye(len(standing) + 1)[numbers["axis"], :-1]
        weights = ends[:, 1] - ends[:, 0]
        if balls.size:
            rigid_bodies, bodies = RigidBodies.build(topology, standing), numbers["parent"][balls]
            c = (rigid_bodies.inverse[bodies] @ fixed_axes[..., None])[..., 0]
            weights[balls] = rigid_bodies.combinations(topology, bodies, np.column_stack([-c[:, 0], c]))
        return cls(**numbers, axis_length=length, standing=standing, axis_weights=weights)

    @property
    def joint_count(self) -> int:
        """Number K of joint degrees of freedom."""
        return len(self.child)

    def frames(self, angles: Array, base_position: Array, base_rotation: Array) -> tuple[Array, Array]:
        """Every frame as x = t + R x_standing: rotations (T, F, 3, 3) and translations (T, F, 3) [m].

        angles (T, K) [rad], for a spherical joint a rotation vector; base_position (T, 3): position of the origin of
        the standing layout [m]; base_rotation (T, 3, 3) from the standing pose.
        """
        rotation, shift = self._frames(angles, base_position, base_rotation, None)
        return np.ascontiguousarray(rotation.transpose(3, 0, 1, 2)), shift.transpose(2, 0, 1)

    def _frames(
        self, angles: Array, base_position: Array, base_rotation: Array, moving: Mask | None
    ) -> tuple[Array, Array]:
        """Frames as (F, 3, 3, T) and (F, 3, T) [m], time last, so that sums run along contiguous memory."""
        pivots, skew, square = self._standing_joints
        moves = np.ones(self.joint_count, bool) if moving is None else moving
        # Rotation (3, 3, T) of the child against the parent: of hinges by Rodrigues' formula, of a spherical joint
        # under the number of the first of its three.
        single = moves.copy()
        single[self.spherical.ravel()] = False
        hinges = np.flatnonzero(single)
        sine, cosine = (x(angles.T[hinges])[:, None, None] for x in (np.sin, np.cos))
        rotated = sine * skew[hinges] + (1.0 - cosine) * square[hinges] + np.eye(3)[:, :, None]
        turned = dict(zip(hinges.tolist(), rotated, strict=True))
        for joints, axes in zip(self.spherical, self.fixed_axes, strict=True):
            if moves[joints[0]]:
                turned[int(joints[0])] = from_vector(angles[:, joints] @ axes).transpose(1, 2, 0)

        kind = np.result_type(angles, base_position, base_rotation)
        rotation = np.full((len(self.distal_frames), 3, 3, len(angles)), np.nan, kind)
        rotation[self.root] = base_rotation.transpose(1, 2, 0)
        for k, (p, c) in enumerate(zip(self.parent.tolist(), self.child.tolist(), strict=True)):
            if k in turned:
                np.einsum("ijt,jkt->ikt", rotation[p], turned[k], out=rotation[c])
            elif not moves[k]:
                rotation[c] = rotation[p]
        # A joint holds its pivot: t_child - t_parent = (R_parent - R_child) o, summed on the way to each frame.
        stays = _applied(rotation[self.parent] - rotation[self.child], pivots)
        steps = self.distal_frames @ stays.reshape(len(stays), 3 * len(angles))
        shift = base_position.T + steps.reshape(-1, 3, len(angles))
        shift[np.isnan(rotation[:, 0, 0]).all(axis=1)] = np.nan
        return rotation, shift

    @cached_property
    def _standing_joints(self) -> tuple[Array, Array, Array]:
        """Pivots o (K, 3), zero but for the first joint of a spherical one, and S and S^2 (K, 3, 3, 1) of the axes.

        A rotation by x is 1 + sin x S + (1 - cos x) S^2 (Rodrigues).
        """
        pivots = self.standing[self.pivot]
        pivots[self.spherical[:, 1:].ravel()] = 0.0
        skew = vector_product(np.eye(3), self.axes(self.standing[None])[0][:, None, :])
        return pivots, skew[..., None], (skew @ skew)[..., None]

    @cached_property
    def compiled(self) -> TreeArrays:
        """The tree for compiled code."""
        count = self.joint_count
        kind, triple = np.zeros(count, np.intp), np.repeat(np.arange(count)[:, None], 3, axis=1)
        for joints in self.spherical:
            kind[joints] = 1, 2, 2
            triple[joints] = joints
        return TreeArrays(
            root=np.array([self.root], np.intp),
            parent=contiguous(self.parent, np.intp),
            child=contiguous(self.child, np.intp),
            kind=kind,
            triple=contiguous(triple, np.intp),
            axis=contiguous(self.axes(self.standing[None])[0]),
            center=contiguous(self.standing[self.pivot]),
            pivot=contiguous(self._standing_joints[0]),
            owner=contiguous(self.owner, np.intp),
            standing=contiguous(self.standing),
            share=contiguous(self.share),
        )

    def speeds(self, angles: Array, rates: Array, second: Array) -> tuple[Array, Array]:
        """Joint speeds and their derivatives (T, K) from joint coordinates and their derivatives.

        At spherical joints w = J dp/dt on the axes of the joint, and dw/dt = J d2p/dt2 + dJ/dt dp/dt; else both are
        equal.
        """
        speeds, speed_rates = rates.copy(), second.copy()
        for joints, axes in zip(self.spherical, self.fixed_axes, strict=True):
            vector, rate, twice = (x[:, joints] @ axes for x in (angles, rates, second))
            jacobian = vector_jacobian(vector)
            speeds[:, joints] = np.einsum("txy,ty->tx", jacobian, rate) @ axes.T
            twist = np.einsum("txy,ty->tx", vector_jacobian_rate(vector, rate), rate)
            speed_rates[:, joints] = (np.einsum("txy,ty->tx", jacobian, twice) + twist) @ axes.T
        return speeds, speed_rates

    def rates(self, angles: Array, speeds: Array, speed_rates: Array) -> tuple[Array, Array]:
        """First and second derivatives (T, K) of joint coordinates from joint speeds and rates: reverse of `speeds`."""
        rates, second = speeds.copy(), speed_rates.copy()
        for joints, axes in zip(self.spherical, self.fixed_axes, strict=True):
            vector, spin, twist = (x[:, joints] @ axes for x in (angles, speeds, speed_rates))
            jacobian = vector_jacobian(vector)
            rate = np.linalg.solve(jacobian, spin[..., None])[..., 0]
            twist = twist - np.einsum("txy,ty->tx", vector_jacobian_rate(vector, rate), rate)
            rates[:, joints] = rate @ axes.T
            second[:, joints] = np.linalg.solve(jacobian, twist[..., None])[..., 0] @ axes.T
        return rates, second

    def moved(self, angles: Array, step: Array) -> Array:
        """Joint coordinates (T, K) after a step along the speeds; rotations of spherical joints are composed."""
        after = angles + step
        for joints, axes in zip(self.spherical, self.fixed_axes, strict=True):
            rotation = from_vector(step[:, joints] @ axes) @ from_vector(angles[:, joints] @ axes)
            after[:, joints] = to_vector(rotation) @ axes.T
        return after

    def unwrapped(self, angles: Array) -> Array:
        """Joint coordinates over time (T, K) without jumps by full rotations."""
        smooth = np.empty(angles.shape)
        for some in slices(angles.shape[1], _TOGETHER):
            smooth[:, some] = np.unwrap(angles[:, some], axis=0)
        for joints, axes in zip(self.spherical, self.fixed_axes, strict=True):
            smooth[:, joints] = continuous(angles[:, joints] @ axes) @ axes.T
        return smooth

    def pose(
        self, angles: Array, base_position: Array, base_rotation: Array, moving: Mask | None = None
    ) -> Array:
        """Natural coordinates q (T, N, 3) of joint coordinates; they satisfy every constraint to round-off.

        The arguments are as for `frames`; moving (K,): joints with angles; the others stay as in the standing pose.
        """
        rotation, shift = self._frames(angles, base_position, base_rotation, moving)
        q = _applied(rotation[self.owner], self.standing)
        q[: self.point_count] += shift[self.owner[: self.point_count]]
        return np.ascontiguousarray(q.transpose(2, 0, 1))

    @cached_property
    def share(self) -> Array:
        """Matrix (K+6, K+6): 1 where speed i moves all that j moves and more, 1/2 where both move the same, else 0.

        A symmetric quantity X of two speeds, known where the first is before the second, is then share X + (share X)^T.
        """
        count = self.joint_count
        before = np.ones((count + 6, count + 6))
        before[:count, :count] = self.distal_frames[self.child].T
        before[:count, count:] = 0.0
        return np.asarray(before / np.maximum(before + before.T, 1.0))

    def axes(self, q: Array) -> Array:
        """Signed unit axes of the joints (T, K, 3) in the pose q (T, N, 3) [m]."""
        return np.asarray((self.axis_weights @ q) * (self.sign / self.axis_length)[:, None])

    def allowed(self, q: Array, origin: Array, slots: Indices | None = None) -> Array:
        """D (T, N, 3, K+6): velocity of every slot (or of `slots`) per unit of each speed, in the pose q (T, N, 3) [m].

        The last six speeds are the velocity of `origin` (T, 3) [m], the position of the origin of the standing layout,
        and the angular velocity of the base, global axes.
        """
        places = np.arange(q.shape[1]) if slots is None else slots
        points, joints, none, one = places < self.point_count, self.joint_count, np.zeros((3, 3)), np.eye(3)
        spins = np.broadcast_to(np.concatenate([none, one]), (len(q), 6, 3))
        rotations = np.concatenate([self.axes(q), spins], axis=1)
        pivots = np.concatenate([q[:, self.pivot], np.repeat(origin[:, None], 6, axis=1)], axis=1)
        moved = np.column_stack([self.distal_slots[places], np.ones((len(places), 6))])
        shifts = np.concatenate([np.zeros((joints, 3)), one, none])
        directions = np.empty((len(q), len(places), 3, len(shifts)), q.dtype)
        arm = [q[:, places, x, None] - points[:, None] * pivots[:, None, :, x] for x in range(3)]
        for x, y, z in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            rotated = rotations[:, None, :, y] * arm[z] - rotations[:, None, :, z] * arm[y]
            directions[:, :, x] = rotated * moved + points[:, None] * shifts[:, x]
        return directions

    def body_directions(self, q: Array, origin: Array, frames: Indices, points: Array) -> tuple[Array, Array]:
        """Columns of D for points (T, L, 3) [m] that are not among the coordinates, one on each of some frames (L,).

        Angular velocity of the frame and velocity of the point per unit speed, (T, L, K+6, 3) each.
        """
        joints, moved = self.joint_count, self.distal_frames[frames] > 0.0
        spin = np.zeros((len(q), len(frames), joints + 6, 3))
        spin[:, :, :joints] = self.axes(q)[:, None] * moved[:, :, None]
        spin[:, :, joints + 3 :] = np.eye(3)
        pivots = np.concatenate([q[:, self.pivot], np.repeat(origin[:, None], 6, axis=1)], axis=1)
        reach = vector_product(spin, points[:, :, None] - pivots[:, None])
        reach[:, :, joints : joints + 3] = np.eye(3)
        # A joint that is not proximal to the body does not move it, not even where the point is unknown.
        reach[:, :, :joints][:, ~moved] = 0.0
        return spin, reach

    def project(self, q: Array, origin: Array, force: Array) -> Array:
        """D^T f (T, K+6) of a generalized force f (T, N, 3) [N, N m], without forming D; q and origin as in `allowed`.

        a . sum (r - o) x f over the points distal to a joint and v x f over the vectors; then the total force and
        moment on the base.
        """
        moment, force = vector_product(q, force), force[:, : self.point_count]
        beyond = self.distal_slots[: self.point_count].T @ force
        distal = self.distal_slots.T @ moment - vector_product(q[:, self.pivot], beyond)
        whole = force.sum(axis=1)
        about = moment.sum(axis=1) - vector_product(origin, whole)
        return np.concatenate([np.einsum("tkx,tkx->tk", self.axes(q), distal), whole, about], axis=1)

    def velocity(self, q: Array, speeds: Array, origin: Array) -> Array:
        """Velocities qd = D s, (T, N, 3), of speeds s (T, K+6), without forming D; q and origin as in `allowed`."""
        joints = self.joint_count
        linear, angular = speeds[:, joints : joints + 3], speeds[:, joints + 3 :]
        rotations = self.axes(q) * speeds[:, :joints, None]
        return self._moved_by(q, rotations, q[:, self.pivot], angular, origin, linear)

    def acceleration(
        self, q: Array, qd: Array, speeds: Array, rates: Array, origin: Array, origin_velocity: Array
    ) -> Array:
        """Accelerations qdd = D ds/dt + Ddot s, (T, N, 3), of speeds s and their rates (T, K+6), without forming D.

        d/dt [a x (r - o)] = adot x (r - o) + a x (rdot - odot), with adot = w_parent x a.
        """
        joints = self.joint_count
        axes = self.axes(q)
        rotations = axes * speeds[:, :joints, None]
        spin = self.distal_frames @ rotations + speeds[:, None, joints + 3 :]
        change = axes * rates[:, :joints, None] + vector_product(spin[:, self.parent], rotations)
        linear, angular = rates[:, joints : joints + 3], rates[:, joints + 3 :]
        accelerated = self._moved_by(q, change, q[:, self.pivot], angular, origin, linear)
        angular, linear = speeds[:, joints + 3 :], np.zeros_like(linear)
        return accelerated + self._moved_by(
            qd, rotations, qd[:, self.pivot], angular, origin_velocity, linear
        )

    def _moved_by(
        self, q: Array, rotations: Array, pivot: Array, angular: Array, origin: Array, linear: Array
    ) -> Array:
        """Sum over joints of rotation x (q - pivot), plus the part of the base; vectors do not depend on pivots."""
        spin = (self.distal_frames @ rotations + angular[:, None])[:, self.owner]
        moved = vector_product(spin, q)
        offset = (
            self.distal_frames @ vector_product(rotations, pivot)
            + (vector_product(angular, origin) - linear)[:, None]
        )
        moved[:, : self.point_count] -= offset[:, self.owner[: self.point_count]]
        return moved


@lru_cache(maxsize=8)
def joint_numbers(topology: Topology) -> dict[str, Any]:
    """Fields of a `Tree` that no length changes."""
    dofs, bodies = topology.dofs, topology.body_index
    crosses = [dof.child for dof in dofs if dof.child not in bodies]  # massless, of universal joints
    frames = Names(crosses, "body or cross", topology.name, bodies)
    parent = np.array([frames[dof.parent] for dof in dofs], dtype=int)
    child = np.array([frames[dof.child] for dof in dofs], dtype=int)
    axis = np.array([topology.slots_of(dof.axis) for dof in dofs], dtype=int).reshape(-1, 2)
    balls = [k for k, dof in enumerate(dofs) if dof.fixed_axis is not None]
    distal = np.zeros((len(frames), len(dofs)))
    for k, (p, c) in enumerate(zip(parent, child, strict=True)):
        distal[c] = np.maximum(distal[c], distal[p])
        distal[c, k] = 1.0
    # A slot belongs to the body nearest the base among those that hold it.
    owner: dict[str, int] = {}
    for body in np.argsort(distal[: len(topology.bodies)].sum(axis=1), kind="stable").tolist():
        owner = dict.fromkeys(topology.bodies[body].members, body) | owner
    owners = np.array([owner[name] for name in topology.coordinate_names])
    return {
        "root": frames[topology.root],
        "parent": parent,
        "child": child,
        "axis": axis,
        "sign": np.array([dof.sign for dof in dofs], dtype=int),
        "pivot": np.array([topology.slot[dof.pivot] for dof in dofs], dtype=int),
        "owner": owners,
        "distal_slots": distal[owners],
        "distal_frames": distal,
        "point_count": topology.point_count,
        "spherical": np.array(balls, dtype=int).reshape(-1, 3),
        "fixed_axes": np.array([dofs[k].fixed_axis for k in balls], dtype=float).reshape(-1, 3, 3),
    }


def _applied(matrices: Array, vectors: Array) -> Array:
    """Products (n, 3, T) of matrices (n, 3, 3, T) with vectors (n, 3)."""
    x, y, z = (matrices[:, :, k] * vectors[:, k, None, None] for k in range(3))
    return np.asarray(x + y + z)
