"""Functions with which benchmarks print, time, compare, and compute side by side."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from musclesolve._util.arrays import Array
from musclesolve._util.worker_pool import Lost, Pool
from musclesolve.errors import MuscleSolveError
from musclesolve.studies.benchmark.measure import measure

__all__ = ["console", "measure", "processors", "rms", "side_by_side"]

console = Console(width=150, markup=False)
processors = os.cpu_count() or 1


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


def side_by_side(
    function: Callable[[Any, Any, Any], Any], shared: Any, tasks: Sequence[Any], processes: int, name: str
) -> Generator[tuple[int, Any]]:
    """Number and result of function(shared, task, progress) for each task as it is finished, below a bar.

    The name says what the tasks are. After the first result a line says how long they all take. The processes end with
    the iterator.

    Raises:
        MuscleSolveError: a process that died, twice, computing a task.
    """
    with (
        Progress(console=console, transient=True) as bar,
        closing(Pool(function, shared, tasks, processes).results()) as results,
    ):
        task, begin = bar.add_task(name, total=len(tasks)), time.monotonic()
        for done, (number, result) in enumerate(results):
            if isinstance(result, Lost):
                raise MuscleSolveError(result.reason)
            if not done:
                minutes = (time.monotonic() - begin) * np.ceil(len(tasks) / processes) / 60.0
                console.print(f"{len(tasks)} {name}, {processes} at a time: some {minutes:.1f} minutes")
            yield number, result
            bar.advance(task)
