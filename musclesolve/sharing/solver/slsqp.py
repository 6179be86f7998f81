"""Sequential least-squares programming of SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.programme import LARGE, Outcome, Reduced, frame_by_frame
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.status import Status

ITERATION_LIMIT, INCOMPATIBLE = 9, 4  # SciPy's codes


@dataclass(frozen=True)
class Slsqp:
    """SLSQP (Kraft 1988) with exact gradients; curvature is learnt on the way, anew in every frame.

    Its multipliers are found from its answer by least squares. Each frame starts from the previous one.
    """

    tolerance: float = 1e-16  # SciPy's `ftol`, on the scaled cost
    max_iterations: int = 500  # for each frame

    name: ClassVar[str] = "slsqp"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, programme: Reduced, guess: Array) -> Outcome:
        matrix, moment = programme.matrix, programme.moment
        free = programme.upper >= LARGE
        bounds = np.stack([programme.lower, programme.upper], axis=1)
        bounds[free] = (-np.inf, np.inf)
        found = minimize(
            programme.value,
            guess,
            jac=programme.gradient,
            method="SLSQP",
            bounds=bounds,
            constraints={"type": "eq", "fun": lambda x: matrix @ x - moment, "jac": lambda x: matrix},
            options={"ftol": self.tolerance, "maxiter": self.max_iterations},
        )
        claims = {0: Status.SOLVED, ITERATION_LIMIT: Status.MAX_ITERATIONS, INCOMPATIBLE: Status.INFEASIBLE}
        claim = claims.get(found.status, Status.SOLVER_FAILED)
        return Outcome(found.x, None, found.nit, claim)
