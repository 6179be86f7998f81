"""Run every benchmark on the bundled stride, or on a trial file given on the command line.

    python -m benchmarks [TRIAL.toml]

Ratios within one run are what can be quoted; absolute times belong to the machine that is printed with them.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import musclesolve as ms
from benchmarks import dynamics, growth, reading, road, sharing
from musclesolve.data import reference_stride


def main() -> None:
    trial = ms.read_trial(Path(sys.argv[1]) if len(sys.argv) > 1 else reference_stride())
    packages = ", ".join(f"{name} {version(name)}" for name in ("musclesolve", "numpy", "scipy", "casadi"))
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {packages}")
    print(f"trial: {trial.subject.name}, {trial.path.name}\n")
    for benchmark in (reading, road, dynamics, growth, sharing):
        benchmark.report(trial)
        print()


if __name__ == "__main__":
    main()
