"""Computations of the desk in a process of their own, by the functions of the commands."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from musclesolve._util.messages import Progress
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.results.files.atomic_writing import patient, write_files

if TYPE_CHECKING:
    from musclesolve.laboratory.results.judgement import Report
    from musclesolve.studies.study.check_study import StudyCheck

Request = tuple[str, dict[str, Any]]
"""Name of a task, and its arguments."""

PATIENCE = 120.0
"""How long the writer of a file waits for another one of the desk, in the same folder [s]."""


def compute(shared: None, request: Request, progress: Progress) -> Any:
    """Do a task; an error of the input is returned, because the process continues."""
    name, arguments = request
    messages = _Messages(progress)
    log = logging.getLogger("musclesolve")
    log.addHandler(messages)
    try:
        with patient(PATIENCE):
            return TASKS[name](messages.progress, **arguments)
    except MuscleSolveError as error:
        return error
    finally:
        log.removeHandler(messages)


class _Messages(logging.Handler):
    """A handler that shows log messages as stages: the first run on a machine compiles for a minute."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self._progress, self._fraction = progress, 0.0

    def progress(self, stage: str, fraction: float) -> None:
        """See Progress."""
        self._fraction = fraction
        self._progress(stage, fraction)

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        self._progress(record.getMessage(), self._fraction)


def check(progress: Progress, trial: Path) -> "Report":
    """Check a trial, as `musclesolve check`."""
    progress("checking", 0.1)
    from musclesolve.studies.questions.answers import check_with_questions

    return check_with_questions(trial, progress)


def run(
    progress: Progress,
    trial: Path,
    output: Path,
    options: dict[str, Any],
    figures: bool,
    samples: int | str | None,
) -> list[Path]:
    """The muscle forces of a trial, as `musclesolve run`; the files that were written."""
    from musclesolve.studies.many_trials.one_trial import analyze_with_uncertainty

    return analyze_with_uncertainty(trial, output, options, figures, progress, samples)[1]


def plot(progress: Progress, result: Path, folder: Path, file_format: str | None = None) -> list[Path]:
    """The figures of a result, as `musclesolve plot`; the files."""
    from musclesolve.laboratory.plotting.figure_sets import save_figures
    from musclesolve.laboratory.results.files.result_netcdf import read_result

    return save_figures(read_result(result), folder, file_format, progress=progress)


def compare(progress: Progress, trial: Path, folder: Path, costs: list[str], side: str) -> list[Path]:
    """A trial under several costs, as `musclesolve compare`; the files."""
    from musclesolve.studies.compare import compare_into

    return compare_into(folder, trial, costs, side=side, progress=progress)[1]


def compare_results(progress: Progress, results: dict[str, Path], folder: Path) -> list[Path]:
    """Results beside each other, as `musclesolve.studies.compare_results`; the files."""
    from musclesolve.studies.compare_results import compare_results_into

    return compare_results_into(folder, results, progress)[1]


def report(progress: Progress, files: list[Path]) -> list[Path]:
    """A report, as `musclesolve report`; the page."""
    from musclesolve.laboratory.report.page import write_report

    return [write_report(files, None, progress)[0]]


def picture(progress: Progress, result: Path, path: Path) -> list[Path]:
    """A picture, as `musclesolve picture`; the file."""
    from musclesolve.laboratory.report.picture.moving_picture import save_picture

    save_picture(result, path, progress)
    return [path]


def export(progress: Progress, result: Path, file_format: str) -> list[Path]:
    """The series of a result for other programs, as `musclesolve export`; the files."""
    from musclesolve.laboratory.results.export.export import export as write
    from musclesolve.laboratory.results.export.export import target_path

    progress("writing", 0.5)
    return write(result, target_path(result, None, file_format), file_format)


def answer(progress: Progress, result: Path, question: str) -> list[Path]:
    """The answer to a question about a result, as `musclesolve report --questions`; the file and its page."""
    from musclesolve.laboratory.report.page import answer_page
    from musclesolve.laboratory.results.files.result_netcdf import read_result
    from musclesolve.studies.questions.answers import files_again

    progress("answer", 0.1)
    data = read_result(result)
    ((name, make),) = files_again([question], data).items()
    written = write_files(result.parent, {name: make(data, result)})
    progress("page", 0.9)
    page = answer_page(result.with_name(name), question)
    return [*written, *write_files(result.parent, {f"{question}.html": page.encode("utf-8", "replace")})]


def check_study(progress: Progress, study: Path) -> "StudyCheck":
    """Check the trials of a study, as `musclesolve check`."""
    from musclesolve.studies.study.check_study import check_study as examine_study

    return examine_study(study, progress=progress)


def study(progress: Progress, study: Path, folder: Path) -> list[Path]:
    """All trials of a study and its page, as `musclesolve study`; the files."""
    from musclesolve.studies.pages.written_pages import study_into

    return study_into(folder, study, progress=progress)[1]


TASKS: dict[str, Callable[..., Any]] = {
    task.__name__: task
    for task in (
        *(check, run, plot, compare, compare_results, report, picture, export, answer),
        *(check_study, study),
    )
}
