"""Sharing on an OpenSim model: every group of coordinates and muscles by itself."""

from __future__ import annotations

from musclesolve.pipeline.opensim.elastic_groups import share_elastic_groups
from musclesolve.pipeline.opensim.group_result import GroupResult, ModelResult, group_problem
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_base import Solver
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.solving import solve


def share_groups(
    found: ModelProblem, cost: str | Cost = "stress_cubed", solver: str | Solver = "batch"
) -> ModelResult:
    """Solve each group by itself; a frame that one cannot solve does not concern the others.

    Frames that are not feasible are solved with reserves. With elastic tendons a group is solved as a whole motion.
    """
    if found.options.tendon == "elastic":
        return share_elastic_groups(found, find_cost(cost), find_solver(solver))
    groups = []
    for dofs, muscles in found.group_numbers:
        part = group_problem(found.problem, dofs, muscles)
        groups.append(GroupResult(dofs, muscles, part, solve(part, cost, solver, on_infeasible="reserve")))
    return ModelResult.of(found, tuple(groups))
