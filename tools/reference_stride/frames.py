"""Everything that the aims ask of one frame, and its derivatives, all frames at once."""

from __future__ import annotations

import numpy as np

from muscle_db.model import LEG_DOFS
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.studies.synthetic.reference_stride import StrideSubject

Array = np.ndarray

SIDES = ("r", "l")
CHUNK = 400
"""Frames evaluated together; more need memory and are no faster."""


def evaluate(person: StrideSubject, given: Array) -> Array:
    """Heels and balls, leg moments, residual (T, 32) of coordinates, derivatives and wrenches (T, 144)."""
    model, count = person.model, len(person.model.topology.dof_names)
    states = np.split(given[:, : 3 * count], 3, axis=1)
    motion = motion_from(model, np.zeros(len(given)), *states)
    wrenches, points = [], []
    for k, side in enumerate(SIDES):
        heel, ball = motion.q[:, model.slot(f"heel_{side}")], motion.q[:, model.slot(f"toe_{side}")]
        wrench = given[:, 3 * count + 6 * k :][:, :6]
        wrenches.append(Wrench(f"foot_{side}", wrench[:, :3], np.cross(ball, wrench[:, :3]) + wrench[:, 3:]))
        points += [heel, ball]
    moments = projected_moments(model, motion, wrenches)
    legs = [moments[:, model.dof(f"{name}_{side}")] for side in SIDES for name in LEG_DOFS]
    return np.column_stack([*points, *legs, moments[:, -6:]])


def linearized(person: StrideSubject, given: Array, varied: Array) -> tuple[Array, Array]:
    """Results (T, 32) and their derivatives (T, 32, len(varied)) by one-sided differences.

    Args:
        person: the person.
        given: (T, 144) inputs.
        varied: which inputs are varied.
    """
    step = np.full(given.shape[1], 1e-6)
    step[2 * len(person.model.topology.dof_names) :] = 1.0  # linear in accelerations and wrenches
    base = evaluate(person, given)
    shifted = np.repeat(given[None], len(varied), axis=0)
    shifted[np.arange(len(varied)), :, varied] += step[varied][:, None]
    rows = shifted.reshape(-1, given.shape[1])
    blocks = [evaluate(person, rows[k : k + CHUNK]) for k in range(0, len(rows), CHUNK)]
    results = np.concatenate(blocks).reshape(len(varied), *base.shape)
    slopes = (results - base) / step[varied][:, None, None]
    return base, np.moveaxis(slopes, 0, -1)
