"""Time, agreement with the reference, other starts, overload, and growth with frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import TypeVar

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from benchmarks.elastic_tendons.variants import COST, OWN, SETS, SOFT, motion
from benchmarks.timing import measure
from benchmarks.validation.page import table
from musclesolve._util.arrays import Array
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.collocation.collocation import Collocation
from musclesolve.trajectory.motion_problem import MotionCost, MotionProblem
from musclesolve.trajectory.motion_solution import MotionSolution, label_solution
from musclesolve.trajectory.solve_motion import solve_motion, static_problem, static_start

STARTS = 20
LOADS = (1.0, 1.5, 2.0)
RATES = (50.0, 100.0, 200.0, 400.0)  # Hz
COPIES = (1, 2, 4, 8)

Found = TypeVar("Found")


def timed(call: Callable[[], Found], repeats: int = 1) -> tuple[float, Found]:
    """The shortest of some times [s], and what was found."""
    seconds = []
    for _ in range(repeats):
        begin = perf_counter()
        found = call()
        seconds.append(perf_counter() - begin)
    return min(seconds), found


def total(found: MotionSolution, problem: MotionProblem) -> float:
    """The cost of the whole motion."""
    return float(problem.weight @ found.cost)


def times() -> str:
    """Single frames, the structured method and the reference on each leg."""
    rows = []
    for database in SETS:
        for tendons in (OWN, SOFT[1]):
            for side in "rl":
                problem = motion(database, side, tendons)
                rows.append((f"`{database}`", tendons.label, side, *_compared(problem)))
    head = ("set", "tendons", "leg", "single frames [ms]", "structured [s]", "steps", "certificate")
    more = ("collocation [s]", "steps", "certificate", "ratio", "activations apart", "costs apart")
    return table((*head, *more), rows)


def _compared(problem: MotionProblem) -> tuple[str, ...]:
    static = static_problem(problem)[0]
    single = measure(lambda: solve(static, COST)).best
    fast, ours = timed(lambda: solve_motion(problem, COST), 3)
    slow, theirs = timed(lambda: solve_motion(problem, COST, Collocation()))
    apart = np.abs(ours.activation - theirs.activation).max()
    cost = abs(total(ours, problem) / total(theirs, problem) - 1.0)
    if ours.solver != "structured" or not (ours.solved.all() and theirs.solved.all()):
        raise RuntimeError(f"{ours.solver}: {ours.notes}; {theirs.notes}")
    return (
        *(f"{1e3 * single:.2f}", f"{fast:.2f}", str(ours.iterations), f"{ours.kkt_residual.max():.0e}"),
        *(f"{slow:.1f}", str(theirs.iterations), f"{theirs.kkt_residual.max():.0e}", f"{slow / fast:.0f}"),
        *(f"{apart:.0e}", f"{cost:.0e}"),
    )


def starts() -> str:
    """Tendon forces at random instead of tendon forces of single frames."""
    rng, rows = np.random.default_rng(0), []
    for database in SETS:
        for side in "rl":
            problem = motion(database, side)
            best = solve_motion(problem, COST)
            found = [_from(problem, rng) for _ in range(STARTS)]
            solved = [each for each in found if each.solved.all()]
            same = [each for each in solved if np.abs(each.activation - best.activation).max() < 1e-3]
            apart = max(np.abs(each.activation - best.activation).max() for each in solved)
            cost = [total(each, problem) / total(best, problem) - 1.0 for each in solved]
            steps = f"{min(e.iterations for e in solved)} to {max(e.iterations for e in solved)}"
            counts = f"{len(solved)} of {STARTS}", f"{len(same)} of {len(solved)}"
            rows.append(
                (
                    f"`{database}`",
                    side,
                    *counts,
                    f"{apart:.0e}",
                    f"{min(cost):+.0e} to {max(cost):+.0e}",
                    steps,
                )
            )
    head = ("set", "leg", "certified", "the same optimum", "activations apart", "cost, change", "steps")
    return table(head, rows)


def _from(problem: MotionProblem, rng: np.random.Generator) -> MotionSolution:
    """Return a start from random tendon forces of 0.05 to 1 F0 in every frame."""
    cost = MotionCost.from_cost(problem, COST)
    force = rng.uniform(0.05, 1.0, problem.musculotendon_length.shape)
    begin = problem.muscles.curves.tendon.inverse(force), static_start(problem, cost.cost)[1]
    return label_solution(problem, cost, BandedInteriorPoint().solve(problem, cost, begin))


def loads() -> str:
    """Moments of the right leg times a load: frames with reserves, and the largest one."""
    rows = []
    for database in SETS:
        for load in LOADS:
            static = solve(static_problem(motion(database, "r", load=load))[0], COST, on_infeasible="reserve")
            found = [
                solve_motion(motion(database, "r", kind, load=load), COST, on_infeasible="reserve")
                for kind in (OWN, SOFT[1])
            ]
            solutions = (static, *found)
            rows.append(
                (f"`{database}`", f"{load:g}", *(_reserves(each.status, each.reserve) for each in solutions))
            )
    return table(("set", "load", "rigid", OWN.label, SOFT[1].label), rows)


def _reserves(status: Array, reserve: Array) -> str:
    helped = status == Status.SOLVED_WITH_RESERVE
    if not helped.any():
        return "none" if (status == Status.SOLVED).all() else "not solved"
    return f"{int(helped.sum())} frames, {np.abs(reserve[helped]).max():.0f} N m"


def growth() -> str:
    """Other sampling rates, and the walk there and back again and again."""
    problem = motion(SETS[0], "r")
    cases = {f"{rate:g} Hz": resampled(problem, rate) for rate in RATES}
    cases |= {f"100 Hz, {copies} times": there_and_back(problem, copies) for copies in COPIES[1:]}
    rows, reference = [], solve_motion(problem, COST)
    for name, case in cases.items():
        seconds, found = timed(lambda case=case: solve_motion(case, COST))  # type: ignore[misc]
        if not found.solved.all():
            raise RuntimeError(f"{name}: {found.notes}")
        frames, defect = case.n_frames, float(np.abs(found.defect).max())
        each = f"{1e6 * seconds / frames / found.iterations:.0f}"
        apart = _apart(reference, found) if "times" not in name else ""
        rows.append((name, frames, f"{seconds:.2f}", found.iterations, each, f"{defect:.0e}", apart))
    head = (
        "motion",
        "frames",
        "time [s]",
        "steps",
        "us per frame and step",
        "largest error midway",
        "activations apart",
    )
    return table(head, rows)


def _apart(reference: MotionSolution, found: MotionSolution) -> str:
    """Largest difference of activations at the times of the reference that both have."""
    course = CubicSpline(found.time, found.activation)
    return f"{np.abs(course(reference.time) - reference.activation).max():.0e}"


def resampled(problem: MotionProblem, rate: float) -> MotionProblem:
    """Return the motion at another rate [Hz], its ends kept."""
    count = 1 + round((problem.time[-1] - problem.time[0]) * rate)
    time = np.linspace(problem.time[0], problem.time[-1], count)
    path = CubicHermiteSpline(problem.time, problem.musculotendon_length, problem.musculotendon_velocity)
    return replace(
        problem,
        time=time,
        moment_arm=CubicSpline(problem.time, problem.moment_arm)(time),
        moment=CubicSpline(problem.time, problem.moment)(time),
        musculotendon_length=path(time),
        musculotendon_velocity=path(time, 1),
        emg=None,
        lower=np.array(0.0),
        upper=np.array(1.0),
    )


def there_and_back(problem: MotionProblem, copies: int) -> MotionProblem:
    """The motion forward and backward in turn, so that nothing jumps but velocities at the ends."""
    frames, step = np.arange(problem.n_frames), float(np.diff(problem.time).mean())
    order, sign = frames, np.ones(len(frames))
    for copy in range(1, copies):
        part = frames[1:] if copy % 2 == 0 else frames[-2::-1]
        order, sign = np.append(order, part), np.append(sign, np.full(len(part), (-1.0) ** copy))
    return replace(
        problem,
        time=problem.time[0] + step * np.arange(len(order)),
        moment_arm=problem.moment_arm[order],
        moment=problem.moment[order],
        musculotendon_length=problem.musculotendon_length[order],
        musculotendon_velocity=sign[:, None] * problem.musculotendon_velocity[order],
        emg=None,
        lower=np.array(0.0),
        upper=np.array(1.0),
    )
