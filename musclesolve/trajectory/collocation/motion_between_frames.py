"""A motion at times between its frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.motion_problem import MotionProblem


def motion_at(problem: MotionProblem, time: Array) -> MotionProblem:
    """The problem with other times (S,) [s] for its frames, all within the motion.

    Musculotendon lengths follow the cubic Hermite spline through lengths and velocities of the frames, velocities are
    its rates; moment arms and moments follow cubic splines (`moment_interpolation`); bounds, reserve weights and
    measured activations are straight between two frames.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    if np.array_equal(time, problem.time):
        return problem
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    length = CubicHermiteSpline(problem.time, *lengths)
    straight: dict[str, Any] = {
        name: None if getattr(problem, name) is None else between(problem.time, getattr(problem, name), time)
        for name in ("lower", "upper", "reserve_weight", "emg")
    }
    return replace(
        problem,
        time=time,
        moment_arm=CubicSpline(problem.time, problem.moment_arm)(time),
        moment=moment_interpolation(problem.time, time) @ problem.moment,
        musculotendon_length=length(time),
        musculotendon_velocity=length.derivative()(time),
        **straight,
    )


def moment_interpolation(time: Array, new: Array) -> Array:
    """The matrix (S, T) of the cubic spline through values at times (T,), at other times (S,)."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(time, np.eye(len(time)))(new))


def between(time: Array, values: Array, new: Array) -> Array:
    """Values (T, k) at other times (S,), on the straight line through the nearest two; exact at their own times."""
    before = np.clip(np.searchsorted(time, new, side="right") - 1, 0, len(time) - 2)
    share = ((new - time[before]) / (time[before + 1] - time[before]))[:, None]
    # a value that is not known (NaN) spoils only what lies between it and its neighbors
    first, last = np.where(share == 1.0, 0.0, values[before]), np.where(share == 0.0, 0.0, values[before + 1])
    return np.asarray((1.0 - share) * first + share * last)
