"""Processes of the program's own: how many, with one thread each, and Ctrl-C left to the one that started them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

ONE_THREAD = dict.fromkeys(
    (
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
"""Each library reads its own when it is loaded: processes that each used all cores would stand in each other's way."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """How many threads compiled code may use: as NUMBA_NUM_THREADS says, or one for each core."""
    asked = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(int(asked), cores()) if asked.isdecimal() and int(asked) > 0 else cores()


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """A process that is started now uses one thread."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def sheltered() -> Iterator[None]:
    """A process that is started now is not struck by Ctrl-C before it can ignore it; here it comes a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
