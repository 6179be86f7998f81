"""Muscle rows of the Jacobian with the explicit dependence on joint angles, which are functions of the coordinates too.

A driver row Phi = g(q) - h(theta) holds an angle, so along the constraints dtheta/dq = (dg/dq) / (dh/dtheta): the row
of the driver over minus its moment per unit multiplier (joint_drivers.py).
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.paths.paths import PathState


def muscle_rows(model: Model, motion: Motion, state: PathState) -> Array:
    """dL_MT/dq (T, n, N, 3) of paths in the poses of a motion, both of the model."""
    if not len(state.moving_dofs):
        return state.rows
    drivers = driver_rows(model, motion, base=False)
    dofs = state.moving_dofs
    gradient = -drivers.jacobian[:, dofs] / drivers.moment_factor[:, dofs, None, None]
    return state.rows + np.einsum("tnd,tdkx->tnkx", state.explicit, gradient)
