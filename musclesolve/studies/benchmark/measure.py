"""Measurements: times and memory of calls, the machine, solvers side by side in fresh processes; and random problems.

The processes load this module, so it imports only modules that solving a problem needs. Random force-sharing problems
have a solution and the structure of real ones.
"""

import gc
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.constants import USUAL_SOLVER
from musclesolve.errors import MuscleSolveError, input_error
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import PER_FRAME
from musclesolve.sharing.solver.solver_registry import REGISTRY, find_solver
from musclesolve.sharing.solving import solve
from musclesolve.version import __version__, version_of

PACKAGES = (
    *("numpy", "scipy", "numba", "casadi", "cyipopt-wheels"),
    *("daqp", "quadprog", "osqp", "piqp", "proxsuite", "clarabel", "highspy", "nlopt"),
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
REPEATS = 7
"""Number of repetitions of which the fastest counts, if the budget allows them."""
MOST_LETTERS = 200
"""Largest length of a message in a table."""


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of a call [s] and its value."""
    start = perf_counter()
    value = call()
    return perf_counter() - start, value


def measure(call: Callable[[], Any], repeats: int = REPEATS, budget: float = np.inf) -> tuple[float, Any]:
    """Return the time of the fastest call [s], and the value of the last one.

    One call is cold, then `repeats` are warm, or as many as the budget [s] allows, but one.
    """
    best, _ = seconds_of(call)
    spent = 0.0
    for _ in range(repeats):
        seconds, value = seconds_of(call)
        best, spent = min(best, seconds), spent + seconds
        if spent >= budget:
            break
    return best, value


def affordable(call: Callable[[int], Any], most: int, budget: float) -> int:
    """Return how many frames, from 1 to `most`, `call(frames)` solves within a third of a budget [s]."""
    frames = 1
    while frames < most:
        seconds, _ = seconds_of(lambda count=frames: call(count))  # type: ignore[misc]
        # Time may grow more slowly than frames, so the estimate is safe; still the number grows at most tenfold.
        more = int(min(frames * min(budget / 3.0 / max(seconds, 1e-9), 10.0), most))
        if more <= frames:
            break
        frames = more
    return frames


@dataclass(frozen=True)
class Latency:
    """Median, 99th percentile and largest of the times of many calls [s]."""

    median: float
    slow: float
    worst: float
    calls: int

    @classmethod
    def from_seconds(cls, seconds: ArrayLike) -> Self:
        """Summarize times [s]."""
        times = np.asarray(seconds, dtype=np.float64)
        median, slow = np.percentile(times, [50.0, 99.0])
        return cls(float(median), float(slow), float(times.max()), times.size)


class Memory:
    """The growth of the peak memory of this process from now on [MB].

    Linux resets the peak to the resident memory of this moment. Elsewhere the peak may have been higher before.
    """

    def __init__(self) -> None:
        gc.collect()
        self._before = _reset_peak() or _process_peak()

    def grown(self) -> float:
        """Return the growth [MB]; NaN where the system does not report it."""
        now = _status("VmHWM") or _process_peak()
        return np.nan if now is None or self._before is None else max(now - self._before, 0.0)


def _reset_peak() -> float | None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> float | None:
    """A line of the status that Linux keeps of a process [MB]."""
    values = _lines("/proc/self/status", f"{name}:")
    return float(values[0].split()[1]) * 1024.0 / 1e6 if values else None


def _lines(path: str, beginning: str) -> list[str]:
    """The lines of a file of the system that begin with a text; none where there is no such file."""
    try:
        return [line for line in Path(path).read_text().splitlines() if line.startswith(beginning)]
    except OSError:
        return []


def _process_peak() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def machine() -> dict[str, str]:
    """Return processor, cores, system, Python, versions of the installed packages and requested threads."""
    names = _lines("/proc/cpuinfo", "model name")
    facts = {
        "musclesolve": __version__,
        "processor": names[0].partition(":")[2].strip()
        if names
        else platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    if hasattr(os, "getloadavg"):
        facts["load"] = f"{os.getloadavg()[0]:.1f} of {facts['cores']} cores in the minute before"
    facts |= {name: os.environ[name] for name in THREADS if name in os.environ}
    return facts | {package: version_of(package) for package in PACKAGES}


class NoResultError(MuscleSolveError):
    """A process gave no result, with the reason."""


def in_fresh_process(function: Callable[..., Any], *arguments: Any, limit: float) -> Any:
    """Call a function in a new Python process, where nothing is imported, compiled or cached.

    The function is one of a module; its arguments and value must be picklable. NoResultError: it took longer than the
    limit [s], died, or the function raised an error.
    """
    with get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(function, arguments).get(limit)
        except TimeoutError:
            raise NoResultError(f"no result within {limit:.0f} s") from None
        except Exception as error:
            raise NoResultError(f"{type(error).__name__}: {error}".splitlines()[0][:MOST_LETTERS]) from error


REFERENCE = "batch"
PATIENCE = 60.0
"""Seconds beyond the budget after which a process is ended."""


@dataclass(frozen=True)
class Row:
    """Figures of one solver on one problem under one cost."""

    problem: str
    moments: int
    muscles: int
    cost: str
    solver: str
    frames: int = 0  # of the timed calls: as many as the budget allows
    us_per_frame: float = np.nan  # of the fastest call [microseconds]
    first_call_s: float = np.nan  # on one frame, in a process that has imported musclesolve.sharing [s]
    solved: int = 0  # frames whose certificate holds
    gap: float = np.nan  # the largest one, of frames without solution too
    iterations: float = np.nan  # mean
    memory_mb: float = np.nan  # growth of the peak memory of the process [MB]
    ratio: float = np.nan  # time per frame over that of `batch` on the same problem
    remark: str = ""  # description of a failure


def contest(
    name: str,
    problem: Problem,
    costs: tuple[str, ...],
    solvers: tuple[str, ...],
    budget: float,
    progress: Callable[[str], None] = lambda what: None,
) -> list[Row]:
    """Measure every cost with every solver that takes it, each in a process of its own, for `budget` seconds.

    The problem needs frames enough for the fastest solver; progress is called with the cost and the solver.
    """
    rows = []
    for cost in costs:
        for solver in solvers:
            if takes(solver, cost):
                progress(f"{cost} by {solver}")
                rows.append(_row(name, problem, cost, solver, budget))
    return with_ratios(rows)


def takes(solver: str, cost: str) -> bool:
    """Return whether a solver can minimize a cost."""
    return REGISTRY[solver].fits(find_cost(cost))


def _row(name: str, problem: Problem, cost: str, solver: str, budget: float) -> Row:
    blank = Row(name, problem.n_dof, problem.n_muscles, cost, solver)
    if not REGISTRY[solver].installed:
        return replace(blank, remark=f"not installed ({REGISTRY[solver].package})")
    try:
        measures = in_fresh_process(measured, problem, cost, solver, budget, limit=budget + PATIENCE)
    except NoResultError as error:
        return replace(blank, remark=str(error))
    return replace(blank, **measures)


def measured(problem: Problem, cost: str, solver: str, budget: float) -> dict[str, Any]:
    """Measure the figures of a row in this process, of calls through `solve`, scaling and certificate included."""
    memory = Memory()

    def first_frames(count: int) -> Problem:
        return problem.frames(np.arange(count))

    try:
        method = find_solver(solver)  # in place of its name: the first calls wait for the kernel
        first, _ = seconds_of(lambda: solve(first_frames(1), cost, method))
        frames = affordable(lambda count: solve(first_frames(count), cost, method), problem.n_frames, budget)
        part = first_frames(frames)
        part.moment_matrix, part.valid  # noqa: B018, computed once for a problem, whoever solves it
        fastest, solution = measure(lambda: solve(part, cost, method), budget=budget / 2.0)
    except MuscleSolveError as error:
        return {"remark": " ".join(str(error).split())}
    unsolved = frames - int(solution.solved.sum())
    return {
        "frames": frames,
        "us_per_frame": 1e6 * fastest / frames,
        "first_call_s": first,
        "solved": frames - unsolved,
        "iterations": float(solution.iterations.mean()) or np.nan,  # 0: the solver does not report them
        "gap": float(np.fmax.reduce(solution.gap)),
        "memory_mb": memory.grown(),
        "remark": f"{unsolved} frames without a solution" if unsolved else "",
    }


def with_ratios(rows: list[Row]) -> list[Row]:
    """Return the rows with the ratio of their time to the time of `batch` on the same problem under the same cost."""
    per = {(row.problem, row.cost): row.us_per_frame for row in rows if row.solver == REFERENCE}
    return [replace(row, ratio=row.us_per_frame / per.get((row.problem, row.cost), np.nan)) for row in rows]


@dataclass(frozen=True)
class SingleFrame:
    """Latency of one frame under a cost: `solve` of a Problem, without and with making the Problem from arrays."""

    cost: str
    solving: Latency
    with_problem: Latency


def single_frames(problem: Problem, cost: str, solver: str) -> SingleFrame:
    """Solve every frame of a problem in a call of its own, as in a control loop.

    The Problem of a frame has the least that the cost needs: moment arms, moments, capacities, strengths and its data.
    """
    needed = (*("moment_arm", "moment", "force_capacity", "max_isometric_force"), *find_cost(cost).data)
    arrays = {name: getattr(problem, name) for name in needed}

    def made_of(t: int) -> Problem:
        return Problem(dof=problem.dof, **{k: x[t] if k in PER_FRAME else x for k, x in arrays.items()})

    frames = range(problem.n_frames)
    made = [made_of(t) for t in frames]
    method = find_solver(solver)
    solve(made[0], cost, method)
    solving = [seconds_of(lambda one=one: solve(one, cost, method))[0] for one in made]  # type: ignore[misc]
    making = [seconds_of(lambda t=t: solve(made_of(t), cost, method))[0] for t in frames]  # type: ignore[misc]
    return SingleFrame(cost, Latency.from_seconds(solving), Latency.from_seconds(making))


JOINT = (3, 1, 2)
"""Numbers of moments of successive joints, repeated: like hip, knee and ankle."""
PERIOD = 100
"""Frames of a cycle of a random problem: 1 s at 100 Hz."""


def random_problem(frames: int, dofs: int = 7, muscles: int = 43, seed: int = 0) -> Problem:
    """Make a random problem of muscles that cross one or two neighboring joints and change smoothly between frames.

    Moment arms of up to 6 cm, maximum isometric forces from 100 to 2500 N, capacities around them, and the moments
    that activations up to about a half produce: b = A a, so that every frame has a solution, with at most nine
    tenths of the maximum isometric force of each muscle. There are at least as many muscles as moments, which belong to
    joints with three, one and two.
    """
    if frames < 1 or dofs < 1 or muscles < dofs:
        raise input_error(
            "bad_number",
            problem=f"{frames} frames, {dofs} moments and {muscles} muscles make no problem",
            expected="at least one of each, and no more moments than muscles",
        )
    random = np.random.default_rng(seed)
    crossed, joints_crossed = _crossed(dofs, muscles, random)
    arm = random.uniform(-0.06, 0.06, (dofs, muscles)) * crossed
    strongest = np.exp(random.uniform(np.log(100.0), np.log(2500.0), muscles))
    angle = 2.0 * np.pi * np.arange(frames)[:, None] / PERIOD

    def wave(low: float, high: float) -> Array:
        """A sine between two numbers for each muscle, (T, n)."""
        phase = random.uniform(0.0, 2.0 * np.pi, muscles)
        return low + (high - low) * (0.5 + 0.5 * np.sin(angle + phase))

    capacity = strongest * wave(0.3, 1.2)
    activation = np.minimum(
        np.maximum(wave(-0.4, 0.6), 0.0) * random.random(muscles), 0.9 * strongest / capacity
    )
    return _solvable(
        wave(0.8, 1.2)[:, None, :] * arm,
        activation,
        capacity * activation,
        force_capacity=capacity,
        max_isometric_force=strongest,
        fiber_velocity=wave(-0.5, 0.5),
        optimal_fiber_length=random.uniform(0.03, 0.2, muscles),
        joints_crossed=joints_crossed,
    )


def _solvable(arms: Array, activation: Array, force: Array, **more: Any) -> Problem:
    """The problem of arms (T, m, n) that activations and forces (T, n) solve; every other muscle has EMG."""
    moment, measured = np.matmul(arms, force[:, :, None])[:, :, 0], np.arange(arms.shape[2]) % 2
    return Problem(moment_arm=arms, moment=moment, emg=np.where(measured, activation, np.nan), **more)


def _crossed(dofs: int, muscles: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Mask (m, n) of the moments of each muscle, and number of its joints (n,); every moment gets muscles."""
    joint = np.repeat(np.arange(dofs), np.resize(JOINT, dofs))[:dofs]
    last = joint[-1]
    # As many muscles for a joint as it has moments, the others at random joints.
    first = np.concatenate([joint, random.integers(last + 1, size=muscles - dofs)])
    second = np.minimum(first + (random.random(muscles) < 0.5), last)
    crossed: Array = ((joint[:, None] == first) | (joint[:, None] == second)).astype(np.float64)
    return crossed, 1.0 + (second > first)


def varied(problem: Problem, frames: int, seed: int = 0) -> Problem:
    """Return frames after the pattern of a recorded problem, each a little different.

    The frames that can be solved without reserves are repeated, their moment arms changed by two per cent, their
    capacities and activations by ten (standard deviations); the moments follow from the changed activations.
    """
    solution = solve(problem.frames(problem.valid), "stress_cubed", find_solver(USUAL_SOLVER))
    good = np.flatnonzero(solution.status == 0)
    if not good.size:
        raise input_error("bad_result", problem="no frame of the recording can be solved without reserves")
    random = np.random.default_rng(seed)
    which = good[np.arange(frames) % good.size]

    def changed(array: Array, by: float) -> Array:
        return array * (1.0 + by * random.standard_normal(array.shape))

    pattern = problem.frames(np.flatnonzero(problem.valid)[which])
    strongest, arms = problem.max_isometric_force, changed(pattern.moment_arm, 0.02)
    capacity = np.maximum(changed(pattern.force_capacity, 0.1), 0.0)
    activation = np.clip(changed(solution.activation[which], 0.1), 0.0, 1.0)
    # Soft saturation ends at the maximum isometric force.
    force = np.minimum(capacity * activation, 0.999 * strongest)
    kept = "max_isometric_force muscle dof fiber_velocity optimal_fiber_length joints_crossed"
    kept += " reaction_matrix reaction_offset reaction"
    more = {name: getattr(pattern, name) for name in kept.split()}
    return _solvable(arms, activation, force, force_capacity=capacity, **more)
