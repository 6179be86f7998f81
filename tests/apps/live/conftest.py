"""The bundled stride, prepared once for all tests of this folder."""

from __future__ import annotations

import os
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from musclesolve.apps.live import Live
from musclesolve.apps.live.page import page_sink
from musclesolve.cli import live_progress
from musclesolve.data import reference_stride


@pytest.fixture(autouse=True)
def idle_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say nothing of the load of the computer that runs the tests."""
    monkeypatch.setattr(live_progress, "busy_sentence", lambda: None)


@pytest.fixture(scope="session")
def prepared_stride() -> Live:
    live = Live(reference_stride())
    live.warm_up()
    return live


@pytest.fixture
def live(prepared_stride: Live) -> Live:
    """Without samples of the past."""
    prepared_stride.clear()
    return prepared_stride


class PageThread(Thread):
    """In the place of a process of the page: a thread of this process."""

    def __init__(self, target: Any, args: Any, daemon: bool) -> None:
        theirs, memory = args  # the session closes its own `theirs`
        super().__init__(target=target, args=(Connection(os.dup(theirs.fileno())), memory), daemon=daemon)

    def kill(self) -> None:
        raise AssertionError("the page has not ended")

    def close(self) -> None:
        assert not self.is_alive()


@pytest.fixture
def served_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve a page in this process: one of its own takes seconds to start."""
    from musclesolve.apps.live.page import server

    context = get_context("spawn")
    stand_in = SimpleNamespace(RawArray=context.RawArray, Pipe=context.Pipe, Process=PageThread)
    monkeypatch.setattr(page_sink, "get_context", lambda _: stand_in)
    monkeypatch.setattr(page_sink, "GRACE", 60.0)  # however busy the machine is
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    monkeypatch.setattr(server.os, "nice", lambda _: None, raising=False)
