"""Studies and data sets in their folders, and their pages."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from musclesolve._util.messages import Progress, no_progress
from musclesolve.laboratory.plotting.figure_names import DATASET_PAGE, REPORT, STUDY_PAGE, group_figures_in
from musclesolve.laboratory.plotting.page.page_style import figures_of
from musclesolve.laboratory.plotting.study.group_figures import group_drawings
from musclesolve.laboratory.recording.command_settings import KEPT as KEPT_VARIABLES
from musclesolve.laboratory.report.page import trial_report
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.studies.dataset.compute_dataset import compute_dataset
from musclesolve.studies.dataset.data_set import SUBJECTS, DataSet, open_dataset
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.pages.dataset_page import CARD, page_and_card
from musclesolve.studies.pages.study_page import study_page
from musclesolve.studies.study.analysis import StudyResult, analyze_study
from musclesolve.studies.study.run_study import ComputedStudy, compute_trials


def study_into(
    folder: Path,
    study: Path,
    *,
    reports: bool = True,
    figures: bool = False,
    values_format: str = "csv",
    progress: Progress | None = None,
    **how: Any,
) -> tuple[StudyResult, list[Path]]:
    """Compute a study as `run_study` does, and write its page into the same folder.

    Args:
        folder: of all that is written.
        study: the study file.
        reports: whether every trial gets a report, which the page leads to.
        figures: whether the mean curves are also drawn as files.
        values_format, progress: as of `run_study`.
        **how: its jobs, scheduler, again and samples.

    Returns:
        The result of the study, and the files in the folder.

    Raises:
        InputError, KeyboardInterrupt: as `run_study`.
    """
    report, of_trials = progress or no_progress, {REPORT: trial_report if reports else None}
    computed = compute_trials(study, folder, pages=of_trials, progress=report, **how)
    result = analyze_study(computed, report, values_format)
    folder, pages = computed.folder, {STUDY_PAGE: study_page(result, report).encode("utf-8", "replace")}
    if figures and result.groups is not None:
        drawings = group_drawings(result.groups, result.comparisons, result.computed.study.design.drawn)
        pages |= figures_of(result.groups, drawings, report)
    written = write_files(folder, pages, group_figures_in(folder))
    return result, [*written, *result.files, folder / CSV]


def make_dataset(
    sources: str | Path | Iterable[str | Path],
    output: str | Path,
    *,
    keep: Sequence[str] = KEPT_VARIABLES,
    jobs: int | None = None,
    scheduler: str | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> DataSet:
    """Compute the forces of all trials in some folders and files, and write them as a data set.

    Every trial is read, examined, shared and judged as `run` does; a trial at fault costs itself alone. What is up to
    date is kept, so that a call that was stopped goes on. In the folder there are then trials/NAME/result.nc with the
    kept variables (numbers of 32 bits), trials.csv, subjects.csv with a split by subject, DATA_CARD.md and
    dataset.html. On one machine this starts processes: in a script, call it below ``if __name__ == "__main__":``.

    Args:
        sources: folders with trials in them or below them, and B3D files; or one study file.
        output: folder of the data set, made when it is missing.
        keep: what is kept of each trial: activation, force, moment, contact, angle, ground, or names of variables of
            a result. Status, validity and certificate of each frame are always kept.
        jobs: how many trials at a time; as many as there are cores unless given.
        scheduler: address of a scheduler of dask.distributed, whose workers compute, see `run_many`.
        again: compute all trials, whatever results there are.
        progress: called with the names of running trials, and the share of the work that is done.

    Returns:
        The data set, as `open_dataset` opens it.

    Raises:
        InputError: a source does not exist, no trial is found, `keep` names no variable, or the folder cannot be
            written.
        KeyboardInterrupt: after Ctrl-C; the same call goes on with the trials that are left.

    Examples:
        >>> data = ms.studies.make_dataset(ms.data.reference_stride().parent, "walks", jobs=1)
        >>> data.computed
        ['reference_stride_trial']
    """
    how: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler, "again": again, "progress": progress}
    return dataset_into(sources, output, keep=keep, **how)[0]


def dataset_into(
    sources: str | Path | Iterable[str | Path], output: str | Path, **how: Any
) -> tuple[DataSet, ComputedStudy, list[Path]]:
    """Make a data set as `make_dataset` does; also return the study and the files beside the trials."""
    computed = compute_dataset(sources, output, **how)
    data = open_dataset(computed.folder)
    text, about = (part.encode("utf-8", "replace") for part in page_and_card(data, computed))
    pages = write_files(computed.folder, {DATASET_PAGE: text, CARD: about})
    return data, computed, [*pages, *(computed.folder / name for name in (CSV, SUBJECTS))]
