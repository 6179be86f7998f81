"""Finite differences of the formulas of a cost by the arrays of a problem.

With the step h, of the order of a thousandth of the arrays that change, and f_j = f(problem + j h d),

    df = (8 (f_1 - f_-1) - (f_2 - f_-2)) / (12 h),

with an error of about h^4 f^(5) / 30: eight digits and more are right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_change import ProblemChange

STEP = 1e-3
POSITIVE = ("force_capacity", "max_isometric_force", "optimal_fiber_length")
INSIDE = 0.4
"""Largest half width of the stencil, as a share of a number that must stay positive."""


def difference(of: Callable[[Problem], Array], problem: Problem, change: ProblemChange) -> Array:
    """The derivative of arrays (T, n), given as a function of the problem, along K directions, (K, T, n)."""
    found = []
    for number in range(change.directions):
        one = change.part(slice(number, number + 1))
        step = _step(problem, one)
        near, far = (
            np.asarray(of(one.moved(problem, j * step))) - np.asarray(of(one.moved(problem, -j * step)))
            for j in (1, 2)
        )
        found.append((8.0 * near - far) / (12.0 * step))
    return np.stack(found)


def _step(problem: Problem, change: ProblemChange) -> float:
    step = np.inf
    for name, direction in change.given().items():
        own, along = np.broadcast_arrays(getattr(problem, name), direction[0])
        own, along = np.abs(np.nan_to_num(own)), np.abs(np.nan_to_num(along))
        largest = along.max(initial=0.0)
        if largest == 0.0:
            continue
        step = min(step, STEP * (own.max(initial=0.0) or 1.0) / largest)
        if name in POSITIVE:
            moving = (own > 0) & (along > 0)
            step = min(step, 0.5 * INSIDE * (own[moving] / along[moving]).min(initial=np.inf))
    return float(step) if np.isfinite(step) else STEP
