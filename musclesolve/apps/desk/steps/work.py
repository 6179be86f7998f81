"""Parts of several steps: the running task and its end, the verdict on the result, the list of many trials."""

import asyncio
import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Generic, TypeVar

from nicegui import ui

from muscle_db.regular_file import file_state
from musclesolve._util.messages import capitalized
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import heading
from musclesolve.apps.desk.result_facts import ResultFacts, address, css_of
from musclesolve.apps.desk.runner import Task
from musclesolve.apps.desk.view import View, show_fault
from musclesolve.apps.desk.words import by_click
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.plotting.figure_names import REPORT
from musclesolve.laboratory.results.judgement import LABELS, ORDER
from musclesolve.studies.many_trials.trial_record import PARTED, Outcome

Found = TypeVar("Found")
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


class Loaded(Generic[Found]):
    """A part of a step that takes seconds to find: a sign that it comes, then the part, or why there is none.

    Args:
        find: finds it, in a thread.
        show: draws it.
        called: its name, before the reason why it is missing. A part with a name may fail in any way, the others by an
            error of the input.
    """

    def __init__(self, find: Callable[[], Found], show: Callable[[Found], object], called: str = "") -> None:
        self._find, self._show, self._called = find, show, called

    @ui.refreshable_method
    def draw(self, part: Found | None = None, trouble: str = "") -> None:
        """Draw the part as far as it is known."""
        if trouble:
            show_fault(trouble)
        elif part is None:
            ui.spinner()
        else:
            self._show(part)

    async def look(self) -> None:
        """Find the part anew, and draw it."""
        try:
            part = await asyncio.to_thread(self._find)
        except Exception as error:
            if not (self._called or isinstance(error, MuscleSolveError)):
                raise
            self.draw.refresh(None, f"{self._called}: {error}" if self._called else str(error))
        else:
            self.draw.refresh(part)


def load(*parts: Loaded[Any]) -> None:
    """Find parts that are drawn already, one after the other."""

    async def look() -> None:
        for part in parts:
            await part.look()

    ui.timer(0.0, look, once=True)


def show_verdict(desk: Desk, facts: ResultFacts) -> None:
    """Show the verdict, reasons, cautions and remarks; above them the changes since the computation."""
    show_age(desk)
    judgement = facts.judgement
    with ui.column().classes(f"ms-verdict ms-{css_of(judgement.verdict)}").props('role="status"'):
        ui.label(f"{judgement.mark} {judgement.label}").classes("ms-what")
        ui.label(by_click(facts.why))
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
                ui.label(by_click(sentence))


def show_age(desk: Desk) -> None:
    """Show a bar that names changes since the result was computed."""
    bar = ui.label().classes("ms-verdict ms-warning").props('role="status"')

    def update() -> None:
        changed = desk.changed_inputs
        bar.set_text(f"This result is older than {', '.join(changed)}: it is not of the trial as it is now.")
        bar.set_visibility(bool(changed))

    update()
    ui.timer(1.0, update)


LOOK = 1.0
"""Interval at which the table is read [s]."""
SIGNS = {"good": "check_circle", "warning": "warning", "error": "error", "waits": "hourglass_empty"}


@dataclass(frozen=True)
class Row:
    """A recording in the list: its name, verdict or status, remarks, and files.

    css: "good", "warning", "error" or "waits". page: None where there is no result.
    """

    name: str
    title: str
    words: str
    css: str
    page: Path | None


def listed(table: Path) -> list[Row]:
    """The trials of a table that `musclesolve study` or `musclesolve run` wrote."""
    try:
        text = table.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [_row(row) for row in csv.DictReader(io.StringIO(text))]


def _row(row: dict[str, str]) -> Row:
    folder, trial = Path(row["folder"]), Path(row["trial"])
    if row["verdict"] not in LABELS:
        message = row["message"].replace(f"{trial.parent}{os.sep}", "")
        css = "waits" if row["status"] in (Outcome.STOPPED, Outcome.EXCLUDED) else "error"
        return Row(row["name"], row["status"].capitalize(), message, css, None)
    css = css_of(row["verdict"])
    peaks = [(joint, row.get(f"peak_{joint}_contact_force_body_weights", "")) for joint in LEG_JOINTS]
    forces = ", ".join(f"{joint} {float(value):.1f}" for joint, value in peaks if value not in ("", "nan"))
    words = f"Peak contact forces [body weights]: {forces}." if forces else ""
    first = row["findings"].partition(PARTED)[0] or ("" if css == "good" else row["plausibility_reason"])
    page = folder / REPORT
    said = f"{words}\n{capitalized(first)}".strip()
    return Row(row["name"], LABELS[row["verdict"]], said, css, page if page.is_file() else None)


def counted_by_verdict(rows: Sequence[Row]) -> str:
    """How many rows have each verdict or status, the best first, such as "2 usable, 1 not usable, 1 refused"."""
    order = [LABELS[verdict] for verdict in reversed(ORDER)]
    counts = Counter(row.title for row in rows)
    titles = [title for title in order if title in counts] + [title for title in counts if title not in order]
    return ", ".join(f"{counts[title]} {title.lower()}" for title in titles)


class TrialList:
    """The list in one window.

    Args:
        desk: the state that all windows share.
        table: trials.csv.
        title: of the list.
        expected: names of trials that the table may not have yet, shown once its folder is there.
    """

    def __init__(self, desk: Desk, table: Path, title: str, expected: Sequence[str] = ()) -> None:
        self.desk, self.table, self.title, self.expected = desk, table, title, expected
        self._shown: object = None

    def show(self) -> None:
        """Draw it, and again whenever the table has changed."""
        self._list()
        ui.timer(LOOK, self._look)

    def _look(self) -> None:
        if self._state != self._shown:
            self._list.refresh()

    @property
    def _state(self) -> object:
        return file_state(self.table), self.table.parent.is_dir()

    @ui.refreshable_method
    def _list(self) -> None:
        self._shown = self._state
        rows = listed(self.table)
        there = {row.name for row in rows}
        rows += [
            Row(name, "Waiting", "", "waits", None)
            for name in self.expected
            if self.table.parent.is_dir() and name not in there
        ]
        if not rows:
            return
        heading(f"{self.title}: {len(rows)} ({counted_by_verdict(rows)})")
        for row in rows:
            self._row(row)

    def _row(self, row: Row) -> None:
        with ui.row().classes(f"ms-finding ms-{row.css}"):
            ui.icon(SIGNS[row.css]).classes("ms-sign").props('aria-hidden="true"')
            with ui.column().classes("ms-words"):
                ui.label(f"{row.name}: {row.title}").classes("ms-what")
                if row.words:
                    ui.label(row.words).classes("ms-remedy ms-message")
            with ui.row().classes("ms-turn-small"):
                if row.page is not None:
                    link = ui.link("Page", address(self.desk.folder.path, row.page), new_tab=True)
                    link.props["aria-label"] = f"Page of {row.name}"
