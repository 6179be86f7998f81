"""Result: the computation, verdict, moving picture, figures and peaks of the result of the trial."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import heading, statements
from musclesolve.apps.desk.result_facts import FIGURES, PICTURE, ResultFacts, address, is_older, result_facts
from musclesolve.apps.desk.steps.run_step import Run
from musclesolve.apps.desk.steps.work import Loaded, Work, load, show_verdict
from musclesolve.apps.desk.tasks import PATIENCE
from musclesolve.apps.desk.view import State, Step, StepView
from musclesolve.laboratory.plotting.figure_names import REPORT
from musclesolve.laboratory.results.files.atomic_writing import patient, write_files
from musclesolve.laboratory.results.judgement import NOT_USABLE, USABLE


def column(name: str, label: str, digits: int | None = None, **more: Any) -> dict[str, Any]:
    """A column of a table: numbers on the right, to so many decimals."""
    about: dict[str, Any] = {"name": name, "label": label, "field": name, "sortable": True}
    about["align"] = "left" if name in ("name", "leg", "group") else "right"
    if digits is not None:
        about[":format"] = f"value => value === null ? '–' : value.toFixed({digits})"
    return about | more


NAMES = [column("name", "Name"), column("leg", "Leg")]
PEAKS = [column("newton", "Peak [N]"), column("bw", "Peak [body weights]", 2)]
STRENGTH = column("percent", "Peak [% of maximum isometric force]", 0)
TIME = column("time", "At [s]", 2)
CONTACT = [*NAMES, *PEAKS, TIME]
MUSCLES = [*NAMES, column("group", "Function group"), *PEAKS, STRENGTH, TIME]
"""Columns of the tables of peaks."""
NO_REPORT = "There is no report of this result: the step Export makes it."


class Result(StepView):
    """The step in one window."""

    def show(self) -> None:
        """Draw it."""
        Work(self.view, ("run",), self._result).show()

    def _result(self) -> None:
        result = self.desk.result
        if result is None:
            Run(self.view).show()
            return
        stale = bool(self.desk.changed_inputs) or self.desk.run_failure is not None
        with ui.expansion("Run again, with other choices", value=stale).classes("w-full"):
            Run(self.view).show()
        verdict = Loaded(lambda: result_facts(result), self._verdict)
        moving = loaded_page(
            self.desk, partial(moving_picture, result), "Moving picture of the result", "ms-moving"
        )
        drawn = loaded_page(self.desk, partial(figures, result), "Figures of the result", "ms-page")
        verdict.draw()
        self._report(result)
        self.view.on_task(self._on_task)
        moving.draw()
        heading("Figures")
        drawn.draw()
        self._tables()
        load(verdict, moving, drawn)

    def _verdict(self, facts: ResultFacts) -> None:
        show_verdict(self.desk, facts)
        self._tables.refresh(facts)

    def _on_task(self) -> None:
        if not self.desk.runner.busy:
            self._report.refresh()

    @ui.refreshable_method
    def _report(self, result: Path) -> None:
        """Links to the report, which is made after the result."""
        page = result.with_name(REPORT)
        with ui.row().classes("ms-report"):
            if not page.is_file() or is_older(page, result):
                ui.label("The report is being made." if self.desk.runner.busy else NO_REPORT)
                return
            place = address(self.desk.folder.path, page)
            ui.link("Open the report", place, new_tab=True)
            ui.link("Print", f"{place}#print", new_tab=True)

    @ui.refreshable_method
    def _tables(self, facts: ResultFacts | None = None) -> None:
        if facts is not None:
            with ui.row().classes("ms-tables"):
                peaks("Peak contact forces", CONTACT, facts.contact)
                peaks("Peak muscle forces", MUSCLES, facts.muscles)
            with ui.expansion("Summary, as the command line prints it").classes("w-full"):
                statements(facts.summary, "ms-summary")


def loaded_page(desk: Desk, find: Callable[[], Path], title: str, size: str) -> Loaded[Path]:
    """A page that is shown within this one, as soon as it is made."""
    return Loaded(find, lambda page: framed(desk, page, title, size), title)


def framed(desk: Desk, page: Path, title: str, size: str) -> None:
    """Show a page within this one."""
    frame = ui.element("iframe").classes(f"ms-frame {size}")
    frame.props["src"] = address(desk.folder.path, page)
    frame.props["title"] = title


def moving_picture(result: Path) -> Path:
    """The page with the moving picture beside a result, made where there is none of this result."""
    from musclesolve.laboratory.report.picture.moving_picture import save_picture

    path = result.with_name(PICTURE)
    if not path.is_file() or is_older(path, result):
        with patient(PATIENCE):  # the page of the result may be on its way into the same folder
            save_picture(result, path)
    return path


def figures(result: Path, of_comparison: bool = False) -> Path:
    """The page with the figures beside a result or a comparison, made where there is none of this file."""
    from musclesolve.laboratory.report.page import comparison_page, figure_page

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
    measures = desk.measures
    if measures is None or measures.verdict == NOT_USABLE:
        return "fault"
    return "done" if measures.verdict == USABLE else "warning"


RESULT = Step(
    "result",
    "Result",
    "The forces of the muscles, and whether they may be used.",
    lambda view: Result(view).show(),
    state,
)
