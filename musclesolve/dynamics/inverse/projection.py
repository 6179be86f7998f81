"""Projection on allowed and on prohibited directions (Blajer & Czaplicki 2005): joint reactions without inversion.

Absolute coordinates: the velocity of the center of mass and the angular velocity of every body that has mass; forces
come before moments. With s the speeds of the degrees of freedom and z the prohibited relative motions of the joints,

    v = D s + E z    (2.4)      C D = 0  (2.6)      C E = 1  (2.7)      M vd = h - C^T lambda  (2.2)

D and E are closed forms: a joint's prohibited motions are the three translations of all that is distal to it, and its
rotations about the directions perpendicular to its axes. From the accelerations vd = D sd + gamma follow

    lambda = E^T (h - M (D sd + gamma))                          (2.10), no matrix inverted
    lambda = (C M^-1 C^T)^-1 C (M^-1 h - gamma)                  (2.11), the classical formula

lambda is the force and moment of the distal body on the proximal one; reported is what the distal body receives. In
natural coordinates the same formulas hold with C = Phi_q, whose pseudo-inverse E comes from the geometry alone.

Massless bodies and crosses between two bodies are part of the joint between these, which then has up to three axes.
Where their pivots differ (the shoulder girdle), a force in the joint also has a moment about the axes, which its own
moment must balance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.joint_couples import dual_axes
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import MuscleSolveError


@dataclass(frozen=True)
class AbsoluteSystem:
    """All matrices of the projection, for every frame, over links (L), constraints (c) and speeds (k = K+6).

    allowed D (T, L, 6, k); prohibited E (T, L, 6, c); constraint C (T, c, L, 6); mass M (T, L, 6, 6); applied h,
    acceleration vd and gamma (T, L, 6). h includes the actuators: moments (T, k), which are couples (T, J, 3) on the
    distal body of each joint, about its point (T, J, 3), and make up with the reactions all that the joint transmits.
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
    """Everything that (2.2) to (2.11) contain, for a model in motion under external forces."""
    links = Links.build(model, tuple(wrench.body for wrench in wrenches))
    segments = segment_motion(model, motion)
    center = segments.center[:, links.bodies]
    allowed = allowed_motions(model, motion, links, center)
    moments = projected_moments(model, motion, wrenches)
    bases = [joint_bases(model, motion, joint) for joint in links.joints]
    sizes = np.cumsum([0] + [basis[0].shape[2] for basis in bases])
    columns = tuple(slice(int(a), int(b)) for a, b in pairwise(sizes))
    points = np.stack([motion.q[:, joint.pivot] for joint in links.joints], axis=1)
    mass, inertial = link_inertia(model, segments, links.bodies)
    applied = external_forces(model, motion, links, center, wrenches) + inertial
    couples = actuator_couples(model, motion, links, moments)
    applied += actuator_forces(model, motion, links, center, couples, moments)
    acceleration = np.concatenate(
        [segments.center_acceleration[:, links.bodies], segments.acceleration[:, links.bodies]], axis=2
    )
    return AbsoluteSystem(
        links=links,
        allowed=allowed,
        prohibited=prohibited_motions(model, links, center, points, [twist for _, twist in bases], columns),
        constraint=constraint_rows(links, center, points, [wrench for wrench, _ in bases], columns),
        mass=mass,
        applied=applied,
        acceleration=acceleration,
        gamma=acceleration - np.einsum("tlxk,tk->tlx", allowed, motion.speed_rates),
        moments=moments,
        couples=couples,
        points=points,
        columns=columns,
        wrench_basis=tuple(wrench for wrench, _ in bases),
    )


def reactions_by_projection(system: AbsoluteSystem) -> Array:
    """Multipliers (T, c) by (2.10): the forces on the prohibited directions; no matrix is inverted."""
    needed = system.applied - np.einsum("tlxy,tly->tlx", system.mass, system.acceleration)
    return np.einsum("tlxc,tlx->tc", system.prohibited, needed)


