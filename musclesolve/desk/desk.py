"""State of the desk, shared by all browsers: a folder, the open trial file, the running task."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from musclesolve.constants import RESULT_FILE
from musclesolve.desk.marker_meaning import Meanings
from musclesolve.desk.runner import Runner, Task
from musclesolve.desk.study_desk import StudyDesk
from musclesolve.desk.trial_document import Edit, Open, Place, TrialDocument
from musclesolve.desk.work_folder import RESULTS, Recordings, WorkFolder
from musclesolve.drafting.draft_folder import FolderDraft, draft_folder, write_drafts
from musclesolve.drafting.subject_size import GivenSubject
from musclesolve.errors import MuscleSolveError
from musclesolve.results.files.result_netcdf import result_attributes
from musclesolve.settings.trial import is_model_trial
from musclesolve.studies.many_trials.recipe import ATTRIBUTE, changed_inputs, has_settings, hashed_files
from musclesolve.studies.many_trials.trial_record import MEASURES, Measures, Outcome

if TYPE_CHECKING:
    from musclesolve.studies.many_trials.watch_folder import Watch

Change = Literal["text", "task", "trial"]
"""Values of the trial file; progress or end of a task; another trial file, or other files in the folder."""
_NOBODY = GivenSubject()


@dataclass(frozen=True)
class RunOptions:
    """Options of `musclesolve run` beside the trial file.

    side: "r", "l" or "both". figures: also as files. samples: of the uncertainty, as in `uncertainty`; 0: none.
    """

    side: str = "both"
    figures: bool = False
    samples: int | str = 0

    @property
    def words(self) -> list[str]:
        """The options of the command line."""
        return [
            *(["--side", self.side] if self.side != "both" else []),
            *(["--figures"] if self.figures else []),
            *(["--uncertainty", f"{self.samples}"] if self.samples else []),
        ]


class Desk:
    """The state behind the page.

    Args:
        folder: with recordings, or an empty one.

    Attributes:
        trial: the open trial file, None before the first is drafted.
        draft: the last draft of the folder.
        recordings: markers of the files that were read.
        options: of the next run.
        study: of many trials, in the folder or below it.
        watching: the watch of the folder, None without one. watch_failure: reason why the watch ended.
        meanings: meanings of the markers by the trial file.
        close: ends the server.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.runner = WorkFolder(folder), Runner()
        self.recordings = Recordings()
        self.meanings = Meanings(self.recordings)
        self.close: Callable[[], None] = lambda: None
        self.trial: TrialDocument | None = None
        self.draft: FolderDraft | None = None
        self.options = RunOptions()
        self.study = StudyDesk(self.folder, self.start)
        self._checked: tuple[str, dict[str, Any] | Exception] | None = None
        self._failed: tuple[str, Exception] | None = None
        self._read: tuple[object, dict[str, str]] = (None, {})
        self._listeners = dict[object, Callable[[Change], None]]()
        self.watching: Watch | None = None
        self._held = ExitStack()  # locks of the folders while the folder is watched
        self.watch_failure: Exception | None = None
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
            if not self.runner.busy:
                self.runner.task = None  # its end concerned another trial
            self.trial, self._checked = TrialDocument(path), None
            self.changed("trial", by)

    def drafted(self, subject: GivenSubject = _NOBODY) -> FolderDraft:
        """Draft a trial file for each motion in the folder without writing; takes seconds."""
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
        with self._changing(by) as trial:
            trial.state_all(values)

    def write(self, text: str, by: object = None) -> None:
        """Replace the text of the trial file; see `TrialDocument.write`."""
        with self._changing(by) as trial:
            trial.write(text)

    def undo(self, by: object = None) -> Edit | None:
        """Undo the last change of the trial file; see `TrialDocument.undo`."""
        with self._changing(by) as trial:
            return trial.undo()

    def redo(self, by: object = None) -> Edit | None:
        """Make the change that was undone last again; see `TrialDocument.redo`."""
        with self._changing(by) as trial:
            return trial.redo()

    def decided(self, each: Open, by: object = None) -> None:
        """Remove an open decision of a draft; see `TrialDocument.decided`. The findings of `check` still hold."""
        with self._changing(by) as trial:
            trial.decided(each)

    @contextmanager
    def _changing(self, by: object = None) -> Iterator[TrialDocument]:
        """Yield the open trial file; afterward inform the listeners in any case if its text changed."""
        assert self.trial is not None
        trial, before = self.trial, self.trial.text
        try:
            yield trial
        finally:
            if trial.text != before:
                self.changed("text", by)

    def look_at_file(self) -> None:
        """Read changes of other programs in the open files of trial and study, or notice that a file is gone."""
        with suppress(MuscleSolveError):  # the study step reports why its file cannot be read
            if self.study.look():
                self.changed("text")
        if self.trial is None:
            return
        try:
            self._read_again()
        except MuscleSolveError:
            self.trial = None
            self.changed("trial")

    # ---- what follows from it

    @property
    def is_model(self) -> bool:
        """Whether the trial is of an OpenSim model instead of a recording."""
        return self.trial is not None and is_model_trial(self.trial.content)

    @property
    def output(self) -> Path:
        """Folder of the result of the open trial."""
        assert self.trial is not None
        return self.folder.path / RESULTS / self.trial.path.stem

    @property
    def result(self) -> Path | None:
        """Path of the result of the open trial, where there is one."""
        if self.trial is None:
            return None
        path = self.output / RESULT_FILE
        return path if path.is_file() else None

    @property
    def comparison(self) -> Path:
        """Folder of the comparison of costs of the open trial."""
        return self.output / "comparison"

    @property
    def results(self) -> dict[str, Path]:
        """The results in the folder, by the name of their folder."""
        found = sorted((self.folder.path / RESULTS).glob("*/result.nc"))
        return {path.parent.name: path for path in found}

    def in_folder(self, path: Path) -> str:
        """A path in the form of a command line in the folder."""
        return path.relative_to(self.folder.path).as_posix()

    @property
    def command(self) -> str:
        """The command line that computes the same in the folder."""
        assert self.trial is not None
        output = ["-o", self.in_folder(self.output)]
        return shlex.join(["musclesolve", "run", self.trial.path.name, *output, *self.options.words])

    @property
    def _attributes(self) -> dict[str, str]:
        """Attributes of the result of the open trial, read once; empty without a result."""
        if (path := self.result) is None:
            return {}
        key = path, path.stat().st_mtime_ns
        if self._read[0] != key:
            self._read = key, result_attributes(path)
        return self._read[1]

    @property
    def measures(self) -> Measures | None:
        """Measures of the result of the open trial; None without a result."""
        return Measures.from_json(self._attributes.get(MEASURES, ""))

    @property
    def changed_inputs(self) -> list[str]:
        """Names of the files of the trial, itself included, that have changed since its result was computed."""
        if self.trial is None or not (attributes := self._attributes):
            return []
        recipe = attributes.get(ATTRIBUTE, "")
        names = changed_inputs(hashed_files(recipe), self.trial.path)
        same = self.trial.path.name in names and has_settings(recipe, self.trial.content)
        return [name for name in names if not same or name != self.trial.path.name]

    @property
    def findings(self) -> dict[str, Any] | None:
        """Findings of `check` on the present text, None before `check` has examined it."""
        said = self._said
        return said if isinstance(said, dict) else None

    @property
    def check_failure(self) -> Exception | None:
        """Error that kept `check` from examining the present text."""
        said = self._said
        return said if isinstance(said, Exception) else None

    @property
    def _said(self) -> dict[str, Any] | Exception | None:
        return None if self.trial is None else self.trial.of_settings(self._checked)

    @property
    def run_failure(self) -> Exception | None:
        """Error that kept the last run of the present text from a result."""
        return None if self.trial is None else self.trial.of_settings(self._failed)

    def check(self) -> Task:
        """Begin to check the trial."""
        assert self.trial is not None
        self._read_again()
        settings = self.trial.settings

        def keep(task: Task) -> None:
            if not task.canceled:
                self._checked = settings, task.outcome

        return self.start("Check of the recording", "check", keep, trial=self.trial.path)

    def run(self) -> Task:
        """Begin to compute the muscle forces of the trial, as `command` does."""
        assert self.trial is not None
        self._read_again()
        settings = self.trial.settings

        result = self.output / RESULT_FILE

        def keep(task: Task) -> None:
            self._failed = None if task.error is None else (settings, task.error)
            if task.succeeded:  # the page is made after the verdict, which is shown now
                self.runner.start("Page of the result", "report", files=[result])

        return self.start(
            "Muscle forces",
            "run",
            keep,
            trial=self.trial.path,
            output=self.output,
            options={"side": self.options.side},
            figures=self.options.figures,
            samples=self.options.samples or None,
        )

    def compare(self, costs: list[str]) -> Task:
        """Begin to share the forces of the trial under several costs."""
        assert self.trial is not None
        self._read_again()
        return self.start(
            "Comparison of costs",
            "compare",
            trial=self.trial.path,
            folder=self.comparison,
            costs=costs,
            side=self.options.side,
        )

    def start(
        self, title: str, name: str, then: Callable[[Task], None] | None = None, **arguments: Any
    ) -> Task:
        """Begin a task; see `Runner.start`."""
        task = self.runner.start(title, name, then, **arguments)
        self.changed("task")
        return task

    def watch(self, on: bool) -> None:
        """Start or end the watch of the folder, which computes every new recording by the open trial file."""
        self.watch_failure = None
        if not on:
            self._end_watch()
        elif self.trial is not None:
            from musclesolve.plotting.figure_names import REPORT
            from musclesolve.report.page import trial_report
            from musclesolve.studies.many_trials.watch_folder import Template, Watch

            further = {REPORT: trial_report}
            watching = Watch(self.folder.path, Template(self.trial.path), self.watched, further=further)
            self._held.enter_context(watching.held())
            self.watching = watching
        self.changed("task")

    def _end_watch(self) -> None:
        self.watching = None
        self._held.close()

    @property
    def watched(self) -> Path:
        """Folder of the results of a watched folder, and of the table of them."""
        return self.folder.path / RESULTS

    def look_at_folder(self) -> None:
        """Compute the next complete recording, if the folder is watched and no other task runs."""
        watching = self.watching
        if watching is None:
            return
        try:
            jobs = watching.look()
        except MuscleSolveError as error:  # such as a missing folder
            self._end_watch()
            self.watch_failure = error
            self.changed("task")
            return
        if jobs and not self.runner.busy:

            def keep(task: Task) -> None:
                if task.error is not None:
                    watching.take(jobs[0].record(Outcome.FAILED, str(task.error)))
                elif not task.canceled:
                    watching.take(task.value)
                else:
                    self._end_watch()  # a canceled recording also ends the watch

            self.start(f"Recording {jobs[0].name}", "recording", keep, job=jobs[0])

    def cancel(self) -> None:
        """End the running task; nothing of it is kept."""
        self.runner.cancel()
        self.changed("task")

    def _read_again(self) -> None:
        """Read the trial file again, which another program may have changed, because tasks read the file."""
        with self._changing() as trial:
            trial.reload()

    # ---- listeners

    def listen(self, key: object, listener: Callable[[Change], None]) -> None:
        """Call `listener` after every change that is not by `key` itself."""
        self._listeners[key] = listener

    def forget(self, key: object) -> None:
        """Remove the listener of a key."""
        self._listeners.pop(key, None)

    def changed(self, what: Change, by: object = None) -> None:
        """Inform the listeners of a change."""
        if what == "trial":
            self._checked = None  # the recordings may have changed
        for key, listener in list(self._listeners.items()):
            if key is not by:
                listener(what)


def _is_trial(path: Path) -> bool:
    """Return whether a TOML file has the tables of a trial file, as far as it can be read."""
    try:
        content = TrialDocument(path).content
    except MuscleSolveError:
        return False
    return "files" in content
