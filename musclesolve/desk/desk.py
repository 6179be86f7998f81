"""What the desk knows, for all browsers alike: a folder, the trial file that is open, the task that is on its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from musclesolve.desk.recordings import Recordings
from musclesolve.desk.runner import Runner, Task
from musclesolve.desk.trial_document import Place, TrialDocument
from musclesolve.desk.work_folder import WorkFolder
from musclesolve.drafting.draft_folder import FolderDraft, draft_folder, write_drafts
from musclesolve.drafting.subject_size import GivenSubject
from musclesolve.errors import MuscleSolveError
from musclesolve.recording.trial.model_trial import names_model

Change = Literal["text", "task", "trial"]
"""Values of the trial file; progress or end of a task; another trial file, or other files in the folder."""
RESULTS = "results"
_NOBODY = GivenSubject()


class Desk:
    """The state behind the page.

    Args:
        folder: with recordings, or an empty one.

    Attributes:
        trial: that is open, None before the first is drafted.
        findings: what `check` said last, by the text it looked at; None before.
        draft: of the folder, as it was made last.
        recordings: markers of the files that were read.
        close: ends the server.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.runner = WorkFolder(folder), Runner()
        self.recordings = Recordings()
        self.close: Callable[[], None] = lambda: None
        self.trial: TrialDocument | None = None
        self.draft: FolderDraft | None = None
        self._checked: tuple[str, dict[str, Any]] | None = None
        self._listeners = dict[object, Callable[[Change], None]]()
        if trials := self.trials:
            self.open(trials[0])

    # ---- trial files

    @property
    def trials(self) -> list[Path]:
        """The trial files in the folder, by name."""
        return [path for path in sorted(self.folder.path.glob("*.toml")) if _is_trial(path)]

    def open(self, path: Path, by: object = None) -> None:
        """Open a trial file."""
        if self.trial is None or self.trial.path != path:
            self.trial, self._checked = TrialDocument(path), None
            self.changed("trial", by)

    def drafted(self, subject: GivenSubject = _NOBODY) -> FolderDraft:
        """A trial file for each motion in the folder, not written yet; takes seconds."""
        self.draft = draft_folder(self.folder.path, subject=subject)
        return self.draft

    def accept(self, draft: FolderDraft, replace: bool, by: object = None) -> None:
        """Write the trial files of a draft, and open the first."""
        paths = write_drafts(draft, replace)
        self.trial = None
        self.open(paths[0], by)

    def state(self, place: Place, value: Any, by: object = None) -> None:
        """State a value of the trial file; see `TrialDocument.state`."""
        self.state_all({place: value}, by)

    def state_all(self, values: Mapping[Place, Any], by: object = None) -> None:
        """State several values in one change; see `TrialDocument.state_all`."""
        assert self.trial is not None
        before = self.trial.text
        try:
            self.trial.state_all(values)
        finally:
            if self.trial.text != before:
                self.changed("text", by)

    def write(self, text: str, by: object = None) -> None:
        """Replace the text of the trial file; see `TrialDocument.write`."""
        assert self.trial is not None
        before = self.trial.text
        try:
            self.trial.write(text)
        finally:
            if self.trial.text != before:
                self.changed("text", by)

    # ---- what follows from it

    @property
    def is_model(self) -> bool:
        """Whether the trial is of an OpenSim model instead of a recording."""
        return self.trial is not None and names_model(self.trial.path)

    @property
    def output(self) -> Path:
        """Folder of the result of the trial that is open."""
        assert self.trial is not None
        return self.folder.path / RESULTS / self.trial.path.stem

    @property
    def result(self) -> Path | None:
        """The result of the trial that is open, where there is one."""
        if self.trial is None:
            return None
        path = self.output / "result.nc"
        return path if path.is_file() else None

    @property
    def findings(self) -> dict[str, Any] | None:
        """What `check` says of the text as it is now, None where it has not looked at it."""
        if self._checked is None or self.trial is None or self._checked[0] != self.trial.text:
            return None
        return self._checked[1]

    def check(self) -> Task:
        """Begin to check the trial."""
        assert self.trial is not None
        text = self.trial.text

        def keep(task: Task) -> None:
            if task.succeeded:
                self._checked = text, task.value

        return self.runner.start("Check of the recording", "check", keep, trial=self.trial.path)

    # ---- listeners

    def listen(self, key: object, listener: Callable[[Change], None]) -> None:
        """Call `listener` after every change that is not by `key` itself."""
        self._listeners[key] = listener

    def forget(self, key: object) -> None:
        """Call its listener no more."""
        self._listeners.pop(key, None)

    def changed(self, what: Change, by: object = None) -> None:
        """Say that something has changed."""
        for key, listener in list(self._listeners.items()):
            if key is not by:
                listener(what)


def _is_trial(path: Path) -> bool:
    """Whether a file in TOML is a trial file: it has the tables that one needs, as far as it can be read."""
    try:
        content = TrialDocument(path).content
    except MuscleSolveError:
        return False
    return "files" in content
