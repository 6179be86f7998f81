"""The interior-point method in numpy over blocks of frames: for any separable cost, and unresolved frames."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.nearest_moments import nearest_moments
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.interior_point import InteriorPoint
from musclesolve.sharing.solver.solver_base import Attempt


@dataclass(frozen=True)
class Vectorised:
    """The interior-point method in numpy, in blocks of frames that fit a processor's cache."""

    tolerance: float = 1e-9  # certificate at which a frame is done
    max_iterations: int = 250  # after which a frame is given up
    block: int = 512  # frames at a time

    name: ClassVar[str] = "batch"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to an interior-point method and is ignored."""
        starts = range(0, max(problem.n_frames, 1), self.block)
        numbers = [np.arange(i, min(i + self.block, problem.n_frames)) for i in starts]
        return joined([self._block(problem.frames(part), cost) for part in numbers])

    def _block(self, problem: Problem, cost: Cost) -> Attempt:
        method = InteriorPoint(self.tolerance, self.max_iterations, seek_proof=problem.reserve_weight is None)
        if problem.reserve_weight is None:
            return method.solve(problem, cost)
        # stiff reserves make A^T lambda orders of magnitude larger than the marginal costs
        missing = nearest_moments(problem)
        attempt = method.solve(problem, cost, problem.reserve_weight * missing.reserve)
        return replace(attempt, iterations=attempt.iterations + missing.iterations)


def joined(parts: list[Attempt]) -> Attempt:
    """Attempts at consecutive blocks of frames as one."""
    names = ("activation", "reserve", "multiplier", "iterations", "claim")
    return Attempt(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