def reactions_classical(system: AbsoluteSystem) -> Array:
    """Multipliers (T, c) by (2.11), the classical formula.

    Raises:
        MuscleSolveError: a link has no mass, so that M cannot be inverted; names it.
    """
    light = np.flatnonzero(np.linalg.eigvalsh(system.mass).min(axis=(0, 2)) <= 0.0)
    if light.size:
        raise MuscleSolveError(
            f"the mass matrix is singular: {', '.join(system.links.names[link] for link in light)} without mass or "
            "inertia. Give them some, or use the formula that does not invert the mass matrix (2.10)."
        )
    inverse = np.linalg.inv(system.mass)
    constraint = system.constraint
    eased = np.einsum("tclx,tlxy->tcly", constraint, inverse)
    matrix = np.einsum("tcly,tdly->tcd", eased, constraint)
    free = np.einsum("tlxy,tly->tlx", inverse, system.applied) - system.gamma
    right = np.einsum("tclx,tlx->tc", constraint, free)
    return np.linalg.solve(matrix, right[..., None])[..., 0]


def joint_wrenches(system: AbsoluteSystem, multipliers: Array) -> tuple[Array, Array]:
    """What the distal body of every joint receives from its constraints: force and moment about the pivot (T, J, 3)."""
    parts = [
        -np.einsum("txc,tc->tx", basis, multipliers[:, columns])
        for basis, columns in zip(system.wrench_basis, system.columns, strict=True)
    ]
    both = np.stack(parts, axis=1)
    return both[..., :3], both[..., 3:]


@dataclass(frozen=True)
class Joint:
    """A joint between two links, by their places among the links, its degrees of freedom and its pivot's slot."""

    proximal: int
    distal: int
    dofs: Indices
    pivot: int


@dataclass(frozen=True)
class Links:
    """The bodies that have mass, or an external force, and the joints between them."""

    bodies: Indices
    names: tuple[str, ...]
    joints: tuple[Joint, ...]

    @classmethod
    def build(cls, model: Model, loaded: tuple[str, ...] = ()) -> Links:
        """Links of a model; massless bodies stay links where more than three axes would meet in one joint."""
        tree, mass = model.tree, model.mass.mass
        light = [
            b
            for b in np.flatnonzero(mass == 0.0)
            if b != tree.root and model.topology.bodies[b].name not in loaded
        ]
        some = cls._between(model, np.setdiff1d(np.arange(len(mass)), light))
        if all(len(joint.dofs) <= 3 for joint in some.joints):
            return some
        return cls._between(model, np.arange(len(mass)))

    @classmethod
    def _between(cls, model: Model, bodies: Indices) -> Links:
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
                joints.append(Joint(proximal, int(distal), dofs, int(tree.pivot[dofs[-1]])))
        names = tuple(model.topology.bodies[body].name for body in bodies)
        return cls(bodies, names, tuple(joints))


def shifted(arm: Array) -> Array:
    """(…, 6, 6): from the velocity and angular velocity at a point to those of the same body at `arm` from there."""
    matrix = np.zeros((*arm.shape[:-1], 6, 6))
    matrix[..., range(6), range(6)] = 1.0
    x, y, z = np.moveaxis(arm, -1, 0)
    matrix[..., 0, 4], matrix[..., 0, 5], matrix[..., 1, 5] = z, -y, x
    matrix[..., 1, 3], matrix[..., 2, 3], matrix[..., 2, 4] = -z, y, -x
    return matrix


def allowed_motions(model: Model, motion: Motion, links: Links, center: Array) -> Array:
    """D: a rotation about an axis moves the centers of mass of all links beyond it (2.4)."""
    tree, q, joints = model.tree, motion.q, model.tree.joint_count
    rotations = np.concatenate([tree.axes(q), np.broadcast_to(np.eye(3), (len(q), 3, 3))], axis=1)
    pivots = np.concatenate([q[:, tree.pivot], np.repeat(motion.origin[:, None], 3, axis=1)], axis=1)
    moved = np.column_stack([tree.distal_frames[links.bodies], np.ones((len(links.bodies), 3))])[:, :, None]
    linear = np.cross(rotations[:, None], center[:, :, None] - pivots[:, None]) * moved
    angular = rotations[:, None] * moved
    allowed = np.zeros((len(q), len(links.bodies), 6, joints + 6))
    columns = np.r_[:joints, joints + 3 : joints + 6]
    allowed[..., :3, columns] = np.swapaxes(linear, 2, 3)
    allowed[..., 3:, columns] = np.swapaxes(angular, 2, 3)
    allowed[..., range(3), range(joints, joints + 3)] = 1.0
    return allowed


