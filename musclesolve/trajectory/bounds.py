"""Between which values the tendon coordinate of each muscle lies."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.local_equilibrium import equilibrium
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem

LARGEST_COORDINATE = 2.5
"""Two and a half times the strain at one maximum isometric force: no muscle pulls as hard."""
_STEPS = 60


def coordinate_bounds(problem: MotionProblem, cost: MotionCost) -> tuple[Array, Array]:
    """(T, n) each: from where the tendon has no force to where the domain of the cost ends.

    The active force f - p grows with z, since the tendon pulls harder and the fiber becomes shorter; the bound is the z
    where it is the largest force of the cost.
    """
    shape = problem.musculotendon_length.shape
    lower = np.broadcast_to(problem.muscles.start, shape)
    upper = np.full(shape, LARGEST_COORDINATE)
    largest = cost.largest_force()
    if not np.isfinite(largest).any():
        return lower, upper
    low, high = lower.copy(), upper
    for _ in range(_STEPS):  # bisection, to the last digit
        middle = 0.5 * (low + high)
        above = _active(problem, middle) > largest
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return lower, np.maximum(low, lower)


def _active(problem: MotionProblem, z: Array) -> Array:
    lengths = problem.musculotendon_length, problem.musculotendon_velocity
    return equilibrium(problem.muscles, *lengths, z, np.zeros_like(z)).active.value
