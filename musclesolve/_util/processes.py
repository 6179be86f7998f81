"""Numbers of processes and threads, and the threads and signals with which processes are started."""

import contextlib
import gc
import os
import signal
from collections.abc import Iterator

THREADS = (
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    "NUMBA_NUM_THREADS",
)
ONE_THREAD = dict.fromkeys(THREADS, "1")
"""Each library reads its own when it is loaded: processes that each use all cores slow each other down."""


ALLOCATIONS = 300_000
"""Container objects between two collections of cyclic garbage: importing makes a million that all stay."""


def collect_rarely() -> None:
    """Look for cyclic garbage rarely, in a process that is not its user's: a fifth of the time of drawing figures."""
    gc.set_threshold(ALLOCATIONS)


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads that compiled code may use: NUMBA_NUM_THREADS, or one for each core."""
    stated = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(int(stated), cores()) if stated.isdecimal() and int(stated) > 0 else cores()


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
def block_sigint() -> Iterator[None]:
    """Keep Ctrl-C from a process that is started now, until it can ignore it; here it is delivered afterward."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
