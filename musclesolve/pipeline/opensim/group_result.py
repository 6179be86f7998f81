"""The sharing on an OpenSim model, group by group of coordinates and muscles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.pipeline.tendon_states import TendonStates
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution


@dataclass(frozen=True, eq=False)
class GroupResult:
    """One group: its coordinates and muscles, by number, its problem and the solution."""

    dofs: Indices
    muscles: Indices
    problem: Problem
    solution: Solution


@dataclass(frozen=True, eq=False)
class ModelResult:
    """A problem and its solution: activation and force (T, n) [N] of the contractile elements, reserve (T, m).

    tendons: fibers and tendons as they were solved where tendons are elastic, None where they are rigid; notes: what a
    user should know of how they were.
    """

    problem: ModelProblem
    groups: tuple[GroupResult, ...]
    activation: Array
    force: Array
    reserve: Array
    tendons: TendonStates | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, problem: ModelProblem, groups: tuple[GroupResult, ...]) -> ModelResult:
        """The solutions of all groups side by side."""
        activation, force = np.full((2, *problem.problem.force_capacity.shape), np.nan)
        reserve = np.full(problem.moment.shape, np.nan)
        for group in groups:
            activation[:, group.muscles] = group.solution.activation
            force[:, group.muscles] = group.solution.force
            reserve[:, group.dofs] = group.solution.reserve
        return cls(problem, groups, activation, force, reserve)


def group_problem(problem: Problem, dofs: Indices, muscles: Indices) -> Problem:
    """The problem of some coordinates and muscles."""
    per_muscle = ("force_capacity", "lower", "upper", "fiber_velocity", "passive_force")
    weight, names, own = problem.reserve_weight, problem.muscle or (), problem.dof or ()
    assert problem.optimal_fiber_length is not None
    return replace(
        problem,
        moment_arm=problem.moment_arm[:, dofs][:, :, muscles],
        moment=problem.moment[:, dofs],
        max_isometric_force=problem.max_isometric_force[muscles],
        optimal_fiber_length=problem.optimal_fiber_length[muscles],
        reserve_weight=None if weight is None else weight[:, dofs],
        muscle=tuple(names[i] for i in muscles),
        dof=tuple(own[k] for k in dofs),
        **{name: getattr(problem, name)[:, muscles] for name in per_muscle},
    )
