"""Result: the computation, verdict, moving picture, figures and peaks of the result of the trial."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from nicegui import ui

from musclesolve.desk.desk import Desk
from musclesolve.desk.fields import heading, statements
from musclesolve.desk.result_facts import FIGURES, PICTURE, ResultFacts, address, is_older
from musclesolve.desk.steps.run_step import Run
from musclesolve.desk.steps.work import Work, facts_of, show_verdict
from musclesolve.desk.tasks import PATIENCE
from musclesolve.desk.view import State, Step, StepView, show_fault
from musclesolve.errors import MuscleSolveError
from musclesolve.results.files.atomic_writing import patient, write_files
from musclesolve.results.judgement import NOT_USABLE, USABLE


def column(name: str, label: str, digits: int | None = None, **more: Any) -> dict[str, Any]:
    """A column of a table: numbers on the right, to so many decimals."""
    own: dict[str, Any] = {"name": name, "label": label, "field": name, "sortable": True}
    own["align"] = "left" if name in ("name", "leg", "group") else "right"
    if digits is not None:
        own[":format"] = f"value => value === null ? '–' : value.toFixed({digits})"
    return own | more


NAMES = [column("name", "Name"), column("leg", "Leg")]
PEAKS = [column("newton", "Peak [N]"), column("bw", "Peak [body weights]", 2)]
STRENGTH = column("percent", "Peak [% of maximum isometric force]", 0)
TIME = column("time", "At [s]", 2)
CONTACT = [*NAMES, *PEAKS, TIME]
MUSCLES = [*NAMES, column("group", "Function group"), *PEAKS, STRENGTH, TIME]
"""Columns of the tables of peaks."""


class Result(StepView):
    """The step in one window."""

    def show(self) -> None:
        """Draw it."""
        Work(self.view, ("run",), self._result).show()

    def _result(self) -> None:
        if self.desk.result is None:
            Run(self.view).show()
            return
        stale = bool(self.desk.changed_inputs) or self.desk.run_failure is not None
        with ui.expansion("Run again, with other choices", value=stale).classes("w-full"):
            Run(self.view).show()
        self._top()
        self._moving()
        heading("Figures")
        self._figures()
        self._tables()
        ui.timer(0.0, self._load, once=True)

    async def _load(self) -> None:
        """The verdict as soon as it is known, then the picture, then the figures."""
        result = self.desk.result
        if result is None:
            return
        try:
            facts = await facts_of(self.desk)
            self._top.refresh(facts)
            self._tables.refresh(facts)
        except MuscleSolveError as error:
            self._top.refresh(None, str(error))
        for shown, make in ((self._moving, moving_picture), (self._figures, figures)):
            try:
                shown.refresh(await asyncio.to_thread(make, result))
            except Exception as error:  # the verdict is shown without the picture
                shown.refresh(None, str(error))

    @ui.refreshable_method
    def _top(self, facts: ResultFacts | None = None, trouble: str = "") -> None:
        if trouble:
            show_fault(trouble)
        elif facts is None:
            ui.spinner()
        else:
            show_verdict(self.desk, facts)

    @ui.refreshable_method
    def _moving(self, page: Path | None = None, trouble: str = "") -> None:
        framed(self.desk, page, trouble, "Moving picture of the result", "ms-moving")

    @ui.refreshable_method
    def _figures(self, page: Path | None = None, trouble: str = "") -> None:
        framed(self.desk, page, trouble, "Figures of the result", "ms-page")

    @ui.refreshable_method
    def _tables(self, facts: ResultFacts | None = None) -> None:
        if facts is not None:
            with ui.row().classes("ms-tables"):
                peaks("Peak contact forces", CONTACT, facts.contact)
                peaks("Peak muscle forces", MUSCLES, facts.muscles)
            with ui.expansion("Summary, as the command line prints it").classes("w-full"):
                statements(facts.summary, "ms-summary")


def framed(desk: Desk, page: Path | None, trouble: str, title: str, size: str) -> None:
    """Show a page within this one, the reason why there is none, or that it is being made."""
    if page is not None:
        frame = ui.element("iframe").classes(f"ms-frame {size}")
        frame.props["src"] = address(desk.folder.path, page)
        frame.props["title"] = title
    elif trouble:
        show_fault(f"{title}: {trouble}")
    else:
        ui.spinner()


def moving_picture(result: Path) -> Path:
    """The page with the moving picture beside a result, made where there is none of this result."""
    from musclesolve.report.picture.moving_picture import save_picture

    path = result.with_name(PICTURE)
    if not path.is_file() or is_older(path, result):
        with patient(PATIENCE):  # the page of the result may be on its way into the same folder
            save_picture(result, path)
    return path


def figures(result: Path, of_comparison: bool = False) -> Path:
    """The page with the figures beside a result or a comparison, made where there is none of this file."""
    from musclesolve.report.page import comparison_page, figure_page

    path, make = result.with_name(FIGURES), comparison_page if of_comparison else figure_page
    if not path.is_file() or is_older(path, result):
        with patient(PATIENCE):
            write_files(path.parent, {path.name: make(result).encode("utf-8", "replace")})
    return path


def peaks(title: str, columns: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    """A table of peaks, as long as its rows on one page."""
    if not rows:
        return
    numbered = [{**row, "key": number} for number, row in enumerate(rows)]
    table = ui.table(rows=numbered, columns=columns, row_key="key", title=title, pagination=12)
    table.classes("ms-peaks").props("dense flat bordered")


def state(desk: Desk) -> State:
    """Return the state of the step: done for a usable result of the present trial; to be examined where uncertain."""
    if desk.run_failure is not None:
        return "fault"
    if desk.result is None or desk.changed_inputs:
        return "open"
    found = desk.measures
    if found is None or found.verdict == NOT_USABLE:
        return "fault"
    return "done" if found.verdict == USABLE else "warning"


RESULT = Step(
    "result",
    "Result",
    "The forces of the muscles, and whether they may be used.",
    lambda view: Result(view).show(),
    state,
)
