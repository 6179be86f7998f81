"""Frames that the certificate accepts and refuses: drawn frames of known optimum, the bank, and a walk.

    python -m benchmarks.certificate [--frames N] [--seed S] [--solvers NAME ...] [--trial TRIAL.toml]

An optimum is drawn backward: multipliers lambda come first, activations follow from f_i'(a_i) = (A^T lambda)_i within
the bounds, in 80 bits, and A a are the moments. Strengths lie over four decades, powers go from
1.1 to 20, some arms are alike to 1e-8, some frames have reserves, some costs soft rows. For each registered cost:

    false accepts   solved frames that cost more than the least by a millionth of it and of W, and spoiled points that
                    are certified
    false rejects   optima, rounded to 64 bits, that are not certified
    left open       frames without certificate or proof

Frames whose moments are all below 1e-6 N m are left out: muscles at rest meet them. Spoiled points move along the
moments' null space, by 1e-8 to 1e-2 of the largest activation. The walk is solved forth and back under every cost: the
largest change of an activation, and the steps of a frame.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from dataclasses import fields, replace
from typing import Any

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line, input_file
from benchmarks.bank.__main__ import BUNDLED
from benchmarks.bank.read_bank import read_bank
from benchmarks.timing import console
from musclesolve._util.arrays import AnyArray, Array
from musclesolve.sharing import certify
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost import ActivationPower, ActivationVolume, MusclePower, SoftSaturation
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.cost.cost_terms import Term
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import find_solver, fits

LONG = np.longdouble
POWERS = (1.1, 1.5, 4.0, 6.0, 10.0, 20.0)
SPOILED = (1e-8, 1e-6, 1e-4, 1e-2)
ABOVE_LEAST = 1e-6  # share above the least cost from which an accepted frame is a false one
HALVINGS = 200
RESOLVED = 1e-6  # N m; muscles at rest meet less
COUNTS = ("frames", "false accepts", "spoiled points", "of them accepted", "false rejects", "left open")


def smooth_costs() -> list[Cost]:
    """Every registered cost with slopes, and the sharp powers."""
    usual = [kind() for kind in ms.costs().values()]
    sharp = [kind(power) for power in POWERS for kind in (ActivationPower, MusclePower, ActivationVolume)]
    return [cost for cost in usual if cost.needs <= {"separable", "rows"}] + sharp + [SoftSaturation(3.0)]


def drawn(random: np.random.Generator, frames: int) -> dict[str, Any]:
    """Arrays of a problem without moments."""
    muscles = int(random.choice([2, 3, 5, 8, 12, 20, 43]))
    dofs = int(min(random.choice([1, 2, 3, 6]), muscles))
    strength = 10.0 ** random.uniform(0.0, 4.0, muscles)
    arm = random.normal(0.0, 0.05, (frames, dofs, muscles))
    if dofs > 1 and random.random() < 0.2:
        arm[:, 1] = arm[:, 0] + 10.0 ** random.uniform(-8.0, -2.0) * arm[:, 1]
    lower = np.where(random.random((frames, muscles)) < 0.1, 0.05, 0.0)
    upper = np.where(random.random((frames, muscles)) < 0.2, 10.0 ** random.uniform(-2.0, 0.0), 1.0)
    emg = np.where(random.random((frames, muscles)) < 0.3, np.nan, random.beta(0.5, 1.5, (frames, muscles)))
    return {
        "moment_arm": arm,
        "force_capacity": strength * random.uniform(0.5, 1.0, (frames, muscles)),
        "max_isometric_force": strength,
        "lower": lower,
        "upper": np.maximum(upper, lower),
        "fiber_velocity": random.normal(0.0, 0.3, (frames, muscles)),
        "optimal_fiber_length": 10.0 ** random.uniform(-2.0, -0.5, muscles),
        "joints_crossed": 1.0 + np.arange(muscles) % 2,
        "emg": emg,
        "reaction_matrix": random.normal(0.0, 1.0, (frames, 3, muscles)),
        "reaction_offset": random.normal(0.0, 300.0, (frames, 3)),
        "reaction": ("x", "y", "z"),
        "dof": ("knee", *(f"dof {k}" for k in range(1, dofs))),
    }


def long_terms(cost: Cost, problem: Problem) -> list[Term]:
    """The terms of a cost in 80 bits."""
    return [
        replace(
            term,
            coefficient=term.coefficient.astype(LONG),
            target=None if term.target is None else term.target.astype(LONG),
            factor=np.asarray(term.factor, LONG),
        )
        for term in cost.terms(problem) or ()
    ]


def slope_of(terms: list[Term], a: AnyArray) -> AnyArray:
    """The marginal costs (T, n) of terms at activations (T, n)."""
    with np.errstate(all="ignore"):
        return np.asarray(sum(np.nan_to_num(term.slope(a), posinf=np.inf) for term in terms))


def activations_for(terms: list[Term], pull: AnyArray, lower: AnyArray, upper: AnyArray) -> AnyArray:
    """The activations (T, n) where f' is the pull, within bounds, by bisection to the last digit."""
    low, high = lower.copy(), upper.copy()
    for k in range(HALVINGS):
        middle = np.where((low > 0) & (high > 2 * low), np.sqrt(low * high), (low + high) / 2)
        middle = np.where((low == 0) & (k % 2 == 0), high * LONG(1e-6), middle)
        if not ((low < middle) & (middle < high)).any():
            break
        above = slope_of(terms, middle) > pull
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    middle = (low + high) / 2
    return np.where(
        slope_of(terms, lower) >= pull, lower, np.where(slope_of(terms, upper) <= pull, upper, middle)
    )


