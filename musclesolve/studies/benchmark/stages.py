"""Where time goes: from the start of Python to a result, stage by stage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from musclesolve.studies.benchmark.fresh import NoAnswerError, in_fresh_process, last_words
from musclesolve.studies.benchmark.timing import peak_memory, seconds_of

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
COMPILING = """
import json, sys, time
import musclesolve as ms
from musclesolve.studies.benchmark import random_problem
problem = random_problem(2)
ms.solve
begin = time.perf_counter()
ms.solve(problem)
first = time.perf_counter()
ms.solve(problem)
print(json.dumps([first - begin, time.perf_counter() - first]))
"""
COMPILED = ("first solve, nothing compiled before", "second solve")
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


def start(trial: Path, compiling: bool = False) -> dict[str, float]:
    """Seconds of the first steps of a fresh Python.

    Args:
        trial: the trial file.
        compiling: a first solve without anything that was compiled before as well: half a minute.

    Raises:
        NoAnswerError: it came to no end.
    """
    steps = dict(zip(STEPS, _seconds(START, os.environ, str(trial)), strict=True))
    if not compiling:
        return steps
    with tempfile.TemporaryDirectory() as empty:
        anew = _seconds(COMPILING, os.environ | {"NUMBA_CACHE_DIR": empty})
    return steps | dict(zip(COMPILED, anew, strict=True))


def _seconds(code: str, environment: Mapping[str, str], *arguments: str) -> list[float]:
    command = [sys.executable, "-c", code, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, check=True, env=dict(environment)
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"no answer within {LIMIT:.0f} s") from None
    except subprocess.CalledProcessError as error:
        raise NoAnswerError(last_words(error.stderr, error.returncode)) from None
    found: list[float] = json.loads(done.stdout)
    return found


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
