"""Tasks spread over processes, their answers in the order of the tasks."""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from musclesolve._util.processes import one_thread_each, sheltered
from musclesolve.errors import InputError, MuscleSolveError

AHEAD = 3
"""So many tasks of each process are under way or waiting: enough that none is idle, few enough for memory."""

_shared: Any = None


def ordered(
    function: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], workers: int
) -> Generator[Any]:
    """Yield function(shared, task) of every task, in their order.

    Args:
        function: of a module.
        shared: what all tasks need; sent to each process once.
        tasks: what differs.
        workers: number of processes; with 1 the tasks are done in this one.

    Raises:
        InputError: what all tasks need cannot be sent to another process, or processes cannot be started from where
            this is called.
    """
    if workers == 1 or len(tasks) < 2:
        yield from (function(shared, task) for task in tasks)
        return
    # By a file: a process that dies before it has read more than a pipe holds would leave this one waiting for ever.
    with TemporaryDirectory(prefix="musclesolve-") as folder:
        sent = _stored(_packed(shared), Path(folder))
        pool = ProcessPoolExecutor(min(workers, len(tasks)), get_context("spawn"), _start, (str(sent),))
        waiting: deque[Future[Any]] = deque()
        try:
            for task in tasks:
                with sheltered(), one_thread_each():  # it is here that processes are started
                    waiting.append(pool.submit(_do, function, task))
                if len(waiting) == AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise MuscleSolveError(
                "a process that computes samples ended: there is too little memory, or a script calls this without "
                '`if __name__ == "__main__":` above. With workers=1 no processes are started.'
            ) from error
        finally:
            # After Ctrl-C the processes finish the task they are at, and begin none.
            pool.shutdown(wait=True, cancel_futures=True)


def _packed(shared: Any) -> bytes:
    try:
        return pickle.dumps(shared)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"the analysis cannot be sent to other processes: {error}",
            where="workers",
            expected="a cost and a solver that can be pickled",
            remedy="workers=1 computes in this process",
        ) from error


def _stored(packed: bytes, folder: Path) -> Path:
    path = folder / "shared"
    try:
        path.write_bytes(packed)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror or error}",
            file=path,
            remedy="make room in the folder for temporary files, or compute with workers=1",
        ) from error
    return path


def _start(sent: str) -> None:
    global _shared
    # Ctrl-C reaches every process: the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow, daemon=True).start()
    _shared = pickle.loads(Path(sent).read_bytes())


def _follow() -> None:
    """End with the process that started this one, however that ends."""
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def _do(function: Callable[[Any, Any], Any], task: Any) -> Any:
    return function(_shared, task)
