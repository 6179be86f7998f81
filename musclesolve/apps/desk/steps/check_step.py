"""Check: faults of the recording and the trial file before any computation, with the places to correct them."""

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import groupby
from math import isfinite

from nicegui import ui

from musclesolve._util.messages import capitalized
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import heading
from musclesolve.apps.desk.result_facts import css_of
from musclesolve.apps.desk.view import STEP_OF, Focus, State, Step, StepView, hint, show_fault
from musclesolve.apps.desk.words import by_click, title_of
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings
from musclesolve.laboratory.results.finding import Finding, Where
from musclesolve.laboratory.results.judgement import NOT_USABLE, USABLE, Report
from musclesolve.tables.settings import tables_of

HEADINGS = {"error": "Errors", "warning": "Warnings", "note": "Notes"}
SIGNS = {"error": "error", "warning": "warning", "note": "info"}
READ = "keep it in mind"
"""The remedy of a note that has none."""


def target(where: Where, steps: Collection[str]) -> tuple[str, Focus] | None:
    """The step with the place of a finding, and the place in the step; None: the text of the trial file.

    Args:
        where: the place of the finding.
        steps: names of the steps that there are.
    """
    times = [first for first, _ in where.times if isfinite(first)]
    foot = where.plate and where.plate[0]
    focus = Focus(where.markers, times[0] if times else None, foot, where.field or "")
    table = re.match(r"\[\[?(\w+)", focus.field)
    for applies, step in (
        (bool(focus.markers), "markers"),
        (foot is not None and not table, "plates"),
        (table is not None, STEP_OF.get(table[1], "") if table else ""),
        (focus.time is not None, "events"),
    ):
        if applies:
            return (step, focus) if step in steps else None
    return None


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
        return self.desk.checked is None

    @property
    def _state(self) -> object:
        return self.desk.runner.busy, self._unknown

    def _begin(self) -> None:
        with self.view.saying():
            self.desk.check()

    def _on_task(self) -> None:
        if self._state != self._shown:
            task = self.desk.runner.task
            canceled = task is not None and task.name == "check" and task.canceled
            if self._unknown and not self.desk.runner.busy and not canceled:
                self._begin()  # another task was running before
            self._said.refresh()

    def _todos(self) -> None:
        opens = self.desk.opened.opens
        if not opens:
            return
        heading("Please decide")
        hint(
            "The draft was not sure of these. Change what is wrong; “Done” says that it is right as it stands. "
            "A value that is needed has to be entered."
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
                    place = Where(field=f"[{item.table}] {item.key or ''}")
                    self._show_button(target(place, self._steps), name)
                    value = self.desk.opened.value(item.table, item.key or "")
                    if rule is None or not rule.required or value is not None:
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
        report, task = self.desk.checked, self.desk.runner.task
        with ui.row().classes("ms-turn-small"):
            again = ui.button("Check again" if isinstance(report, Report) else "Check", on_click=self._begin)
            again.props("outline icon=fact_check").set_enabled(not self.desk.runner.busy)
            if self.desk.runner.busy and task is not None:
                ui.spinner()
                waits = "" if task.name == "check" else " The check follows."
                ui.label(f"{task.title} …{waits}").props('role="status"')
        if isinstance(report, Exception):
            show_fault(str(report))
        if not isinstance(report, Report) or report.judgement is None:
            return
        verdict_class = css_of(report.judgement.verdict)
        ui.label(report.verdict).classes(f"ms-verdict ms-{verdict_class}").props('role="status"')
        for severity, findings in groupby(report.all_findings, lambda entry: entry.severity):
            alike = list(findings)
            heading(f"{HEADINGS[severity]} ({len(alike)})")
            for entry in alike:
                self._finding(entry)

    def _finding(self, entry: Finding) -> None:
        with ui.row().classes(f"ms-finding ms-{entry.severity}"):
            ui.icon(SIGNS[entry.severity]).classes("ms-sign").props(f'aria-label="{entry.severity}"')
            with ui.column().classes("ms-words"):
                ui.label(by_click(capitalized(entry.sentence))).classes("ms-what")
                if not entry.remedy.startswith(READ):
                    ui.label(f"Remedy: {by_click(entry.remedy)}").classes("ms-remedy")
                if place := str(entry.where):
                    ui.label(by_click(place)).classes("ms-place")
            to, inside = target(entry.where, self._steps), entry.where.field or entry.where.line
            with ui.column().classes("ms-turn-small"):
                if to is not None or inside:
                    self._show_button(
                        None if to is None else (to[0], replace(to[1], finding=entry)), entry.what
                    )
                self.view.mend_button(entry)


def state(desk: Desk) -> State:
    """Return green only for a usable trial without open decisions; unknown until checked since the last change."""
    report = desk.checked
    if not isinstance(report, Report) or report.judgement is None:
        return "open" if report is None else "fault"
    states: dict[str, State] = {USABLE: "warning" if desk.opened.opens else "done", NOT_USABLE: "fault"}
    return states.get(report.judgement.verdict, "warning")


CHECK = Step(
    "check",
    "Check",
    "What is wrong with the recording, before anything is computed.",
    lambda view: Check(view).show(),
    state,
)
