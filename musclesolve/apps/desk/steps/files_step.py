"""Files: bring recordings, show their contents, draft the trial file; Subject: mass, stature, sex and shoes."""

import asyncio
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from nicegui import events, ui

from musclesolve._util.messages import count_of
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import drawn_keys, field, statements
from musclesolve.apps.desk.steps.work import Loaded, load
from musclesolve.apps.desk.view import State, Step, StepView, View, hint
from musclesolve.apps.desk.work_folder import ARCHIVE, RECORDINGS
from musclesolve.laboratory.draft.draft_folder import FolderDraft
from musclesolve.laboratory.draft.folder_contents import FolderContents, folder_contents
from musclesolve.laboratory.recording.trial_settings import RecordedSettings

COLUMNS: list[dict[str, object]] = [
    {"name": "file", "label": "File", "field": "file", "align": "left", "sortable": True},
    {"name": "what", "label": "What it is", "field": "what", "align": "left", "style": "white-space: normal"},
]


def described(contents: FolderContents) -> list[dict[str, str]]:
    """Return the content of each file of a folder, in words."""
    said = defaultdict[str, list[str]](list)

    def say(name: str, *what: str) -> None:
        said[name] += filter(None, what)

    for markers in contents.markers:
        read, plates = markers.markers, markers.plates and f"; {count_of(markers.plates, 'force plate')}"
        what = f"{len(read.names)} markers, {np.ptp(read.time):.2f} s at {read.rate:g} Hz{plates or ''}"
        say(markers.path.name, what, read.row_warning)
    for alone in contents.plates:
        say(alone.path.name, f"{count_of(alone.plates, 'force plate')}, no markers")
    for forces in contents.forces:
        table, many = forces.table, count_of(len(forces.plates), "plate")
        what = f"forces of {many}, {np.ptp(table.time):.2f} s at {table.rate:g} Hz"
        say(forces.path.name, what, table.row_warning)
    for emg in contents.emg:
        say(emg.path.name, f"EMG: {', '.join(emg.channels.muscles) or 'no channel names a muscle'}")
    for path in contents.models:
        say(path.name, "model of OpenSim")
    for stated in contents.subjects:
        say(stated.path.name, "data of the subject")
    for loads in contents.loads:
        say(loads.path.name, "external loads of OpenSim")
    for sentence in contents.unread:
        name, _, why = sentence.partition(":")
        say(name, f"cannot be read:{why}")
    for sentence in contents.others:
        name, _, what = sentence.partition(" (")
        say(name, what.rstrip(")") or "no recording")
    return [{"file": name, "what": "; ".join(said[name])} for name in sorted(said)]


class Files(StepView):
    """The step in one window."""

    def show(self) -> None:
        """Draw the values that describe the subject."""
        endings = (*RECORDINGS, ARCHIVE)
        ui.upload(
            label="Drop recordings here, or choose them with +",
            multiple=True,
            auto_upload=True,
            on_multi_upload=self._uploaded,
            on_rejected=lambda: self.view.say(
                f"Not brought: names of recordings end in {', '.join(endings)}.", bad=True
            ),
        ).props(f'accept="{",".join(endings)}" flat bordered').classes("w-full")
        hint(
            f"You can also copy files to {self.desk.folder.path}, then press “Look again”. Nothing leaves this machine."
        )
        path = self.desk.folder.path
        self._files = Loaded(lambda: described(folder_contents(path)), self._listed)
        self._files.draw()
        load(self._files)

    def _listed(self, rows: list[dict[str, str]]) -> None:
        ui.table(rows=rows, columns=COLUMNS, row_key="file").classes("w-full").props(
            'dense flat bordered hide-pagination rows-per-page-options="0"'
        )
        with ui.row():
            ui.button("Look again", on_click=self._files.look).props("outline icon=refresh")
            drafted = bool(self.desk.trials)
            ui.button(
                "Draft the trial file anew" if drafted else "Draft the trial file", on_click=self._draft
            ).props(f"{'outline' if drafted else 'unelevated'} icon=auto_fix_high")
        self._recognized()

    @ui.refreshable_method
    def _recognized(self) -> None:
        if self.desk.draft is None:
            return
        for trial in self.desk.draft.trials:
            ui.label(f"Recognized for {trial.path.name}").classes("ms-part")
            statements(trial.recognized)
            if trial.todos:
                ui.label("Please decide").classes("ms-part")
                with ui.element("ul").classes("ms-list"):
                    for todo in trial.todos:
                        with ui.element("li"):
                            ui.label(todo)

    async def _uploaded(self, event: events.MultiUploadEventArguments) -> None:
        brought = list[str]()
        for file in event.files:
            with self.view.saying(), tempfile.TemporaryDirectory(prefix="musclesolve-") as held:
                part = Path(held) / "part"
                await file.save(part)
                brought += await asyncio.to_thread(self.desk.folder.bring, file.name, part)
        if brought:
            self.view.say(f"Brought: {', '.join(brought)}")
        event.sender.reset()  # type: ignore[attr-defined]
        self.desk.changed("trial", by=self.view)
        self.view.refresh_frame()
        await self._files.look()

    async def _draft(self) -> None:
        with self.view.saying():
            self.view.say("Looking at the recordings; this takes some seconds.", goes_on=True)
            draft: FolderDraft = await asyncio.to_thread(self.desk.drafted)
            there = [trial.path for trial in draft.trials if trial.path.exists()]
            if not await self.view.may_replace(there):
                return
            self.desk.accept(draft, bool(there), by=self.view)
            self.view.say(f"Written: {', '.join(trial.path.name for trial in draft.trials)}")
        self.view.refresh()


FILES = Step(
    "files",
    "Files",
    "The recordings of one subject: a standing trial, the motion, and its ground forces.",
    lambda view: Files(view).show(),
    lambda desk: "open" if desk.trial is None else "done",
    of_trial=False,
)


REQUIRED_KEYS = ("mass_kg", "stature_m", "sex")
USUAL = ("name", *REQUIRED_KEYS, "mass_from", "shoe_mass_kg", "age_years", "recorded_on", "recorded_as")
FURTHER = drawn_keys(RecordedSettings, "subject", *USUAL)


def show_subject(view: View) -> None:
    """Draw the values that describe the subject."""
    for key in USUAL:
        field(view, "subject", key)
    stated = view.desk.opened.value("subject") or {}
    with ui.expansion("Further measures", value=any(key in stated for key in FURTHER)).classes("w-full"):
        for key in FURTHER:
            field(view, "subject", key)


def subject_state(desk: Desk) -> State:
    """Return the state of the step: whether all required values are stated."""
    stated = all(desk.opened.value("subject", key) is not None for key in REQUIRED_KEYS)
    return "done" if desk.is_model or stated else "open"


OF_MODEL = "The subject is the model itself: it is scaled already."
SUBJECT = Step("subject", "Subject", "Who was recorded.", show_subject, subject_state, of_model=OF_MODEL)