def with_optimum(
    random: np.random.Generator, frames: int, cost: Cost
) -> tuple[Problem, AnyArray, AnyArray] | None:
    """A problem with its optimal activations (T, n), and multipliers (T, m), in 80 bits."""
    arrays = drawn(random, frames)
    none = np.zeros(arrays["moment_arm"].shape[:2])
    try:
        problem = Problem(moment=none, **arrays)
        box = within_domain(problem, cost)
        terms, rows = long_terms(cost, problem), cost.soft_rows(problem)
    except ms.InputError:
        return None
    matrix = problem.moment_arm.astype(LONG) * problem.force_capacity.astype(LONG)[:, None]
    level = 10.0 ** random.uniform(-3.0, 0.0, (frames, 1))
    slope = slope_of(terms, np.clip(level, box.lower, box.upper).astype(LONG))
    steep = np.median(np.abs(slope), axis=1, keepdims=True)
    size = np.abs(matrix).max(axis=(1, 2))[:, None]
    multiplier = (
        random.normal(size=none.shape) * steep / size * 10.0 ** random.uniform(-1.0, 1.0, none.shape)
    ).astype(LONG)
    pull = np.einsum("tm,tmn->tn", multiplier, matrix)
    if rows is not None:
        matrix_of_rows = rows.matrix.astype(LONG)
        of_rows = (random.normal(size=rows.target.shape) * steep / np.abs(rows.matrix).max()).astype(LONG)
        pull = pull + np.einsum("tk,tkn->tn", of_rows, matrix_of_rows)
    a = activations_for(terms, pull, box.lower.astype(LONG), box.upper.astype(LONG))
    moment = np.einsum("tmn,tn->tm", matrix, a)
    if rows is not None:
        target = np.einsum("tkn,tn->tk", matrix_of_rows, a) + of_rows / rows.weight
        arrays["reaction_offset"] = -target.astype(np.float64)
    if random.random() < 0.2:
        weight = 10.0 ** random.uniform(-6.0, 2.0) * float(np.median(steep) / size.min() ** 2)
        moment = moment + multiplier / weight
        arrays["reserve_weight"] = weight
    return Problem(moment=moment.astype(np.float64), **arrays), a, multiplier


