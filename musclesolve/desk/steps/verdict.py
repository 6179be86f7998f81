"""The verdict on the result of the trial that is open, as several steps show it."""

from __future__ import annotations

from nicegui import ui

from musclesolve.desk.desk import Desk
from musclesolve.desk.in_thread import in_thread
from musclesolve.desk.result_facts import ResultFacts, result_facts


async def facts_of(desk: Desk) -> ResultFacts | None:
    """What the result of the trial that is open says; None without a result.

    Raises:
        InputError: the file cannot be read, or is no result.
    """
    path = desk.result
    if path is None:
        return None
    # What `check` says counts where the result is of the trial as it is now.
    return await in_thread(result_facts, path, None if desk.changed_inputs else desk.findings)


def show_verdict(desk: Desk, facts: ResultFacts) -> None:
    """The verdict, why, and what to be careful about; above it what has changed since."""
    if changed := desk.changed_inputs:
        ui.label(
            f"This result is older than {', '.join(changed)}: what is below is not of the trial as it is now."
        ).classes("ms-verdict ms-warning").props('role="status"')
    with ui.column().classes(f"ms-verdict ms-{facts.css}").props('role="status"'):
        ui.label(f"{facts.mark} {facts.label}").classes("ms-what")
        ui.label(facts.why)
    if facts.careful:
        with ui.element("ul").classes("ms-list"):
            for each in facts.careful:
                with ui.element("li"):
                    ui.label(each)
