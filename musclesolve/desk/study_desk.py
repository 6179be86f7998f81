"""The study of the desk, shared by all browsers: its folder, its file as edited by clicks, findings, results."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from musclesolve.desk.runner import Task
from musclesolve.desk.trial_document import Place, TrialDocument
from musclesolve.desk.work_folder import RESULTS, WorkFolder
from musclesolve.drafting.study.draft_study import NAME, StudyDraft, draft_study, write_study
from musclesolve.drafting.study.study_trials import RESULTS as RESULT_FILES
from musclesolve.drafting.study.study_trials import in_order
from musclesolve.plotting.figure_names import STUDY_PAGE
from musclesolve.results.finding import Finding
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.study.study_file import GROUP, SUBJECT, TIME, Study, StudyTrial, read_study

Changes = dict[Place, Any]


class StudyDocument(TrialDocument):
    """A study file that is open on the desk."""

    @property
    def study(self) -> Study:
        """Contents of the file."""
        return read_study(self.path)

    def state_subject(self, name: str, key: str, value: Any) -> None:
        """State a value of a subject; None removes it, so that the table of subjects of the study counts, if any."""
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
        if subject and subject not in study.subjects:
            changes |= self._of_subject(subject, {})
        for name in moved:
            if subject:
                changes["trials", name, "subject"] = subject
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

    def mending(self, found: Mapping[str, Finding]) -> Changes:
        """Changes of the study file that mend a finding of several trials; none where settings alone do not.

        A subject has one value in all trials, the first of those found.
        """
        study, changes = self.study, Changes()
        for name, each in found.items():
            trial, own = study.trial_of[name], dict[str, Any]()
            for place, value in each.change:
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
                    own.setdefault(str(table), {})[rest[0]] = value
            if own:
                changes["trials", name, "settings"] = _merged(trial, own)
        return changes

    def _of_subject(self, name: str, values: Mapping[str, Any]) -> Changes:
        """Changes that state values of a subject, in a new line where there is none."""
        if isinstance(self.value("subjects", name), Mapping):
            return {("subjects", name, key): value for key, value in values.items()}
        return {("subjects", name): {key: value for key, value in values.items() if value is not None}}

    def _listed(self, key: str, used: Iterable[str]) -> Changes:
        """The change of a list in [design] that keeps its order: names no longer used leave it, new ones end it."""
        stated = self.study.design[key]
        if not stated:
            return {}
        there = {name for name in used if name}
        listed = [name for name in stated if name in there]
        return {("design", key): [*listed, *in_order(there - set(listed))] or None}


def _merged(trial: StudyTrial, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of a trial with further ones."""
    before = dict(trial.settings)
    return before | {table: {**before.get(table, {}), **values} for table, values in own.items()}


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
        self._checked: tuple[str, dict[str, Any] | Exception] | None = None
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
        found = [path for path in inside.iterdir() if path.is_dir() and not path.is_symlink()]
        return sorted(
            path
            for path in found
            if path.name[0] != "."
            and path.name != RESULTS
            and not any((path / name).is_file() for name in RESULT_FILES)
        )

    def drafted(self) -> StudyDraft:
        """The study file of the folder, not written yet; takes seconds."""
        self.draft = draft_study(self.folder)
        return self.draft

    def accept(self, draft: StudyDraft, replace: bool) -> None:
        """Write the study file of a draft, and open it."""
        write_study(draft, replace)
        self.document = StudyDocument(draft.path)

    # ---- what follows from it

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
        paths = self.folder / NAME, self.output
        names = [path.relative_to(self._root.path).as_posix() for path in paths]
        return shlex.join(["musclesolve", "study", names[0], "-o", names[1]])

    @property
    def findings(self) -> dict[str, Any] | Exception | None:
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
