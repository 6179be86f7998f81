"""A process beside this one, started before its work is known, so that it has loaded what it needs by then."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import current_process
from typing import Any

from musclesolve._util.processes import threads
from musclesolve._util.worker_pool import DONE, RAISED, Function, Worker, end_all


class Helper:
    """One process that computes function(None, task, progress); it loads the module of the function at once."""

    def __init__(self, module: str, function: str) -> None:
        self._worker = Worker()
        # Small enough for the pipe to take before the process reads it.
        self._worker.connection.send_bytes(pickle.dumps((_Named(module, function), None)))

    def give(self, task: Any) -> bool:
        """Let it compute a task; False if it cannot be sent, or the process has died."""
        try:
            self._worker.connection.send_bytes(pickle.dumps(task))
        except (OSError, pickle.PicklingError, AttributeError, TypeError):
            return False
        return True

    def result(self) -> Any | None:
        """The result of the task, when it is there; None if the task failed or the process has died."""
        kind = None
        with contextlib.suppress(EOFError, OSError):
            while kind not in (DONE, RAISED):
                kind, content = self._worker.connection.recv()
        return content if kind == DONE else None

    def end(self) -> None:
        """End the process."""
        end_all([self._worker])


def _idle_core() -> bool:
    """Whether a core is left beside that of this process; where the load is not known, whether there is one."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return busy + 0.5 < threads() and threads() > 1


@dataclass(frozen=True)
class _Named:
    """A function that is loaded where it is received, and not here."""

    module: str
    name: str

    def __reduce__(self) -> tuple[Callable[[str, str], Function], tuple[str, str]]:
        return _load, (self.module, self.name)


def _load(module: str, name: str) -> Function:
    function: Function = getattr(import_module(module), name)
    return function


@contextlib.contextmanager
def helper(module: str, function: str, *, wanted: bool = True) -> Iterator[Helper | None]:
    """A helper, where one is wanted and there is a core for it; ended afterwards, whatever happens.

    A process of a pool has none: there the other cores have work of their own. Nor is there one on a busy machine: what
    it loads a second time would take longer than what it does.
    """
    if not wanted or current_process().daemon or not _idle_core():
        yield None
        return
    try:
        beside = Helper(module, function)
    except OSError:
        yield None
        return
    try:
        yield beside
    finally:
        beside.end()
