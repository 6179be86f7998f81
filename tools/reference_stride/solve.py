"""Levenberg-Marquardt on the rows of the problem."""

from __future__ import annotations

import numpy as np
from aims import Problem

Array = np.ndarray


def solve(problem: Problem, iterations: int = 40, tolerance: float = 1e-4, verbose: bool = True) -> Array:
    """Unknowns (P,) of the nearest stride.

    Args:
        problem: what to bring down.
        iterations: most evaluations.
        tolerance: relative fall of the sum of squares at which it is done.
        verbose: print the sum of squares on the way.
    """
    unknowns, damping = problem.start(), 1e-3
    cost, normal, gradient = _quadratic(problem, unknowns)
    for iteration in range(iterations):
        # Every unknown is damped in proportion to its own curvature; the floor keeps unused ones in place.
        scale = np.diag(normal) + 1e-9 * np.trace(normal) / len(normal)
        step = np.linalg.solve(normal + damping * np.diag(scale), -gradient)
        trial = _quadratic(problem, unknowns + step)
        if verbose:
            print(
                f"{iteration:3d}  sum of squares {cost:14.2f} -> {trial[0]:14.2f}  damping {damping:.1e}",
                flush=True,
            )
        if trial[0] >= cost:
            damping *= 8.0
            continue
        done = cost - trial[0] < tolerance * cost
        unknowns, damping = unknowns + step, max(damping / 6.0, 1e-9)
        cost, normal, gradient = trial
        if done:
            break
    return unknowns


def _quadratic(problem: Problem, unknowns: Array) -> tuple[float, Array, Array]:
    """Sum of squares, normal matrix and half its gradient."""
    rows = problem.rows(unknowns)
    value, slope = np.concatenate(rows.values), np.concatenate(rows.slopes)
    return float(value @ value), slope.T @ slope, slope.T @ value
