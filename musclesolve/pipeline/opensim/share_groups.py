"""Sharing on an OpenSim model: every group of coordinates and muscles by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solving import solve


@dataclass(frozen=True, eq=False)
class GroupResult:
    """One group: its coordinates and muscles, by number, its problem and the solution."""

    dofs: Indices
    muscles: Indices
    problem: Problem
    solution: Solution


@dataclass(frozen=True, eq=False)
class ModelResult:
    """A problem and its solution: activation and force (T, n) [N] of the contractile elements, reserve (T, m)."""

    problem: ModelProblem
    groups: tuple[GroupResult, ...]
    activation: Array
    force: Array
    reserve: Array


def share_groups(
    found: ModelProblem, cost: str | Cost = "stress_cubed", solver: str | Solver = "batch"
) -> ModelResult:
    """Solve each group by itself; a frame that one cannot solve does not concern the others.

    Frames that are not feasible are solved with reserves.
    """
    problem = found.problem
    activation, force = np.full((2, *problem.force_capacity.shape), np.nan)
    reserve = np.full(problem.moment.shape, np.nan)
    groups = []
    for rows, columns in found.groups:
        dofs, muscles = np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
        part = group_problem(problem, dofs, muscles)
        solution = solve(part, cost, solver, on_infeasible="reserve")
        activation[:, muscles], force[:, muscles] = solution.activation, solution.force
        reserve[:, dofs] = solution.reserve
        groups.append(GroupResult(dofs, muscles, part, solution))
    return ModelResult(found, tuple(groups), activation, force, reserve)


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
