"""The pose as it was measured, without any step that makes it fit the model (the "non-consistent" data of Silva 2003).

Measured points and axes go into q where they were seen, so distances between them change from frame to frame and
Phi(q) = 0 is violated. Vectors that nobody measured, and points without a marker, are those of the nearest pose.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.pose_fit import Fit, fit_pose
from musclesolve.dynamics.model.model import Model


def measured_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
    start: Array | None = None,
) -> Fit:
    """Every measured point and axis where it was measured; joint coordinates are those of the nearest pose.

    No point is moved, so the residual is zero; how far the constraints are from being met is
    `model.constraints.violation(fit.q)`. Arguments and exceptions are those of `fit_pose`.
    """
    nearest = fit_pose(model, targets, time, tolerance, max_iterations, start)
    q = nearest.q.copy()
    q[:, targets.slots] = targets.values
    return replace(nearest, q=q, residual=np.zeros_like(nearest.residual))
