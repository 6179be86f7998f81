"""The process beside the page: one task at a time, with its progress; it can be stopped at any moment."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import Any

from musclesolve._util.worker_pool import DONE, PROGRESS, Helper
from musclesolve.errors import BusyError, MuscleSolveError

TASKS = ("musclesolve.apps.desk.tasks", "compute")


@dataclass(eq=False)
class Task:
    """A task: its purpose, its progress, and its end.

    title: for people. stage, fraction: of its progress. value: the returned value. error: the error of a failed task.
    """

    title: str
    name: str
    arguments: dict[str, Any]
    then: "Callable[[Task], None] | None" = None
    begun: float = 0.0
    stage: str = "waiting"
    fraction: float = 0.0
    moved: float = 0.0  # when the fraction changed last
    ended: float | None = None
    value: Any = None
    error: Exception | None = None
    canceled: bool = False

    @property
    def left(self) -> float | None:
        """Remaining time at the present rate [s]; None where unknown."""
        if self.ended is not None or self.fraction < 0.2:
            return None
        left = (self.moved - self.begun) * (1.0 - self.fraction) / self.fraction - (monotonic() - self.moved)
        return left if left > 0.0 else None

    @property
    def outcome(self) -> Any:
        """The returned value, or the error that prevented it."""
        return self.value if self.error is None else self.error

    @property
    def succeeded(self) -> bool:
        """Whether the task has ended with a value."""
        return self.ended is not None and self.error is None and not self.canceled


class Runner:
    """A process that is started early, so that it has loaded the modules of a task."""

    def __init__(self) -> None:
        self.task: Task | None = None
        self._waiting: Task | None = None  # starts at the end of the running task
        self._helper: Helper | None = None
        self._ending: Thread | None = None  # of a process that was canceled
        self._given = True  # whether the process has the task

    def prepare(self) -> None:
        """Start the process, if there is none."""
        if self._helper is None:
            self._helper = Helper(*TASKS, all_cores=True)

    @property
    def busy(self) -> bool:
        """Return whether a task is running."""
        return self.task is not None and self.task.ended is None

    def start(
        self, title: str, name: str, then: Callable[[Task], None] | None = None, **arguments: Any
    ) -> Task:
        """Start a task of `musclesolve.apps.desk.tasks`, or let it wait for the running one.

        Args:
            title: for people.
            name: of the task.
            then: called with the task at its end, also after an error.
            arguments: of the task.

        Raises:
            BusyError: one waits already.
        """
        task = Task(title, name, arguments, then)
        if not self.busy:
            self._begin(task)
        elif self._waiting is None:
            self._waiting = task
        else:
            raise BusyError.from_template(
                "busy", problem=f"{self._waiting.title} waits already", remedy="wait for it, or cancel it"
            )
        return task

    def _begin(self, task: Task) -> None:
        self.prepare()
        task.begun = monotonic()
        self.task, self._given = task, False
        self._give()

    def _give(self) -> None:
        """Give the task to the process, once a stopped process has released its reserved files."""
        if self._given or self._helper is None or self.task is None:
            return
        if self._ending is None or not self._ending.is_alive():
            self._given = self._helper.give((self.task.name, self.task.arguments))

    def cancel(self) -> None:
        """End the running and the waiting task and the process; start the next process at once."""
        if self.busy and self.task is not None and self._helper is not None:
            ending, self._helper = self._helper, None
            self._ending = Thread(target=ending.end)  # it may take seconds
            self._ending.start()
            self._waiting = None
            self._end(canceled=True)
            self._given = True
            self.prepare()

    def poll(self) -> bool:
        """Receive messages of the process; return whether anything is new."""
        if self._helper is None:
            return False
        self._give()
        fresh = False
        try:
            for kind, content in self._helper.news():
                if self.task is None or not self.busy:
                    continue
                fresh = True
                if kind == PROGRESS:
                    if content[1] != self.task.fraction:
                        self.task.moved = monotonic()
                    self.task.stage, self.task.fraction = content
                elif isinstance(content, Exception):  # raised, or returned as an error of the input
                    self._end(error=content)
                elif kind == DONE:
                    self._end(value=content)
        except MuscleSolveError as death:
            self._helper = None
            if self.busy:
                self._end(error=death)
                fresh = True
        if not self.busy and self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._begin(waiting)
        return fresh

    def end(self) -> None:
        """End the process."""
        with contextlib.suppress(OSError):
            if self._helper is not None:
                self._helper.end()
        self._helper = None

    def _end(self, value: Any = None, error: Exception | None = None, canceled: bool = False) -> None:
        assert self.task is not None
        self.task.value, self.task.error, self.task.canceled = value, error, canceled
        self.task.ended = monotonic()
        if self.task.then is not None:
            self.task.then(self.task)
