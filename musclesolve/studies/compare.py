"""One trial under several costs: mechanics computed once, the forces shared once per cost, the results side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import Progress, no_progress
from musclesolve.constants import COMPARISON_FILE
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.bodies.emg_informed import informed_cost
from musclesolve.laboratory.bodies.run_options import check_consistent
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, following
from musclesolve.laboratory.results.dataset.result_quantities import is_elastic, shared_dofs
from musclesolve.laboratory.results.tables.comparison_tables import agreement, agreement_csv
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.models.body_sharing import share
from musclesolve.sharing.analysis.needless_reserves import needless_reserves
from musclesolve.sharing.arguments import members
from musclesolve.sharing.cost.cost_base import Cost, fit
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.solver_registry import REGISTRY, Solver, able_solver, find_solver
from musclesolve.sharing.solving import ON_INFEASIBLE, solve_part
from musclesolve.studies.written_answer import answer_about

Stacked = tuple[tuple[str, ...], AnyArray, dict[str, Any]]
RENAMED = {"cost": "least_cost"}
"""Name of the variable of costs: `cost` is already the name of the dimension."""

OF_SOLUTION = (
    *("activation", "muscle_force", "reserve_moment", "multiplier", "status", "valid", "gap", "moment_error"),
    *("cost_bound", "least_cost", "cost_value", "time_per_frame", "iterations"),
)
"""Variables that depend on cost and solver."""


def side_by_side(results: Sequence[xr.Dataset], names: Sequence[str]) -> xr.Dataset:
    """Results of one trial under several costs, of the same legs and frames, with co-contraction and agreement."""
    first = results[0]
    # with elastic tendons the state of the muscles depends on the cost, too
    concerned = following("solution", "solver") + (following("state") if is_elastic(first) else [])
    variables = stacked(results, concerned, "cost")
    for name in ("least_cost", "cost_bound"):
        if name in variables:
            variables[name][2]["units"] = "unit of the cost"
    shared = first.drop_vars([name for name in concerned if name in first])
    result = shared.assign(variables).assign_coords(cost=list(names))
    solvers = dict.fromkeys(str(part.attrs["solver"]) for part in results if "solver" in part.attrs)
    result.attrs |= {"cost": ", ".join(names)} | ({"solver": ", ".join(solvers)} if solvers else {})
    if any("stationary_only" in part.attrs for part in results):
        result.attrs["stationary_only"] = 1
    return result.assign(co_contraction(result)).assign(agreement(result))


def stacked(results: Sequence[xr.Dataset], names: Iterable[str], dim: str) -> dict[str, Stacked]:
    """Variables of results of one trial along a new dimension, NaN in results that do not have them."""
    variables = dict[str, Stacked]()
    for name in names:
        if there := [result for result in results if name in result]:
            one = there[0][name]
            unknown = np.full(one.shape, np.nan) if len(there) < len(results) else one.values
            values = np.stack([result[name].values if name in result else unknown for result in results])
            variables[RENAMED.get(name, name)] = (dim, *map(str, one.dims)), values, one.attrs
    return variables


def joined_along(parts: Sequence[xr.Dataset], dim: str) -> xr.Dataset:
    """Datasets along a new dimension, except the arrays of the problem."""
    same = parts[0].drop_vars([name for name in OF_SOLUTION if name in parts[0]])
    solutions = [part[list(OF_SOLUTION)] for part in parts]
    return xr.concat(solutions, dim, combine_attrs="override", join="exact").assign(same.data_vars)


LEAST_MOMENT = 1e-6
"""Least muscle moment of which co-contraction is computed [N m]."""


def co_contraction(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Compute the share of the muscle moments about each degree of freedom that cancels, 0 to 1.

        2 M_antagonists / (M_agonists + M_antagonists)

    with the sums of the moments of the contractile elements in the direction of their total and against it
    (Falconer and Winter 1985, Electromyogr Clin Neurophysiol 25:135-149; Winter, Biomechanics and Motor Control of
    Human Movement). Passive forces are left out. A muscle that crosses several joints counts about each of them.

    Only for the moments that the muscles have to produce (the attribute shared_dofs, where there is one): about the
    other axes bones and ligaments produce an unknown part. A dimension `cost` is kept.

    Returns:
        co_contraction (..., time, dof); NaN elsewhere, without a solution, and without muscle moment.
    """
    force = result["muscle_force"] - result["passive_force"]
    moment = result["moment_arm"] * force.clip(min=0.0)
    # a muscle of the other leg adds zeros, but its NaN must not
    forward = moment.clip(min=0.0).sum("muscle", skipna=True)
    backward = (-moment).clip(min=0.0).sum("muscle", skipna=True)
    total, less = forward + backward, xr.where(forward < backward, forward, backward)
    reaches = result["moment_arm"] != 0
    shared = result["dof"].isin(shared_dofs(result))
    known = shared & (force.notnull() | ~reaches).all("muscle") & (total > LEAST_MOMENT)
    index = (2.0 * less / total.where(known)).transpose(..., "time", "dof")
    return {"co_contraction": index.assign_attrs(QUANTITIES["co_contraction"].attrs)}


