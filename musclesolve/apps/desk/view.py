"""One browser window: the step on view, its focus, and its messages.

A step is a function `show(view)` that draws itself into the page with NiceGUI; all that it changes goes through
`view.state`, so that it is in the trial file before it is shown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from nicegui import ui

from musclesolve._util.messages import capitalized
from musclesolve.apps.desk.desk import Change, Desk
from musclesolve.apps.desk.trial_document import Edit, Open, Place, TrialDocument, change_title, now_words
from musclesolve.apps.desk.words import by_click
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.checks.case import MARKER_TABLES
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.judgement import Report

PLACE = "ms-place"
"""Event of the page: the buttons Back and Forward of the browser have changed its address."""
STEP_OF = {
    "subject": "subject",
    **dict.fromkeys((*MARKER_TABLES, "gaps", "joint_centers", "consistency"), "markers"),
    "files": "files",
    **dict.fromkeys(("plates", "force"), "plates"),
    **dict.fromkeys(("time", "events"), "events"),
    "emg": "emg",
    **dict.fromkeys(("filter", "muscles", "sharing", "knee", "uncertainty"), "result"),
}
"""Table of the trial file -> the step that shows it."""
State = Literal["done", "open", "warning", "fault", ""]
"""State of a step: done, something is left to do, to be looked at, something is wrong, or nothing can be said."""
STATES = {
    "done": ("check_circle", "done"),
    "open": ("radio_button_unchecked", "to do"),
    "warning": ("warning", "to be looked at"),
    "fault": ("error", "faults"),
    "": ("remove", "nothing to do yet"),
}
"""Icon of a state, and its words."""
SHOWN_STATES = ("ms-here", "ms-none", *(f"ms-{state}" for state in STATES if state))
"""Classes of a step in the list of steps."""
SIDE_COLOR = {"r": "var(--right)", "l": "var(--left)"}
"""Colors of the figures, brighter on a dark page; desk.css states them."""
CHANGED = "The file has changed since you began to type: Apply replaces it, Discard shows it."


def what_of(entry: Finding) -> tuple[object, ...]:
    """Return what a finding is about, in all checks alike: its code and place, but no times and lines."""
    markers = tuple(sorted(entry.where.markers))
    return entry.code, entry.side, replace(entry.where, line=None, times=(), markers=markers)


@dataclass(frozen=True)
class Step:
    """A step of the way from recordings to a report.

    about: one sentence below the title. show: draws it. state: how far it is; a step without one stands beside the way,
    in the menu of tools. of_trial: whether it needs a trial file, also for its state. of_model: what is said in its
    place of the trial of an OpenSim model.
    """

    name: str
    title: str
    about: str
    show: "Callable[[View], None]"
    state: Callable[[Desk], State] | None = None
    of_trial: bool = True
    of_model: str = ""


@dataclass
class Focus:
    """Place that the window shows: a marker, an instant [s], a foot; set by a finding of `check`.

    field: table and key of the trial file, "[subject] mass_kg". finding: shown beside it.
    """

    markers: tuple[str, ...] = ()
    time: float | None = None
    side: str | None = None
    field: str = ""
    finding: Finding | None = None


def show_fault(text: str) -> None:
    """Show why a part of the page is missing, in its place: it goes when the part is drawn anew without the fault."""
    ui.label(by_click(text)).classes("ms-bad ms-message").props('role="alert"')


def hint(text: str) -> ui.label:
    """A sentence of explanation, smaller than what is to be done."""
    return ui.label(text).classes("ms-why")


def small_button(title: str, do: Callable[..., object]) -> ui.button:
    """A button within a line."""
    return ui.button(title, on_click=do).props("outline dense")


class View:
    """A window of the desk.

    Args:
        desk: the state that all windows share.
        steps: that there are.
        place: of the address of the page, `trial` and `step` by name; a finished trial is shown at its result, another
            one at the step behind the files.

    Attributes:
        focus: what the step that is shown should look at.
        editor: of the texts of trial and study.
    """

    def __init__(self, desk: Desk, steps: tuple[Step, ...], place: Mapping[str, str] | None = None) -> None:
        self.desk, self.steps, self.focus = desk, steps, Focus()
        self.step = steps[0]
        self._take_place(place or {})
        self.editor = TextEditor()
        self._way = [step for step in steps if step.state]
        self._buttons = dict[str, ui.button]()
        self._was_busy = False
        self._lasting: ui.notification | None = None
        self._passing: ui.notification | None = None
        self._mended: Finding | None = None
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
        with ui.element("div").classes("ms-main"):
            self._content()

        ui.on(PLACE, lambda event: self._back(event.args))
        self._state_place("replaceState")

    @property
    def place(self) -> dict[str, str]:
        """Trial and step that are shown, as the address of the page states them."""
        trial = {} if self.desk.trial is None else {"trial": self.desk.trial.path.name}
        return trial | {"step": self.step.name}

    def _take_place(self, place: Mapping[str, str]) -> None:
        """Open what an address states, as far as it is there."""
        named = [path for path in self.desk.trials if path.name == place.get("trial")]
        if named and (self.desk.trial is None or self.desk.trial.path != named[0]):
            with suppress(MuscleSolveError):
                self.desk.open(named[0], by=self)
        stated = [step for step in self.steps if step.name == place.get("step")]
        if stated:
            self.step = stated[0]
        elif self.desk.trial is not None:
            self.step = self._first_step()
        elif self.desk.study.document is not None:
            self.step = next((step for step in self.steps if step.name == "study"), self.step)

    def _first_step(self) -> Step:
        """Return the step shown first for a trial: its result where this belongs to the trial as it is now."""
        finished = self.desk.result is not None and not self.desk.changed_inputs
        return next((step for step in self.steps if finished and step.name == "result"), self.steps[1])

    def _state_place(self, how: str = "pushState") -> None:
        ui.run_javascript(f'history.{how}({{}}, "", location.pathname + "?{urlencode(self.place)}")')

    def _back(self, place: Mapping[str, str]) -> None:
        """Show what the address says after the buttons Back and Forward of the browser."""
        self._take_place(place)
        self._say_no_more()
        self.focus = Focus()
        self.refresh()

    def go(self, name: str, focus: Focus | None = None) -> None:
        """Show a step, from its beginning unless it is shown already."""
        before, self.step = self.step, next(step for step in self.steps if step.name == name)
        self.focus = Focus() if focus is None else focus
        self.refresh_steps()
        self._content.refresh()
        if self.step is not before:
            self._say_no_more()
            self._state_place()
            ui.run_javascript("msShowStep()")

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

    @contextmanager
    def saying(self) -> Iterator[None]:
        """Say an error of the input in the window, and go on; without one, an earlier one is said no more."""
        try:
            yield
        except MuscleSolveError as error:
            self.say(str(error), bad=True)
        else:
            self._say_no_more()

    def doing(self, do: Callable[[], object]) -> Callable[[], None]:
        """Return what a button does: an error of the input is said in the window."""

        def action() -> None:
            with self.saying():
                do()

        return action

    def say(self, text: str, bad: bool = False, goes_on: bool = False) -> None:
        """Show a message in place of the one before.

        One of an error stays until it is closed or something else has succeeded, one of what goes on until that ends.
        """
        self._say_no_more()
        if self._passing is not None and not self._passing.is_deleted:
            self._passing.dismiss()
        lasts = bad or goes_on
        shown = ui.notification(
            by_click(text),
            type="ongoing" if goes_on else "negative" if bad else "positive",
            multi_line=True,
            close_button="Close" if bad else False,
            timeout=None if lasts else 4.0,
        ).classes("ms-message")
        self._lasting, self._passing = (shown, None) if lasts else (None, shown)

    def _say_no_more(self) -> None:
        if self._lasting is not None and not self._lasting.is_deleted:
            self._lasting.dismiss()
        self._lasting = None

    async def may_replace(self, there: Iterable[Path]) -> bool:
        """Ask whether files may be replaced; True where there are none."""
        names = ", ".join(path.name for path in there)
        if not names:
            return True
        with ui.dialog() as dialog, ui.card():
            ui.label(f"Replace {names}? What was changed in it is lost.")
            with ui.row():
                ui.button("Keep it", on_click=lambda: dialog.submit(False)).props("autofocus")
                replace_it = ui.button("Replace", on_click=lambda: dialog.submit(True))
                replace_it.props("flat color=negative")
        return bool(await dialog)

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
        """Show what is known of the steps."""
        self._tools.props["aria-current"] = None if self.step.state else "step"
        self._tools.text = "Tools" if self.step.state else f"Tools: {self.step.title}"
        for number, step in enumerate(self._way, 1):
            assert step.state is not None
            state: State = "" if self._lacks_trial(step) else step.state(self.desk)
            button = self._buttons[step.name]
            here, (icon, words) = step is self.step, STATES[state]
            button.props(f"icon={icon}")
            button.props["aria-label"] = f"Step {number}, {step.title}: {words}"
            button.props["aria-current"] = "step" if here else None
            shown = f"ms-{state or 'none'}" + (" ms-here" if here else "")
            button.classes(remove=" ".join(SHOWN_STATES), add=shown)

    def refresh_frame(self) -> None:
        """Draw anew what stands around the step: header, steps, text of the trial file."""
        self._header.refresh()
        self.refresh_steps()
        self._decisions.refresh()
        self._trial_text.refresh()

    @ui.refreshable_method
    def _header(self) -> None:
        desk = self.desk
        ui.label("musclesolve").classes("ms-name")
        ui.label(str(desk.folder.path)).classes("ms-folder").tooltip("the folder of the recordings")
        trials = {str(path): path.name for path in desk.trials}
        if desk.trial is not None:
            trials.setdefault(str(desk.trial.path), desk.trial.path.name)
            ui.select(trials, value=str(desk.trial.path), label="Trial", on_change=self._choose).classes(
                "ms-trial"
            )
            self._history_button("Undo", desk.trial.to_undo, TrialDocument.undo)
            self._history_button("Redo", desk.trial.to_redo, TrialDocument.redo)
            ui.button("Trial file", on_click=lambda: self._drawer.toggle()).props(
                "flat dense icon=description"
            )
        ui.button("Close", on_click=self._close).props("flat dense icon=power_settings_new").tooltip(
            "end the desk; everything is in the folder"
        )

    def _navigation(self) -> None:
        """The steps. Their buttons stay while what is known of them changes: a click that has begun is not lost."""
        for number, step in enumerate(self._way, 1):
            button = ui.button(f"{number} {step.title}", on_click=lambda _, name=step.name: self.go(name))
            self._buttons[step.name] = button.props("flat dense").classes("ms-step")
        with ui.button("Tools").props("flat dense icon-right=expand_more") as self._tools, ui.menu():
            for step in self.steps:
                if not step.state:
                    item = ui.menu_item(on_click=lambda _, name=step.name: self.go(name))
                    with item.props("role=menuitem"), ui.column().classes("gap-0"):
                        ui.label(step.title).classes("ms-what")
                        ui.label(step.about).classes("ms-place")
        self._tools.classes("ms-step")
        self.refresh_steps()

    @ui.refreshable_method
    def _content(self) -> None:
        self._task_listeners.clear()
        ui.label(self.step.title).classes("ms-title").props('role="heading" aria-level="1" tabindex="-1"')
        ui.label(self.step.about).classes("ms-about")
        self._finding()
        if self._lacks_trial(self.step):
            ui.label("There is no trial file yet. The step Files drafts one from the recordings.")
            with ui.row():
                ui.button("To the files", on_click=lambda: self.go("files")).props("unelevated")
        else:
            self._decisions()
            try:
                if self.step.of_model and self.desk.is_model:
                    ui.label(self.step.of_model)
                else:
                    self.step.show(self)
            except MuscleSolveError as error:
                show_fault(str(error))
        if not self.step.state:
            return
        place = self._way.index(self.step)
        with ui.row().classes("ms-turn"):
            for offset, text, props in ((-1, "Back", "outline"), (1, "Next", "unelevated")):
                if 0 <= place + offset < len(self._way) and not self._lacks_trial(
                    step := self._way[place + offset]
                ):
                    ui.button(
                        f"{text}: {step.title}", on_click=lambda _, name=step.name: self.go(name)
                    ).props(f"{props}")

    def _lacks_trial(self, step: Step) -> bool:
        """Whether a step needs a trial file, and there is none."""
        return step.of_trial and self.desk.trial is None

    def _finding(self) -> None:
        """The finding that has led here, with what mends it."""
        entry = self.focus.finding
        if entry is None:
            return
        with ui.row().classes("ms-apply").props('role="status"'):
            with ui.column().classes("ms-words"):
                ui.label(entry.sentence).classes("ms-what")
                ui.label(by_click(entry.remedy)).classes("ms-remedy")
            self.mend_button(entry)
            ui.button("Back to the check", on_click=lambda: self.go("check")).props("flat dense")

    @ui.refreshable_method
    def _decisions(self) -> None:
        """Show open decisions on values of this step; fields ask at their own place, and the check shows all."""
        trial = self.desk.trial
        if trial is None or self.step.name == "subject":
            return
        for item in trial.opens:
            place = tuple(part for part in (*item.table.split("."), item.key) if part)
            if STEP_OF.get(str(place[0])) != self.step.name or trial.value(*place) is None:
                continue
            with ui.row().classes("ms-finding ms-todo"):
                ui.icon("help").classes("ms-sign").props('aria-hidden="true"')
                ui.label(f"{capitalized(item.why)}.").classes("ms-words")
                done = ui.button("Done", on_click=lambda _, item=item: self.decided(item))
                done.props("outline dense data-focus=done")
                done.props["aria-label"] = f"Done: {item.why}"

    def decided(self, item: Open) -> None:
        """Take the value of an open decision as it stands."""
        with self.saying(), self.desk.changing(self) as trial:
            trial.decided(item)
        self.refresh()

    def mend_button(self, entry: Finding) -> None:
        """A button that states what mends a finding, where the trial file alone does, and checks again."""
        if entry.change:
            button = ui.button(change_title(entry.change), on_click=lambda: self._mend(entry))
            button.props("outline dense icon=build")

    def _mend(self, entry: Finding) -> None:
        """State what mends a finding, and check again; the window says whether it is found still."""
        if self.state_all(self.desk.opened.after_check(entry.change)):
            with self.saying():
                self.desk.check()
            self._mended = entry
            self.focus = replace(self.focus, finding=None)
            self._content.refresh()

    def _say_mended(self) -> None:
        """Say whether what was mended is found still, once the check has ended."""
        mended, report = self._mended, self.desk.checked
        if mended is None or not isinstance(report, Report):
            return
        self._mended = None
        still = next((entry for entry in report.findings if what_of(entry) == what_of(mended)), None)
        with self._drawer:
            if still is None:
                self.say("Checked again: it is mended.")
            else:
                self.say(f"Checked again, and found still: {still.what}", bad=True)

    @ui.refreshable_method
    def _trial_text(self) -> None:
        trial = self.desk.trial
        if trial is None:
            return
        ui.label(trial.path.name).classes("ms-title")
        ui.label("What this page has written, and all that it goes by. You may change it here, too.").classes(
            "ms-about"
        )
        self.editor.show(trial.path, trial.text, self._apply, self._trial_text.refresh, "Apply")
        ui.label(f"The same by hand: {self.desk.command}").classes("ms-command")

    def _apply(self, text: str) -> None:
        with self.saying():
            with self.desk.changing(self) as trial:
                trial.write(text)
            self.refresh()

    def _close(self) -> None:
        ui.notify("The desk is closed. Everything is in the folder.", timeout=0)
        ui.timer(0.5, self.desk.close, once=True)

    def _choose(self, event: Any) -> None:
        with self.saying():
            self.desk.open(next(path for path in self.desk.trials if str(path) == event.value), by=self)
            first = self._first_step()
            self.step = first if first.name == "result" else self.step
            self._state_place()
        self.refresh()

    def _history_button(
        self, title: str, edit: Edit | None, step: Callable[[TrialDocument], Edit | None]
    ) -> None:
        """A button that undoes or redoes a change, and shows the step with its place; off while something computes."""

        def move() -> None:
            with self.saying():
                with self.desk.changing(self) as trial:
                    done = step(trial)
                self.refresh_frame()
                if done is not None:
                    table = str(done.place[0]).partition(".")[0] if done.place else ""
                    if (name := STEP_OF.get(table)) and name in {step.name for step in self.steps}:
                        self.go(name, Focus(field=f"[{table}] {done.place[-1]}"))
                    else:
                        self._content.refresh()
                    now = now_words(done.place, trial.value(*done.place)) if done.place else done.what
                    self.say(f"{title}ne: {now}.")

        button = ui.button(title, on_click=move).props(f"flat dense icon={title.lower()}")
        button.set_enabled(edit is not None and not self.desk.runner.busy)
        if edit is not None:
            button.tooltip(f"{title}: {edit.what}")
            button.props["aria-label"] = f"{title}: {edit.what}"

    def _on_change(self, what: Change) -> None:
        """Something has changed that this window has not done."""
        if what == "task":
            for listener in list(self._task_listeners):
                listener()
            self._say_mended()
            before, self._was_busy = self._was_busy, self.desk.runner.busy
            if not self._was_busy:
                self.refresh_frame()
            elif not before:
                self._header.refresh()
        else:
            self.refresh()


class StepView:
    """A step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk


