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

A foot touches the ground where its vertical force exceeds SMALLEST_FORCE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import SMALLEST_FORCE, center_of_pressure
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.mass_matrix import mass_matrix, weight_force
from musclesolve.dynamics.model.model import Model

POINT_ROWS, FOOT_ROWS = 3, 6
CONTACTS = {"point": POINT_ROWS, "foot": FOOT_ROWS}
"""Contact models, and how many constraint rows a foot has."""
OTHER_PARTS = ("gravity", "motion", "free_moment", "other_moments", "residual")
"""Parts that are no actuator."""


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
    model: Model, motion: Motion, wrenches: list[Wrench], forces: Mapping[str, Array]
) -> dict[str, InducedAccelerations]:
    """Accelerations and ground reactions by each of some forces, by gravity, and by all that is left.

    Args:
        model: of the body.
        motion: of T frames.
        wrenches: measured ground reactions of the feet.
        forces: name -> generalized force (T, K+6) of actuators [N m, N], such as moment arm times muscle force.

    Returns:
        For each of the contact models the shares of `forces`, then of OTHER_PARTS: gravity, motion (velocities and the
        acceleration of the ground contact), free_moment (zero with "foot", where the contact bears it), other_moments
        (joint moments that no force of `forces` makes) and residual (force and moment that act on the base in the
        recorded motion).
    """
    tree, joints, frames = model.tree, model.tree.joint_count, len(motion.q)
    directions = tree.allowed(motion.q, motion.origin).reshape(frames, -1, joints + 6)
    basic = mass_matrix(model.rigid_bodies, model.basic_mass, motion.q)
    mass = np.swapaxes(directions, 1, 2) @ basic.reshape(frames, directions.shape[1], -1) @ directions

    feet = [model.body(wrench.body) for wrench in wrenches]
    touching = np.stack([wrench.force[:, 2] > SMALLEST_FORCE for wrench in wrenches], axis=1)
    pressed = np.stack([center_of_pressure(wrench.force, wrench.moment) for wrench in wrenches], axis=1)
    points = np.where(touching[:, :, None], pressed, 0.0)
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
    turning = np.zeros_like(moments)
    for k, wrench in enumerate(wrenches):
        about = np.einsum("tkx,tx->tk", spin[:, k], wrench.about(points[:, k]))
        turning += about * touching[:, k, None]
        # what a foot carries that does not touch by definition goes to the residual
        residual += (about + np.einsum("tkx,tx->tk", reach[:, k], wrench.force)) * ~touching[:, k, None]
    acting = {**forces, **dict(zip(OTHER_PARTS, (gravity, velocity, turning, other, residual), strict=True))}
    generalized = np.stack(list(acting.values()), axis=2)
    names = tuple(acting)
    of_gravity, of_motion, of_turning, _, of_residual = range(len(forces), len(names))

    found = {}
    for contact, size in CONTACTS.items():
        # each foot has `size` rows: the acceleration of its point, then that of its turning
        rows = np.concatenate([reach, spin], axis=3)[..., :size].transpose(0, 1, 3, 2)
        held = np.repeat(touching, size, axis=1)
        jacobian = rows.reshape(frames, -1, joints + 6) * held[:, :, None]
        own = generalized.copy()
        if size == FOOT_ROWS:
            own[:, :, of_turning] = 0.0
        right = np.zeros((frames, jacobian.shape[1], len(names)))
        right[:, :, of_motion] = (jacobian @ motion.speed_rates[:, :, None])[:, :, 0]
        free = np.linalg.solve(mass, np.concatenate([own, np.swapaxes(jacobian, 1, 2)], axis=2))
        alone, by_contact = free[:, :, : len(names)], free[:, :, len(names) :]
        stiffness = jacobian @ by_contact
        stiffness[:, np.arange(held.shape[1]), np.arange(held.shape[1])] += ~held
        reaction = np.linalg.solve(stiffness, right - jacobian @ alone)
        accelerations = alone + by_contact @ reaction

        ground = reaction.reshape(frames, len(feet), size, -1)[:, :, :3].transpose(0, 3, 1, 2)
        center = ground.sum(axis=2) / model.mass.total
        center[:, of_gravity] += model.gravity
        center[:, of_residual] += residual[:, joints : joints + 3] / model.mass.total
        found[contact] = InducedAccelerations(
            names, np.swapaxes(accelerations, 1, 2), center, ground, touching
        )
    return found
