"""Watch: every recording that is saved into the folder becomes a result and a page, by the open trial file."""

import csv
import io
import shlex
from dataclasses import dataclass
from pathlib import Path

from nicegui import ui

from musclesolve._util.sides import LEG_JOINTS
from musclesolve.desk.desk import RESULTS, Desk
from musclesolve.desk.result_files import address
from musclesolve.desk.view import State, Step, View
from musclesolve.plotting.figure_names import REPORT
from musclesolve.recording.schema import file_state
from musclesolve.results.judgement import LABELS, NOT_USABLE, USABLE
from musclesolve.studies.many_trials.trial_record import CSV, Outcome

LOOK = 1.0
"""So often is the table of the recordings looked at [s]."""
SIGNS = {"good": "check_circle", "warning": "warning", "error": "error", "waits": "hourglass_empty"}


@dataclass(frozen=True)
class Row:
    """A recording in the list: its name, verdict or status, what is to be known of it, and its files.

    css: "good", "warning", "error" or "waits". page: None where there is no result. trial: the trial file.
    """

    name: str
    title: str
    words: str
    css: str
    trial: Path
    page: Path | None


def listed(table: Path) -> list[Row]:
    """The recordings of a table that `musclesolve watch` or `musclesolve run` wrote, the newest first."""
    try:
        text = table.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return [_row(row) for row in csv.DictReader(io.StringIO(text))][::-1]


def _row(row: dict[str, str]) -> Row:
    folder, trial = Path(row["folder"]), Path(row["trial"])
    if row["verdict"] not in LABELS:
        css = "waits" if row["status"] in (Outcome.WAITING, Outcome.STOPPED) else "error"
        return Row(row["name"], row["status"].capitalize(), row["message"], css, trial, None)
    css = {USABLE: "good", NOT_USABLE: "error"}.get(row["verdict"], "warning")
    peaks = [(joint, row.get(f"peak_{joint}_contact_force_body_weights", "")) for joint in LEG_JOINTS]
    forces = ", ".join(f"{joint} {float(value):.1f}" for joint, value in peaks if value not in ("", "nan"))
    words = f"Peak contact forces [body weights]: {forces}." if forces else ""
    found = row["findings"].partition("; ")[0]
    page = folder / REPORT
    said = f"{words} {found}".strip()
    return Row(row["name"], LABELS[row["verdict"]], said, css, trial, page if page.is_file() else None)


class WatchStep:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk
        self._shown: object = None

    def show(self) -> None:
        """Draw it, and the list again whenever it has changed."""
        self._switch()
        self._list()
        ui.timer(LOOK, self._look)
        self.view.on_task(self._on_task)

    def _on_task(self) -> None:
        self._switch.refresh()

    @property
    def _table(self) -> Path:
        return self.desk.watched / CSV

    def _look(self) -> None:
        if file_state(self._table) != self._shown:
            self._list.refresh()

    @ui.refreshable_method
    def _switch(self) -> None:
        desk = self.desk
        if desk.is_model:
            ui.label(
                "Recordings are computed by the trial file of a recording, not by that of an OpenSim model."
            )
            return
        assert desk.trial is not None
        if desk.watching is None:
            ui.label(
                f"Save recordings of the same protocol into {desk.folder.path}: what {desk.trial.path.name} says of "
                "laboratory, markers, plates and subject holds for all of them; a file subject.toml beside "
                "recordings states another subject."
            ).classes("ms-why")
        else:
            ui.label(
                f"The folder is watched, by {desk.watching.template.path.name}. Each recording that is saved into it "
                "is computed as soon as its files are whole."
            ).props('role="status"')
        if desk.watch_failure is not None:
            ui.label(str(desk.watch_failure)).classes("ms-bad ms-message")
        with ui.row().classes("ms-turn-small"):
            on = desk.watching is None
            button = ui.button("Watch the folder" if on else "End watching", on_click=lambda: self._turn(on))
            button.props(f"{'unelevated' if on else 'outline'} no-caps icon={'visibility' if on else 'stop'}")
            button.props["data-focus"] = "watch"
            task = desk.runner.task
            if desk.runner.busy and task is not None and task.name == "recording":
                ui.spinner()
                ui.label(f"{task.title} …").props('role="status"')
        words = ["musclesolve", "watch", ".", "--template", desk.trial.path.name]
        ui.label(f"The same on the command line, in the folder: {shlex.join(words)}").classes("ms-command")

    def _turn(self, on: bool) -> None:
        with self.view.saying():
            self.desk.watch(on)
        self._switch.refresh()

    @ui.refreshable_method
    def _list(self) -> None:
        self._shown = file_state(self._table)
        rows = listed(self._table)
        if not rows:
            return
        done = sum(row.css in ("good", "warning") for row in rows)
        heading = ui.label(f"Recordings: {len(rows)}, {done} with a result that can be used")
        heading.classes("ms-part").props('role="heading" aria-level="2"')
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
                if row.trial.is_file() and row.trial.parent == self.desk.folder.path:
                    button = ui.button("Open", on_click=lambda: self._open(row.trial))
                    button.props("outline dense no-caps").props["aria-label"] = f"Open {row.name}"

    def _open(self, trial: Path) -> None:
        """Open the trial file of a recording, at its result, or at the check of what is wrong with it."""
        with self.view.saying():
            self.desk.open(trial, by=self.view)
        self.view.refresh_frame()
        self.view.go("result" if self.desk.result is not None else "check")


def state(desk: Desk) -> State:
    """Never needed; done where recordings were computed."""
    if desk.trial is None:
        return ""
    return "done" if desk.watching is not None or (desk.folder.path / RESULTS / CSV).is_file() else ""


WATCH = Step(
    "watch",
    "Watch",
    "Every new recording of a protocol becomes a result and a page by itself.",
    lambda view: WatchStep(view).show(),
    state,
)
