"""A force-sharing problem under several costs and solvers: forces, values of every cost, times, certificates."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.progress import Progress
from musclesolve.constants import USUAL_SOLVER
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_registry import REGISTRY, Solver, find_solver
from musclesolve.sharing.solving import solve

OF_SOLUTION = (
    *("activation", "muscle_force", "reserve_moment", "multiplier", "status", "valid", "kkt_residual"),
    *("least_cost", "cost_value", "time_per_frame", "iterations"),
)
"""Variables that depend on cost and solver."""


def compare_problem(
    problem: Problem,
    costs: Sequence[Cost],
    solvers: Sequence[str | Solver] | None,
    progress: Progress,
) -> xr.Dataset:
    """Solve a problem under every cost with every solver; see `compare`."""
    problem, names = problem.numbered(), [cost.label for cost in costs]
    methods = [find_solver(solver) for solver in solvers or ()]
    labels = [method.name for method in methods]
    if twice := [label for place, label in enumerate(labels) if label in labels[:place]]:
        raise InputError(
            f"there are two solvers called {twice[0]!r}",
            code="duplicate_name",
            where="solvers",
            expected="solvers with names of their own",
        )
    rows, used = [], dict[str, None]()
    for number, cost in enumerate(costs):
        progress(f"cost {cost.label}", number / len(costs))
        row = [_solved(problem, cost, costs, method) for method in methods or [able_solver(cost)]]
        used |= dict.fromkeys(str(each.attrs["solver"]) for each in row)
        rows.append(_stacked(row, "solver") if methods else row[0])
    result = _stacked(rows, "cost")
    result = result.assign_coords(cost=names, evaluated_cost=names)
    if methods:
        result = result.assign_coords(solver=labels)
    return result.assign_attrs({"cost": ", ".join(names), "solver": ", ".join(used)})


def _stacked(parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    """Datasets along a new dimension, except the arrays of the problem."""
    same = parts[0].drop_vars([name for name in OF_SOLUTION if name in parts[0]])
    own = [part[list(OF_SOLUTION)] for part in parts]
    return xr.concat(own, dim, combine_attrs="override", join="exact").assign(same.data_vars)


def able_solver(cost: Cost) -> Solver:
    """The usual solver, or the first installed one that can minimize the cost."""
    able = [name for name, record in REGISTRY.items() if record.installed and record.fits(cost)]
    return find_solver(USUAL_SOLVER if USUAL_SOLVER in able or not able else able[0])


def _solved(problem: Problem, cost: Cost, costs: Sequence[Cost], solver: Solver) -> xr.Dataset:
    """The solution under one cost, its time per frame and the value of every cost at it.

    One frame is solved before, so that compilation does not count.
    """
    solve(problem.frames(np.arange(min(1, problem.n_frames))), cost, solver)
    start = perf_counter()
    solution = solve(problem, cost, solver)
    seconds = (perf_counter() - start) / max(1, problem.n_frames)
    data = solution.to_dataset(problem).rename({"cost": "least_cost"})
    value = np.stack([_value(problem, each, solution) for each in costs])
    value = value[:, 0] if problem.single_frame else value
    dims = ("evaluated_cost", *data["status"].dims)
    unit = {"units": "unit of the evaluated cost", "long_name": "value of a cost at the optimum of a cost"}
    taken = {"units": "s", "long_name": "time per frame, without compilation"}
    iterations = {"units": "1", "long_name": "iterations"}
    return data.assign(
        cost_value=(dims, value, unit),
        time_per_frame=((), seconds, taken),
        iterations=(data["status"].dims, solution.iterations, iterations),
    )


def _value(problem: Problem, cost: Cost, solution: Solution) -> Array:
    """The whole cost (T,) at the activations of a solution, NaN in frames without one."""
    solved = np.atleast_1d(solution.solved)
    value = np.full(len(solved), np.nan)
    value[solved] = cost.value(problem.frames(solved), np.atleast_2d(solution.activation)[solved])
    return value
