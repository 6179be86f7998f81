"""Ctrl-C that is never lost, and that waits where it would leave something half done."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts(by: signal.Signals = signal.SIGINT) -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt where Ctrl-C, or another signal, finds the program, and again where the program asks.

    Raised while a callback of the garbage collector or of a C library runs, the exception is printed and dropped;
    the yielded function raises it again. Outside the main thread, which gets no signals, it does nothing.
    """
    pressed = threading.Event()

    def remember(number: int, frame: FrameType | None) -> None:
        pressed.set()
        raise KeyboardInterrupt

    def ask() -> None:
        if pressed.is_set():
            raise KeyboardInterrupt

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            hook(unraisable)

    if threading.current_thread() is not threading.main_thread():
        yield ask
        return
    hook, handler = sys.unraisablehook, signal.signal(by, remember)
    sys.unraisablehook = dropped
    try:
        yield ask
    finally:
        signal.signal(by, handler)
        sys.unraisablehook = hook


@contextmanager
def undisturbed() -> Iterator[None]:
    """A Ctrl-C in the moment in which finished files are put in place comes too late; so does a SIGTERM that raises."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {}
    try:
        for each in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(each)):
                # Not SIG_IGN: of a signal that is on its way already Python would print that nobody handled it.
                handlers[each] = signal.signal(each, _too_late)
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)


def _too_late(number: int, frame: FrameType | None) -> None:
    """Nothing is to be done."""
