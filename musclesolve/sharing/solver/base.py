"""What a solver is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.problem import Array, Problem


@dataclass(frozen=True, eq=False)
class Attempt:
    """What a solver claims; nobody believes it before the certificate is recomputed.

    Attributes:
        activation: (T, n).
        reserve: (T, m) [N m]; zero without reserves.
        multiplier: (T, m) [cost per N m]; for a claim of INFEASIBLE the direction of the proof.
        iterations: (T,).
        claim: (T,) members of Status: SOLVED, INFEASIBLE, MAX_ITERATIONS or SOLVER_FAILED.
    """

    activation: Array
    reserve: Array
    multiplier: Array
    iterations: NDArray[np.int64]
    claim: NDArray[np.int8]


class Solver(Protocol):
    """A frozen dataclass of options with a name."""

    @property
    def name(self) -> str:
        """The name in the registry."""

    def solve(self, problem: Problem, cost: Cost, warm_start: Array | None = None) -> Attempt:
        """Minimise the cost in every frame.

        Args:
            problem: finite numbers only, upper bounds within the domain of the cost, lower <= upper.
            cost: convex and separable.
            warm_start: (T, n) activations to start from, for solvers that can use them.
        """