Result = TypeVar("Result")


def compare(
    trial: AnyTrial | Problem | str | Path,
    costs: Sequence[str | Cost],
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress | None = None,
    *,
    solvers: Sequence[str | Solver] | None = None,
    on_infeasible: str | None = None,
) -> xr.Dataset:
    """Share the moments of one trial, or of a problem of arrays, among the muscles under several costs.

    Args:
        trial: a checked trial, from `read_trial`, the path of a trial file, or a Problem.
        costs: two or more, names or Cost objects with names of their own; with `solvers` one is enough.
        solver: name of a solver, or a Solver, for all costs. The default is the solver of the trial file, and for a
            cost that it cannot minimize the first of `solvers()` that can; the attribute `solver` names it.
        side: "r", "l" or "both".
        progress: called with the name of each stage and the share of the work that is done.
        solvers: names or Solver objects, which solve a Problem one after the other; for a Problem alone.
        on_infeasible: as in `solve`: "report" leaves an infeasible frame without a solution; "reserve" solves it again
            with reserves, weighted so that 1 N m of reserve costs 100 times all muscles at full activation. None:
            "report" for a Problem, as `solve`, and "reserve" for a trial, as `run`.

    Returns:
        For a Problem the Dataset of `Solution.to_dataset` with a dimension `cost`, with `solvers` also `solver`, and
        least_cost, iterations, cost_value (cost, evaluated_cost, time): every cost at the optimum of each, and
        time_per_frame [s], without compilation.
        For a trial the Dataset of `run` with a dimension `cost` (with the weight of EMG where the trial file gives one)
        for activation, muscle_force, reserve_moment, unassigned_moment, joint_reaction, status, valid, gap,
        moment_error, cost_bound and least_cost. In addition co_contraction (cost, time, dof), group_force (cost, time,
        function_group), and the agreement of every pair of costs per muscle and per function group, see
        `musclesolve.laboratory.results.tables.comparison_tables`. A cost that `run` or `solve` refuses is
        left out: the attribute
        `refused` has a line with its name and the reason. Where a stated reserve weight makes reserves cheaper than
        activation, the attribute `needless_reserves` has a line with the cost, what reserves bear of moments that the
        muscles could bear, and a weight that suffices.

    Raises:
        InputError: fewer than two costs, a cost or solver twice, whatever `run` or `solve` refuses where too few costs
            are left, several solvers for a trial.

    Examples:
        >>> both = ms.compare(ms.data.reference_stride(), ["stress_cubed", "force_squared"], side="r")
        >>> both["muscle_force"].dims
        ('cost', 'time', 'muscle')
    """
    report = progress or no_progress
    if on_infeasible is not None:
        check_choice(on_infeasible, "on_infeasible", ON_INFEASIBLE)
    wanted = members(costs)
    if solvers is not None and not isinstance(trial, Problem):
        raise InputError(
            "several solvers for a trial",
            code="conflict",
            where="solvers",
            expected="a Problem",
            remedy="compare ms.leg_problem(result, side), or choose one solver",
        )
    least = 2 if solvers is None else 1
    if len(wanted) < least:
        raise input_error(
            "missing_argument",
            where="costs",
            problem="a comparison needs two costs or more",
            expected="each cost by itself: --cost stress_cubed --cost force_squared, or a list in Python",
            remedy="state a second one; `run` takes a single cost",
        )
    compared = [find_cost(cost) for cost in wanted]
    names = [cost.label for cost in compared]
    _check_distinct(
        names, "cost", "or write a multiple of it such as 1.0 * cost, which has a name of its own"
    )
    if isinstance(trial, Problem):
        several = [solvers] if isinstance(solvers, str) else solvers or ()
        methods = several if solver is None else [solver, *several]
        compared_problem = compare_problem(trial, compared, methods, report, least, on_infeasible or "report")
        alone = solvers is None and solver is not None
        return compared_problem.isel(solver=0, drop=True) if alone else compared_problem
    trial, refused, prepared = read_trial(trial), dict[str, InputError](), None
    needless = list[str]()
    for cost in compared:  # mechanics are the same under every cost; some are refused before
        prepared = prepared or _tried(refused, cost, partial(prepare, trial, cost, solver, side, report))
    if prepared is None:
        raise next(iter(refused.values()))
    findings = findings_of(prepared, trial)
    check_consistent(prepared.trial, "a comparison of costs")

    def result_under(cost: Cost, done: float) -> tuple[str, xr.Dataset]:
        """Label and result; with a weight of EMG in the trial file every cost is informed by it."""
        cost = cost if prepared.trial is None else informed_cost(prepared.trial, cost)
        report(f"cost {cost.label}", 0.7 + 0.25 * done)
        method = prepared.sharing.solver
        record = REGISTRY.get(method.name)
        if solver is None and not prepared.sharing.elastic and record and not record.fits(cost):
            method = able_solver(cost)
        chosen = replace(prepared.sharing, cost=cost, solver=method, on_infeasible=on_infeasible or "reserve")
        analysis = share(prepared, chosen)
        if chosen.reserve_weight is not None and not chosen.elastic:
            parts = ((part.problem, part.solution) for part in analysis.parts)
            needless.extend(_needless(cost.label, cost, parts))
        return cost.label, assemble(analysis, findings)

    tried = [
        _tried(refused, cost, partial(result_under, cost, number / len(compared)))
        for number, cost in enumerate(compared)
        if cost.label not in refused
    ]
    results = dict(result for result in tried if result is not None)
    if len(results) < least:
        raise next(iter(refused.values()))
    report("agreement", 0.95)
    return _with_remarks(side_by_side(list(results.values()), list(results)), refused, needless)


