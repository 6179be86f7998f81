"""Projection on allowed and on prohibited directions (Blajer & Czaplicki 2005): joint reactions without inversion.

Absolute coordinates: the velocity of the center of mass and the angular velocity of every body that has mass; forces
come before moments. With s the speeds of the degrees of freedom and z the prohibited relative motions of the joints,

    v = D s + E z    (2.4)      C D = 0  (2.6)      C E = 1  (2.7)      M vd = h - C^T lambda  (2.2)

D and E are closed forms: a joint's prohibited motions are the three translations of all distal bodies, and their
rotations about the directions perpendicular to its axes. From the accelerations vd = D sd + gamma follow

    lambda = E^T (h - M (D sd + gamma))                          (2.10), no matrix inverted

lambda is the force and moment of the distal body on the proximal one; results state the opposite, on the distal body.
In natural coordinates the same formulas hold with C = Phi_q, whose pseudo-inverse E comes from the geometry alone.

Massless bodies and crosses between two bodies are part of the joint between these, which then has up to three axes.
Where their pivots differ (the shoulder girdle), a force in the joint also has a moment about the axes, which its own
moment must balance.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics import Model, projected_moments
from musclesolve.dynamics.inverse.lagrange_multipliers import dual_axes
from musclesolve.dynamics.inverse.newton_euler import segment_motion, turned_inertia
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames


@dataclass(frozen=True)
class LinkJoint:
    """A joint between two links: their numbers, the degrees of freedom, and the slot of the pivot."""

    proximal: int
    distal: int
    dofs: Indices
    pivot: int


@dataclass(frozen=True)
class Links:
    """The bodies that have mass, or an external force, and the joints between them."""

    bodies: Indices
    names: tuple[str, ...]
    joints: tuple[LinkJoint, ...]

    @classmethod
    def build(cls, model: Model, loaded: tuple[str, ...] = ()) -> Self:
        """Links of a model; massless bodies stay links where more than three axes would meet in one joint."""
        tree, mass = model.tree, model.mass.mass
        light = [
            b
            for b in np.flatnonzero(mass == 0.0)
            if b != tree.root and model.topology.bodies[b].name not in loaded
        ]
        some = cls._linked(model, np.setdiff1d(np.arange(len(mass)), light))
        if all(len(joint.dofs) <= 3 for joint in some.joints):
            return some
        return cls._linked(model, np.arange(len(mass)))

    @classmethod
    def _linked(cls, model: Model, bodies: Indices) -> Self:
        tree, on_joints = model.tree, model.tree.distal_frames[bodies] > 0
        depth = on_joints.sum(axis=1)
        joints = []
        for distal in np.argsort(depth, kind="stable"):
            if bodies[distal] != tree.root:
                before = [
                    proximal
                    for proximal in range(len(bodies))
                    if proximal != distal and (on_joints[distal] | ~on_joints[proximal]).all()
                ]
                proximal = max(before, key=lambda link: depth[link])
                dofs = np.flatnonzero(on_joints[distal] & ~on_joints[proximal])
                joints.append(LinkJoint(proximal, int(distal), dofs, int(tree.pivot[dofs[-1]])))
        names = tuple(model.topology.bodies[body].name for body in bodies)
        return cls(bodies, names, tuple(joints))


@dataclass(frozen=True)
class AbsoluteSystem:
    """All matrices of the projection, for every frame, over links (L), constraints (c) and speeds (k = K+6).

    allowed D (T, L, 6, k); prohibited E (T, L, 6, c); constraint C (T, c, L, 6); mass M (T, L, 6, 6); applied h,
    acceleration vd and gamma (T, L, 6). h includes the actuators: moments (T, k), which are couples (T, J, 3) on the
    distal body of each joint, about its point (T, J, 3), and, with the reactions, are the whole load of the joint.
    columns: the constraints of each joint; wrench_basis: their directions (T, 6, c_j).
    """

    links: Links
    allowed: Array
    prohibited: Array
    constraint: Array
    mass: Array
    applied: Array
    acceleration: Array
    gamma: Array
    moments: Array
    couples: Array
    points: Array
    columns: tuple[slice, ...]
    wrench_basis: tuple[Array, ...]


def absolute_system(model: Model, motion: Motion, wrenches: list[Wrench]) -> AbsoluteSystem:
    """Return the terms of the projection method for a model in motion (Blajer & Czaplicki 2005, 2.2-2.11).

    Args:
        motion: its motion over T frames.
        wrenches: external forces on its bodies over the same frames.

    Returns:
        Directions, masses, forces and accelerations of all links, with the joint moments.
    """
    check_frames(wrenches, len(motion.q))
    links = Links.build(model, tuple(wrench.body for wrench in wrenches))
    tree, bodies, frames, count = model.tree, links.bodies, len(motion.q), len(links.bodies)
    segments = segment_motion(model, motion)
    center, turning = segments.center[:, bodies], segments.velocity[:, bodies]
    points = np.stack([motion.q[:, joint.pivot] for joint in links.joints], axis=1)

    # D: a rotation about an axis moves the centers of mass of all links beyond it (2.4)
    spin, reach = tree.body_directions(motion.q, motion.origin, bodies, center)
    allowed = np.swapaxes(np.concatenate([reach, spin], axis=3), 2, 3)

    # C: relative velocity of the two bodies at the pivot, distal minus proximal, along the constraint wrenches (2.1)
    # E: a prohibited twist of a joint moves all links beyond it as one body (2.4)
    bases, constraint, prohibited = [], [np.zeros((frames, 0, count, 6))], [np.zeros((frames, count, 6, 0))]
    columns: list[slice] = []
    for j, joint in enumerate(links.joints):
        wrench, twist = _joint_bases(model, motion, joint)
        first, size = (columns[-1].stop if columns else 0), wrench.shape[2]
        columns.append(slice(first, first + size))
        rows = np.zeros((frames, size, count, 6))
        beyond = tree.distal_frames[bodies][:, joint.dofs].all(axis=1)
        for link, sign in ((joint.distal, 1.0), (joint.proximal, -1.0)):
            at_pivot = _shifted(points[:, j] - center[:, link])
            rows[:, :, link] = sign * np.einsum("txc,txy->tcy", wrench, at_pivot)
        moved = np.zeros((frames, count, 6, size))
        at_center = _shifted(center[:, beyond] - points[:, None, j])
        moved[:, beyond] = np.einsum("tlxy,tyc->tlxc", at_center, twist)
        bases.append(wrench)
        constraint.append(rows)
        prohibited.append(moved)

    # M, and h: weight with the gyroscopic moment -w x I w, external forces, actuators
    inertia = turned_inertia(model, segments, bodies)
    mass = np.zeros((frames, count, 6, 6))
    mass[..., :3, :3], mass[..., 3:, 3:] = model.mass.mass[bodies][:, None, None] * np.eye(3), inertia
    applied = np.zeros((frames, count, 6))
    applied[..., :3] = model.mass.mass[bodies][:, None] * model.gravity
    applied[..., 3:] = -np.cross(turning, np.einsum("tlxy,tly->tlx", inertia, turning))
    for load in wrenches:
        link = int(np.flatnonzero(bodies == model.body(load.body))[0])
        applied[:, link] += np.concatenate([load.force, load.about(center[:, link])], axis=1)
    # Joint actuators are couples on distal and proximal body that do the work of the moments about the axes; on the
    # base acts the residual.
    moments, axes, joints = projected_moments(model, motion, wrenches), tree.axes(motion.q), tree.joint_count
    couples = np.zeros_like(points)
    for j, joint in enumerate(links.joints):
        dual = dual_axes(axes[:, joint.dofs])
        couples[:, j] = np.einsum("tkx,tk->tx", dual, moments[:, joint.dofs])
        applied[:, joint.distal, 3:] += couples[:, j]
        applied[:, joint.proximal, 3:] -= couples[:, j]
    root = int(np.flatnonzero(bodies == tree.root)[0])
    force = moments[:, joints : joints + 3]
    applied[:, root, :3] += force
    applied[:, root, 3:] += moments[:, joints + 3 :] + np.cross(motion.origin - center[:, root], force)

    acceleration = np.concatenate(
        [segments.center_acceleration[:, bodies], segments.acceleration[:, bodies]], axis=2
    )
    return AbsoluteSystem(
        links=links,
        allowed=allowed,
        prohibited=np.concatenate(prohibited, axis=3),
        constraint=np.concatenate(constraint, axis=1),
        mass=mass,
        applied=applied,
        acceleration=acceleration,
        gamma=acceleration - np.einsum("tlxk,tk->tlx", allowed, motion.speed_rates),
        moments=moments,
        couples=couples,
        points=points,
        columns=tuple(columns),
        wrench_basis=tuple(bases),
    )


def reactions_by_projection(system: AbsoluteSystem) -> Array:
    """Multipliers (T, c) [N, N m] by projection on the prohibited directions, without a matrix inverse (2.10)."""
    needed = system.applied - np.einsum("tlxy,tly->tlx", system.mass, system.acceleration)
    return np.einsum("tlxc,tlx->tc", system.prohibited, needed)


def joint_wrenches(system: AbsoluteSystem, multipliers: Array) -> tuple[Array, Array]:
    """Force [N] and moment about the pivot [N m], (T, J, 3) each, that the distal body of every joint receives.

    multipliers: (T, c) from `reactions_by_projection`.
    """
    parts = [
        -np.einsum("txc,tc->tx", basis, multipliers[:, columns])
        for basis, columns in zip(system.wrench_basis, system.columns, strict=True)
    ]
    both = np.stack(parts, axis=1)
    return both[..., :3], both[..., 3:]


def _joint_bases(model: Model, motion: Motion, joint: LinkJoint) -> tuple[Array, Array]:
    """Constraint wrenches N and prohibited twists P of a joint at its pivot, (T, 6, c) each, with N^T P = 1.

    The wrenches do no work on the allowed twists [a x (p - o); a]: three unit forces, with the moment that keeps them
    from rotating the axes, and the moments perpendicular to all axes. The twists: three translations, rotations
    perpendicular to the axes.
    """
    q, tree = motion.q, model.tree
    axes, arm = tree.axes(q)[:, joint.dofs], q[:, None, joint.pivot] - q[:, tree.pivot[joint.dofs]]
    free = np.linalg.svd(np.swapaxes(axes, 1, 2))[0][:, :, len(joint.dofs) :]
    count = 3 + free.shape[2]
    wrench, twist = np.zeros((2, len(q), 6, count))
    wrench[:, range(3), range(3)] = twist[:, range(3), range(3)] = 1.0
    wrench[:, 3:, 3:] = twist[:, 3:, 3:] = free
    wrench[:, 3:, :3] = -np.einsum("tkx,tky->txy", dual_axes(axes), np.cross(axes, arm))
    return wrench, twist


def _shifted(arm: Array) -> Array:
    """Matrices (..., 6, 6) from the twist of a body at a point to the twist at `arm` from it."""
    matrix = np.zeros((*arm.shape[:-1], 6, 6))
    matrix[..., range(6), range(6)] = 1.0
    x, y, z = np.moveaxis(arm, -1, 0)
    matrix[..., 0, 4], matrix[..., 0, 5], matrix[..., 1, 5] = z, -y, x
    matrix[..., 1, 3], matrix[..., 2, 3], matrix[..., 2, 4] = -z, y, -x
    return matrix
