"""`musclesolve run` as whole processes, with figures and without, against an earlier revision and against one process.

    python -m benchmarks.whole_run [TRIAL.toml] [--against REVISION] [--repeat N]

Every round runs each variant once, in turn, so that what else the machine does meets all of them; the table has the
median of the rounds, and the ratio to the first line. The earlier revision is checked out beside a temporary folder.
A revision compiles its kernels in a first run that is not counted.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.arguments import command_line, input_file

HERE = Path(__file__).resolve().parents[1]


@dataclass
class Variant:
    """A way to run the command, and what it took: seconds on the clock and of all cores."""

    name: str
    source: Path  # folder of the package
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, trial: Path, folder: Path, counted: bool = True) -> None:
        """Run it once."""
        environment = os.environ | {"PYTHONPATH": str(self.source)} | self.environment
        command = [sys.executable, "-m", "musclesolve", "run", str(trial), "-o", str(folder), *self.options]
        before, start = _cpu(), time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=self.source, capture_output=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"{self.name}: {done.stderr.decode()}")
        if counted:
            self.seconds.append(time.perf_counter() - start)
            self.cpu.append(_cpu() - before)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def revision(name: str) -> Iterator[Path]:
    """A folder with the files of a revision."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "-C", str(HERE), "archive", name], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        yield Path(folder)


def measure(trial: Path, variants: list[Variant], repeat: int) -> None:
    """Run all variants in turn."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeat + 1):
            for place, variant in enumerate(variants):
                variant.run(trial, Path(folder) / str(place), counted=number > 0)


def table(variants: list[Variant]) -> str:
    """Median times of the variants, and the ratio of each to the first."""
    first = float(np.median(variants[0].seconds))
    lines = [f"{'':<36}{'time':>8}{'least':>8}{'CPU':>8}{'ratio':>8}"]
    for each in variants:
        middle, cpu = float(np.median(each.seconds)), float(np.median(each.cpu))
        lines.append(f"{each.name:<36}{middle:8.2f}{min(each.seconds):8.2f}{cpu:8.2f}{middle / first:8.2f}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = command_line(__doc__)
    parser.add_argument(
        "trial", nargs="?", type=input_file, default=HERE / "tests" / "real" / "rajagopal_walk.toml"
    )
    parser.add_argument("--against", metavar="REVISION", help="an earlier revision of git")
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    variants = [
        Variant("figures (two processes if idle)", HERE),
        Variant("figures, one process", HERE, environment={"NUMBA_NUM_THREADS": "1"}),
        Variant("--no-figures", HERE, ("--no-figures",)),
    ]
    with revision(given.against or "HEAD") as earlier:
        if given.against:
            variants.append(Variant(f"figures, {given.against}", earlier))
        measure(given.trial.resolve(), variants, given.repeat)
    print(f"seconds, median of {given.repeat} runs in turn; {os.cpu_count()} cores")
    print(table(variants))


if __name__ == "__main__":
    main()
