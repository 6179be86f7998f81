"""Where Ipopt starts."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array
from musclesolve.trajectory.collocation.motion_between_frames import between
from musclesolve.trajectory.collocation.programme import Programme
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_problem import MotionProblem

ACTIVATION = 0.1
HIGHEST = 2.5
_STEPS = 50


def first_guess(programme: Programme, problem: MotionProblem, given: tuple[Array, Array] | None) -> Array:
    """The x of states and activations (T, n) of the frames: a spline, and straight lines, between these.

    Without any: the activation 0.1, and the tendons in balance with it at rest.

    Raises:
        InputError: arrays that do not fit.
    """
    from scipy.interpolate import CubicSpline

    shape = problem.musculotendon_length.shape
    if given is None:
        activation = np.clip(np.full(shape, ACTIVATION), problem.lower, problem.upper)
        given = balanced(problem, activation), activation
    z, activation = (
        check_array(part, name, shape, real=True, where="start")
        for part, name in zip(given, ("the tendon coordinate", "the activation"), strict=True)
    )
    curve, points = CubicSpline(problem.time, z), programme.problem.time
    return programme.start(curve(points), curve(points, 1), between(problem.time, activation, points))


def balanced(problem: MotionProblem, activation: Array) -> Array:
    """A z at which tendons at rest balance activations (T, n), by bisection."""
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    still = np.zeros_like(activation)
    low, high = problem.muscles.start + still, HIGHEST + still
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        slack = equilibrium(problem.muscles, *lengths, middle, still).imbalance(activation) < 0.0
        low, high = np.where(slack, middle, low), np.where(slack, high, middle)
    return low
