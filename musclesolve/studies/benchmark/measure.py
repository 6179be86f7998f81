"""Measuring: times and memory of calls, the machine they ran on, and calls in a fresh process."""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from musclesolve.errors import MuscleSolveError
from musclesolve.version import __version__

PACKAGES = (
    *("numpy", "scipy", "numba", "casadi", "cyipopt"),
    *("daqp", "quadprog", "osqp", "piqp", "proxsuite", "clarabel", "highspy", "nlopt"),
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
REPEATS = 7
"""Repetitions of which the fastest counts, where the budget allows them."""
MOST_LETTERS = 200
"""Of a message in a table."""


@dataclass(frozen=True)
class Timing:
    """Seconds of the first call and of the fastest later one, and what the last call returned."""

    first: float
    best: float
    value: Any


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of a call [s] and its value."""
    start = perf_counter()
    value = call()
    return perf_counter() - start, value


def measure(call: Callable[[], Any], repeats: int = REPEATS, budget: float = np.inf) -> Timing:
    """Time a call once cold, then warm: `repeats` times, or until the budget [s] is spent, but at least once."""
    first, value = seconds_of(call)
    best, spent = np.inf, 0.0
    for _ in range(repeats):
        seconds, value = seconds_of(call)
        best, spent = min(best, seconds), spent + seconds
        if spent >= budget:
            break
    return Timing(first, float(best), value)


def affordable(call: Callable[[int], Any], most: int, budget: float) -> int:
    """Return how many frames, from 1 to `most`, `call(frames)` solves within a third of a budget [s]."""
    frames = 1
    while frames < most:
        seconds, _ = seconds_of(lambda count=frames: call(count))  # type: ignore[misc]
        # Time may grow more slowly than frames, so that the estimate is a safe one; at most tenfold for all that.
        more = int(min(frames * min(budget / 3.0 / max(seconds, 1e-9), 10.0), most))
        if more <= frames:
            break
        frames = more
    return frames


@dataclass(frozen=True)
class Latency:
    """Median, 99th percentile and largest of the times of many calls [s]."""

    median: float
    slow: float
    worst: float
    calls: int

    @classmethod
    def of(cls, seconds: ArrayLike) -> Latency:
        """Summarise times [s]."""
        times = np.asarray(seconds, dtype=np.float64)
        median, slow = np.percentile(times, [50.0, 99.0])
        return cls(float(median), float(slow), float(times.max()), times.size)


class Memory:
    """The growth of the peak memory of this process from now on [MB].

    Linux resets the peak to the resident memory of this moment. Elsewhere the peak may have been higher before.
    """

    def __init__(self) -> None:
        gc.collect()
        self._before = _reset_peak() or _process_peak()

    def grown(self) -> float:
        """Return the growth [MB]; NaN where the system does not report it."""
        now = _status("VmHWM") or _process_peak()
        return np.nan if now is None or self._before is None else max(now - self._before, 0.0)


def _reset_peak() -> float | None:
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


def machine() -> dict[str, str]:
    """Return processor, cores, system, Python, versions of the installed packages and requested threads."""
    found = {
        "musclesolve": __version__,
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    if hasattr(os, "getloadavg"):
        found["load"] = f"{os.getloadavg()[0]:.1f} of {found['cores']} cores in the minute before"
    found |= {name: os.environ[name] for name in THREADS if name in os.environ}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


class NoResultError(MuscleSolveError):
    """A process gave no result; says why."""


def in_fresh_process(function: Callable[..., Any], *arguments: Any, limit: float) -> Any:
    """Call a function in a new Python process, where nothing is imported, compiled or cached.

    The function is one of a module; its arguments and value must be picklable. NoResultError: it took longer than the
    limit [s], died, or the function raised an error.
    """
    with get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(function, arguments).get(limit)
        except TimeoutError:
            raise NoResultError(f"no result within {limit:.0f} s") from None
        except Exception as error:
            raise NoResultError(f"{type(error).__name__}: {error}".splitlines()[0][:MOST_LETTERS]) from error
