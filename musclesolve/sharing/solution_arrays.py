"""The arrays of a solution while they are filled in."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.status import Status


@dataclass
class SolutionArrays:
    """The arrays of a Solution, to be filled in."""

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array
    status: NDArray[np.int8]
    residual: Array
    cost: Array
    iterations: NDArray[np.int64]
    proof: Array
    weight: Array
    level_multiplier: Array | None = None

    @classmethod
    def empty(cls, problem: Problem) -> SolutionArrays:
        """Every frame INVALID_INPUT and NaN."""
        frames, dofs, muscles = problem.moment_arm.shape
        weight = np.inf if problem.reserve_weight is None else problem.reserve_weight
        return cls(
            activation=np.full((frames, muscles), np.nan),
            force=np.full((frames, muscles), np.nan),
            reserve=np.full((frames, dofs), np.nan),
            multiplier=np.full((frames, dofs), np.nan),
            status=np.full(frames, Status.INVALID_INPUT, np.int8),
            residual=np.full(frames, np.nan),
            cost=np.full(frames, np.nan),
            iterations=np.zeros(frames, np.int64),
            proof=np.full((frames, dofs), np.nan),
            weight=np.broadcast_to(weight, (frames, dofs)).copy(),
        )

    @classmethod
    def unfilled(cls, frames: int, dofs: int, muscles: int) -> SolutionArrays:
        """Arrays without values, for code that fills all of them."""
        return cls(
            activation=np.empty((frames, muscles)),
            force=np.empty((frames, muscles)),
            reserve=np.empty((frames, dofs)),
            multiplier=np.empty((frames, dofs)),
            status=np.empty(frames, np.int8),
            residual=np.empty(frames),
            cost=np.empty(frames),
            iterations=np.empty(frames, np.int64),
            proof=np.empty((frames, dofs)),
            weight=np.empty((frames, dofs)),
        )

    @classmethod
    def of(cls, solution: Solution) -> SolutionArrays:
        """The arrays of a solution that has a frame axis."""
        other = {"residual": "kkt_residual", "proof": "infeasibility_proof", "weight": "reserve_weight"}
        return cls(**{f.name: getattr(solution, other.get(f.name, f.name)) for f in fields(cls)})

    def to_solution(self, cost: Cost, solver: Solver) -> Solution:
        """The Solution with these arrays."""
        return Solution(
            activation=self.activation,
            force=self.force,
            reserve=self.reserve,
            multiplier=self.multiplier,
            status=self.status,
            kkt_residual=self.residual,
            cost=self.cost,
            iterations=self.iterations,
            infeasibility_proof=self.proof,
            reserve_weight=self.weight,
            solver=solver.name,
            cost_name=cost.label,
            level_multiplier=self.level_multiplier,
        )

    @property
    def solved(self) -> Mask:
        """(T,) which frames are solved."""
        return (self.status == Status.SOLVED) | (self.status == Status.SOLVED_WITH_RESERVE)

    def store(self, which: Mask, other: SolutionArrays) -> None:
        """Store the arrays of some frames among those of all."""
        for field in fields(self):
            value = getattr(other, field.name)
            if field.name == "level_multiplier":
                if value is not None:
                    self.store_levels(which, value)
            else:
                getattr(self, field.name)[which] = value

    def store_levels(self, which: Mask, levels: Array) -> None:
        """Store the level multipliers of some frames, (T, L, m), with L as large as needed."""
        before = self.level_multiplier
        depth = max(levels.shape[1], 0 if before is None else before.shape[1])
        table = np.full((len(self.status), depth, levels.shape[2]), np.nan)
        if before is not None:
            table[:, : before.shape[1]] = before
        table[which] = np.nan
        table[which, : levels.shape[1]] = levels
        self.level_multiplier = table