def _tried(refused: dict[str, InputError], cost: Cost, action: Callable[[], Result]) -> Result | None:
    """The value of an action for a cost; None where the cost is refused, with the error in `refused`."""
    try:
        return action()
    except InputError as error:
        refused[cost.label] = error
        return None


def _needless(label: str, cost: Cost, solved: Iterable[tuple[Problem, Solution]]) -> list[str]:
    """A line for each problem in which stated reserves bear what the muscles could bear."""
    found = (needless_reserves(problem, cost, solution, solve_part) for problem, solution in solved)
    return [f"{label}: {needless.sentence}" for needless in found if needless is not None]


def _with_remarks(
    comparison: xr.Dataset, refused: Mapping[str, InputError], needless: Sequence[str]
) -> xr.Dataset:
    """The comparison with the attributes `refused`, a line for each cost left out, and `needless_reserves`."""
    reasons = {label: "; ".join(map(str.strip, str(error).splitlines())) for label, error in refused.items()}
    lines = {"refused": [f"{label}: {why}" for label, why in reasons.items()], "needless_reserves": needless}
    return comparison.assign_attrs({name: "\n".join(texts) for name, texts in lines.items() if texts})


def _check_distinct(names: Sequence[str], what: str, otherwise: str) -> None:
    """Refuse two costs or solvers of one name."""
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise input_error(
            "duplicate_name",
            where=f"{what}s",
            problem=f"there are two {what}s called {twice[0]!r}",
            expected=f"{what}s of different names",
            remedy=f"leave one out, {otherwise}",
        )


