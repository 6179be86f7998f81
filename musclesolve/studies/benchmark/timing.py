"""Times, and what is said of many of them."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

ENOUGH = 7
"""Repetitions of which the best counts, where there is time for them."""


@dataclass(frozen=True)
class Timing:
    """Seconds of the first call and of the fastest later one, and what the last call returned."""

    first: float
    best: float
    value: Any


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """How long one call takes, and what it returns."""
    start = perf_counter()
    value = call()
    return perf_counter() - start, value


def measure(call: Callable[[], Any], repeats: int = ENOUGH, budget: float = np.inf) -> Timing:
    """Time a call once cold, then warm: `repeats` times, or fewer, but at least once, when the budget [s] is spent."""
    first, value = seconds_of(call)
    best, spent = np.inf, 0.0
    for _ in range(repeats):
        seconds, value = seconds_of(call)
        best, spent = min(best, seconds), spent + seconds
        if spent >= budget:
            break
    return Timing(first, float(best), value)


def affordable(call: Callable[[int], Any], most: int, budget: float) -> int:
    """How many frames, at most `most`, a call can do within a third of a budget [s]; one at least.

    Args:
        call: solves so many frames.
        most: frames that there are.
        budget: for finding out and then for three calls.
    """
    frames = 1
    while frames < most:
        seconds, _ = seconds_of(lambda count=frames: call(count))  # type: ignore[misc]
        room = budget / 3.0 / max(seconds, 1e-9)
        if room <= 1.0:
            break
        # time may grow more slowly than frames, so that the estimate is a safe one; at most tenfold for all that
        more = int(min(frames * min(room, 10.0), most))
        if more <= frames:
            break
        frames = more
    return frames


@dataclass(frozen=True)
class Latency:
    """Median, 99th percentile and largest of many times [s]."""

    median: float
    slow: float
    worst: float
    calls: int


def latency(seconds: ArrayLike) -> Latency:
    """What is said of the times of many calls."""
    times = np.asarray(seconds, dtype=np.float64)
    median, slow = np.percentile(times, [50.0, 99.0])
    return Latency(float(median), float(slow), float(times.max()), times.size)


class Memory:
    """The largest memory [MB] that this process has from now on beyond what it has now, where the system tells.

    Linux counts resident memory afresh from here. Elsewhere it is the growth of the peak of the whole process, which
    may have been higher before.
    """

    def __init__(self) -> None:
        gc.collect()
        self._before = _reset_peak() or _process_peak()

    def grown(self) -> float:
        """By how much; NaN where the system does not tell."""
        now = _status("VmHWM") or _process_peak()
        return np.nan if now is None or self._before is None else max(now - self._before, 0.0)


def peak_memory() -> float:
    """The largest resident memory that this process has had so far [MB]; NaN where the system does not tell."""
    return _status("VmHWM") or _process_peak() or np.nan


def _reset_peak() -> float | None:
    """On Linux: let the peak be what there is now, and say it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def _status(name: str) -> float | None:
    """A line of the status that Linux keeps of a process [MB]."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split() for line in lines if line.startswith(name + ":")]
    return float(found[0][1]) * 1024.0 / 1e6 if found else None


def _process_peak() -> float | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1.0 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
