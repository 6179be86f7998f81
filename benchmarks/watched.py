"""Memory and processor time of a fresh process and of those that it starts, four times a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import psutil

INTERVAL = 0.25
"""Between two looks at the memory [s]."""
MB = 1e6
EARLY, LATE = (0.1, 0.2), (0.9, 1.0)
"""Shares of the time between which the memory is compared."""


@contextmanager
def timed(connection: Connection, stage: str) -> Iterator[None]:
    """Send when a stage began and ended."""
    start = time.time()
    yield
    connection.send((stage, start, time.time()))


def watched(
    target: Any, *arguments: Any
) -> tuple[dict[str, tuple[float, float]], dict[str, Any], np.ndarray]:
    """Run in a fresh process: stage -> begin and end, what else it sent, and samples (S, 4).

    Samples: time, bytes of the process and of the largest of those that it started, processor time of all [s].
    """
    context = get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(theirs, *arguments))
    process.start()
    theirs.close()
    watched, samples, stages, others, processor = psutil.Process(process.pid), [], {}, {}, {}
    while True:
        try:
            while mine.poll(INTERVAL):
                name, *content = mine.recv()
                if len(content) == 2:
                    stages[name] = (content[0], content[1])
                else:
                    others[name] = content[0]
        except EOFError:
            break
        sizes = [0]
        with suppress(psutil.Error):  # a process has just ended
            for each in (watched, *watched.children(recursive=True)):
                processor[each.pid] = sum(each.cpu_times()[:2])
                sizes.append(each.memory_info().rss)
        if len(sizes) > 1:
            samples.append((time.time(), sizes[1], max([0, *sizes[2:]]), sum(processor.values())))
    process.join()
    if process.exitcode:
        raise SystemExit(f"it ended with exit code {process.exitcode}")
    return stages, others, np.array(samples)


def processor_time(samples: np.ndarray, stage: tuple[float, float]) -> float:
    """Processor time of all processes in a stage [s]."""
    start, end = np.interp(stage, samples[:, 0], samples[:, 3])
    return float(end - start)


def memory(samples: np.ndarray, stage: tuple[float, float], column: int) -> str:
    """Peak, and medians early and late in the part of a stage in which there is such a process, in MB."""
    there = (samples[:, 0] >= stage[0]) & (samples[:, 0] <= stage[1]) & (samples[:, column] > 0.0)
    during = samples[there]
    if len(during) < 20:
        return "-"
    share = (during[:, 0] - during[0, 0]) / (during[-1, 0] - during[0, 0])
    early, late = (np.median(during[(share >= a) & (share <= b), column]) for a, b in (EARLY, LATE))
    change = 100.0 * (late / early - 1.0)
    return f"{during[:, column].max() / MB:.0f} ({early / MB:.0f} to {late / MB:.0f}, {change:+.0f} %)"
