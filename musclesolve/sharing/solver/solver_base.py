"""What a solver is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.status import Status


@dataclass(frozen=True, eq=False)
class Attempt:
    """What a solver claims; it counts only once the certificate is recomputed."""

    activation: Array  # (T, n)
    reserve: Array  # (T, m) [N m]; zero without reserves
    multiplier: Array  # (T, m) [cost per N m]; for a claim of INFEASIBLE the direction of the proof
    iterations: NDArray[np.int64]  # (T,)
    claim: NDArray[np.int8]  # (T,) members of Status: SOLVED, INFEASIBLE, MAX_ITERATIONS or SOLVER_FAILED
    # (T, L, m) for a cost of levels: the combination of moments that proves each level, from the highest down;
    # zero where a bound alone is the proof, NaN below the last
    level_multiplier: Array | None = None

    @classmethod
    def blank(cls, problem: Problem) -> Attempt:
        """Arrays to be filled in frame by frame; a frame that is not stays SOLVER_FAILED."""
        frames, dofs, muscles = problem.moment_arm.shape
        return cls(
            activation=np.full((frames, muscles), np.nan),
            reserve=np.zeros((frames, dofs)),
            multiplier=np.full((frames, dofs), np.nan),
            iterations=np.zeros(frames, np.int64),
            claim=np.full(frames, Status.SOLVER_FAILED, np.int8),
        )

    def store(self, which: NDArray[Any], other: Attempt) -> None:
        """Store an attempt at some frames, by numbers or as a mask, among those of all."""
        for name in ("activation", "reserve", "multiplier", "iterations", "claim"):
            getattr(self, name)[which] = getattr(other, name)


class Solver(Protocol):
    """A frozen dataclass of options with a name.

    One that is not in the registry may have a frozenset `can` of the words that costs use in `needs`; without it,
    it gets separable costs only. Two more methods are optional:

    - `solve_certified(problem, cost, allow_reserve) -> SolutionArrays | None`: results with certificates and statuses,
      UNRESOLVED (-1) for frames without certificate or proof, which go to `fallback`, another solver; None if the
      cost is not for this method. `allow_reserve`: an infeasible frame is solved again with reserves. The problem may
      have bounds beyond the domain of the cost and frames that are not finite.
    - `sequence(problem, cost, rate, allow_reserve)`: the same for frames within rate limits of the one before; returns
      None, or a function that solves frames in order from a given one into SolutionArrays, up to the first one that
      is unresolved, and returns its number.
    """

    @property
    def name(self) -> str:
        """The name in the registry."""

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """Minimise the cost in every frame; numbers are finite, bounds within the domain of the cost and in order.

        `warm_start` (T, n) are activations to start from, for solvers that can use them.
        """
