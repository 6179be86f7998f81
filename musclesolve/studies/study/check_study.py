"""The check of a study: findings of `check` on every trial, before any computation."""

import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from musclesolve._util.messages import Progress, count_of, no_progress
from musclesolve._util.processes import cores
from musclesolve._util.worker_pool import Lost
from musclesolve.constants import STUDY_DRAFT
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.results.judgement import Report, counted_verdicts
from musclesolve.studies.many_trials.one_trial import Job
from musclesolve.studies.many_trials.run_many import TrialsProgress, find_trials, in_processes
from musclesolve.studies.questions.answers import check_with_questions
from musclesolve.studies.study.run_study import prepared
from musclesolve.studies.study.study_file import read_study
from musclesolve.studies.study.unpacked_trials import unpacked_notes


@dataclass(frozen=True)
class StudyCheck:
    """Findings on the trials of a study.

    Args:
        path: the study file.
        reports: trial -> its report.
        refused: trial -> reason why it cannot be checked.
        notes: on the study.
        of_folder: whether `path` is a folder with the trial files, and no study file.
    """

    path: Path
    reports: Mapping[str, Report]
    refused: Mapping[str, str]
    notes: tuple[str, ...]
    of_folder: bool = False

    @property
    def ok(self) -> bool:
        """Whether no trial has an error."""
        return not self.refused and all(report.ok for report in self.reports.values())

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Name of a trial and statement of the fault, for each error."""
        errors = [(name, str(entry)) for name, report in self.reports.items() for entry in report.of("error")]
        return [*self.refused.items(), *errors]

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        trials = {name: report.as_dict() | {"trial": name} for name, report in self.reports.items()}
        common = {
            "folder" if self.of_folder else "study": str(self.path),
            "ok": self.ok,
            "verdict": self.verdict,
            "notes": list(self.notes),
        }
        return {**common, "trials": trials, "refused": dict(self.refused)}

    @property
    def verdict(self) -> str:
        """The check in one line."""
        failing = len(self.refused) + sum(not report.ok for report in self.reports.values())
        count = len(self.reports) + len(self.refused)
        if failing:
            has, them = ("has an error", "it") if failing == 1 else ("have errors", "them")
            leave = "" if self.of_folder else f", or leave {them} out: state the reason in the column exclude"
            return f"{failing} of {count_of(count, 'trial')} {has}: mend {them}{leave}"
        verdicts = [report.judgement.verdict for report in self.reports.values() if report.judgement]
        all_trials = {1: "the trial", 2: "both trials"}.get(count, f"all {count} trials")
        return f"{all_trials} can be computed: {counted_verdicts(verdicts)}"


def check_study(path: str | Path, jobs: int | None = None, progress: Progress | None = None) -> StudyCheck:
    """Check every trial of a study that is not excluded.

    Args:
        path: the study file.
        jobs: how many trials at a time; as many as there are cores unless given.
        progress: called with the names of running trials, and the share of the work that is done.

    Returns:
        The report of each trial, and the reason for each trial that was refused.

    Raises:
        InputError: the study file itself is at fault.

    Examples:
        >>> data = ms.studies.make_dataset(ms.data.reference_stride().parent, "walks", jobs=1)   # drafts a study
        >>> ms.studies.check_study("walks/inputs/study.toml", jobs=1).ok
        True
    """
    study = read_study(path)
    with tempfile.TemporaryDirectory(prefix="musclesolve-") as folder:
        trials, refused, notes = prepared(study, Path(folder))
        reports, lost = _reports(trials, jobs, progress)
        notes += unpacked_notes({trial.name: trial.source for trial in trials if trial.source is not None})
    lost = {record.name: record.message for record in refused} | lost
    return StudyCheck(study.path, reports, lost, (*study.notes, *notes))


def check_folder(folder: Path, progress: Progress | None = None) -> StudyCheck:
    """Check every trial file of a folder, or else its study; folders inside it are not searched.

    Raises:
        InputError: there is no trial file in the folder.
    """
    try:
        trials = find_trials([folder])
    except InputError as error:
        if error.key != "studies.no_trial_file":
            raise
        if (folder / STUDY_DRAFT).is_file():
            return check_study(folder / STUDY_DRAFT, progress=progress)
        remedy = f"musclesolve init {shlex.quote(str(folder))} drafts one from the recordings in it"
        raise input_error(error.key, file=folder, remedy=remedy) from None
    jobs = [Job(trial.name, trial, folder, {}) for trial in trials]
    reports, lost = _reports(jobs, None, progress)
    return StudyCheck(folder, reports, lost, (), of_folder=True)


def _reports(
    trials: Sequence[Job], jobs: int | None, progress: Progress | None
) -> tuple[dict[str, Report], dict[str, str]]:
    """Check trials side by side: the report of each, in order, and the reason for each that has none."""
    report = TrialsProgress(len(trials), progress or no_progress)
    reports, lost = dict[str, Report](), dict[str, str]()
    with closing(in_processes(_check, trials, jobs or cores(), report)) as results:
        for trial, outcome in results:
            report.done += 1
            if isinstance(outcome, Report):
                reports[trial.name] = outcome
            else:
                lost[trial.name] = outcome.reason if isinstance(outcome, Lost) else outcome
    return {trial.name: reports[trial.name] for trial in trials if trial.name in reports}, lost


def _check(shared: None, trial: Job, progress: Progress) -> Report | str:
    """The report of a trial, or the reason why its files cannot be unpacked."""
    try:
        path = trial.ready()
    except InputError as error:
        return str(error)
    return check_with_questions(path)