class TextEditor:
    """Editor of the files of one window: what is typed and not applied stays while the page is drawn anew.

    Attributes:
        opened: files whose editor has been opened in the page.
    """

    def __init__(self) -> None:
        self.opened = set[Path]()
        self._drafts: dict[Path, tuple[str, str]] = {}  # the text that typing began with, and what is typed

    def show(
        self, path: Path, text: str, apply: Callable[[str], object], redraw: Callable[[], object], button: str
    ) -> None:
        """Draw the editor with what is typed, or the text of the file where nothing is.

        Args:
            path: of the file.
            text: of the file now.
            apply: called with the typed text by the button named `button`; draws the editor anew where it is taken.
            redraw: draws the editor anew; called once the typed text is discarded.
        """
        began, typed = self._drafts.get(path, (text, text))
        if typed == text:
            self._drafts.pop(path, None)
            began = text

        def keep(typed: str) -> None:
            if typed == text:
                self._drafts.pop(path, None)
            else:
                self._drafts[path] = began, typed

        def discard() -> None:
            self._drafts.pop(path, None)
            redraw()

        if began != text:
            ui.label(CHANGED).classes("ms-verdict ms-warning").props('role="status"')
        editor = ui.codemirror(
            typed, on_change=lambda event: keep(event.value), language="TOML", theme="githubLight"
        ).classes("ms-text")
        with ui.row():
            ui.button(button, on_click=lambda: apply(editor.value))
            ui.button("Discard", on_click=discard).props("flat")
