"""The trust-region interior-point method of SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, minimize

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem
from musclesolve.sharing.solver.base import Attempt
from musclesolve.sharing.solver.programme import LARGE, Outcome, Programme, frame_by_frame
from musclesolve.sharing.status import Status

NO_ROOM = 1e-12


@dataclass(frozen=True)
class TrustConstr:
    """The method of Byrd, Hribar and Nocedal (1999), `trust-constr` of SciPy, with exact gradients and Hessians.

    Each frame starts from the middle of its bounds: near a bound this method makes no way.

    Args:
        tolerance: SciPy's `gtol`, `xtol` and `barrier_tol`, on the scaled problem.
        max_iterations: for each frame.
    """

    tolerance: float = 1e-12
    max_iterations: int = 1000

    name: ClassVar[str] = "trust-constr"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver."""
        return frame_by_frame(problem, cost, warm_start, self._call)

    def _call(self, programme: Programme, guess: Array) -> Outcome:
        free = programme.upper - programme.lower > NO_ROOM
        x = np.where(free, guess, programme.lower)
        if not free.any():
            return Outcome(x, None, 0, Status.SOLVED)
        lower, upper = programme.lower[free], programme.upper[free]
        open_ = upper >= LARGE
        matrix = programme.matrix[:, free]

        def whole(part: Array) -> Array:
            x[free] = part
            return x

        found = minimize(
            lambda part: programme.value(whole(part)),
            np.where(open_, 0.0, 0.5 * (lower + upper)),
            jac=lambda part: programme.gradient(whole(part))[free],
            hess=lambda part: programme.hessian(whole(part))[np.ix_(free, free)],
            method="trust-constr",
            bounds=Bounds(
                np.where(open_, -np.inf, lower), np.where(open_, np.inf, upper), keep_feasible=True
            ),
            constraints=LinearConstraint(
                matrix, *2 * [programme.moment - programme.matrix[:, ~free] @ programme.lower[~free]]
            ),
            options={
                "gtol": self.tolerance,
                "xtol": self.tolerance,
                "barrier_tol": self.tolerance,
                "maxiter": self.max_iterations,
            },
        )
        claim = Status.SOLVED if found.status in (1, 2) else Status.MAX_ITERATIONS
        return Outcome(whole(found.x), -found.v[0], found.nit, claim)
