"""Where time goes: from the start of Python to a result, stage by stage."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from musclesolve.benchmarking.fresh import NoAnswerError, in_fresh_process
from musclesolve.benchmarking.timing import peak_memory, seconds_of

LIMIT = 600.0
START = """
import json, sys, time
begin = time.perf_counter()
import musclesolve as ms
name = time.perf_counter()
ms.read_trial, ms.run, ms.solve
whole = time.perf_counter()
trial = ms.read_trial(sys.argv[1])
ms.run(trial)
first = time.perf_counter()
ms.run(trial)
second = time.perf_counter()
print(json.dumps([name - begin, whole - name, first - whole, second - first]))
"""
STEPS = (
    "import musclesolve",
    "import of what read_trial, run and solve need",
    "first read_trial and run",
    "second run",
)


@dataclass(frozen=True)
class Stages:
    """Seconds of each stage of a run, warm, the fastest of several runs, and the peak memory of that process [MB]."""

    frames: int
    seconds: dict[str, float]
    peak_mb: float

    @property
    def whole(self) -> float:
        """Seconds from the files to the result."""
        return sum(self.seconds.values())


def start(trial: Path) -> dict[str, float]:
    """Seconds of the first steps of a fresh Python.

    Raises:
        NoAnswerError: it came to no end.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", START, str(trial)],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise NoAnswerError(f"a fresh Python did not run the trial: {error}") from None
    return dict(zip(STEPS, json.loads(done.stdout), strict=True))


def stages(trial: Path, repeats: int = 5) -> Stages:
    """The stages of `ms.run` on a trial file, in a process of their own.

    Args:
        trial: the trial file.
        repeats: runs after a first one that does not count.
    """
    found: Stages = in_fresh_process(profile, trial, repeats, limit=LIMIT)
    return found


def profile(file: Path, repeats: int) -> Stages:
    """The same in this process."""
    import musclesolve as ms

    runs: list[dict[str, float]] = []
    for _ in range(repeats + 1):
        reading, trial = seconds_of(lambda: ms.read_trial(file))
        marks: list[tuple[str, float]] = []
        result = ms.run(trial, progress=lambda stage, fraction, to=marks: to.append((stage, perf_counter())))  # type: ignore[misc]
        ends = [*(time for _, time in marks[1:]), perf_counter()]
        seconds = {"reading": reading}
        for (stage, began), ended in zip(marks, ends, strict=True):
            seconds[stage] = seconds.get(stage, 0.0) + ended - began
        runs.append(seconds)
    fastest = int(np.argmin([sum(each.values()) for each in runs[1:]]))
    return Stages(result.sizes["time"], runs[1 + fastest], peak_memory())
