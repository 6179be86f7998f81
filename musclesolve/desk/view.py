"""One browser window: the step on view, its focus, and its messages.

A step is a function `show(view)` that draws itself into the page with NiceGUI; all that it changes goes through
`view.state`, so that it is in the trial file before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from nicegui import ui

from musclesolve.desk.desk import Change, Desk
from musclesolve.desk.trial_document import Place
from musclesolve.errors import MuscleSolveError

State = Literal["done", "open", "warning", "fault", ""]
"""State of a step: done, something is left to do, to be looked at, something is wrong, or nothing can be said."""
ICONS = {
    "done": "check_circle",
    "open": "radio_button_unchecked",
    "warning": "warning",
    "fault": "error",
    "": "remove",
}
SAID = {
    "done": "done",
    "open": "to do",
    "warning": "to be looked at",
    "fault": "faults",
    "": "nothing to do yet",
}


@dataclass(frozen=True)
class Step:
    """A step of the way from recordings to a report.

    about: one sentence below the title. show: draws it. state: how far it is.
    """

    name: str
    title: str
    about: str
    show: Callable[[View], None]
    state: Callable[[Desk], State]


@dataclass
class Focus:
    """Place that the window shows: a marker, an instant [s], a foot; set by a finding of `check`."""

    markers: tuple[str, ...] = ()
    time: float | None = None
    side: str | None = None


class View:
    """A window of the desk.

    Attributes:
        desk: the state that all windows share.
        focus: what the step that is shown should look at.
    """

    def __init__(self, desk: Desk, steps: tuple[Step, ...]) -> None:
        self.desk, self.steps, self.focus = desk, steps, Focus()
        self.step = steps[0] if desk.trial is None else steps[1]
        self._task_listeners: list[Callable[[], None]] = []
        desk.listen(self, self._on_change)

    def show(self) -> None:
        """Draw the page."""
        with ui.header().classes("ms-header"):
            self._header()
        with ui.right_drawer(value=False, bordered=True).props("width=440 breakpoint=1100") as self._drawer:
            self._trial_text()
        with ui.element("nav").classes("ms-steps").props('aria-label="Steps"'):
            self._navigation()
        with ui.element("main").classes("ms-main"):
            self._content()

    # ---- what steps use

    def go(self, name: str, focus: Focus | None = None) -> None:
        """Show a step."""
        self.step = next(step for step in self.steps if step.name == name)
        self.focus = Focus() if focus is None else focus
        self._navigation.refresh()
        self._content.refresh()

    def state(self, place: Place, value: Any) -> bool:
        """State a value of the trial file; returns whether it was taken. What cannot be is said."""
        return self.state_all({place: value})

    def state_all(self, values: Mapping[Place, Any]) -> bool:
        """State several values of the trial file in one change; see `state`."""
        with self.saying():
            self.desk.state_all(values, by=self)
            self.refresh_frame()
            return True
        return False

    def write(self, text: str) -> bool:
        """Replace the text of the trial file; returns whether it was taken."""
        with self.saying():
            self.desk.write(text, by=self)
            self.refresh_frame()
            return True
        return False

    @contextmanager
    def saying(self) -> Iterator[None]:
        """Say an error of the input in the window, and go on."""
        try:
            yield
        except MuscleSolveError as error:
            self.say(str(error), bad=True)

    def say(self, text: str, bad: bool = False) -> None:
        """Show a message; one of an error stays until it is closed."""
        ui.notify(
            text,
            type="negative" if bad else "positive",
            multi_line=True,
            close_button="Close" if bad else False,
            timeout=0 if bad else 4000,
            classes="ms-message",
        )

    def on_task(self, listener: Callable[[], None]) -> None:
        """Call `listener` when the progress of a task has changed, as long as this step is shown."""
        self._task_listeners.append(listener)

    def show_text(self) -> None:
        """Open the text of the trial file."""
        self._drawer.show()

    def refresh(self) -> None:
        """Draw everything anew."""
        self.refresh_frame()
        self._content.refresh()

    def refresh_steps(self) -> None:
        """Draw anew what is known of the steps."""
        self._navigation.refresh()

    def refresh_frame(self) -> None:
        """Draw anew what stands around the step: header, steps, text of the trial file."""
        self._header.refresh()
        self._navigation.refresh()
        self._trial_text.refresh()

    # ---- parts of the page

    @ui.refreshable_method
    def _header(self) -> None:
        desk = self.desk
        ui.label("musclesolve").classes("ms-name")
        ui.label(str(desk.folder.path)).classes("ms-folder").tooltip("the folder of the recordings")
        trials = {str(path): path.name for path in desk.trials}
        if desk.trial is not None:
            trials.setdefault(str(desk.trial.path), desk.trial.path.name)
            ui.select(trials, value=str(desk.trial.path), label="Trial", on_change=self._choose).props(
                "dense outlined options-dense"
            ).classes("ms-trial")
            undo = ui.button("Undo", on_click=self._undo).props("flat dense no-caps icon=undo")
            undo.set_enabled(desk.trial.can_undo)
            ui.button("Trial file", on_click=self._drawer_toggle).props("flat dense no-caps icon=description")
        ui.button("Close", on_click=self._close).props("flat dense no-caps icon=power_settings_new").tooltip(
            "end the desk; everything is in the folder"
        )

    @ui.refreshable_method
    def _navigation(self) -> None:
        for number, step in enumerate(self.steps, 1):
            state = step.state(self.desk)
            here = step is self.step
            button = ui.button(
                f"{number} {step.title}", on_click=lambda _, name=step.name: self.go(name)
            ).props(f"flat no-caps dense icon={ICONS[state]}")
            button.classes(f"ms-step ms-{state or 'none'}" + (" ms-here" if here else ""))
            button.props(
                f'aria-label="Step {number}, {step.title}: {SAID[state]}"'
                + (' aria-current="step"' if here else "")
            )

    @ui.refreshable_method
    def _content(self) -> None:
        self._task_listeners.clear()
        ui.label(self.step.title).classes("ms-title").props('role="heading" aria-level="1"')
        ui.label(self.step.about).classes("ms-about")
        if self.desk.trial is None and self.step is not self.steps[0]:
            ui.label("There is no trial file yet: begin with the files.")
        else:
            with self.saying():
                self.step.show(self)
        place = self.steps.index(self.step)
        with ui.row().classes("ms-turn"):
            for offset, text, props in ((-1, "Back", "outline"), (1, "Next", "unelevated")):
                if 0 <= place + offset < len(self.steps):
                    step = self.steps[place + offset]
                    ui.button(
                        f"{text}: {step.title}", on_click=lambda _, name=step.name: self.go(name)
                    ).props(f"{props} no-caps")

    @ui.refreshable_method
    def _trial_text(self) -> None:
        trial = self.desk.trial
        if trial is None:
            return
        ui.label(trial.path.name).classes("ms-title")
        ui.label("What this page has written, and all that it goes by. You may change it here, too.").classes(
            "ms-about"
        )
        text = ui.codemirror(trial.text, language="TOML", theme="githubLight").classes("ms-text")
        with ui.row():
            ui.button("Apply", on_click=lambda: self._apply(text.value)).props("no-caps")
            ui.button("Discard", on_click=self._trial_text.refresh).props("flat no-caps")
        ui.label(f"The same by hand: {self.desk.command}").classes("ms-command")

    # ---- what happens

    def _apply(self, text: str) -> None:
        if self.write(text):
            self.refresh()

    def _drawer_toggle(self) -> None:
        self._drawer.toggle()

    def _close(self) -> None:
        ui.notify("The desk is closed. Everything is in the folder.", timeout=0)
        ui.timer(0.5, self.desk.close, once=True)

    def _choose(self, event: Any) -> None:
        with self.saying():
            self.desk.open(next(path for path in self.desk.trials if str(path) == event.value), by=self)
        self.refresh()

    def _undo(self) -> None:
        if self.desk.trial is not None:
            with self.saying():
                self.desk.undo(by=self)
        self.refresh()

    def _on_change(self, what: Change) -> None:
        """Something has changed that this window has not done."""
        if what == "task":
            for listener in list(self._task_listeners):
                listener()
            if not self.desk.runner.busy:
                self.refresh_frame()
        else:
            self.refresh()
