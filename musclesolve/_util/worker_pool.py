"""Processes with one thread and one task at a time each; a process that dies loses only its own task.

`Pool` computes many tasks side by side. `Helper` is one process beside this one for one task after the other.
"""

import contextlib
import os
import pickle
import signal
import sys
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pkgutil import resolve_name
from threading import Thread
from typing import Any

from musclesolve._util.messages import Progress
from musclesolve._util.processes import (
    block_sigint,
    collect_rarely,
    end_inside_script,
    interrupts,
    one_thread_each,
)
from musclesolve.errors import MuscleSolveError

READY, PROGRESS, DONE, RAISED = "ready", "progress", "done", "raised"
GRACE = 5.0
"""Time limit of a process to end after SIGTERM [s]."""
MOST_DEATHS = 2
"""Number of processes that die with a task before it is given up."""
AHEAD = 3
"""Number of tasks per process that `ordered` computes or keeps before the next result in order."""

Function = Callable[[Any, Any, Progress], Any]
Report = Callable[[list[int], float], None]


@dataclass(frozen=True)
class Lost:
    """Returned in place of a result: how the processes died that computed it."""

    reason: str


class Pool:
    """Compute function(shared, task, progress) for every task, in at most `workers` processes.

    The function belongs to a module; `shared`, data for all tasks, is sent to each process once. PicklingError,
    AttributeError or TypeError: function or shared cannot be sent to another process.

    `beside` is called once, while the processes start and before they have a task.
    """

    beside: Callable[[], object] | None = None

    def __init__(self, function: Function, shared: Any, tasks: Sequence[Any], workers: int) -> None:
        self.packed = pickle.dumps((function, shared))
        self.tasks, self.most = tasks, workers
        self.waiting = deque(range(len(tasks)))
        self.workers: dict[Connection, Worker] = {}
        self.deaths = Counter[int]()
        self.limit, self.retry_last, self.any_ready = len(tasks), True, False

    def results(self, report: Report = lambda running, fraction: None) -> Generator[tuple[int, Any]]:
        """Yield number and result of each task as soon as available; always end all processes.

        The task of a process that dies is computed once more, after all others, when memory may be less scarce.
        `report` is called with the numbers of the running tasks, and the sum of their shares that are done.
        MuscleSolveError: no process can be started.
        """
        try:
            self._assign()
            if self.beside is not None:
                self.beside()
            while self.waiting or any(worker.task is not None for worker in self.workers.values()):
                self._assign()
                running = {w.task: w.fraction for w in self.workers.values() if w.task is not None}
                report(list(running), sum(running.values()))
                ready = wait(list(self.workers))  # processes that have sent something or are dead
                for worker in [
                    self.workers[connection] for connection in list(self.workers) if connection in ready
                ]:
                    yield from self._receive(worker)
        finally:
            end_all(self.workers.values())

    def ordered(self) -> Generator[Any]:
        """Yield the results in the order of the tasks.

        MuscleSolveError: no process can be started, or several died computing a task.
        """
        self.retry_last, waiting, window = False, dict[int, Any](), AHEAD * self.most
        with contextlib.closing(self.results()) as results:
            for number in range(len(self.tasks)):
                self.limit = number + window
                while number not in waiting:
                    place, result = next(results)
                    if isinstance(result, Lost):
                        raise MuscleSolveError(f"{result.reason}\n  remedy: compute with fewer processes")
                    waiting[place] = result
                yield waiting.pop(number)

    def _assign(self) -> None:
        """Give waiting tasks to idle processes and to new ones; end idle processes when no task is left."""
        idle = [worker for worker in self.workers.values() if worker.task is None]
        while self.waiting and self.waiting[0] < self.limit and (idle or len(self.workers) < self.most):
            worker = idle.pop() if idle else Worker()
            self.workers[worker.connection] = worker
            number = self.waiting.popleft()
            worker.give(number, self.tasks[number])
        if not self.waiting:
            for worker in idle:
                del self.workers[worker.connection]
            end_all(idle)

    def _receive(self, worker: "Worker") -> Generator[tuple[int, Any]]:
        """Receive a message of a process; yield its result, if any."""
        if worker.connection.closed:
            return
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            kind = content = None
        if kind is None:
            yield from self._on_worker_exit(worker)
            return
        self.any_ready = True
        if kind == READY:
            worker.set_up(self.packed)
        elif kind == PROGRESS:
            _, worker.fraction = content
        elif kind == RAISED:
            raise content
        elif worker.task is not None:
            number, worker.task = worker.task, None
            self._assign()
            yield number, content

    def _on_worker_exit(self, worker: "Worker") -> Generator[tuple[int, Lost]]:
        """Put the task of a dead process back, or give it up."""
        del self.workers[worker.connection]
        reason = worker.death
        if not self.any_ready:
            raise MuscleSolveError(
                "processes cannot be started: each reads the script, so call this in it below "
                f'`if __name__ == "__main__":` ({reason})'
            )
        if worker.task is None:
            return
        self.deaths[worker.task] += 1
        if self.deaths[worker.task] == MOST_DEATHS:
            yield worker.task, Lost(f"{reason}, {MOST_DEATHS} times")
        elif self.retry_last:
            self.waiting.append(worker.task)
        else:
            self.waiting.appendleft(worker.task)


