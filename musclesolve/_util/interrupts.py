"""Handling of Ctrl-C: it is never lost, and it is ignored while files are put in place."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts(by: signal.Signals = signal.SIGINT) -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt on Ctrl-C or another signal, and again by the yielded function.

    Python prints and drops an exception during a callback of the garbage collector or of a C library; the yielded
    function then raises it again. Outside the main thread, which gets no signals, there is no effect.
    """
    pressed = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        pressed.set()
        raise KeyboardInterrupt

    def raise_again() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            hook(unraisable)

    if threading.current_thread() is not threading.main_thread():
        yield raise_again
        return
    hook, handler = sys.unraisablehook, signal.signal(by, on_signal)
    sys.unraisablehook = dropped
    try:
        yield raise_again
    finally:
        signal.signal(by, handler)
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

    if threading.current_thread() is not threading.main_thread():
        yield stopped.is_set
        return
    handlers = {
        signal_number: signal.signal(signal_number, on_signal)
        for signal_number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stopped.is_set
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, and a SIGTERM that raises, while finished files are put in place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {}
    try:
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(signal_number)):
                # Not SIG_IGN: Python would print that a signal that has already arrived is not handled.
                handlers[signal_number] = signal.signal(signal_number, _ignore)
        yield
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing."""
