"""The study of the desk, shared by all browsers: its folder, its file, findings of `check`, and results."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from musclesolve.desk.runner import Task
from musclesolve.desk.study_document import StudyDocument
from musclesolve.desk.work_folder import RESULTS, WorkFolder
from musclesolve.drafting.study.draft_study import NAME, StudyDraft, draft_study, write_study
from musclesolve.drafting.study.study_trials import RESULTS as RESULT_FILES
from musclesolve.plotting.figure_names import STUDY_PAGE
from musclesolve.studies.many_trials.trial_record import CSV


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
