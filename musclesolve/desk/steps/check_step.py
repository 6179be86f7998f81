"""Check: faults of the recording and the trial file before any computation, with the places to correct them."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nicegui import ui

from musclesolve._util.messages import capitalized
from musclesolve.desk.desk import Desk
from musclesolve.desk.fields import heading, title_of
from musclesolve.desk.trial_document import Open
from musclesolve.desk.view import STEP_OF, Focus, State, Step, StepView, by_click, hint, show_fault
from musclesolve.results.finding import SEVERITIES, Finding, Where
from musclesolve.results.judgement import NOT_USABLE, USABLE, Report
from musclesolve.settings.schema import tables_of
from musclesolve.settings.trial import ModelSettings, RecordedSettings

HEADINGS = {"error": "Errors", "warning": "Warnings", "note": "Notes"}
SIGNS = {"error": "error", "warning": "warning", "note": "info"}
READ = "keep it in mind"
"""The remedy of a note that has none."""


def target(where: Mapping[str, Any], steps: Collection[str]) -> tuple[str, Focus] | None:
    """The step with the place of a finding, and the place in the step; None: the text of the trial file.

    Args:
        where: `Where.as_dict` of the finding.
        steps: names of the steps that there are.
    """
    times = [first for first, _ in where["times"] if first is not None]
    foot = where["plate"] and where["plate"][0]
    focus = Focus(tuple(where["markers"]), times[0] if times else None, foot, where["field"] or "")
    table = re.match(r"\[\[?(\w+)", where["field"] or "")
    for applies, step in (
        (bool(focus.markers), "markers"),
        (foot is not None and not table, "plates"),
        (table is not None, STEP_OF.get(table[1], "") if table else ""),
        (focus.time is not None, "events"),
    ):
        if applies:
            return (step, focus) if step in steps else None
    return None


def place(where: Mapping[str, Any]) -> str:
    """The place of a finding in words."""
    spans = tuple((first, last) for first, last in where["times"] if first is not None and last is not None)
    path = Path(where["file"]) if where["file"] else None
    return str(Where(**{**where, "file": path, "times": spans, "markers": tuple(where["markers"])}))


def counted(findings: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The findings on the trial and its result by severity, the most serious first, each once."""
    every = Report.from_dict(findings).all_findings
    return {
        name: own
        for name in SEVERITIES
        if (own := [found.as_dict() for found in every if found.severity == name])
    }


