"""The project's own solver: all frames at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_integer
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.kernel.compiled_solver import LEFT, Task
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution_arrays import Answer
from musclesolve.sharing.solver.solver_base import Attempt
from musclesolve.sharing.solver.vectorised import Vectorised
from musclesolve.sharing.status import Status


@dataclass(frozen=True)
class Batch:
    """Newton's method on the dual, then the interior point, compiled where the cost can be described as data.

    Other costs go to the interior point vectorised over frames, and so does a frame that the compiled methods leave
    without certificate or proof. Newton's method begins with the prices of the frame before, in chains of 64 frames:
    the number of threads and of frames at a time changes no answer, their order changes it within the tolerance.

    Args:
        tolerance: certificate at which a frame is done.
        max_iterations: after which a frame is given up.
        block: frames at a time, rounded up to whole chains.
        threads: at most so many; one for each core, or as NUMBA_NUM_THREADS says, unless given.

    Raises:
        InputError: a number of frames or threads below one.
    """

    tolerance: float = 1e-9
    max_iterations: int = 250
    block: int = 512
    threads: int | None = None

    name: ClassVar[str] = "batch"

    def __post_init__(self) -> None:
        check_integer(self.block, "block", 1)
        if self.threads is not None:
            check_integer(self.threads, "threads", 1)

    @property
    def slower(self) -> Vectorised:
        """The method for the frames and the costs that are not for compiled code."""
        return Vectorised(self.tolerance, self.max_iterations, self.block)

    def settled(self, problem: Problem, cost: Cost, may_help: bool) -> Answer | None:
        """Answers with their certificates and verdicts; LEFT for frames that have neither answer nor proof.

        Args:
            problem: any; its bounds may end beyond the domain of the cost, its frames may be no numbers.
            cost: any.
            may_help: whether a frame that is out of reach is solved again with reserves.

        Returns:
            None for a cost that cannot be described as data.
        """
        task = Task.of(problem, cost)
        if task is None:
            return None
        return task.solve(self.tolerance, self.max_iterations, may_help, self.block, self.threads)

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """See Solver. A warm start is of no use to an interior-point method and is ignored."""
        answer = self.settled(problem, cost, may_help=False)
        if answer is None:
            return self.slower.solve(problem, cost)
        proved = answer.status == Status.INFEASIBLE
        claim = np.where(proved, Status.INFEASIBLE, Status.SOLVED).astype(np.int8)
        direction = np.where(proved[:, None], answer.proof, answer.multiplier)
        attempt = Attempt(answer.activation, answer.reserve, direction, answer.iterations, claim)
        if (left := answer.status == LEFT).any():
            again = self.slower.solve(problem.frames(left), cost)
            for name in ("activation", "reserve", "multiplier", "iterations", "claim"):
                getattr(attempt, name)[left] = getattr(again, name)
        return attempt
