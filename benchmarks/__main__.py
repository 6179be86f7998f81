"""Run every benchmark of motion and dynamics on the bundled stride, or on a trial file given on the command line.

    python -m benchmarks [TRIAL.toml]

Ratios within one run are what can be quoted; absolute times belong to the machine that is printed with them. The
solvers side by side are `musclesolve benchmark`; other questions have commands of their own, such as
python -m benchmarks.solvers, .accuracy, .routes.
"""

from __future__ import annotations

import musclesolve as ms
from benchmarks import dynamics, stages
from benchmarks.arguments import command_line, input_file
from musclesolve.data import reference_stride
from musclesolve.studies.benchmark.measure import machine


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("trial", nargs="?", type=input_file, default=reference_stride(), metavar="TRIAL.toml")
    trial = ms.read_trial(parser.parse_args().trial)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(f"trial: {trial.subject.name}, {trial.path.name}\n")
    dynamics.report(trial)
    print()
    stages.report(trial.path)


if __name__ == "__main__":
    main()
