"""The structured interior point from a static start to a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.attempt import MotionAttempt
from musclesolve.trajectory.certificate import Certifier
from musclesolve.trajectory.interior_point import InteriorPoint
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem

GOOD, GOOD_ENOUGH = 1e-7, 1e-6
"""Certificates with which it ends: at once, and when it gets no better."""
PATIENCE = 4
CLOSE = 1e-9
"""Products of multipliers and distances from which on certificates are worth computing."""
LEAST_EVER = 1e-18
STUCK, STUCK_STEPS = 0.02, 12


@dataclass(frozen=True)
class Structured:
    """Options: the most iterations."""

    max_iterations: int = 150
    name: str = "structured"

    def solve(self, problem: MotionProblem, cost: MotionCost, force: Array) -> MotionAttempt:
        """The best attempt from tendon forces over F0 (T, n) to begin with."""
        z = problem.muscles.curves.tendon.inverse(np.maximum(force, FIRST_FORCE))
        method, certifier = InteriorPoint(problem, cost, z), Certifier(problem, cost)
        best, residual, since, short_steps = method.attempt(0), np.inf, 0, 0
        with np.errstate(all="ignore"):
            for iteration in range(1, self.max_iterations + 1):
                if not method.step():
                    break
                short_steps = short_steps + 1 if method.length < STUCK else 0
                if short_steps > STUCK_STEPS:
                    break
                if method.sigma > CLOSE:
                    continue
                found = method.attempt(iteration)
                miss = float(certifier.misses(found).residual.max())
                since += 1
                if miss < residual:
                    best, residual, since = found, miss, 0
                if residual <= GOOD or (residual <= GOOD_ENOUGH and since >= PATIENCE):
                    break
                if method.sigma <= method.least:  # what is left is the distance from the bounds
                    method.least = max(0.01 * method.least, LEAST_EVER)
        return best if np.isfinite(residual) else method.attempt(iteration)


FIRST_FORCE = 0.1
"""Of every tendon over F0, at the least, to begin with."""
