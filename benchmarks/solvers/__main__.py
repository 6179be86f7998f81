"""Print the solvers beside rivals called directly, on a random leg; growth and profiles: python -m benchmarks.profiles.

python -m benchmarks.solvers [--frames N]
"""

from __future__ import annotations

from benchmarks.arguments import command_line
from benchmarks.solvers import rivals
from benchmarks.timing import console
from musclesolve.studies.benchmark.benchmark import side_by_side
from musclesolve.studies.benchmark.measure import contest, random_problem, takes, with_ratios

COSTS = ("force_squared", "stress_cubed", "soft_saturation")
SOLVERS = ("batch", "daqp", "quadprog", "osqp", "ipopt", "slsqp")
BUDGET = 2.0


def report(frames: int = 10_000) -> None:
    """Print all tables."""
    problem = random_problem(frames)
    for cost in COSTS:
        fit = tuple(name for name in SOLVERS if takes(name, cost))
        rows = contest("random leg", problem, (cost,), fit, BUDGET)
        console.print(side_by_side(with_ratios(rows + rivals.rows("random leg", problem, cost, BUDGET))))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--frames", type=int, default=10_000)
    report(parser.parse_args().frames)
