"""Questions about a result, each with a button, and the answers in words and figures."""

import shlex
from pathlib import Path

from nicegui import events, ui

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import same_command
from musclesolve.apps.desk.result_facts import is_older
from musclesolve.apps.desk.steps.result_step import framed
from musclesolve.apps.desk.steps.work import Work, no_result
from musclesolve.apps.desk.view import Step, View, hint
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.trial_settings import QUESTIONS as NAMES

TITLES = {
    name: section["title"]
    for name, section in bundled_toml("musclesolve.laboratory.report", "texts", "sections.toml").items()
    if name in NAMES
}
"""Question -> title, as in reports."""
WHY = {
    "contributions": "How each muscle accelerates the joints and the center of mass, and loads the joints.",
    "margins": "The least strength of each muscle and group with which this motion is still possible.",
    "what_if": "Weak or missing muscles, orthoses and exoskeletons, another mass: the same motion, solved again.",
}
EXAMPLE = "weak calf: triceps_surae=0.6"


def answer_files(desk: Desk, name: str) -> tuple[Path, Path]:
    """The answer to a question beside the result of the trial, and its page."""
    return desk.output / f"{name}.nc", desk.output / f"{name}.html"


def is_answered(desk: Desk, name: str) -> bool:
    """Return whether a question is answered for the present result."""
    answer, page = answer_files(desk, name)
    result = desk.result
    made = result is not None and answer.is_file() and page.is_file()
    return made and not is_older(answer, result) and not is_older(page, answer)  # type: ignore[arg-type]


class Questions:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk
        self._name = next((name for name in NAMES if is_answered(self.desk, name)), NAMES[0])

    def show(self) -> None:
        """Draw it."""
        Work(self.view, ("answer",), self._draw).show()

    def _draw(self) -> None:
        if self.desk.result is None:
            no_result(self.view)
            return
        toggle = ui.toggle({name: TITLES[name] for name in NAMES}, value=self._name, on_change=self._turned)
        toggle.props("unelevated")
        self._question()

    def _turned(self, event: events.ValueChangeEventArguments) -> None:
        self._name = event.value
        self._question.refresh()

    @ui.refreshable_method
    def _question(self) -> None:
        name, trial = self._name, self.desk.opened
        hint(WHY[name])
        if name == "what_if":
            stated = trial.value("questions", "scenarios") or ()
            area = ui.textarea("Scenarios, one a line", value="\n".join(stated), placeholder=EXAMPLE)
            area.props("autogrow").classes("ms-wide")
            area.on("blur", lambda: self._stated(area.value or ""))
        words = ["musclesolve", "run", trial.path.name, "-o", self.desk.in_folder(self.desk.output)]
        same_command(shlex.join([*words, "--questions", name]))
        with ui.row():
            ui.button("Answer", on_click=self._answer).props("unelevated icon=help_outline")
        if is_answered(self.desk, name):
            framed(self.desk, answer_files(self.desk, name)[1], f"Answer: {TITLES[name]}", "ms-page")

    def _stated(self, lines: str) -> None:
        scenarios = [line.strip() for line in lines.splitlines() if line.strip()]
        self.view.state(("questions", "scenarios"), scenarios or None)

    def _answer(self) -> None:
        with self.view.saying():
            if self._name == "what_if" and not self.desk.opened.value("questions", "scenarios"):
                raise input_error(
                    "missing_argument",
                    where="Scenarios",
                    problem="no scenario is stated",
                    expected=f"one a line, such as {EXAMPLE}",
                    remedy="write what is changed, as `musclesolve ask what-if --set` takes it",
                )
            self.desk.start(TITLES[self._name], "answer", result=self.desk.result, question=self._name)


QUESTIONS = Step(
    "questions",
    "Questions",
    "Which muscle does what, how weak it may be, what if.",
    lambda view: Questions(view).show(),
)
