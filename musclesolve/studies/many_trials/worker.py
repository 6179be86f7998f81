"""A process that computes one trial after the other, seen from inside and from outside."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from musclesolve._util.interrupts import interrupts
from musclesolve._util.processes import one_thread_each, sheltered

if TYPE_CHECKING:
    from musclesolve.studies.many_trials.one_trial import Job
    from musclesolve.studies.many_trials.trial_record import TrialRecord

READY, PROGRESS, DONE = "ready", "progress", "done"
GRACE = 5.0
"""So long a process may take to end after it was asked to [s]."""


def serve(connection: Connection) -> None:
    """Take jobs and answer with records, until there are no more or SIGTERM says to end.

    A Ctrl-C on the terminal reaches every process of a command: the one that started this one decides.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError)
    with ended, interrupts(signal.SIGTERM) as raise_interrupt:
        connection.send((READY, None))
        from musclesolve.studies.many_trials.one_trial import attempt

        while True:
            connection.send((DONE, attempt(connection.recv(), partial(_tell, connection, raise_interrupt))))


def _tell(connection: Connection, raise_interrupt: Callable[[], None], stage: str, fraction: float) -> None:
    raise_interrupt()
    try:
        connection.send((PROGRESS, fraction))
    except OSError:
        raise KeyboardInterrupt from None  # nobody listens any more


class Worker:
    """Such a process, started with its first job.

    Attributes:
        job: what it computes, or has computed last.
        fraction: how much of that is done.
    """

    def __init__(self, job: Job) -> None:
        self.connection, theirs = get_context("spawn").Pipe()
        self.process = get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
        with one_thread_each(), sheltered():
            self.process.start()
        theirs.close()
        self.give(job)

    def give(self, job: Job) -> None:
        """Let it compute a trial; if it has died, `hear` says so."""
        self.job, self.fraction = job, 0.0
        with contextlib.suppress(OSError):
            self.connection.send(job)

    def hear(self) -> TrialRecord | None:
        """Take its next message; a record when a trial is done.

        Raises:
            EOFError: it has died.
        """
        try:
            kind, content = self.connection.recv()
        except OSError:
            raise EOFError from None
        if kind == PROGRESS:
            self.fraction = content
        record: TrialRecord | None = content if kind == DONE else None
        return record

    def end(self) -> None:
        """Ask it to end, and do not wait for it: `join` does."""
        self.process.terminate()
        self.connection.close()

    def join(self) -> None:
        """Wait until it has ended, and see to it that it does."""
        self.process.join(GRACE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    @property
    def death(self) -> str:
        """How it died, in words."""
        self.end()
        self.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"the process that computed it ended with exit code {code}"
        name = signal.Signals(-code).name if -code in {int(each) for each in signal.Signals} else str(-code)
        memory = ", as it is when the memory is used up" if name == "SIGKILL" else ""
        return f"the process that computed it was ended by {name}{memory}"
