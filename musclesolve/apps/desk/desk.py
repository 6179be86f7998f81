"""State of the desk, shared by all browsers: a folder, the open trial file, the running task."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from musclesolve.apps.desk.marker_meaning import Meanings
from musclesolve.apps.desk.runner import Runner, Task
from musclesolve.apps.desk.trial_document import Place, TrialDocument, change_words
from musclesolve.apps.desk.work_folder import RESULTS, Recordings, WorkFolder
from musclesolve.constants import RESULT_FILE
from musclesolve.errors import MuscleSolveError, file_error
from musclesolve.laboratory.draft.draft_folder import FolderDraft, draft_folder, write_drafts
from musclesolve.laboratory.draft.study_trials import has_results, in_order
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.files.subjects_table import EXCEL, table_cells
from musclesolve.laboratory.plotting.figure_names import STUDY_PAGE
from musclesolve.laboratory.recording.trial_settings import is_model_trial
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.files.result_netcdf import result_attributes
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.judgement import Report
from musclesolve.laboratory.results.recipe import ATTRIBUTE, has_settings
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.studies.draft.draft_study import NAME, StudyDraft, draft_study, write_study
from musclesolve.studies.many_trials.trial_record import CSV, MEASURES, Measures, changed_inputs, hashed_files
from musclesolve.studies.study.study_file import GROUP, TIME, TRIALS, Study, read_study
from musclesolve.studies.study.trials_table import NAME as NAME_OF_TRIAL
from musclesolve.studies.study.trials_table import SETTINGS, SUBJECT
from musclesolve.tables.document import value_text
from musclesolve.tables.text_file import toml_content

if TYPE_CHECKING:
    from musclesolve.studies.study.check_study import StudyCheck


Changes = dict[Place, Any]


class StudyDocument(TrialDocument):
    """A study file that is open on the desk, and its table of trials.

    A change at ("trials", NAME, COLUMN) is one of the table, all others are of the study file; both are undone at once.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.beside = self._table_text()

    @property
    def table(self) -> Path | None:
        """The table of trials, None where the file names none as text."""
        name = self.value(TRIALS)
        return self.path.parent / name if isinstance(name, str) and not name.endswith(EXCEL) else None

    def _table_text(self) -> str:
        return (
            self.table.read_text(encoding="utf-8-sig")
            if self.table is not None and self.table.is_file()
            else ""
        )

    @property
    def study(self) -> Study:
        """Contents of both files."""
        return read_study(self.path)

    @property
    def settings(self) -> str:
        """See `TrialDocument.settings`; of the table, too."""
        return super().settings + self.beside

    def reload(self) -> bool:
        """See `TrialDocument.reload`; of the table, too."""
        before, self.beside = self.beside, self._table_text()
        return super().reload() or self.beside != before

    def _swap(self, text: str, beside: str) -> None:
        """Write both files."""
        if beside != self.beside and self.table is not None:
            write_files(self.table.parent, {self.table.name: beside.encode()})
            self.beside = beside
        super()._swap(text, beside)

    def state_all(self, values: Mapping[Place, Any]) -> None:
        """See `TrialDocument.state_all`; values of trials are cells of the table."""
        of_table = {place[1:]: value for place, value in values.items() if place[0] == "trials"}
        beside = self._with_cells(of_table) if of_table else self.beside
        others = {place: value for place, value in values.items() if place[0] != "trials"}
        what = ", ".join(change_words(place, None, value) for place, value in values.items())
        self.write(self.with_values(others), what, next(iter(values), ()), beside)

    def _with_cells(self, values: Mapping[Place, Any]) -> str:
        """The text of the table with values at (name of a trial, column); None empties a cell."""
        if self.table is None:
            expected, remedy = (
                "a table of trials as text (.csv)",
                "save the table as CSV, and name it in the study file",
            )
            raise file_error("bad_format", self.path, "the desk changes no Excel file", expected, remedy)
        head, *rows = table_cells(self.table)
        added = dict.fromkeys(str(column) for _, column in values if column not in head)
        head = [*head, *added]
        rows = [[*row, *[""] * (len(head) - len(row))] for row in rows if any(row)]
        row_of = {row[head.index(NAME_OF_TRIAL)]: row for row in rows}
        for (name, column), value in values.items():
            text = "" if value is None else value if isinstance(value, str) else value_text(value)
            row_of[str(name)][head.index(str(column))] = text
        return csv_text([head, *rows])

    def state_subject(self, name: str, key: str, value: Any) -> None:
        """State a value of a subject in all of its lines; None removes it."""
        changes = self._of_subject(name, {key: value})
        if key == GROUP:
            study = self.study
            of = {subject: study.of_subject(subject, GROUP, "") for subject in study.subjects} | {
                name: value or ""
            }
            changes |= self._listed("groups", of.values())
        self.state_all(changes)

    def move(self, names: Iterable[str], subject: str = "", condition: str | None = None) -> None:
        """Give trials to a subject, unless "", and to a condition, "" for none, unless None."""
        study, changes, moved = self.study, Changes(), set(names)
        for name in moved:
            if subject:
                changes["trials", name, SUBJECT] = subject
            if condition is not None:
                changes["trials", name, "condition"] = condition or None
        if condition is not None:
            used = [condition if trial.name in moved else trial.condition for trial in study.trials]
            changes |= self._listed("conditions", used)
        self.state_all(changes)

    def compare_with(self, key: str, first: str) -> None:
        """Make a group or condition the first, the reference of the others. key: "groups" or "conditions"."""
        self.state(("design", key), [first, *(name for name in self.named(key) if name != first)])

    def named(self, key: str) -> list[str]:
        """Groups or conditions in their order. key: "groups" or "conditions"."""
        study = self.study
        if stated := study.design[key]:
            return list(stated)
        if key == "groups":
            return in_order(
                {str(subject[GROUP]) for subject in study.subjects.values() if subject.get(GROUP)}
            )
        return in_order({trial.condition for trial in study.trials} - {""})

    def mending(self, findings: Mapping[str, Finding]) -> Changes:
        """Changes of the study file that mend a finding of several trials; none where settings alone do not.

        A subject has one value in all trials, the first of those found.
        """
        study, changes = self.study, Changes()
        for name, entry in findings.items():
            trial = study.trial_of[name]
            for place, value in entry.change:
                table, *rest = place
                if len(rest) != 1 or not isinstance(rest[0], str):
                    return {}
                if table == SUBJECT:
                    for at, stated in self._of_subject(trial.subject, {rest[0]: value}).items():
                        changes.setdefault(at, stated)
                elif table == TIME:
                    changes["trials", name, rest[0]] = value
                elif table == "files":
                    return {}
                else:
                    changes["trials", name, f"{SETTINGS}.{table}.{rest[0]}"] = value
        return changes

    def _of_subject(self, name: str, values: Mapping[str, Any]) -> Changes:
        """Changes that state values of a subject, in each of its lines."""
        lines = [trial.name for trial in self.study.trials if trial.subject == name]
        return {("trials", line, key): value for line in lines for key, value in values.items()}

    def _listed(self, key: str, used: Iterable[str]) -> Changes:
        """The change of a list in [design] that keeps its order: names no longer used leave it, new ones end it."""
        stated = self.study.design[key]
        if not stated:
            return {}
        there = {name for name in used if name}
        listed = [name for name in stated if name in there]
        return {("design", key): [*listed, *in_order(there - set(listed))] or None}


