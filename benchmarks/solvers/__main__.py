"""Print the solvers beside rivals called directly, on a random leg; growth and profiles: python -m benchmarks.profiles.

python -m benchmarks.solvers [--frames N] [--sizes]

`--sizes` prints `batch` beside DAQP alone, for five costs and three sizes of problems. Every solution of `batch` is
certified in this time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.solvers import rivals
from benchmarks.timing import console
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.studies.benchmark.benchmark import side_by_side
from musclesolve.studies.benchmark.measure import contest, random_problem, takes, with_ratios

COSTS = ("force_squared", "stress_cubed", "soft_saturation")
SOLVERS = ("batch", "daqp", "quadprog", "osqp", "ipopt", "slsqp")
BUDGET = 2.0
FIVE = (
    "force_squared",
    "knee_sparing_activation",
    "stress_cubed",
    "soft_saturation",
    "activation_power(exponent=4)",
)
SIZES = ((3, 12), (7, 43), (14, 92))
CALLS = 7  # of which the fastest counts


def report(frames: int = 10_000) -> None:
    """Print all tables."""
    problem = random_problem(frames)
    for cost in COSTS:
        fit = tuple(name for name in SOLVERS if takes(name, cost))
        rows = contest("random leg", problem, (cost,), fit, BUDGET)
        console.print(side_by_side(with_ratios(rows + rivals.rows("random leg", problem, cost, BUDGET))))


def fastest(call: Callable[[], Any], frames: int) -> str:
    """Microseconds of processor time a frame of the fastest of some calls."""
    times = []
    for _ in range(CALLS):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return f"{min(times) / frames * 1e6:.1f}"


def by_size(frames: int) -> Table:
    """`batch` and DAQP, each frame from the one before: microseconds of processor time a frame."""
    table = Table("moments", "muscles", "cost", "batch", "certified", "steps a frame", "daqp, bare, warm")
    for dofs, muscles in SIZES:
        problem = random_problem(frames, dofs, muscles)
        for name in FIVE:
            cost = find_cost(name)
            answer, rival = ms.solve(problem, cost), rivals.RIVALS["daqp, bare, warm"]
            other = "-"
            if rival.fits(cost) and rival.installed:
                other = fastest(rival.prepare(problem, cost, rivals.TIGHT), frames)
            mine = fastest(lambda problem=problem, cost=cost: ms.solve(problem, cost), frames)
            shares = f"{answer.solved.mean():.4g}", f"{answer.iterations.mean():.2f}"
            table.add_row(str(dofs), str(muscles), cost.label, mine, *shares, other)
    return table


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--sizes", action="store_true", help="batch beside DAQP, by cost and size")
    options = parser.parse_args()
    if options.sizes:
        console.print(by_size(options.frames))
    else:
        report(options.frames)