def compare_into(
    folder: Path,
    trial: Path,
    costs: Sequence[str | Cost],
    solver: str | Solver | None = None,
    side: str = "both",
    progress: Progress = no_progress,
    on_infeasible: str | None = None,
) -> tuple[xr.Dataset, list[Path]]:
    """`compare`, and the files comparison.nc, agreement.csv and figures, all of them or none."""

    def ask(loaded: AnyTrial, report: Progress) -> xr.Dataset:
        return compare(loaded, costs, solver, side, progress=report, on_infeasible=on_infeasible)

    tables = {"agreement.csv": agreement_csv}
    return answer_about(trial, folder, COMPARISON_FILE, "comparison", ask, tables, progress)


def compare_problem(
    problem: Problem,
    costs: Sequence[Cost],
    solvers: Sequence[str | Solver],
    progress: Progress,
    least: int,
    on_infeasible: str = "report",
) -> xr.Dataset:
    """Solve a problem under every cost with every solver, at least so many costs; see `compare`."""
    methods = [find_solver(solver) for solver in solvers]
    labels = [method.name for method in methods]
    _check_distinct(labels, "solver", "or give it another name")
    refused, solved = dict[str, InputError](), dict[str, list[tuple[Solution, float]]]()
    for number, cost in enumerate(costs):
        progress(f"cost {cost.label}", number / len(costs))
        if answers := _tried(refused, cost, partial(_solved, problem, cost, methods, on_infeasible)):
            solved[cost.label] = answers
    if len(solved) < least:
        raise next(iter(refused.values()))
    compared = [cost for cost in costs if cost.label in solved]
    rows, used, needless = [], dict[str, None](), list[str]()
    for cost, repeats in zip(compared, solved.values(), strict=True):
        of_solver = zip(labels or [""], repeats, strict=True)
        for label, (solution, _) in of_solver:
            name = f"{cost.label}, {label}" if len(labels) > 1 else cost.label
            needless += _needless(name, cost, [(problem, solution)])
        row = [_measured(problem, compared, solution, seconds) for solution, seconds in repeats]
        used |= dict.fromkeys(solution.solver for solution, _ in repeats)
        rows.append(joined_along(row, "solver") if methods else row[0])
    names = list(solved)
    labeled = {"cost": names, "evaluated_cost": names} | ({"solver": labels} if methods else {})
    attributes = {"cost": ", ".join(names), "solver": ", ".join(used)}
    joined = joined_along(rows, "cost").assign_coords(labeled).assign_attrs(attributes)
    return _with_remarks(joined, refused, needless)


def _solved(
    problem: Problem, cost: Cost, methods: Sequence[Solver], on_infeasible: str
) -> list[tuple[Solution, float]]:
    """The solution by every method, or by one that can, and its time per frame [s].

    One frame is solved before, so that compilation does not count.
    """
    solved, cost = [], fit(cost, problem)
    cost.check_names(*problem.names)
    for method in methods or [able_solver(cost)]:
        solve_part(problem.frames(np.arange(min(1, problem.n_frames))), cost, method, on_infeasible)
        start = perf_counter()
        solution = solve_part(problem, cost, method, on_infeasible)
        solved.append((solution, (perf_counter() - start) / max(1, problem.n_frames)))
    return solved


def _measured(problem: Problem, costs: Sequence[Cost], solution: Solution, seconds: float) -> xr.Dataset:
    """A solution, its time per frame [s] and the value of every cost at it."""
    data = solution.to_dataset(problem).rename({"cost": "least_cost"})
    solved = np.atleast_1d(solution.solved)
    at, activation = problem.frames(solved), np.atleast_2d(solution.activation)[solved]
    value = np.full((len(costs), len(solved)), np.nan)
    value[:, solved] = [cost.value(at, activation) for cost in costs]
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