class StudyDesk:
    """A study in the folder of the desk or below it.

    Args:
        root: the folder of the desk.
        start: begins a task; see `Desk.start`.

    Attributes:
        folder: of the study.
        document: the study file, None before it is drafted.
        draft: as it was made last.
    """

    def __init__(self, root: WorkFolder, start: Callable[..., Task]) -> None:
        self._root, self._start = root, start
        self._checked: tuple[str, StudyCheck | Exception] | None = None
        self.document: StudyDocument | None = None
        self.choose(root.path)

    def choose(self, folder: Path) -> None:
        """Go to a folder of the desk, and open the study file in it, if there is one."""
        root = self._root
        self.folder = root.path if folder == root.path else root.inside(str(folder.relative_to(root.path)))
        self.draft: StudyDraft | None = None
        self.look()

    def look(self) -> bool:
        """Read changes of other programs in the study file, also a new or missing file; return whether there were
        any.
        """
        path, before = self.folder / NAME, self.document
        if before is not None and before.path == path and path.is_file():
            return before.reload()
        self.document = StudyDocument(path) if path.is_file() else None
        return self.document is not before

    def folders(self, inside: Path) -> list[Path]:
        """The folders in a folder of the desk that may hold recordings; no results, no hidden ones, no links."""
        folders = [path for path in inside.iterdir() if path.is_dir() and not path.is_symlink()]
        return sorted(
            path for path in folders if path.name[0] != "." and path.name != RESULTS and not has_results(path)
        )

    def drafted(self) -> StudyDraft:
        """The study file of the folder, not written yet; takes seconds."""
        self.draft = draft_study(self.folder)
        return self.draft

    def accept(self, draft: StudyDraft, replace: bool) -> None:
        """Write the study file of a draft, and open it."""
        write_study(draft, replace)
        self.document = StudyDocument(draft.path)

    @property
    def output(self) -> Path:
        """Folder of all that is computed of the study."""
        return self.folder / RESULTS / Path(NAME).stem

    @property
    def table(self) -> Path:
        """Path of the table of the trials with their outcomes."""
        return self.output / CSV

    @property
    def page(self) -> Path | None:
        """The page of the study, where there is one."""
        path = self.output / STUDY_PAGE
        return path if path.is_file() else None

    @property
    def command(self) -> str:
        """The command line that computes the same in the folder of the desk."""
        names = [path.relative_to(self._root.path).as_posix() for path in (self.folder / NAME, self.output)]
        return shlex.join(["musclesolve", "study", names[0], "-o", names[1]])

    @property
    def checked(self) -> "StudyCheck | Exception | None":
        """Findings of `check` on the present text, or its error; None before the check."""
        return None if self.document is None else self.document.of_settings(self._checked)

    def check(self) -> Task:
        """Begin to check every trial of the study."""
        assert self.document is not None
        self.document.reload()
        settings = self.document.settings

        def keep(task: Task) -> None:
            if not task.canceled:
                self._checked = settings, task.outcome

        return self._start("Check of the study", "check_study", keep, study=self.document.path)

    def run(self) -> Task:
        """Start to compute the study, like `command`; current results are kept."""
        assert self.document is not None
        self.document.reload()
        return self._start("Study", "study", study=self.document.path, folder=self.output)


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
        self._checked: tuple[str, Report | Exception] | None = None
        self._failed: tuple[str, Exception] | None = None
        self._read: tuple[object, dict[str, str]] = (None, {})
        self._listeners = dict[object, Callable[[Change], None]]()
        if trials := self.trials:
            self.open(trials[0])

    @property
    def opened(self) -> TrialDocument:
        """The open trial file, where a step that needs one is shown."""
        assert self.trial is not None
        return self.trial

    @property
    def trials(self) -> list[Path]:
        """The trial files in the folder, by name."""
        return [path for path in sorted(self.folder.path.glob("*.toml")) if "files" in toml_content(path)]

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

    def state_all(self, values: Mapping[Place, Any], by: object = None) -> None:
        """State values of the trial file in one change; see `TrialDocument.state_all`."""
        with self.changing(by) as trial:
            trial.state_all(values)

    @contextmanager
    def changing(self, by: object = None) -> Iterator[TrialDocument]:
        """Yield the open trial file; afterward inform the listeners in any case if its text changed.

        The findings of `check` still hold after a decision on a draft (`TrialDocument.decided`).
        """
        trial = self.opened
        before = trial.text
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

    @property
    def is_model(self) -> bool:
        """Whether the trial is of an OpenSim model instead of a recording."""
        return self.trial is not None and is_model_trial(self.trial.content)

    @property
    def output(self) -> Path:
        """Folder of the result of the open trial."""
        return self.folder.path / RESULTS / self.opened.path.stem

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
        return {path.parent.name: path for path in sorted((self.folder.path / RESULTS).glob("*/result.nc"))}

    def in_folder(self, path: Path) -> str:
        """A path in the form of a command line in the folder."""
        return path.relative_to(self.folder.path).as_posix()

    @property
    def command(self) -> str:
        """The command line that computes the same in the folder."""
        output = ["-o", self.in_folder(self.output)]
        return shlex.join(["musclesolve", "run", self.opened.path.name, *output, *self.options.words])

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
    def checked(self) -> Report | Exception | None:
        """Findings of `check` on the present text, or the error that kept it from them; None before the check."""
        return None if self.trial is None else self.trial.of_settings(self._checked)

    @property
    def run_failure(self) -> Exception | None:
        """Error that kept the last run of the present text from a result."""
        return None if self.trial is None else self.trial.of_settings(self._failed)

    def check(self) -> Task:
        """Begin to check the trial."""
        trial = self._read_again()
        settings = trial.settings

        def keep(task: Task) -> None:
            if not task.canceled:
                self._checked = settings, task.outcome

        return self.start("Check of the recording", "check", keep, trial=trial.path)

    def run(self) -> Task:
        """Begin to compute the muscle forces of the trial, as `command` does."""
        trial = self._read_again()
        settings, result = trial.settings, self.output / RESULT_FILE

        def keep(task: Task) -> None:
            self._failed = None if task.error is None else (settings, task.error)
            if task.succeeded:  # the page is made after the verdict, which is shown now
                self.runner.start("Page of the result", "report", files=[result])

        return self.start(
            "Muscle forces",
            "run",
            keep,
            trial=trial.path,
            output=self.output,
            options={"side": self.options.side},
            figures=self.options.figures,
            samples=self.options.samples or None,
        )

    def compare(self, costs: list[str]) -> Task:
        """Begin to share the forces of the trial under several costs."""
        return self.start(
            "Comparison of costs",
            "compare",
            trial=self._read_again().path,
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

    def cancel(self) -> None:
        """End the running task; nothing of it is kept."""
        self.runner.cancel()
        self.changed("task")

    def _read_again(self) -> TrialDocument:
        """The trial file, read again because another program may have changed it and tasks read the file."""
        with self.changing() as trial:
            trial.reload()
        return trial

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
