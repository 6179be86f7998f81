"""The time of the start of Python and of a run, stage by stage."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console
from musclesolve.studies.benchmark.measure import in_fresh_process, seconds_of

LIMIT = 600.0
START = """
import json, sys, time
times = [time.perf_counter()]
import musclesolve as ms
times.append(time.perf_counter())
ms.read_trial, ms.run, ms.solve
times.append(time.perf_counter())
for _ in range(2):
    trial = trial if len(times) > 3 else ms.read_trial(sys.argv[1])
    ms.run(trial)
    times.append(time.perf_counter())
print(json.dumps([end - begin for begin, end in zip(times, times[1:])]))
"""
STEPS = (
    "import musclesolve",
    "import of read_trial, run and solve",
    "first read_trial and run",
    "second run",
)


@dataclass(frozen=True)
class Stages:
    """Seconds of each stage of a run, warm, the fastest of several runs."""

    frames: int
    seconds: dict[str, float]

    @property
    def total(self) -> float:
        """Seconds from the files to the result."""
        return sum(self.seconds.values())


def start(trial: Path) -> dict[str, float]:
    """Return the seconds of the first steps of a fresh Python."""
    command = [sys.executable, "-c", START, str(trial)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    return dict(zip(STEPS, json.loads(done.stdout), strict=True))


def stages(trial: Path, repeats: int = 5) -> Stages:
    """Measure the stages of `ms.run` in a process of their own, `repeats` times after a first run."""
    found: Stages = in_fresh_process(profile, trial, repeats, limit=LIMIT)
    return found


def profile(file: Path, repeats: int) -> Stages:
    """Print the profile of a run in this process."""
    runs: list[dict[str, float]] = []
    for _ in range(repeats + 1):
        reading, trial = seconds_of(lambda: ms.read_trial(file))
        marks: list[tuple[str, float]] = []
        result = ms.run(trial, progress=lambda stage, _, to=marks: to.append((stage, perf_counter())))  # type: ignore[misc]
        ends = [*(time for _, time in marks[1:]), perf_counter()]
        seconds = {"reading": reading}
        for (stage, began), ended in zip(marks, ends, strict=True):
            seconds[stage] = seconds.get(stage, 0.0) + ended - began
        runs.append(seconds)
    fastest = int(np.argmin([sum(each.values()) for each in runs[1:]]))
    return Stages(result.sizes["time"], runs[1 + fastest])


def report(trial: Path) -> None:
    """Print a table."""
    run = stages(trial)
    table = Table(
        "stage", "ms", "share", "us/frame", title=f"stages of a run: {trial.name}, {run.frames} frames"
    )
    for name, seconds in start(trial).items():
        table.add_row(f"fresh Python: {name}", f"{1e3 * seconds:.1f}")
    for name, seconds in (run.seconds | {"all": run.total}).items():
        cells = f"{1e3 * seconds:.1f}", f"{seconds / run.total:.0%}", f"{1e6 * seconds / run.frames:.0f}"
        table.add_row(f"warm: {name}", *cells)
    console.print(table)
