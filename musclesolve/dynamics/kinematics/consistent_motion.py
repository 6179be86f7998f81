"""The consistent motion of what was measured: positions by one of two methods, derivatives by one of two."""

from __future__ import annotations

from collections.abc import Callable

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_increasing
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.kinematics.driven_pose import drive_pose
from musclesolve.dynamics.kinematics.joint_coordinates import motion_with
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, differentiate
from musclesolve.dynamics.kinematics.pose_fit import Fit, fit_pose
from musclesolve.dynamics.model.model import Model


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
        method: "nearest" (`fit_pose`) or "joint_angles" (`drive_pose`).
        derivatives: "constraints" (`differentiate`) or "splines" (`differentiate_points`).
        start: (T, K+6) coordinates near the answer, as in `fit_pose`.

    Raises:
        InputError: an unknown method; fewer than six frames; no point of the base was measured.
        MuscleSolveError: frames that do not converge.
    """
    for name, known in ((method, METHODS), (derivatives, DERIVATIVES)):
        if name not in known:
            raise unknown_name(name, "way to consistency", known)
    fit = METHODS[method](model, targets, time, start=start)
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


METHODS: dict[str, Callable[..., Fit]] = {"nearest": fit_pose, "joint_angles": drive_pose}

DERIVATIVES: dict[str, Callable[[Model, Array, Fit], Motion]] = {
    "constraints": lambda model, time, fit: differentiate(model, time, fit.coordinates),
    "splines": lambda model, time, fit: differentiate_points(model, time, fit.coordinates, fit.q),
}
