"""Solvers side by side on the bank of problems: performance profiles, accuracy against time, growth; pictures and data.

    python -m benchmarks.profiles -o OUT [--bank FILE] [--solver NAME | MODULE:CLASS] [--limit SECONDS]

Every solver works in a process of its own, on one thread. A task is a problem of the bank under a cost: two frames, one
call, after a first call that is not counted. Times are processor times. A task counts as solved if every frame has a
certificate, recomputed here, and every frame out of reach is reported so, within the limit. Registered solvers
go through `ms.solve`, which scales and certifies; "bare" rivals (benchmarks/solvers/rivals.py) are timed alone, on
scaled programs made beforehand. A solver of one's own is a class of the protocol Solver:

    python -m benchmarks.profiles -o OUT --solver benchmarks.solvers.nlopt_slsqp:NloptSlsqp

With t_ps the time of solver s for task p, infinite if it fails, the profile (Dolan and More 2002) is the share of tasks
with t_ps <= tau min_s t_ps, as a function of tau.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich.progress import track
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line, input_file, output_folder
from benchmarks.bank.__main__ import BUNDLED
from benchmarks.bank.read_bank import read_bank
from benchmarks.solvers.rivals import RIVALS, TIGHT
from benchmarks.timing import console
from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import GAP
from musclesolve.sharing.solver.solver_registry import find_solver, fits
from musclesolve.studies.benchmark.measure import THREADS, machine, random_problem

IN_PROFILES = ("daqp, bare, warm", "ipopt, bare", "fatrop, bare", "sqpmethod, bare", "blocksqp, bare")
"""Rivals of the profiles and of growth; accuracy has all rivals."""
IN_PYTHON = ("slsqp", "trust-constr")
"""Solvers whose slow calls can be stopped; an exception inside a callback from compiled code may end the process."""
OWN = "benchmarks.solvers.nlopt_slsqp:NloptSlsqp"
QUADRATIC, OTHER = "quadratic costs", "other smooth costs"
BUSY = 40.0
"""Times the limit after which a call is stopped by the clock: other processes may share the processor."""
FIRST = 60.0
"""Seconds for the first call, which imports and compiles."""
ENOUGH = 0.02
"""Seconds of repeated calls, of which the fastest counts."""
SMALLEST = 1e-32
"""Gap that is drawn in place of a smaller one."""
TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
FRAMES = (1, 10, 100, 1_000, 10_000)
MUSCLES = (20, 43, 100, 200)
MOMENTS = (3, 7, 15, 30)
GROWTH = ("frames", "muscles", "moments")
PATIENCE = 75.0
"""Seconds after which a process is ended whose solver does not return from a task."""


@dataclass(frozen=True, eq=False)
class Task:
    """A problem under a cost; out of reach: mask (T,) of the frames that have no solution."""

    study: str  # bank, accuracy, frames, muscles or moments
    problem: str
    cost: str
    arrays: dict[str, Array] = field(repr=False)
    out_of_reach: Mask = field(repr=False)
    tolerance: float = TIGHT

    @property
    def made(self) -> ms.Problem:
        """The problem; it is made in the process that solves it."""
        return ms.Problem(**self.arrays)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Row:
    """Figures of one solver on one task."""

    study: str
    problem: str
    cost: str
    solver: str
    frames: int
    moments: int
    muscles: int
    tolerance: float  # asked of a bare rival
    solved: bool = False  # all frames, within the limit
    us_per_frame: float = math.nan  # processor time of the fastest call [microseconds]
    first_call_s: float = math.nan  # with whatever is imported and compiled, of solvers on one frame [s]
    gap: float = math.nan  # the largest one of the frames within reach
    remark: str = ""


def main() -> None:
    """Measure, and write tables and pictures."""
    parser = command_line(__doc__)
    parser.add_argument("-o", "--output", type=output_folder, required=True)
    parser.add_argument("--bank", type=input_file, default=BUNDLED, help="default: the bundled problems")
    parser.add_argument(
        "--solver", action="append", default=[], help="only these, and batch; default: all and NLopt"
    )
    parser.add_argument(
        "--muscles", type=int, default=300, help="largest number of muscles of a problem (default 300)"
    )
    parser.add_argument("--limit", type=float, default=0.25, help="seconds for a call (default 0.25)")
    given = parser.parse_args()
    where = machine() | {"bank": read_bank(given.bank)[0]["made_by"], "limit_s": given.limit}
    every = [task for task in tasks(given.bank) if task.arrays["moment_arm"].shape[2] <= given.muscles]
    rows: list[Row] = []
    heading = [each.name for each in fields(Row)]
    for found in measured(every, contestants(given.solver), given.limit):
        rows += found  # the file is there, whatever becomes of the next solver
        (given.output / "tasks.csv").write_text(csv_text([heading, *(asdict(row).values() for row in rows)]))
    curves = list(curve_rows(rows))
    (given.output / "machine.json").write_text(json.dumps(where, indent=1))
    (given.output / "profiles.csv").write_text(csv_text([["costs", "solver", "tau", "share"], *curves]))
    console.print(", ".join(f"{name} {value}" for name, value in where.items() if value != "not installed"))
    console.print(summary(rows))
    for draw in (draw_profiles, draw_accuracy, draw_growth):
        draw(rows, given.output)


def contestants(chosen: list[str]) -> tuple[str, ...]:
    """Names of registered solvers and of rivals, and classes as MODULE:CLASS; batch is always among them.

    Raises:
        InputError: a solver that is unknown or not installed.
    """
    if not chosen:
        able = [name for name, record in ms.solvers().items() if record.installed and name != "linprog"]
        rivals = [name for name, rival in RIVALS.items() if rival.installed]
        return (*able, *rivals, *((OWN,) if importlib.util.find_spec("nlopt") else ()))
    for name in chosen:
        if name not in RIVALS:
            solver_of(name)
    return tuple(dict.fromkeys(["batch", *chosen]))


def solver_of(name: str) -> Any:
    """The solver of a name, or an instance of MODULE:CLASS."""
    module, colon, kind = name.partition(":")
    return getattr(importlib.import_module(module), kind)() if colon else find_solver(name)


def takes(name: str, cost: Cost) -> bool:
    """Whether a contestant can minimize a cost."""
    return RIVALS[name].fits(cost) if name in RIVALS else fits(solver_of(name), cost)


def tasks(bank: Path, frames: int = 2) -> list[Task]:
    """All tasks: of the bank, at most so many frames of each problem, of tolerances and of growing sizes."""
    names = ("moment_arm", "moment", "force_capacity", "lower", "upper")
    found = []
    for name, problem in read_bank(bank)[1].items():
        fixed = {array: problem[array] for array in ("max_isometric_force", "joints_crossed")}
        arrays = {array: problem[array][:frames] for array in names} | fixed
        for cost, solution in problem["costs"].items():
            if cost != "min_max":  # a linear program, which one registered solver takes
                found.append(Task("bank", name, cost, arrays, np.isnan(solution["cost"][:frames])))
    first = next(task for task in found if task.problem == "walk")
    for cost in ("force_squared", "stress_cubed"):
        found += [
            replace(first, study="accuracy", cost=cost, tolerance=tolerance) for tolerance in TOLERANCES
        ]
    sizes = [("frames", count, 7, 43) for count in FRAMES]
    sizes += [("muscles", 4, 7, muscles) for muscles in MUSCLES]
    sizes += [("moments", 4, moments, 100) for moments in MOMENTS]
    for study, count, moments, muscles in sizes:
        problem = random_problem(count, moments, muscles)
        arrays = {array: getattr(problem, array) for array in (*names, "max_isometric_force")}
        none = np.zeros(count, np.bool_)
        found.append(Task(study, f"random {moments} x {muscles}", "force_squared", arrays, none))
    return found


def measured(every: list[Task], names: tuple[str, ...], limit: float) -> Iterator[list[Row]]:
    """The rows of one contestant after the other, each in a process of its own."""
    os.environ |= dict.fromkeys(
        THREADS, "1"
    )  # of the processes: processor time then is the time of one thread
    for name in track(names, "solvers", console=console, transient=True):
        own = [task for task in every if takes(name, find_cost(task.cost)) and _belongs(name, task)]
        rows = rows_of(name, own, limit)
        console.print(f"{label(name)}: {sum(row.solved for row in rows)} of {len(own)} tasks")
        yield rows


def _belongs(name: str, task: Task) -> bool:
    """Other solvers than rivals have one tolerance; the QP rivals without last step are for accuracy alone."""
    if task.study == "accuracy":
        return name in RIVALS or task.tolerance == TIGHT
    return name not in RIVALS or name in IN_PROFILES


def blank(name: str, task: Task) -> Row:
    """A row without figures, which counts as a failure."""
    frames, moments, muscles = task.arrays["moment_arm"].shape
    return Row(task.study, task.problem, task.cost, label(name), frames, moments, muscles, task.tolerance)


def label(name: str) -> str:
    """The name in tables and pictures: of a class of one's own its `name`."""
    return str(solver_of(name).name) if ":" in name else name


