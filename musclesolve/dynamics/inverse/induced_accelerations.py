"""Induced accelerations: what each force contributes to the acceleration of the body and to the ground reactions.

In joint speeds u the equations of motion are linear in all forces,

    M(q) du/dt = sum_i Q_i + J^T f,        J du/dt = c,

with the generalized forces Q_i of muscles, gravity, velocities, joint moments that no muscle makes, and with ground
reactions f of the constraint rows J, the accelerations of what touches the ground. Each force Q_i is put into them
alone and gives its acceleration du_i/dt and its ground reaction f_i:

    f_i = (J M^-1 J^T)^-1 (c_i - J M^-1 Q_i),      du_i/dt = M^-1 (Q_i + J^T f_i)      (Zajac and Gordon 1989, Exerc
                                                                                      Sport Sci Rev 17:187-230)

c is the acceleration of the constraint rows in the recorded motion and belongs to the part `motion`; for all other
parts c_i = 0: the ground holds still. The parts add up to the recorded accelerations, and their ground reactions to the
measured ones, whatever the contact model; the share of each depends on it. Contact models:

    point    the point of the foot at the center of pressure has no acceleration (three rows a foot); the moment about
             it that was measured is a part of its own, `free_moment`
    foot     the whole foot has no linear and no angular acceleration (six rows)

A foot touches the ground where its vertical force exceeds LOADED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_choice
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.mass_matrix import mass_matrix, weight_force
from musclesolve.dynamics.model.model import Model

CONTACTS = ("point", "foot")
LOADED = 20.0
"""Vertical force beyond which a foot touches the ground [N]."""


@dataclass(frozen=True, eq=False)
class InducedAccelerations:
    """Shares of parts in accelerations and ground reactions of a motion of T frames.

    Attributes:
        parts: names of the P parts.
        joint (T, P, K+6): of the speeds of the model [rad/s2; m/s2 of the base].
        center (T, P, 3): of the center of mass [m/s2].
        ground (T, P, L, 3): ground reaction of each wrench [N], without the measured moments.
        touching (T, L): whether the foot touches the ground.
    """

    parts: tuple[str, ...]
    joint: Array
    center: Array
    ground: Array
    touching: Mask


def induced_accelerations(
    model: Model,
    motion: Motion,
    wrenches: list[Wrench],
    forces: Mapping[str, Array],
    contact: str = "point",
) -> InducedAccelerations:
    """Accelerations and ground reactions by each of some forces, by gravity, and by all that is left.

    Args:
        model: of the body.
        motion: of T frames.
        wrenches: measured ground reactions of the feet.
        forces: name -> generalized force (T, K+6) of actuators [N m, N], such as moment arm times muscle force.
        contact: "point" or "foot".

    Returns:
        The shares of `forces`, then of gravity, motion (velocities and the acceleration of the ground contact),
        free_moment (with "point"), other_moments (joint moments that no force of `forces` makes) and residual (force
        and moment that act on the base in the recorded motion).
    """
    check_choice(contact, "the contact model", CONTACTS)
    tree, joints, frames = model.tree, model.tree.joint_count, len(motion.q)
    directions = tree.allowed(motion.q, motion.origin).reshape(frames, -1, joints + 6)
    basic = mass_matrix(model.rigid_bodies, model.basic_mass, motion.q)
    mass = np.swapaxes(directions, 1, 2) @ basic.reshape(frames, directions.shape[1], -1) @ directions

    feet = [model.body(wrench.body) for wrench in wrenches]
    touching = np.stack([wrench.force[:, 2] > LOADED for wrench in wrenches], axis=1)
    points = np.stack([_center_of_pressure(wrench) for wrench in wrenches], axis=1)
    spin, reach = tree.body_directions(motion.q, motion.origin, np.array(feet), points)

    # generalized forces: what acts, and the rest of the equations in the recorded motion
    moments = projected_moments(model, motion, wrenches)
    gravity = tree.project(
        motion.q, motion.origin, weight_force(model.rigid_bodies, model.mass, motion.q, model.gravity)
    )
    rigid = (mass @ motion.speed_rates[:, :, None])[:, :, 0]
    velocity = rigid - (projected_moments(model, motion, []) + gravity)
    other = moments.copy()
    for force in forces.values():
        other -= force
    residual = np.zeros_like(moments)
    residual[:, joints:] = other[:, joints:]
    other[:, joints:] = 0.0
    acting = {**forces, "gravity": gravity, "motion": velocity}
    if contact == "point":
        about = [wrench.about(points[:, k]) for k, wrench in enumerate(wrenches)]
        acting["free_moment"] = sum(
            (
                np.einsum("tkx,tx->tk", spin[:, k], moment * touching[:, k, None])
                for k, moment in enumerate(about)
            ),
            start=np.zeros_like(moments),
        )
    # what a foot carries that does not touch by definition goes to the other moments
    for k, wrench in enumerate(wrenches):
        light = ~touching[:, k, None]
        left = np.einsum("tkx,tx->tk", spin[:, k], wrench.about(points[:, k]) * light)
        residual += left + np.einsum("tkx,tx->tk", reach[:, k], wrench.force * light)
    acting |= {"other_moments": other, "residual": residual}

    rows = np.concatenate(
        [
            np.concatenate([reach[:, k], spin[:, k]][: 1 + (contact == "foot")], axis=2)
            for k in range(len(feet))
        ],
        axis=2,
    )
    held = np.repeat(touching, rows.shape[2] // len(feet), axis=1)
    jacobian = np.swapaxes(rows, 1, 2) * held[:, :, None]
    generalized = np.stack(list(acting.values()), axis=2)
    right = np.zeros((frames, jacobian.shape[1], len(acting)))
    right[:, :, list(acting).index("motion")] = (jacobian @ motion.speed_rates[:, :, None])[:, :, 0]
    free = np.linalg.solve(mass, np.concatenate([generalized, np.swapaxes(jacobian, 1, 2)], axis=2))
    alone, by_contact = free[:, :, : len(acting)], free[:, :, len(acting) :]
    stiffness = jacobian @ by_contact
    stiffness[:, np.arange(held.shape[1]), np.arange(held.shape[1])] += ~held
    reaction = np.linalg.solve(stiffness, right - jacobian @ alone)
    accelerations = alone + by_contact @ reaction

    size = rows.shape[2] // len(feet)
    ground = reaction.reshape(frames, len(feet), size, -1)[:, :, :3].transpose(0, 3, 1, 2)
    center = ground.sum(axis=2) / model.mass.total
    center[:, list(acting).index("gravity")] += model.gravity
    own = residual[:, joints : joints + 3] / model.mass.total
    center[:, list(acting).index("residual")] += own
    return InducedAccelerations(tuple(acting), np.swapaxes(accelerations, 1, 2), center, ground, touching)


def _center_of_pressure(wrench: Wrench) -> Array:
    """The point (T, 3) [m] of the ground, z = 0, about which the wrench has no horizontal moment."""
    vertical = np.where(wrench.force[:, 2] > LOADED, wrench.force[:, 2], np.inf)
    x = -wrench.moment[:, 1] / vertical
    y = wrench.moment[:, 0] / vertical
    return np.stack([x, y, np.zeros_like(x)], axis=1)
