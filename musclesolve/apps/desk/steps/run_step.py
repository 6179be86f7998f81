"""The choices that matter before muscle forces are computed, and the computation."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from nicegui import ui

import muscle_db
from musclesolve._util.messages import capitalized
from musclesolve.apps.desk.fields import choice, drawn_keys, field, heading, same_command
from musclesolve.apps.desk.view import StepView, hint
from musclesolve.constants import FAST, USUAL_COST
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_settings import ModelSettings, RecordedSettings
from musclesolve.laboratory.results.judgement import Report
from musclesolve.sharing.cost.cost_registry import costs, find_cost

USUAL = (
    *(("sharing", "cost"), ("muscles", "database"), ("muscles", "tendon")),
    *(("filter", "cutoff_hz"), ("filter", "unloaded_below_n"), ("time", "movement")),
)
"""Settings with a field of their own, here or in the steps before."""
FURTHER_TABLES = ("time", "filter", "consistency", "muscles", "sharing", "knee")
"""Tables whose other settings are in this step, too."""
LEGS = {"both": "both legs", "r": "right leg", "l": "left leg"}
SAMPLES: dict[int | str, str] = {
    0: "none",
    FAST: "fast, designed samples",
    200: "200 samples",
    1000: "1000 samples",
}


def cost_names() -> dict[str, str]:
    """The costs, those with a recommendation first, as a list shows them."""
    known = costs()
    order = sorted(known, key=lambda name: (name != USUAL_COST, not known[name].use))
    return {name: name.replace("_", " ") for name in order}


def about_cost(name: str) -> str:
    """Return the use of a cost, its formula and source."""
    try:
        cost = find_cost(name)
    except InputError as error:
        return str(error)
    use = cost.use or "for comparison with work that used it"
    if name not in costs():
        use = "by your options"
    formula = f" Minimizes {cost.formula} ({cost.source})." if cost.formula else ""
    changed = "" if cost.label == cost.name else f" Here: {cost.label}."
    return f"{capitalized(use)}.{formula}{changed}"


def muscle_sets(folder: Path) -> dict[str, str]:
    """The muscle sets, and the models in the folder that hold one, as a list shows them."""
    models = sorted(path.name for path in folder.glob("*.osim"))
    return {name: name for name in [*muscle_db.available(), *models]}


def further_settings(is_model: bool) -> list[tuple[str, str]]:
    """Table and key of every setting without a field of its own."""
    file = ModelSettings if is_model else RecordedSettings
    keys = [(table, key) for table in FURTHER_TABLES for key in drawn_keys(file, table)]
    return [key for key in keys if key not in USUAL]


class Run(StepView):
    """The part of the step Result that computes, in one window."""

    def show(self) -> None:
        """Draw it."""
        with ui.row().classes("ms-turn-small"):
            title = "Run" if self.desk.result is None else "Run again"
            ui.button(title, on_click=self.view.doing(self.desk.run)).props("unelevated icon=play_arrow")
            wrong = isinstance(self.desk.checked, Report) and not self.desk.checked.ok
            if wrong:
                ui.label("The check has found errors: the result would be wrong.").classes("ms-bad")
            if wrong or self.desk.run_failure is not None:
                ui.button("See the check", on_click=lambda: self.view.go("check")).props("outline")
        self._command()
        heading("Choices")
        self._choices()
        self._options()

    def _choices(self) -> None:
        """Keys of the trial file."""
        view = self.view
        choice(view, "sharing", "cost", "Cost that is minimized", cost_names(), about_cost, others=True)
        if not self.desk.is_model:
            about = "Paths, strengths and lengths of the muscles: a set by name, or an OpenSim model."
            sets = muscle_sets(self.desk.folder.path)
            choice(view, "muscles", "database", "Muscle set", sets, lambda _: about)
        field(view, "muscles", "tendon", "Tendons")
        field(view, "filter", "cutoff_hz", "Cut-off frequency [Hz]")
        if self.desk.trial is not None and self.desk.trial.value("emg") is not None:
            field(view, "emg", "weight", "Weight of EMG")
        with ui.expansion("Further settings").classes("w-full"):
            for table, key in further_settings(self.desk.is_model):
                field(view, table, key)

    def _options(self) -> None:
        """Show the options of the command that are no keys of the trial file."""
        options = self.desk.options

        def taken(**changed: Any) -> None:
            self.desk.options = replace(self.desk.options, **changed)
            self._command.refresh()

        with ui.row().classes("ms-field"):
            ui.select(
                LEGS, value=options.side, label="Legs", on_change=lambda event: taken(side=event.value)
            ).classes("ms-input")
            hint("Which legs are analyzed. One leg suffices where only one foot was on a plate.")
        with ui.row().classes("ms-field"):
            ui.select(
                SAMPLES | {options.samples: SAMPLES.get(options.samples, f"{options.samples} samples")},
                value=options.samples,
                label="Uncertainty",
                on_change=lambda event: taken(samples=event.value),
            ).classes("ms-input")
            hint(
                "Repeats the analysis with errors of recording and muscles, for standard deviations of all forces. "
                "Designed samples take seconds, samples that are drawn at random minutes."
            )
        ui.checkbox(
            "Also draw the figures as files",
            value=options.figures,
            on_change=lambda event: taken(figures=event.value),
        )

    @ui.refreshable_method
    def _command(self) -> None:
        same_command(self.desk.command)