def joint_bases(model: Model, motion: Motion, joint: Joint) -> tuple[Array, Array]:
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


def constraint_rows(
    links: Links, center: Array, points: Array, wrenches: list[Array], columns: tuple[slice, ...]
) -> Array:
    """C: relative velocity of the two bodies at the pivot, distal minus proximal, along the constraint wrenches
    (2.1).
    """
    frames, count = center.shape[:2]
    constraint = np.zeros((frames, columns[-1].stop if columns else 0, count, 6))
    for j, joint in enumerate(links.joints):
        for link, sign in ((joint.distal, 1.0), (joint.proximal, -1.0)):
            at_pivot = shifted(points[:, j] - center[:, link])
            constraint[:, columns[j], link] = sign * np.einsum("txc,txy->tcy", wrenches[j], at_pivot)
    return constraint


def prohibited_motions(
    model: Model, links: Links, center: Array, points: Array, twists: list[Array], columns: tuple[slice, ...]
) -> Array:
    """E: a prohibited twist of a joint moves all links beyond it as one body (2.4)."""
    frames, count = center.shape[:2]
    prohibited = np.zeros((frames, count, 6, columns[-1].stop if columns else 0))
    for j, joint in enumerate(links.joints):
        beyond = model.tree.distal_frames[links.bodies][:, joint.dofs].all(axis=1)
        at_center = shifted(center[:, beyond] - points[:, None, j])
        prohibited[:, beyond, :, columns[j]] = np.einsum("tlxy,tyc->tlxc", at_center, twists[j])
    return prohibited


def link_inertia(model: Model, segments: SegmentMotion, bodies: Indices) -> tuple[Array, Array]:
    """M (T, L, 6, 6), and weight with the gyroscopic moment -w x I w (T, L, 6)."""
    rotation, spin, mass = segments.rotation[:, bodies], segments.velocity[:, bodies], model.mass.mass[bodies]
    inertia = rotation @ model.mass.inertia[bodies] @ np.swapaxes(rotation, -1, -2)
    matrix = np.zeros((*spin.shape[:2], 6, 6))
    matrix[..., :3, :3], matrix[..., 3:, 3:] = mass[:, None, None] * np.eye(3), inertia
    gyroscopic = -np.cross(spin, np.einsum("tlxy,tly->tlx", inertia, spin))
    weight = np.broadcast_to(mass[:, None] * model.gravity, spin.shape)
    return matrix, np.concatenate([weight, gyroscopic], axis=2)


def external_forces(
    model: Model, motion: Motion, links: Links, center: Array, wrenches: list[Wrench]
) -> Array:
    """External forces and moments at the centers of mass (T, L, 6)."""
    applied = np.zeros((*center.shape[:2], 6))
    for wrench in wrenches:
        link = int(np.flatnonzero(links.bodies == model.body(wrench.body))[0])
        applied[:, link] += np.concatenate([wrench.force, wrench.about(center[:, link])], axis=1)
    return applied


def actuator_couples(model: Model, motion: Motion, links: Links, moments: Array) -> Array:
    """Couples (T, J, 3) on the distal body of every joint that do the work of its moments about its axes."""
    axes = model.tree.axes(motion.q)
    parts = [
        np.einsum("tkx,tk->tx", dual_axes(axes[:, joint.dofs]), moments[:, joint.dofs])
        for joint in links.joints
    ]
    return np.stack(parts, axis=1)


def actuator_forces(
    model: Model, motion: Motion, links: Links, center: Array, couples: Array, moments: Array
) -> Array:
    """Joint actuators as couples on distal and proximal body, and the residual wrench on the base (T, L, 6)."""
    applied, joints = np.zeros((*center.shape[:2], 6)), model.tree.joint_count
    for j, joint in enumerate(links.joints):
        applied[:, joint.distal, 3:] += couples[:, j]
        applied[:, joint.proximal, 3:] -= couples[:, j]
    root = int(np.flatnonzero(links.bodies == model.tree.root)[0])
    force, arm = moments[:, joints : joints + 3], motion.origin - center[:, root]
    applied[:, root, :3] += force
    applied[:, root, 3:] += moments[:, joints + 3 :] + np.cross(arm, force)
    return applied