class Worker:
    """A process, in the process that started it.

    all_cores: whether it may use all of them, and start processes of its own; one thread otherwise.
    """

    def __init__(self, all_cores: bool = False) -> None:
        end_inside_script()
        self.task: int | None = None  # number of the task that it computes, None while it is idle
        self.content: Any = None
        self.fraction, self.is_ready = 0.0, False  # how much of the task is done
        self.connection, theirs = get_context("spawn").Pipe()
        without = [name for name, module in sys.modules.items() if module is None]
        self.process = get_context("spawn").Process(
            target=_serve, args=(theirs, without), daemon=not all_cores
        )
        with contextlib.nullcontext() if all_cores else one_thread_each(), block_sigint():
            self.process.start()
        theirs.close()

    def give(self, number: int, task: Any) -> None:
        """Send a task to the process; if it has died, its connection ends."""
        self.task, self.content, self.fraction = number, task, 0.0
        if self.is_ready:
            self._send()

    def set_up(self, packed: bytes) -> None:
        """Send the data for all tasks and the first task; before a process is ready, a full pipe would block."""
        self.is_ready = True
        with contextlib.suppress(OSError):
            self.connection.send_bytes(packed)
        self._send()

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.send(self.content)

    def terminate(self) -> None:
        """Request the end of the process, without waiting: `join` waits."""
        self.process.terminate()
        self.connection.close()

    def join(self) -> None:
        """Wait until the process has ended; kill it after a time limit."""
        self.process.join(GRACE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    @property
    def death(self) -> str:
        """Description of how the process died, in words."""
        end_all([self])
        code = self.process.exitcode or 0
        if code >= 0:
            return f"a process ended with exit code {code}"
        name = (
            signal.Signals(-code).name
            if -code in {int(signal_number) for signal_number in signal.Signals}
            else str(-code)
        )
        memory = ", as it is when the memory is used up" if name == "SIGKILL" else ""
        return f"a process was ended by {name}{memory}"


def end_all(workers: Iterable[Worker]) -> None:
    """End processes, all at the same time."""
    ending = list(workers)
    for worker in ending:
        worker.terminate()
    for worker in ending:
        worker.join()


def _serve(connection: Connection, without: Sequence[str]) -> None:
    """Compute tasks, in the process, until SIGTERM or until the process that started this one has ended.

    without: modules that are not imported in the starting process and may not be imported here.

    Ctrl-C on a terminal reaches every process of a command; only the one that started the others acts on it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    sys.modules.update(dict.fromkeys(without))  # type: ignore[arg-type]
    ended = contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError)
    with ended, interrupts(signal.SIGTERM) as raise_interrupt:
        Thread(target=_end_with_parent, daemon=True).start()
        connection.send((READY, None))
        function, shared = connection.recv()
        progress = partial(_report, connection, raise_interrupt)
        while True:
            connection.send_bytes(_done(function, shared, connection.recv(), progress))


def _done(function: Function, shared: Any, task: Any, progress: Progress) -> bytes:
    """The message with the result of a task, or with the exception that ended it."""
    try:
        return pickle.dumps((DONE, function(shared, task, progress)))
    except Exception as error:
        error.add_note(traceback.format_exc())
        try:
            packed = pickle.dumps((RAISED, error))
            pickle.loads(packed)
            return packed
        except Exception:  # an error that cannot be sent to another process, as text
            notes = "\n".join(error.__notes__)
            return pickle.dumps((RAISED, RuntimeError(f"{type(error).__name__}: {error}\n{notes}")))


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _report(connection: Connection, raise_interrupt: Callable[[], None], stage: str, fraction: float) -> None:
    raise_interrupt()
    try:
        connection.send((PROGRESS, (stage, fraction)))
    except OSError:
        raise KeyboardInterrupt from None  # the process that started this one has ended


class Helper:
    """One process that computes function(None, task, progress); it loads the module of the function at once.

    all_cores: as of `Worker`.
    """

    def __init__(self, module: str, function: str, all_cores: bool = False) -> None:
        self._worker = Worker(all_cores)
        # Small enough for the pipe to take before the process reads it.
        self._worker.connection.send_bytes(pickle.dumps((_Named(f"{module}:{function}"), None)))

    def give(self, task: Any) -> bool:
        """Send a task to the process; return False if it cannot be sent, or the process has died."""
        try:
            self._worker.connection.send_bytes(pickle.dumps(task))
        except (OSError, pickle.PicklingError, AttributeError, TypeError):
            return False
        return True

    def news(self) -> Iterator[tuple[str, Any]]:
        """Yield the messages of the helper since the last call, kind and content, without waiting.

        Raises:
            MuscleSolveError: it has died.
        """
        try:
            while self._worker.connection.poll():
                yield self._worker.connection.recv()
        except (EOFError, OSError) as error:
            raise MuscleSolveError(self._worker.death) from error

    def end(self) -> None:
        """End the process."""
        end_all([self._worker])


@dataclass(frozen=True)
class _Named:
    """A function that is loaded by the receiving process, not here."""

    place: str  # MODULE:NAME

    def __reduce__(self) -> tuple[Callable[[str], Function], tuple[str]]:
        return resolve_name, (self.place,)
