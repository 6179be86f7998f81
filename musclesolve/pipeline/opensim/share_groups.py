"""Sharing on an OpenSim model: every group of coordinates and muscles by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve.pipeline.opensim.elastic_groups import share_elastic_groups
from musclesolve.pipeline.opensim.group_result import GroupResult, ModelResult, group_problem
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status


def share_groups(
    found: ModelProblem, cost: str | Cost = "stress_cubed", solver: str | Solver = "batch"
) -> ModelResult:
    """Solve each group by itself; a frame that one cannot solve does not concern the others.

    Frames that are not feasible are solved with reserves. With elastic tendons a group is solved as a whole motion.
    The status of frames without a moment, which lie in a hole of it, is NOT_MEASURED.
    """
    if found.options.tendon == "elastic":
        result = share_elastic_groups(found, find_cost(cost), find_solver(solver))
    else:
        groups = []
        for dofs, muscles in found.group_numbers:
            part = group_problem(found.problem, dofs, muscles)
            groups.append(
                GroupResult(dofs, muscles, part, solve(part, cost, solver, on_infeasible="reserve"))
            )
        result = ModelResult.of(found, tuple(groups))
    return replace(result, groups=tuple(_with_measured(found, group) for group in result.groups))


def _with_measured(found: ModelProblem, group: GroupResult) -> GroupResult:
    lost = np.isnan(found.moment[:, group.dofs]).any(axis=1)
    status = np.where(lost, Status.NOT_MEASURED, group.solution.status).astype(np.int8)
    return replace(group, solution=replace(group.solution, status=status))
