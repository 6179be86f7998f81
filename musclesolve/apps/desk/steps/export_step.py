"""Export: report, moving picture, data and figures of the result as files, each of them and all together."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nicegui import ui

from musclesolve.apps.desk.fields import heading
from musclesolve.apps.desk.result_facts import address, files_in, is_older, report_inputs, size_words
from musclesolve.apps.desk.steps.compare_step import COMPARISON
from musclesolve.apps.desk.steps.work import Work, no_result, show_age
from musclesolve.apps.desk.view import Step, StepView, hint
from musclesolve.laboratory.plotting.figure_names import REPORT, UNCERTAINTY
from musclesolve.laboratory.plotting.page.page_style import FORMATS
from musclesolve.laboratory.recording.command_settings import EXPORT_FORMATS


class Export(StepView):
    """The step in one window."""

    def show(self) -> None:
        """Draw it."""
        result = self.desk.result
        if result is None:
            no_result(self.view)
            return
        show_age(self.desk)
        Work(self.view, ("report",), lambda: self._report(result)).show()
        Work(self.view, ("picture", "export", "plot"), lambda: self._others(result)).show()
        self._files(result)
        self.view.on_task(self._on_task)

    def _on_task(self) -> None:
        if not self.desk.runner.busy:
            self._files.refresh()

    def _others(self, result: Path) -> None:
        self._picture(result)
        self._data(result)
        self._figures(result)

    def _part(self, title: str, why: str, command: list[str]) -> None:
        heading(title)
        hint(why)
        ui.label(f"On the command line, in the folder: musclesolve {shlex.join(command)}").classes(
            "ms-command"
        )

    def _begin(self, title: str, name: str, **arguments: Any) -> Callable[[], None]:
        return self.view.doing(partial(self.desk.start, title, name, **arguments))

    def _report(self, result: Path) -> None:
        files = report_inputs(result, (result.with_name(UNCERTAINTY), self.desk.comparison / COMPARISON))
        self._part(
            "Report",
            "One page for any browser, which needs nothing but itself: verdict, moving picture, figures, tables, "
            "limits and a paragraph of methods.",
            ["report", *map(self.desk.in_folder, files)],
        )
        page = result.with_name(REPORT)
        with ui.row():
            ui.button(
                "Make the report anew" if page.is_file() else "Make the report",
                on_click=self._begin("Report", "report", files=files),
            ).props(f"{'outline' if page.is_file() else 'unelevated'} icon=description")
            if page.is_file():
                ui.link("Open it in a tab of its own", address(self.desk.folder.path, page), new_tab=True)

    def _picture(self, result: Path) -> None:
        path, still = self.desk.in_folder(result), result.with_name("picture.png")
        self._part(
            "Picture",
            "For documents: four poses, activations and the verdict. The picture of the step Result, which moves, is "
            "picture.html.",
            ["picture", path, "-o", self.desk.in_folder(still)],
        )
        begin = self._begin("Picture", "picture", result=result, path=still)
        ui.button("PNG", on_click=begin).props("outline icon=image")

    def _data(self, result: Path) -> None:
        why = "; ".join(f"{name.upper()}: {use}" for name, use in EXPORT_FORMATS.items())
        path = self.desk.in_folder(result)
        self._part("Data", f"All series over time. {why}.", ["export", path, "--format", "csv"])
        with ui.row():
            for name in EXPORT_FORMATS:
                begin = self._begin(f"{name.upper()} files", "export", result=result, file_format=name)
                ui.button(name.upper(), on_click=begin).props("outline icon=table_chart")

    def _figures(self, result: Path) -> None:
        folder = result.with_name("figures")
        self._part(
            "Figures",
            "SVG and PDF for papers, PNG for slides; a format replaces the files of the last one.",
            ["plot", self.desk.in_folder(result), "-o", self.desk.in_folder(folder), "--format", "svg"],
        )
        with ui.row():
            for name in FORMATS:
                begin = self._begin(
                    f"Figures as {name.upper()}", "plot", result=result, folder=folder, file_format=name
                )
                ui.button(name.upper(), on_click=begin).props("outline icon=show_chart")

    @ui.refreshable_method
    def _files(self, result: Path) -> None:
        heading("Files")
        hint(f"In the folder {self.desk.in_folder(result.parent)}.")
        with ui.row():
            download(
                "All of them as a ZIP archive",
                f"archive/{quote(result.parent.name)}",
                f"{result.parent.name}.zip",
            )
        with ui.element("ul").classes("ms-files"):
            for path in files_in(result.parent):
                name = path.relative_to(result.parent).as_posix()
                with ui.element("li"):
                    download(name, address(self.desk.folder.path, path), path.name)
                    ui.label(size_words(path.stat().st_size)).classes("ms-place")
                    if is_older(path, result):
                        ui.label("of an earlier result").classes("ms-suggested")


def download(text: str, place: str, name: str) -> None:
    """A link that saves a file under a name."""
    ui.link(text, place).props["download"] = name


EXPORT = Step("export", "Export", "A report, and files for other programs.", lambda view: Export(view).show())
