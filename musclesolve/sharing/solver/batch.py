"""The project's own solver: all frames at once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_integer
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.compiled_solver import KernelOptions, KernelProblem
from musclesolve.sharing.kernel.constants import UNRESOLVED
from musclesolve.sharing.kernel.workspace_layout import RateBounds
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import SolutionArrays
from musclesolve.sharing.solver.interior_point import FramesInteriorPoint, nearest_moments
from musclesolve.sharing.solver.solver_registry import Attempt
from musclesolve.sharing.status import Status


@dataclass(frozen=True)
class Vectorized:
    """The interior-point method in numpy, on blocks of frames that fit the processor's cache."""

    tolerance: float = 1e-9  # certificate at which a frame is done
    max_iterations: int = 250  # after which a frame ends as MAX_ITERATIONS
    block: int = 512  # frames at a time

    name: ClassVar[str] = "batch"

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to an interior-point method and is ignored."""
        attempt, weight = Attempt.blank(problem), problem.reserve_weight
        method = FramesInteriorPoint(self.tolerance, self.max_iterations, seek_proof=weight is None)
        for first in range(0, problem.n_frames, self.block):
            block = np.arange(first, min(first + self.block, problem.n_frames))
            part = problem.frames(block)
            if weight is None:
                attempt.store(block, method.solve(part, cost))
                continue
            # stiff reserves make A^T lambda orders of magnitude larger than the marginal costs
            missing = nearest_moments(part)
            there = method.solve(part, cost, weight[block] * missing.reserve)
            attempt.store(block, replace(there, iterations=there.iterations + missing.iterations))
        return attempt


@dataclass(frozen=True)
class Batch:
    """Newton's method on the dual, then the interior point, compiled where the cost can be described as data.

    Other costs go to the interior point vectorized over frames, and so does a frame that the compiled methods leave
    without certificate or proof. Newton's method starts from the multipliers of the frame before, in chains of 64
    frames: the number of threads and of frames at a time does not change the result, their order changes it within
    the tolerance.
    """

    tolerance: float = 1e-9  # certificate at which a frame is done
    max_iterations: int = 250  # after which a frame is given up
    block: int = 512  # frames at a time, rounded up to whole chains
    threads: int | None = None  # at most so many; None: one for each core, or NUMBA_NUM_THREADS

    name: ClassVar[str] = "batch"

    def __post_init__(self) -> None:
        check_integer(self.block, "block", 1)
        if self.threads is not None:
            check_integer(self.threads, "threads", 1)

    @property
    def fallback(self) -> Vectorized:
        """The method for frames and costs that compiled code cannot solve."""
        return Vectorized(self.tolerance, self.max_iterations, self.block)

    def solve_certified(self, problem: Problem, cost: Cost, allow_reserve: bool) -> SolutionArrays | None:
        """See Solver; None for a cost that cannot be described as data."""
        kernel = KernelProblem.from_problem(problem, cost)
        options = KernelOptions(self.tolerance, self.max_iterations, allow_reserve)
        return None if kernel is None else kernel.solve(options, self.block, self.threads)

    def sequence(
        self, problem: Problem, cost: Cost, rate: RateBounds, allow_reserve: bool
    ) -> Callable[[int, SolutionArrays], int] | None:
        """See Solver; None for a cost that cannot be described as data."""
        kernel = KernelProblem.from_problem(problem, cost)
        options = KernelOptions(self.tolerance, self.max_iterations, allow_reserve)
        return None if kernel is None else partial(kernel.solve_in_order, rate=rate, options=options)

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to an interior-point method and is ignored."""
        arrays = self.solve_certified(problem, cost, allow_reserve=False)
        if arrays is None:
            return self.fallback.solve(problem, cost)
        proved = arrays.status == Status.INFEASIBLE
        claim = np.where(proved, Status.INFEASIBLE, Status.SOLVED).astype(np.int8)
        direction = np.where(proved[:, None], arrays.infeasibility_proof, arrays.multiplier)
        attempt = Attempt(arrays.activation, arrays.reserve, direction, arrays.iterations, claim)
        if (left := arrays.status == UNRESOLVED).any():
            attempt.store(left, self.fallback.solve(problem.frames(left), cost))
        return attempt