def value_of(cost: Cost, problem: Problem, a: AnyArray, reserve: AnyArray) -> AnyArray:
    """The cost of activations (T, n) with the cost of soft rows and of reserves (T, m), (T,), in 80 bits."""
    total = np.asarray(sum(term.value(a) for term in long_terms(cost, problem)))
    rows = cost.soft_rows(problem)
    if rows is not None:
        short = rows.target - np.einsum("tkn,tn->tk", rows.matrix.astype(LONG), a)
        total = total + (rows.weight * short**2).sum(axis=1) / 2
    if problem.reserve_weight is not None:
        total = total + (problem.reserve_weight * reserve**2).sum(axis=1) / 2
    return total


def cost_of_moments(problem: Problem, change: AnyArray, further: AnyArray, multiplier: AnyArray) -> AnyArray:
    """The cost lambda . (A c + d), (T,), of changes c of activations (T, n) and d of reserves (T, m)."""
    matrix = problem.moment_arm.astype(LONG) * problem.force_capacity.astype(LONG)[:, None]
    return np.einsum("tm,tmn,tn->t", multiplier, matrix, change) + (multiplier * further).sum(axis=1)


def in_null_space(random: np.random.Generator, problem: Problem, a: Array, share: float) -> Array:
    """Activations (T, n) moved along the null space of the moments by a share of the largest, within the bounds."""
    moved = a.copy()
    for t in range(len(a)):
        free = np.flatnonzero((problem.upper[t] > problem.lower[t]) & (random.random(a.shape[1]) < 0.7))
        _, value, right = np.linalg.svd(problem.moment_matrix[t][:, free])
        null = right[(value > 1e-12 * value.max(initial=0.0)).sum() :]
        if len(null):
            step = null.T @ random.normal(size=len(null))
            step *= share * a[t].max() / max(np.abs(step).max(), 1e-300)
            moved[t, free] += step
    return np.clip(moved, problem.lower, problem.upper)


def examine(random: np.random.Generator, cost: Cost, frames: int, counts: dict[str, int]) -> None:
    """Count on drawn frames of one problem."""
    made = with_optimum(random, frames, cost)
    if made is None:
        return
    problem, optimum, multiplier = made
    reserved = problem.reserve_weight is not None
    borne = multiplier / problem.reserve_weight if reserved else np.zeros_like(multiplier)
    box, least = within_domain(problem, cost), value_of(cost, problem, optimum, borne)
    answer = ms.solve(problem, cost)
    counted = np.abs(problem.moment).max(axis=1) > RESOLVED
    counts["frames"] += int(counted.sum())
    counts["left open"] += int((~answer.solved & (answer.status != ms.Status.INFEASIBLE) & counted).sum())
    # moments are rounded to 64 bits, and may be missed by what the certificate allows: where the cost of this by the
    # drawn multipliers, which at the edge of reach may be anything, is above the cost, nothing can be decided
    numbers = [np.nan_to_num(array) for array in (answer.activation, answer.reserve, answer.multiplier)]
    found = value_of(cost, problem, numbers[0].astype(LONG), numbers[1].astype(LONG))
    misses = cost_of_moments(problem, numbers[0] - optimum, numbers[1] - borne, multiplier)
    kept = problem.with_arrays(reserve_weight=answer.reserve_weight) if reserved else problem
    allowed = ABOVE_LEAST * np.maximum(least, certify(kept, cost, *numbers).unit)
    wrong = answer.solved & (found > least + allowed + 2.0 * np.abs(misses))
    counts["false accepts"] += int((wrong & counted).sum())
    a = np.clip(optimum.astype(np.float64), box.lower, box.upper)
    right = certify(problem, cost, a, borne.astype(np.float64), multiplier.astype(np.float64))
    counts["false rejects"] += int((~right.holds & counted).sum())
    for share in SPOILED:
        moved = in_null_space(random, box, a, share)
        spoiled = certify(problem, cost, moved, borne.astype(np.float64), multiplier.astype(np.float64))
        allowed = ABOVE_LEAST * np.maximum(least, spoiled.unit)
        above = value_of(cost, problem, moved.astype(LONG), borne) > least + allowed
        counts["spoiled points"] += int(above.sum())
        counts["of them accepted"] += int((above & spoiled.holds).sum())


