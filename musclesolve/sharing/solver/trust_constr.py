"""The trust-region interior-point method of SciPy."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, minimize

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem
from musclesolve.sharing.solver.base import Attempt
from musclesolve.sharing.solver.programme import LARGE, Outcome, Programme, frame_by_frame
from musclesolve.sharing.status import Status

NO_ROOM, INSIDE = 1e-12, 1e-6


@dataclass(frozen=True)
class TrustConstr:
    """The method of Byrd, Hribar and Nocedal (1999), `trust-constr` of SciPy, with exact gradients and Hessians.

    Each frame starts far from its bounds, where the moments are met: near a bound this method makes no way.

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
        if not free.any():
            return Outcome(programme.lower, None, 0, Status.SOLVED)
        with warnings.catch_warnings():
            # rows that depend on each other are no fault; SciPy says how it factors them
            warnings.filterwarnings("ignore", category=UserWarning)
            return self._minimise(programme, free)

    def _minimise(self, programme: Programme, free: NDArray[np.bool_]) -> Outcome:
        lower, upper, matrix = programme.lower[free], programme.upper[free], programme.matrix[:, free]
        rest = programme.moment - programme.matrix[:, ~free] @ programme.lower[~free]
        reserves = upper >= LARGE
        start = _inner(matrix, rest, lower, upper, reserves)

        def whole(part: Array) -> Array:
            x = np.array(programme.lower)
            x[free] = part
            return x

        found = minimize(
            lambda part: programme.value(whole(part)),
            start,
            jac=lambda part: programme.gradient(whole(part))[free],
            hess=lambda part: programme.hessian(whole(part))[np.ix_(free, free)],
            method="trust-constr",
            bounds=Bounds(
                np.where(reserves, -np.inf, lower), np.where(reserves, np.inf, upper), keep_feasible=True
            ),
            constraints=LinearConstraint(matrix, rest, rest),
            options={
                "gtol": self.tolerance,
                "xtol": self.tolerance,
                "barrier_tol": self.tolerance,
                "maxiter": self.max_iterations,
            },
        )
        claim = Status.SOLVED if found.status in (1, 2) else Status.MAX_ITERATIONS
        return Outcome(whole(found.x), -found.v[0], found.nit, claim)


def _inner(matrix: Array, moment: Array, lower: Array, upper: Array, reserves: NDArray[np.bool_]) -> Array:
    """The point farthest from all bounds, relative to their distance, that meets the moments: a linear programme.

    Started where the moments are not met, the method may shrink its steps to nothing before they are. With reserves
    the middle of the bounds will do: these bear what the muscles do not. It is also the start where there is none.
    """
    start = np.where(reserves, 0.0, 0.5 * (lower + upper))
    if reserves.any():
        start[reserves] = np.linalg.lstsq(matrix[:, reserves], moment - matrix @ start, rcond=None)[0]
        return start
    width = upper - lower
    keep = np.vstack(
        [np.hstack([-np.eye(len(width)), width[:, None]]), np.hstack([np.eye(len(width)), width[:, None]])]
    )
    found = linprog(
        np.append(np.zeros(len(width)), -1.0),
        keep,
        np.concatenate([-lower, upper]),
        np.hstack([matrix, np.zeros((len(moment), 1))]),
        moment,
        [(None, None)] * len(width) + [(0.0, 0.5)],
    )
    return start if found.x is None else np.clip(found.x[:-1], lower + INSIDE * width, upper - INSIDE * width)
