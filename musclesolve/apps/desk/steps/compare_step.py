"""Compare: the trial under several costs, or results of the folder beside each other."""

import asyncio
import shlex
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from musclesolve.apps.desk.fields import OTHERS, same_command
from musclesolve.apps.desk.result_facts import ComparedFacts, compared_costs, compared_results
from musclesolve.apps.desk.steps.result_step import NAMES, column, figures, loaded_page, peaks
from musclesolve.apps.desk.steps.run_step import about_cost, cost_names
from musclesolve.apps.desk.steps.work import Loaded, Work, load
from musclesolve.apps.desk.view import Step, View, hint
from musclesolve.apps.desk.work_folder import RESULTS, checked_name
from musclesolve.constants import COMPARISON_FILE, USUAL_COST
from musclesolve.errors import input_error
from musclesolve.studies.compare_results import MOST

COMPARISON, COMPARED = COMPARISON_FILE, "compared.nc"


def columns_of(facts: ComparedFacts) -> list[dict[str, Any]]:
    """Columns of the table of peaks: each result, and its difference from the first."""
    names = [*NAMES, column("unit", "Unit", align="left")]
    for number, name in enumerate(facts.columns):
        names.append(column(f"peak_{number}", name.replace("_", " ")))
        if number:
            names.append(column(f"change_{number}", "difference [%]"))
    return names


class Compare:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk
        stated = self.desk.trial.value("sharing", "cost") if self.desk.trial is not None else None
        first: str = stated or USUAL_COST
        self._costs = [first, "activation_power" if first == "stress_cubed" else "stress_cubed"]
        self._results = list(self.desk.results)[:2]
        self._part = "Costs of this trial"

    def show(self) -> None:
        """Draw it."""
        Work(self.view, ("compare", "compare_results"), self._tabs).show()

    def _tabs(self) -> None:
        parts = {"Costs of this trial": self._of_costs, "Results in this folder": self._of_results}
        with ui.tabs().props("dense no-caps align=left") as tabs:
            for title in parts:
                ui.tab(title)
        panels = ui.tab_panels(
            tabs, value=self._part, on_change=lambda event: setattr(self, "_part", event.value)
        )
        with panels.classes("w-full"):
            for title, draw in parts.items():
                with ui.tab_panel(title).classes("ms-part-of-step"):
                    draw()

    def _of_costs(self) -> None:
        hint(
            "The moments do not determine the muscle forces: a cost decides. What changes with the cost is a "
            "conclusion about the cost."
        )
        select = ui.select(
            {name: name.replace("_", " ") for name in self._costs} | cost_names(),
            value=self._costs,
            multiple=True,
            label=f"Costs, two to {MOST}",
            on_change=lambda event: self._chosen(event.value),
            **OTHERS,
        )
        select.props("use-chips").classes("ms-wide")
        self._command()
        with ui.row():
            ui.button("Compare the costs", on_click=self._compare).props("unelevated icon=compare")
        self._shown_comparison(self.desk.comparison / COMPARISON, compared_costs)

    def _chosen(self, names: list[str]) -> None:
        self._costs = list(names)
        self._command.refresh()

    @ui.refreshable_method
    def _command(self) -> None:
        for name in self._costs:
            hint(f"{name.replace('_', ' ')}: {about_cost(name)}")
        words = ["musclesolve", "compare", self.desk.opened.path.name]
        words += [word for name in self._costs for word in ("--cost", name)]
        words += ["--side", self.desk.options.side] if self.desk.options.side != "both" else []
        same_command(shlex.join([*words, "-o", self.desk.in_folder(self.desk.comparison)]))

    def _compare(self) -> None:
        with self.view.saying():
            if not 2 <= len(self._costs) <= MOST:
                raise input_error(
                    "missing_argument",
                    where="Costs",
                    problem=f"{len(self._costs)} costs are chosen",
                    expected=f"two to {MOST}",
                    remedy="choose some from the list",
                )
            self.desk.compare(self._costs)

    def _of_results(self) -> None:
        hint("Results of other trials, or of this one under other choices, over their gait cycles.")
        results = self.desk.results
        if len(results) < 2:
            ui.label(
                "Two results are needed. Run another trial of this folder, or keep the result that is there under "
                "another name, change a choice and run again."
            )
        else:
            select = ui.select(
                list(results),
                value=[name for name in self._results if name in results],
                multiple=True,
                label=f"Results, two to {MOST}; the first is what the others differ from",
                on_change=lambda event: setattr(self, "_results", list(event.value)),
            )
            select.props("use-chips").classes("ms-wide")
            with ui.row():
                ui.button("Compare the results", on_click=self._compare_results).props(
                    "unelevated icon=compare"
                )
        if self.desk.result is not None:
            self._keeping()
        self._shown_comparison(self.desk.folder.path / RESULTS / "compared" / COMPARED, compared_results)

    def _keeping(self) -> None:
        with ui.row().classes("ms-turn-small"):
            name = ui.input("Name").classes("ms-input")

            async def keep() -> None:
                with self.view.saying():
                    await asyncio.to_thread(self._keep, name.value or "")
                    self.view.say(f"Kept as {name.value}")
                    self.view.refresh()

            ui.button("Keep a copy of this result", on_click=keep).props("outline icon=content_copy")

    def _keep(self, name: str) -> None:
        """Copy the result of the trial under another name."""
        checked_name(f"{name}.csv")
        folder = self.desk.folder.path / RESULTS / name
        if folder.exists():
            raise input_error(
                "duplicate_name",
                where="Name",
                problem=f"there is a result {name!r} already",
                remedy="choose another name",
            )
        assert self.desk.result is not None
        folder.mkdir()
        shutil.copy2(self.desk.result, folder / self.desk.result.name)

    def _compare_results(self) -> None:
        with self.view.saying():
            results = self.desk.results
            self.desk.start(
                "Comparison of results",
                "compare_results",
                results={name: results[name] for name in self._results if name in results},
                folder=self.desk.folder.path / RESULTS / "compared",
            )

    def _shown_comparison(self, path: Path, read: Callable[[Path], ComparedFacts]) -> None:
        """Show what is read from a file, as soon as it is read, and then the figures."""
        if not path.is_file():
            return
        table = Loaded(partial(read, path), _show_peaks)
        page = loaded_page(self.desk, partial(figures, path, True), "Figures of the comparison", "ms-page")
        table.draw()
        page.draw()
        load(table, page)


def _show_peaks(facts: ComparedFacts) -> None:
    for sentence in facts.unlike:
        hint(f"Not the same: {sentence}")
    peaks("Peaks, and the difference from the first", columns_of(facts), facts.rows)


COMPARE = Step(
    "compare",
    "Compare",
    "What another cost gives, or how two results differ.",
    lambda view: Compare(view).show(),
)
