"""Numbers of processes and threads, the threads and signals with which processes are started; Ctrl-C."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Environment variables of the number of threads of the libraries of linear algebra, read when these are loaded."""
THREADS = (*BLAS_THREADS, "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")
"""Environment variables of the number of threads, read by libraries when loaded: processes that each use all cores
slow each other down.
"""


ALLOCATIONS = 700_000
"""Number of container objects between two collections of cyclic garbage: imports make half a million permanent ones,
which a collection searches for a tenth of a second.
"""


MANY_FRAMES = 4096
"""Number of frames from which on freed memory is returned: it takes some milliseconds."""


def collect_rarely() -> None:
    """Collect cyclic garbage rarely, in processes of the program: it takes a fifth of the time of drawing figures."""
    gc.set_threshold(ALLOCATIONS)


def return_memory(frames: int) -> None:
    """Return freed memory of a motion of many frames to the system, between stages.

    The C library of Linux keeps freed arrays of up to 32 MB for later: a third of the memory of an hour of walking.
    """
    if frames > MANY_FRAMES and sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def end_inside_script() -> None:
    """End a process that a script has started and in which the script, read again, would start processes itself.

    It ends without words: the process in which the script began says what to do (`Pool`).
    """
    started = sys.modules.get("multiprocessing.process")  # loaded in every process that was started
    if started is not None and getattr(started.current_process(), "_inheriting", False):
        sys.exit(1)


def one_blas_thread() -> None:
    """Let libraries of linear algebra that are loaded later use one thread, unless the environment states a number.

    Matrices of a frame are small: further threads wait for work, a fifth of the processor time of a run.
    """
    if not any(os.environ.get(name) for name in BLAS_THREADS):
        os.environ.update(dict.fromkeys(BLAS_THREADS[:1] + BLAS_THREADS[2:], "1"))


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads() -> int:
    """Return the number of threads that compiled code may use: NUMBA_NUM_THREADS, or one for each core."""
    stated = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(int(stated), cores()) if stated.isdecimal() and int(stated) > 0 else cores()


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes started in this context use one thread."""
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
    """Block Ctrl-C in processes started in this context, until they can ignore it; here it is delivered afterward."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts(by: signal.Signals = signal.SIGINT) -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt on Ctrl-C or another signal, and again by the yielded function.

    Python prints and drops an exception during a callback of the garbage collector or of a C library; the yielded
    function then raises it again. A handler that was there before decides whether it raises. Outside the main thread,
    which gets no signals, there is no effect.
    """
    pressed, earlier = threading.Event(), signal.getsignal(by)

    def on_signal(number: int, frame: FrameType | None) -> None:
        try:
            if callable(earlier):
                earlier(number, frame)
            else:
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pressed.set()
            raise

    def raise_again() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            hook(unraisable)

    if threading.current_thread() is not threading.main_thread():
        yield raise_again
        return
    hook, sys.unraisablehook = sys.unraisablehook, dropped
    try:
        with _handled(on_signal, (by,)):
            yield raise_again
    finally:
        sys.unraisablehook = hook


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether Ctrl-C or SIGTERM occurred; a second one raises KeyboardInterrupt.

    Outside the main thread, which gets no signals, the function always returns False.
    """
    stopped = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    with _handled(on_signal, (signal.SIGINT, signal.SIGTERM)):
        yield stopped.is_set


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, and a SIGTERM that raises, while finished files are put in place."""
    # Not SIG_IGN: Python would print that a signal that has already arrived is not handled.
    numbers = (number for number in (signal.SIGINT, signal.SIGTERM) if callable(signal.getsignal(number)))
    with _handled(lambda number, frame: None, numbers):
        yield


@contextmanager
def _handled(
    handler: Callable[[int, FrameType | None], None], numbers: Iterable[signal.Signals]
) -> Iterator[None]:
    """Handle signals in this context; no effect outside the main thread, which gets none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = dict[signal.Signals, Any]()
    try:
        for number in numbers:
            before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
