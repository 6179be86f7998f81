"""The verdict on the result of the open trial, which several steps show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nicegui import ui

from musclesolve.desk.desk import Desk

if TYPE_CHECKING:
    from musclesolve.desk.result_facts import ResultFacts

FIRST = 3
"""Number of cautions that are shown at once, the most important ones; the picture follows."""


async def facts_of(desk: Desk) -> ResultFacts | None:
    """Return the facts of the result of the open trial; None without a result."""
    path = desk.result
    if path is None:
        return None
    result_facts = await asyncio.to_thread(_imported)
    return await asyncio.to_thread(result_facts, path)


def _imported() -> Callable[..., ResultFacts]:
    """Import `result_facts`, which loads much of the package, and return it; the page does not wait for the import."""
    from musclesolve.desk.result_facts import result_facts

    return result_facts


def show_verdict(desk: Desk, facts: ResultFacts) -> None:
    """Show the verdict, reasons, cautions and remarks; above them the changes since the computation."""
    show_age(desk)
    with ui.column().classes(f"ms-verdict ms-{facts.css}").props('role="status"'):
        ui.label(f"{facts.mark} {facts.label}").classes("ms-what")
        ui.label(facts.why)
    _list(facts.remarks[:FIRST])
    if more := facts.remarks[FIRST:]:
        with ui.expansion(f"{len(more)} more").classes("w-full"):
            _list(more)


def _list(sentences: Sequence[str]) -> None:
    if not sentences:
        return
    with ui.element("ul").classes("ms-list"):
        for sentence in sentences:
            with ui.element("li"):
                ui.label(sentence)


def show_age(desk: Desk) -> None:
    """Show a bar that names changes since the result was computed."""
    bar = ui.label().classes("ms-verdict ms-warning").props('role="status"')

    def update() -> None:
        changed = desk.changed_inputs
        bar.set_text(f"This result is older than {', '.join(changed)}: it is not of the trial as it is now.")
        bar.set_visibility(bool(changed))

    update()
    ui.timer(1.0, update)
