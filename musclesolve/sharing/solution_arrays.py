"""The arrays of a solution while they are filled in."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.status import Status


@dataclass
class SolutionArrays:
    """The arrays of a Solution, by the same names."""

    activation: Array
    force: Array
    reserve: Array
    multiplier: Array
    status: AnyArray
    kkt_residual: Array
    cost: Array
    iterations: AnyArray
    infeasibility_proof: Array
    reserve_weight: Array
    level_multiplier: Array | None = None

    @classmethod
    def unfilled(cls, frames: int, dofs: int, muscles: int) -> SolutionArrays:
        """Arrays without values, for code that fills all of them."""
        by_muscle, by_dof = (frames, muscles), (frames, dofs)
        return cls(
            *(np.empty(by_muscle), np.empty(by_muscle), np.empty(by_dof), np.empty(by_dof)),
            *(np.empty(frames, np.int8), np.empty(frames), np.empty(frames), np.empty(frames, np.int64)),
            *(np.empty(by_dof), np.empty(by_dof)),
        )

    @classmethod
    def empty(cls, problem: Problem) -> SolutionArrays:
        """Every frame INVALID_INPUT, after no iterations, and NaN."""
        found = cls.unfilled(*problem.moment_arm.shape)
        for each in fields(found)[:-1]:
            getattr(found, each.name).fill(np.nan if each.type == "Array" else 0)
        found.status.fill(Status.INVALID_INPUT)
        found.reserve_weight[:] = np.inf if problem.reserve_weight is None else problem.reserve_weight
        return found

    @classmethod
    def of(cls, solution: Solution) -> SolutionArrays:
        """The arrays of a solution that has a frame axis."""
        return cls(*(getattr(solution, each.name) for each in fields(cls)))

    def to_solution(self, cost: Cost, solver: Solver) -> Solution:
        """The Solution with these arrays."""
        return Solution(**vars(self), solver=solver.name, cost_name=cost.label)

    @property
    def solved(self) -> Mask:
        """(T,) which frames are solved."""
        return (self.status == Status.SOLVED) | (self.status == Status.SOLVED_WITH_RESERVE)

    def store(self, which: Mask, other: SolutionArrays) -> None:
        """Store the arrays of some frames among those of all."""
        for each in fields(self)[:-1]:
            getattr(self, each.name)[which] = getattr(other, each.name)
        if other.level_multiplier is not None:
            self.store_levels(which, other.level_multiplier)

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
