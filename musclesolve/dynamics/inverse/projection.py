"""Projection on allowed and on prohibited directions (Blajer & Czaplicki 2005): joint reactions without inversion.

Absolute coordinates: the velocity of the center of mass and the angular velocity of every body that has mass. With s
the speeds of the degrees of freedom and z the prohibited relative motions of the joints,

    v = D s + E z    (2.4)      C D = 0  (2.6)      C E = 1  (2.7)      M vd = h - C^T lambda  (2.2)

D and E are closed forms: a joint's prohibited motions are the three translations of all that is distal to it, and its
rotations about the directions perpendicular to its axes. From the accelerations vd = D sd + gamma follow

    lambda = E^T (h - M (D sd + gamma))                          (2.10), no matrix inverted
    lambda = (C M^-1 C^T)^-1 C (M^-1 h - gamma)                  (2.11), the classical formula

lambda is the force and moment of the distal body on the proximal one; reported is what the distal body receives. In
natural coordinates the same formulas hold with C = Phi_q, whose pseudo-inverse E comes from the geometry alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.inverse.absolute_coordinates import (
    Links,
    actuator_couples,
    actuator_forces,
    allowed_motions,
    constraint_rows,
    external_forces,
    joint_bases,
    link_inertia,
    prohibited_motions,
)
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import segment_motion
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
