"""Inverse dynamics by two routes that share nothing but the equations of motion M qdd + Phi_q^T lambda = g."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import AnyArray
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames, external_on_bodies
from musclesolve.dynamics.kinematics.base_driver import residual_about_origin
from musclesolve.dynamics.kinematics.frame_blocks import blocks
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.mass_matrix import inertia_on_bodies, weight_on_bodies
from musclesolve.dynamics.model.model import Model

_BLOCK = 64
"""Frames solved together: the whole system of the human takes some hundred kilobytes a frame."""


def required_force(model: Model, motion: Motion, wrenches: list[Wrench]) -> AnyArray:
    """M qdd - g, (T, N, 3): the generalized force that joints and actuators together must supply."""
    elements, q = model.elements, motion.q
    # On the bodies first: what is added up there goes over to the generalized coordinates once.
    force = inertia_on_bodies(elements, model.basic_mass, q, motion.qd, motion.qdd)
    force = (
        force - weight_on_bodies(elements, model.mass, model.gravity) - external_on_bodies(model, q, wrenches)
    )
    return elements.generalized(q, force)


def projected_moments(model: Model, motion: Motion, wrenches: list[Wrench]) -> AnyArray:
    """Generalized forces of all degrees of freedom by projection, tau = D^T (M qdd - g) (Blajer & Czaplicki 2005, 2.9).

    Returns:
        (T, K+6): joint moments about their axes [N m], then the residual force [N] and moment [N m] that the base
        would need from outside, global axes, about the origin of the layout (mid-hip).
    """
    check_frames(wrenches, len(motion.q))
    parts = []
    for block in blocks(len(motion.q)):
        some = motion.frames(block)
        needed = required_force(model, some, [wrench.frames(block) for wrench in wrenches])
        parts.append(model.tree.project(some.q, some.origin, needed))
    return np.concatenate(parts)


@dataclass(frozen=True)
class Multipliers:
    """Lagrange multipliers of the constraint rows (T, c) and the generalized forces of the drivers (T, K+6)."""

    constraint: AnyArray
    moments: AnyArray


def lagrange_multipliers(model: Model, motion: Motion, wrenches: list[Wrench]) -> Multipliers:
    """Solve Phi_q^T lambda = g - M qdd on the whole system, drivers included (Silva 2003, 2.83).

    The rows are independent and as many as there are coordinates, so lambda is unique. The multipliers of the
    drivers become moments by the factors of correction B3.
    """
    parts = []
    for block in blocks(len(motion.time), _BLOCK):
        acting = [wrench.frames(block) for wrench in wrenches]
        parts.append(_multipliers(model, motion.frames(block), acting))
    return Multipliers(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _multipliers(model: Model, motion: Motion, wrenches: list[Wrench]) -> tuple[AnyArray, AnyArray]:
    constraint, drivers = model.constraints.jacobian(motion.q), driver_rows(model, motion)
    (frames, rows), joints = constraint.shape[:2], model.tree.joint_count
    jacobian = np.concatenate([constraint, drivers.jacobian], axis=1).reshape(
        frames, -1, 3 * motion.q.shape[1]
    )
    needed = -required_force(model, motion, wrenches).reshape(frames, -1, 1)
    multipliers = np.linalg.solve(np.swapaxes(jacobian, 1, 2), needed)[..., 0]
    moments = drivers.moment_factor * multipliers[:, rows:]
    base = residual_about_origin(model, motion, moments[:, joints:])
    return multipliers[:, :rows], np.hstack([moments[:, :joints], base])
