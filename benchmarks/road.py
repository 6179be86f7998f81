"""Where the time of `ms.run` goes, stage by stage, and its peak memory."""

from __future__ import annotations

import resource
from time import perf_counter

from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console
from musclesolve.recording import Trial


def report(trial: Trial) -> None:
    """Print a table of stages, warm."""
    ms.run(trial)
    marks: list[tuple[str, float]] = []
    start = perf_counter()
    result = ms.run(trial, progress=lambda stage, fraction: marks.append((stage, perf_counter())))
    end = perf_counter()
    table = Table(
        "stage", "milliseconds", "share", title=f"ms.run, {result.sizes['time']} frames, both legs, warm"
    )
    ends = [time for _, time in marks[1:]] + [end]
    for (stage, began), ended in zip(marks, ends, strict=True):
        table.add_row(stage, f"{1e3 * (ended - began):.1f}", f"{(ended - began) / (end - start):.0%}")
    table.add_row(
        "all", f"{1e3 * (end - start):.1f}", f"{1e6 * (end - start) / result.sizes['time']:.0f} us a frame"
    )
    console.print(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(f"peak memory of the process {peak:.0f} MB")
