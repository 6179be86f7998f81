"""Parts of several steps: the running task and the end of the last one, the verdict on the result of the trial."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from nicegui import ui

from musclesolve.desk.desk import Desk
from musclesolve.desk.runner import Task
from musclesolve.desk.view import View, show_fault

if TYPE_CHECKING:
    from musclesolve.desk.result_facts import ResultFacts

FIRST = 3
"""Number of cautions that are shown at once, the most important ones; the picture follows."""


def in_words(seconds: float) -> str:
    """A remaining time, in words."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def progress_words(task: Task) -> str:
    """Return the progress of a task, in words."""
    left = "" if task.left is None else f", about {in_words(task.left)} left"
    so_far = in_words(monotonic() - task.begun)
    return f"{task.title}: {task.stage}, {100 * task.fraction:.0f} %, {so_far} so far{left}"


def show_progress(desk: Desk, task: Task) -> None:
    """The progress of a task, with a button that ends it."""
    with ui.column().classes("ms-progress").props('tabindex="-1"'):
        bar = ui.linear_progress(value=task.fraction, show_value=False).props('aria-label="Progress"')
        words = ui.label(progress_words(task)).props('role="status" aria-live="off"')
        with ui.row():
            ui.button("Cancel", on_click=desk.cancel).props("outline icon=stop")

    def update() -> None:
        bar.set_value(task.fraction)
        words.set_text(progress_words(task))

    ui.timer(0.3, update)


def no_result(view: View) -> None:
    """Show that there is no result."""
    ui.label("There is no result of this trial yet.")
    with ui.row():
        ui.button("To the step Result", on_click=lambda: view.go("result")).props("unelevated")


class Work:
    """A part of a step with tasks.

    Args:
        view: the window.
        names: of the tasks that belong to it.
        show: draws the part while none of these tasks runs.
        kept: the sentence on remaining results after a task was canceled.
    """

    def __init__(
        self,
        view: View,
        names: tuple[str, ...],
        show: Callable[[], None],
        kept: str = "Canceled: nothing was written.",
    ) -> None:
        self.view, self.names, self._idle, self._kept = view, names, show, kept
        self._task: Task | None = None  # the last of its own
        self._shown: object = None

    def show(self) -> None:
        """Draw it, and again whenever a task of its own begins or ends."""
        self.draw()
        self.view.on_task(self._on_task)

    @property
    def _state(self) -> object:
        task = self.view.desk.runner.task
        if task is None or task.name in self.names:
            self._task = task
        return self._task, self._task is None or self._task.ended

    def _on_task(self) -> None:
        if self._state != self._shown:
            self.draw.refresh()

    @ui.refreshable_method
    def draw(self) -> None:
        """Show the running task; else the end of the last one and the content of the part."""
        self._shown = self._state
        if (task := self._task) is not None:
            if task.ended is None:
                show_progress(self.view.desk, task)
                return
            if task.canceled:
                ui.label(self._kept).props('role="status"')
            elif task.error is not None:
                show_fault(str(task.error))
        self._idle()


async def facts_of(desk: Desk) -> ResultFacts | None:
    """Return the facts of the result of the open trial; None without a result."""
    path = desk.result
    if path is None:
        return None

    def read() -> ResultFacts:
        from musclesolve.desk.result_facts import result_facts  # loads much of the package, in a thread

        return result_facts(path)

    return await asyncio.to_thread(read)


def show_verdict(desk: Desk, facts: ResultFacts) -> None:
    """Show the verdict, reasons, cautions and remarks; above them the changes since the computation."""
    show_age(desk)
    with ui.column().classes(f"ms-verdict ms-{facts.css}").props('role="status"'):
        ui.label(f"{facts.mark} {facts.label}").classes("ms-what")
        ui.label(facts.why)
    _list(facts.remarks[:FIRST])
    if more := facts.remarks[FIRST:]:
        with ui.expansion(f"{len(more)} more").classes("w-full"):
            _list(more)


def _list(sentences: Sequence[str]) -> None:
    if not sentences:
        return
    with ui.element("ul").classes("ms-list"):
        for sentence in sentences:
            with ui.element("li"):
                ui.label(sentence)


def show_age(desk: Desk) -> None:
    """Show a bar that names changes since the result was computed."""
    bar = ui.label().classes("ms-verdict ms-warning").props('role="status"')

    def update() -> None:
        changed = desk.changed_inputs
        bar.set_text(f"This result is older than {', '.join(changed)}: it is not of the trial as it is now.")
        bar.set_visibility(bool(changed))

    update()
    ui.timer(1.0, update)
