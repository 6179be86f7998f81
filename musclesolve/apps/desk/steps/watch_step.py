"""Watch: each new recording in the folder becomes a result and a page, by the open trial file."""

import shlex
from pathlib import Path

from nicegui import ui

from musclesolve.apps.desk.fields import same_command
from musclesolve.apps.desk.steps.work import TrialList
from musclesolve.apps.desk.view import Step, StepView, hint, show_fault
from musclesolve.studies.many_trials.trial_record import CSV

OTHER_SUBJECT = {
    False: "a file subject.toml beside recordings states another subject.",
    True: "an .osim file beside coordinates is the model of another subject.",
}
"""By whether the trial is of an OpenSim model: the file beside recordings for another subject."""


class WatchStep(StepView):
    """The step in one window."""

    def show(self) -> None:
        """Draw it, and the list again whenever it has changed."""
        self._switch()
        TrialList(self.desk, self.desk.watched / CSV, "Recordings", self._open, newest_first=True).show()
        self.view.on_task(self._on_task)

    def _on_task(self) -> None:
        self._switch.refresh()

    @ui.refreshable_method
    def _switch(self) -> None:
        desk, trial = self.desk, self.desk.opened
        if desk.watching is None:
            hint(
                f"Save recordings of the same protocol into {desk.folder.path}: the settings of "
                f"{trial.path.name} hold for all of them; {OTHER_SUBJECT[desk.is_model]}"
            )
        else:
            ui.label(
                f"The folder is watched, by {desk.watching.template.path.name}. Each recording that is saved into it "
                "is computed as soon as its files are whole."
            ).props('role="status"')
        if desk.watch_failure is not None:
            show_fault(str(desk.watch_failure))
        with ui.row().classes("ms-turn-small"):
            on = desk.watching is None
            button = ui.button("Watch the folder" if on else "End watching", on_click=lambda: self._turn(on))
            button.props(f"{'unelevated' if on else 'outline'} icon={'visibility' if on else 'stop'}")
            button.props["data-focus"] = "watch"
            task = desk.runner.task
            if desk.runner.busy and task is not None and task.name == "recording":
                ui.spinner()
                ui.label(f"{task.title} …").props('role="status"')
        same_command(shlex.join(["musclesolve", "watch", ".", "--template", trial.path.name]))

    def _turn(self, on: bool) -> None:
        with self.view.saying():
            self.desk.watch(on)
        self._switch.refresh()

    def _open(self, trial: Path) -> None:
        """Open the trial file of a recording, at its result, or at step Check without a result."""
        with self.view.saying():
            self.desk.open(trial, by=self.view)
        self.view.refresh_frame()
        self.view.go("result" if self.desk.result is not None else "check")


WATCH = Step(
    "watch",
    "Watch",
    "Every new recording of a protocol becomes a result and a page by itself.",
    lambda view: WatchStep(view).show(),
)