def drawn_frames(frames: int, seed: int) -> Table:
    """A row for each cost."""
    warnings.simplefilter("ignore", UserWarning)  # drawn moments are of any size
    table = Table("cost", *COUNTS, title="Drawn frames with known optimum")
    random = np.random.default_rng(seed)
    total: dict[str, int] = defaultdict(int)
    for cost in smooth_costs():
        counts: dict[str, int] = defaultdict(int)
        for _ in range(-(-frames // 8)):
            examine(random, cost, 8, counts)
        table.add_row(cost.label, *(str(counts[name]) for name in COUNTS))
        for name in COUNTS:
            total[name] += counts[name]
    table.add_row("all", *(str(total[name]) for name in COUNTS))
    return table


def on_the_bank(solvers: list[str]) -> Table:
    """For some solvers: frames of the bank that are solved, proved to be out of reach, left open."""
    table = Table("solver", "solved", "out of reach", "left open", "largest gap", title="Bank of problems")
    names = {field.name for field in fields(Problem)}
    tasks = [
        (ms.Problem(**{name: array for name, array in arrays.items() if name in names}), cost)
        for arrays in read_bank(BUNDLED)[1].values()
        for cost in arrays["costs"]
    ]
    for name in solvers:
        counts, largest = np.zeros(3, int), 0.0
        for problem, cost in tasks:
            kind, reserves = find_cost(cost), problem.reserve_weight is not None
            if not fits(find_solver(name), kind, reserves=reserves):
                continue
            answer = ms.solve(problem, kind, name)
            proved = answer.status == ms.Status.INFEASIBLE
            counts += answer.solved.sum(), proved.sum(), (~answer.solved & ~proved).sum()
            largest = max(largest, float(answer.gap[answer.solved].max(initial=0.0)))
        table.add_row(name, *map(str, counts), f"{largest:.0e}")
        console.print(f"[dim]bank: {name} done[/dim]")
    return table


def forth_and_back(path: Any) -> Table:
    """For each cost: the walk in both orders."""
    table = Table("cost", "frames", "solved", "largest gap", "steps a frame", "change by order", title="Walk")
    problem = ms.leg_problem(ms.run(path, side="r"), "r")
    back = np.arange(problem.n_frames)[::-1]
    for cost in smooth_costs():
        try:
            one, other = ms.solve(problem, cost), ms.solve(problem.frames(back), cost)
        except ms.InputError:
            continue
        change = np.nanmax(np.abs(one.activation - other.activation[::-1]))
        numbers = f"{np.nanmax(one.gap):.0e}", f"{one.iterations.mean():.2f}", f"{change:.0e}"
        table.add_row(cost.label, str(problem.n_frames), str(int(one.solved.sum())), *numbers)
    return table


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--frames", type=int, default=80, help="drawn frames for each cost")
    parser.add_argument("--seed", type=int, default=0)
    installed = [name for name, record in ms.solvers().items() if record.installed]
    parser.add_argument("--solvers", nargs="*", choices=installed, default=installed, metavar="NAME")
    parser.add_argument("--trial", type=input_file, metavar="TRIAL.toml")
    options = parser.parse_args()
    console.print(drawn_frames(options.frames, options.seed))
    if options.solvers:
        console.print(on_the_bank(options.solvers))
    if options.trial:
        console.print(forth_and_back(options.trial))


if __name__ == "__main__":
    main()