def rows_of(name: str, part: list[Task], limit: float) -> list[Row]:
    """Measure one contestant on tasks in a process, and in a new one after a task from which it does not return.

    A task of growth is not tried where the size before predicts a time beyond the limit.
    """
    rows: list[Row] = []
    process = None
    for task in part:
        last = rows[-1] if rows and rows[-1].study == task.study and task.study in GROWTH else None
        if last and not last.us_per_frame * len(task.out_of_reach) <= 1e6 * limit:
            rows.append(replace(blank(name, task), remark="by the size before, beyond the limit"))
            continue
        process = process or fresh_process()
        try:
            rows.append(process.apply_async(row_of, (name, task, limit)).get(PATIENCE))
        except multiprocessing.TimeoutError:
            process.terminate()
            process = None
            rows.append(replace(blank(name, task), remark=f"no result within {PATIENCE:.0f} s"))
    if process is not None:
        process.terminate()
    return rows


def fresh_process() -> Any:
    """A new process that takes one call after the other."""
    return multiprocessing.get_context("spawn").Pool(1, silence)


def silence() -> None:
    """Close the output of this process: backends print banners and warnings."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)


def row_of(name: str, task: Task, limit: float) -> Row:
    """Measure one contestant on one task."""
    try:
        return _row(name, task, limit)
    except TimeoutError:
        return replace(blank(name, task), remark=f"more than {limit:g} s")
    except Exception as error:  # whatever a backend raises is its failure, and stays in the table
        return replace(blank(name, task), remark=f"{type(error).__name__}: {error}".splitlines()[0][:200])


def processor_time(call: Callable[[], Any], limit: float, stop: bool) -> tuple[float, Any]:
    """The processor time of a call [s] and its value; with `stop` it is stopped while it is in Python code.

    TimeoutError: it took more than the limit.
    """

    def ring(*_: object) -> None:
        raise TimeoutError

    if stop:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, BUSY * limit)
    try:
        begin = process_time()
        value = call()
        seconds = process_time() - begin
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    if seconds > limit:
        raise TimeoutError
    return seconds, value


def _row(name: str, task: Task, limit: float) -> Row:
    problem, cost, row = task.made, find_cost(task.cost), blank(name, task)
    # what is imported and compiled at the first call is no part of the figure
    early = problem if name in RIVALS else problem.frames(np.array([0]))
    run = prepared(name, early, cost, task.tolerance)
    stop = name in IN_PYTHON or ":" in name
    first, found = processor_time(run, limit if name in RIVALS else FIRST + limit, stop)
    best = first if name in RIVALS else math.inf
    run, spent = run if name in RIVALS else prepared(name, problem, cost, task.tolerance), 0.0
    while spent < ENOUGH or best == math.inf:
        last, found = processor_time(run, limit, stop)
        spent, best = spent + last, min(best, last)
    activation, multiplier, infeasible = found
    within = ~task.out_of_reach
    part = problem.frames(np.flatnonzero(within))
    none = np.zeros_like(part.moment)
    proved = ms.sharing.certify(part, cost, activation[within], none, multiplier[within])
    missing = int((~proved.holds).sum()) + int((~infeasible[task.out_of_reach]).sum())
    return replace(
        row,
        solved=not missing,
        us_per_frame=1e6 * best / len(within),
        first_call_s=first,
        gap=float(proved.gap.max(initial=0.0)),
        remark=f"{missing} of {len(within)} frames without certificate or report" if missing else "",
    )


def prepared(
    name: str, problem: ms.Problem, cost: Cost, tolerance: float
) -> Callable[[], tuple[Array, Array, Mask]]:
    """The call that is timed: it returns activations (T, n), multipliers (T, m) and frames called infeasible (T,)."""
    if name in RIVALS:
        call = RIVALS[name].prepare(problem, cost, tolerance)

        def rival() -> tuple[Array, Array, Mask]:
            found = call()
            return found.activation, found.multiplier, found.infeasible

        return rival
    solver = solver_of(name)

    def own() -> tuple[Array, Array, Mask]:
        found = ms.solve(problem, cost, solver)
        return found.activation, found.multiplier, found.status == ms.Status.INFEASIBLE

    return own


def ratios(times: Array) -> Array:
    """The ratios of times (s, p) to the least time of each task: infinite for a failure, whose time is infinite."""
    best = times.min(axis=0)
    return times / np.where(np.isfinite(best), best, 1.0)


def profile(ratio: Array, tau: Array) -> Array:
    """The share of all tasks whose ratio (p,) is at most each tau; a failure never is."""
    share: Array = (ratio[:, None] <= tau).mean(axis=0)
    return share


def profiles(rows: list[Row]) -> Iterator[tuple[str, list[str], Array]]:
    """Kind of the costs, solvers, and ratios (s, p) on the tasks of the bank; only solvers that take all of them."""
    bank = [row for row in rows if row.study == "bank"]
    for kind in (QUADRATIC, OTHER):
        part = [row for row in bank if find_cost(row.cost).quadratic == (kind == QUADRATIC)]
        names = list(dict.fromkeys(row.solver for row in part))
        keys = list(dict.fromkeys((row.problem, row.cost) for row in part))
        times = np.full((len(names), len(keys)), np.inf)
        for row in part:
            if row.solved:
                times[names.index(row.solver), keys.index((row.problem, row.cost))] = row.us_per_frame
        yield kind, names, ratios(times)


def curve_rows(rows: list[Row]) -> Iterator[list[Any]]:
    """The corners of all profiles: kind of the costs, solver, tau, share."""
    for kind, names, ratio in profiles(rows):
        for name, own in zip(names, ratio, strict=True):
            tau = np.unique(np.concatenate([[1.0], own[np.isfinite(own)]]))
            yield from ([kind, name, *corner] for corner in zip(tau, profile(own, tau), strict=True))


def summary(rows: list[Row]) -> Table:
    """One row for each kind of costs and solver: tasks solved, the profile at three ratios, time, gap."""
    columns = ("costs", "solver", "solved", "tau = 1", "10", "100", "x batch", "us/frame", "worst")
    table = Table(
        *columns, title="tasks of the bank; x batch and us/frame: geometric means over the tasks solved"
    )
    for kind, names, ratio in profiles(rows):
        quadratic = kind == QUADRATIC
        own = {
            name: {
                (row.problem, row.cost): row
                for row in rows
                if row.study == "bank" and row.solver == name and find_cost(row.cost).quadratic == quadratic
            }
            for name in names
        }
        order = np.argsort(-np.isfinite(ratio).mean(axis=1), kind="stable")
        for k in order:
            solved = {key: row for key, row in own[names[k]].items() if row.solved}
            both = [
                (row.us_per_frame, own["batch"][key].us_per_frame)
                for key, row in solved.items()
                if own["batch"][key].solved
            ]
            shares = profile(ratio[k], np.array([1.0, 10.0, 100.0]))
            times = np.array(both).reshape(-1, 2)
            table.add_row(
                kind,
                names[k],
                f"{len(solved)} of {ratio.shape[1]}",
                *(f"{share:.2f}" for share in shares),
                f"{geometric(times[:, 0] / times[:, 1]):.3g}",
                f"{geometric(times[:, 0]):.3g}",
                f"{max((row.gap for row in solved.values()), default=math.nan):.0e}",
            )
    return table


def geometric(values: Array) -> float:
    """The geometric mean; NaN of nothing."""
    return float(np.exp(np.log(values).mean())) if values.size else math.nan


def _style(name: str) -> dict[str, Any]:
    """Color and line of a solver, the same in every picture."""
    import matplotlib

    names = [
        *ms.solvers(),
        *IN_PROFILES,
        *(other for other in RIVALS if other not in IN_PROFILES),
        "nlopt slsqp",
    ]
    number = names.index(name) if name in names else len(names)
    if name == "batch":
        return {"color": "black", "linewidth": 2.5, "linestyle": "-"}
    line = ("-", "--", ":", "-.")[number % 4]
    return {"color": matplotlib.colormaps["tab20"](number % 20), "linestyle": line, "linewidth": 1.6}


def draw_profiles(rows: list[Row], folder: Path) -> None:
    """Performance profiles of both kinds of costs: profiles.png."""
    figure, axes = _figure(2)
    for axis, (kind, names, ratio) in zip(axes, profiles(rows), strict=True):
        finite = ratio[np.isfinite(ratio)]
        end = 2.0 * finite.max(initial=10.0)
        tau = np.geomspace(1.0, end, 500)
        for k in np.argsort(-profile_area(ratio), kind="stable"):
            axis.step(tau, profile(ratio[k], tau), where="post", label=names[k], **_style(names[k]))
        axis.set(xscale="log", xlim=(1.0, end), ylim=(-0.02, 1.02), title=f"{kind}, {ratio.shape[1]} tasks")
        axis.set(xlabel="time over the fastest solver's, at most", ylabel="share of tasks solved")
        _legend(axis, axis, loc="lower right")
    figure.savefig(folder / "profiles.png", dpi=110)


def profile_area(ratio: Array) -> Array:
    """The area below each profile over the logarithm of tau, by which legends are sorted."""
    return np.where(np.isfinite(ratio), 20.0 - np.log(np.where(np.isfinite(ratio), ratio, 1.0)), 0.0).sum(
        axis=1
    )


def draw_accuracy(rows: list[Row], folder: Path) -> None:
    """Worst gap and time of a frame of the walk, bare rivals at several tolerances: accuracy.png."""
    figure, axes = _figure(2)
    for axis, cost in zip(axes, ("force_squared", "stress_cubed"), strict=True):
        part = [row for row in rows if row.study == "accuracy" and row.cost == cost]
        part = [row for row in part if np.isfinite(row.gap)]
        for name in dict.fromkeys(row.solver for row in part):
            own = [row for row in part if row.solver == name]
            style = _style(name) | {
                "marker": "o" if len(own) > 1 else "*",
                "markersize": 5 if len(own) > 1 else 11,
            }
            gap = [max(row.gap, SMALLEST) for row in own]
            axis.plot([row.us_per_frame for row in own], gap, label=name, **style)
        axis.axhline(GAP, color="gray", linewidth=0.8)
        axis.set(xscale="log", yscale="log", title=f"{cost}, walk", xlabel="microseconds a frame")
        axis.set_ylabel("gap, worst frame")
        _legend(axis, axis)
    figure.savefig(folder / "accuracy.png", dpi=110)


def draw_growth(rows: list[Row], folder: Path) -> None:
    """Time of a frame against frames, muscles and moments: growth.png."""
    figure, axes = _figure(3)
    for axis, study in zip(axes, GROWTH, strict=True):
        part = [row for row in rows if row.study == study and row.solved]
        for name in dict.fromkeys(row.solver for row in part):
            own = [row for row in part if row.solver == name]
            sizes = [getattr(row, study) for row in own]
            axis.plot(sizes, [row.us_per_frame for row in own], label=name, marker=".", **_style(name))
        axis.set(
            xscale="log", yscale="log", xlabel=study, ylabel="microseconds a frame", title="force_squared"
        )
    _legend(axes[0], axes[-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(folder / "growth.png", dpi=110)


def _legend(drawn: Any, beside: Any, **where: Any) -> None:
    """The lines of one panel as the legend of another; none where nothing is solved."""
    handles, labels = drawn.get_legend_handles_labels()
    if handles:
        beside.legend(handles, labels, fontsize=7, **where)


def _figure(count: int) -> tuple[Any, AnyArray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5 * count if count < 3 else 15.0, 5.5), layout="constrained")
    return figure, figure.subplots(1, count)


if __name__ == "__main__":
    main()
