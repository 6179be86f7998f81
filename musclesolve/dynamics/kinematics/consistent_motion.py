"""The consistent motion of what was measured: positions by one of two methods or none, derivatives by one of two.

`drive_pose` measures the joint angles body by body, then drives the model by them (Silva 2003, 5.3.1). Every body lies
where its own measured points and directions put it, whatever its neighbors do; the distances between them differ from
frame to frame. An angle is that between such a body and the one before it: the rotation about the axes of the joints
between them that brings the body's own points and directions nearest to those measured. Links keep the lengths of the
model, the base lies on its own points, and the pose follows along the tree, which is what Newton-Raphson on the driven
constraints (5.7) converges to.

What the joints cannot follow is not distributed among the points, as in `fit_pose`, but carried outwards: it adds up
along a chain, and ends (hands, feet, head) are moved most.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_increasing
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.kinematics.drive_plan import DrivePlan, drive_plan
from musclesolve.dynamics.kinematics.joint_coordinates import motion_with
from musclesolve.dynamics.kinematics.measured_pose import measured_pose
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, differentiate
from musclesolve.dynamics.kinematics.pose_fit import (
    Fit,
    fit_of,
    fit_pose,
    observable_dofs,
    rest_weights,
)
from musclesolve.dynamics.kinematics.pose_iteration import NearestPose, Pose
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan
from musclesolve.dynamics.vectors import blocks
from musclesolve.errors import InputError


def drive_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
    start: Array | None = None,
) -> Fit:
    """The pose of every frame with the base and the joint angles as they were measured, body by body.

    An angle that the measured points of no single body show has the value of the nearest pose; `borrowed` names it.
    Arguments and exceptions are those of `fit_pose`.
    """
    frames, joints = len(targets.values), model.tree.joint_count
    free, rest = observable_dofs(model, targets), rest_weights(model, targets)
    nearest = fit_pose(model, targets, time, tolerance, max_iterations, start)
    plan = drive_plan(model, targets, free)
    base = nearest.coordinates[:, joints:]
    near = Pose(nearest.coordinates[:, :joints], base[:, :3], from_cardan(*base[:, 3:].T))
    every = NearestPose(model, targets, free, rest, np.arange(frames) if time is None else time)
    parts = []
    for block in blocks(frames):
        parts.append(_driven(every.frames(block), plan, near.frames(block), tolerance, max_iterations))
    shown = np.zeros_like(free)
    shown[list(plan.shown)] = True
    borrowed = np.flatnonzero(free[:joints] & ~shown[:joints]).tolist()
    return fit_of(model, targets, Pose.joined(parts), np.flatnonzero(~free), borrowed)


def _driven(every: NearestPose, plan: DrivePlan, start: Pose, tolerance: float, limit: int) -> Pose:
    """Some frames: the angles that the bodies of the plan show, the others from the start, and the base."""
    poses = plan.poses(every, start, tolerance, limit)
    angles = start.angles.copy()
    for joint, solve in plan.shown.items():
        angles[:, joint] = poses[solve].angles[:, joint]
    root = poses[plan.base]
    return Pose(angles, root.position, root.rotation)


def consistent_motion(
    model: Model,
    targets: Targets,
    time: Array,
    method: str = "nearest",
    derivatives: str = "constraints",
    start: Array | None = None,
) -> tuple[Fit, Motion]:
    """Positions that satisfy every constraint, and their velocities and accelerations (Silva 2003, 5.3).

    Args:
        model: the model.
        targets: measured points and directions.
        time: (T,) [s].
        method: "nearest" (`fit_pose`), "joint_angles" (`drive_pose`), or "none": no step that makes positions satisfy
            the constraints (`measured_pose`).
        derivatives: "constraints" (`differentiate`) or "splines" (`differentiate_points`), the only ones of "none".
        start: (T, K+6) coordinates near the solution, as in `fit_pose`.

    Raises:
        InputError: an unknown method; derivatives by constraints that the positions do not satisfy; fewer than six
            frames; no point of the base was measured.
        MuscleSolveError: frames that do not converge.
    """
    for name, known in ((method, POSITIONS), (derivatives, DERIVATIVES)):
        if name not in known:
            raise unknown_name(name, "way to consistency", known)
    if method == UNCHANGED and derivatives != "splines":
        raise InputError(
            f'derivatives = "{derivatives}" with method = "{UNCHANGED}"',
            code="conflict",
            expected="splines: positions that violate the constraints have no rates that satisfy them",
            remedy='choose derivatives = "splines", or leave it out',
        )
    fit = POSITIONS[method](model, targets, time, start=start)
    return fit, DERIVATIVES[derivatives](model, time, fit)


def differentiate_points(model: Model, time: Array, coordinates: Array, q: Array) -> Motion:
    """Velocities and accelerations of every point and vector of q (T, N, 3) by quintic splines (Silva 2003, 5.3.2).

    Phi_q qd = 0 and Phi_q qdd = gamma hold but to the error of the splines, see `Constraints.rate_violation`. qd and
    qdd go into the equations of motion as they are; the speeds of the joints are those nearest to them (least
    squares).
    """
    from scipy.interpolate import make_interp_spline

    time = check_increasing(time, 6)
    spline = make_interp_spline(time, q, k=5)
    return motion_with(model, time, coordinates, q, spline(time, 1), spline(time, 2))


UNCHANGED = "none"
"""The method that leaves positions as they were measured."""

METHODS: dict[str, Callable[..., Fit]] = {
    "nearest": fit_pose,
    "joint_angles": drive_pose,
}
"""Ways to positions that satisfy every constraint."""

POSITIONS = METHODS | {UNCHANGED: measured_pose}

DERIVATIVES: dict[str, Callable[[Model, Array, Fit], Motion]] = {
    "constraints": lambda model, time, fit: differentiate(model, time, fit.coordinates),
    "splines": lambda model, time, fit: differentiate_points(model, time, fit.coordinates, fit.q),
}