class Check(StepView):
    """The step in one window."""

    _shown: object = None

    def show(self) -> None:
        """Draw it, and check what has not been checked."""
        self._todos()
        if self._unknown and not self.desk.runner.busy:
            self._begin()
        self._said()
        self.view.on_task(self._on_task)

    @property
    def _unknown(self) -> bool:
        return self.desk.findings is None and self.desk.check_failure is None

    @property
    def _state(self) -> object:
        return self.desk.runner.busy, self._unknown

    def _begin(self) -> None:
        with self.view.saying():
            self.desk.check()

    def _on_task(self) -> None:
        if self._state != self._shown:
            if self._unknown and not self.desk.runner.busy and not self._was_canceled:
                self._begin()  # another task was running before
            self._said.refresh()

    @property
    def _was_canceled(self) -> bool:
        task = self.desk.runner.task
        return task is not None and task.name == "check" and task.canceled

    def _todos(self) -> None:
        assert self.desk.trial is not None
        opens = self.desk.trial.opens
        if not opens:
            return
        heading("Please decide")
        hint(
            "The draft was not sure of these. Change what is wrong; “Done” says that it is right as it stands."
        )
        tables = tables_of(ModelSettings if self.desk.is_model else RecordedSettings)
        for item in opens:
            with ui.row().classes("ms-finding ms-todo"):
                ui.icon("help").classes("ms-sign")
                with ui.column().classes("ms-words"):
                    rule = tables[item.table].settings.get(item.key or "") if item.table in tables else None
                    name = ": ".join(
                        [title_of(item.table), *([title_of(item.key, rule)] if item.key else [])]
                    )
                    ui.label(name).classes("ms-what")
                    ui.label(capitalized(item.why)).classes("ms-remedy")
                    if item.value is not None and item.key:
                        ui.label(f"Suggested: {item.value}").classes("ms-suggested")
                with ui.row().classes("ms-turn-small"):
                    self._show_button(target(where_of(item), self._steps), name)
                    done = ui.button("Done", on_click=lambda _, item=item: self.view.decided(item))
                    done.props("outline dense data-focus=done").props["aria-label"] = f"Done: {name}"

    @property
    def _steps(self) -> list[str]:
        return [step.name for step in self.view.steps]

    def _show_button(self, at: tuple[str, Focus] | None, name: str) -> None:
        def show() -> None:
            if at is None:
                self.view.show_text()
            else:
                self.view.go(*at)

        title = next((step.title for step in self.view.steps if at and step.name == at[0]), "the trial file")
        button = ui.button("Show", on_click=show).props("flat dense icon=arrow_forward")
        button.tooltip(f"in {title}").props["aria-label"] = f"Show in {title}: {name}"

    @ui.refreshable_method
    def _said(self) -> None:
        self._shown = self._state
        findings, task = self.desk.findings, self.desk.runner.task
        with ui.row().classes("ms-turn-small"):
            again = ui.button("Check again" if findings else "Check", on_click=self._begin)
            again.props("outline icon=fact_check").set_enabled(not self.desk.runner.busy)
            if self.desk.runner.busy and task is not None:
                ui.spinner()
                waits = "" if task.name == "check" else " The check follows."
                ui.label(f"{task.title} …{waits}").props('role="status"')
        if (failure := self.desk.check_failure) is not None:
            show_fault(str(failure))
        if findings is None:
            return
        judged = findings["judgement"]
        said = f"{judged['label']}. {' '.join(judged['why'])}"
        ui.label(said).classes(f"ms-verdict ms-{color(judged)}").props('role="status"')
        for severity, own in counted(findings).items():
            heading(f"{HEADINGS[severity]} ({len(own)})")
            for each in own:
                self._finding(each)

    def _finding(self, each: dict[str, Any]) -> None:
        with ui.row().classes(f"ms-finding ms-{each['severity']}"):
            ui.icon(SIGNS[each["severity"]]).classes("ms-sign").props(f'aria-label="{each["severity"]}"')
            with ui.column().classes("ms-words"):
                said = Finding.from_dict(each).sentence
                ui.label(capitalized(said)).classes("ms-what")
                if not each["remedy"].startswith(READ):
                    ui.label(f"Remedy: {by_click(each['remedy'])}").classes("ms-remedy")
                if at := place(each["where"]):
                    ui.label(at).classes("ms-place")
            to, inside = target(each["where"], self._steps), each["where"]["field"] or each["where"]["line"]
            with ui.column().classes("ms-turn-small"):
                if to is not None or inside:
                    self._show_button(
                        None if to is None else (to[0], replace(to[1], finding=each)), each["what"]
                    )
                self.view.mend_button(each)


def where_of(each: Open) -> dict[str, Any]:
    """Return the open decision of a draft as the place of a finding."""
    return Where(field=f"[{each.table}] {each.key or ''}").as_dict()


def color(judgement: Mapping[str, Any]) -> str:
    """The class of a verdict: green is for a usable result alone."""
    return {USABLE: "good", NOT_USABLE: "error"}.get(judgement["verdict"], "warning")


def state(desk: Desk) -> State:
    """Return green only for a usable trial without open decisions; unknown until checked since the last change."""
    assert desk.trial is not None
    if desk.check_failure is not None:
        return "fault"
    if desk.findings is None:
        return "open"
    verdict = desk.findings["judgement"]["verdict"]
    states: dict[str, State] = {USABLE: "warning" if desk.trial.opens else "done", NOT_USABLE: "fault"}
    return states.get(verdict, "warning")


CHECK = Step(
    "check",
    "Check",
    "What is wrong with the recording, before anything is computed.",
    lambda view: Check(view).show(),
    state,
)
