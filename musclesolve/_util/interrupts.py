"""Ctrl-C that is never lost, and that is ignored where it would leave something half done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts(by: signal.Signals = signal.SIGINT) -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt on Ctrl-C or another signal, and once more by the yielded function.

    Raised during a callback of the garbage collector or of a C library, the exception is printed and dropped; the
    yielded function then raises it again. Outside the main thread, which gets no signals, it does nothing.
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
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, and a SIGTERM that raises, while finished files are put in place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {}
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(each)):
                # Not SIG_IGN: Python would print that a signal that has already arrived is not handled.
                handlers[each] = signal.signal(each, _ignore)
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing."""
