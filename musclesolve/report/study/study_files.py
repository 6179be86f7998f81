"""A study computed into a folder: its results, figures and page."""

from pathlib import Path
from typing import Any

from musclesolve._util.progress import Progress, no_progress
from musclesolve.plotting.figure_names import REPORT, STUDY_PAGE, group_figures_in
from musclesolve.plotting.study.group_figures import group_files
from musclesolve.report.page import trial_report
from musclesolve.report.study.study_page import study_page
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.study.analysis import StudyResult, analyze_study
from musclesolve.studies.study.run_study import compute_trials


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
    report, pages = progress or no_progress, {REPORT: trial_report if reports else None}
    result = analyze_study(
        compute_trials(study, folder, pages=pages, progress=report, **how), report, values_format
    )
    computed, drawn = result.computed, dict[str, bytes]()
    if figures and result.groups is not None:
        drawn = group_files(result.groups, result.comparisons, report, computed.study.design.drawn)
    page = study_page(result, report).encode("utf-8", "replace")
    paths = write_files(computed.folder, {STUDY_PAGE: page, **drawn}, group_figures_in(computed.folder))
    return result, [*paths, *result.files, computed.folder / CSV]
