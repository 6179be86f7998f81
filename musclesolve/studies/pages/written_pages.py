"""Studies and data sets in their folders, with pages that are made anew only where something has changed."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from musclesolve._util.messages import Progress, no_progress
from musclesolve.laboratory.plotting.figure_names import DATASET_PAGE, REPORT, STUDY_PAGE, group_figures_in
from musclesolve.laboratory.plotting.page.page_style import changed_settings, current_style, figures_of
from musclesolve.laboratory.plotting.study.group_figures import group_drawings
from musclesolve.laboratory.recording.command_settings import KEPT as KEPT_VARIABLES
from musclesolve.laboratory.report.page import trial_report, versions
from musclesolve.laboratory.results.files.atomic_writing import marked, unchanged, write_files
from musclesolve.studies.dataset.compute_dataset import compute_dataset
from musclesolve.studies.dataset.data_set import SUBJECTS, DataSet, open_dataset
from musclesolve.studies.many_trials.trial_record import CSV, Outcome
from musclesolve.studies.pages.dataset_page import CARD, page_and_card
from musclesolve.studies.pages.study_page import study_page
from musclesolve.studies.study.analysis import KEPT, StudyResult, analyze_study
from musclesolve.studies.study.run_study import ComputedStudy, compute_trials
from musclesolve.tables.text_file import file_path, hash_of


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
    changed = changed_settings()  # first: the usual style follows them
    folder, style, there = result.computed.folder, current_style(), dict[str, bytes]()
    page, paths = folder / STUDY_PAGE, [folder / name for name in sorted(group_figures_in(folder))]
    linked = [(record.folder / REPORT).is_file() for record in result.computed.records.values()]
    norms = style.norm_file and hash_of(file_path(style.norm_file))
    made_of = versions(), changed, style, norms, figures, linked, hash_of(folder / KEPT)
    if unchanged(page, *made_of, *map(hash_of, paths)) is None:
        outdated = [path.name for path in paths]
        text = study_page(result, report).encode("utf-8", "replace")
        if figures and result.groups is not None:
            drawings = group_drawings(result.groups, result.comparisons, result.computed.study.design.drawn)
            there = figures_of(result.groups, drawings, report)
        hashes = [hashlib.sha256(there[name]).hexdigest() for name in sorted(there)]
        paths = write_files(folder, there | {STUDY_PAGE: marked(text, *made_of, *hashes)}, outdated)
    return result, [*dict.fromkeys([page, *paths]), *result.files, folder / CSV]


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
    data, folder = open_dataset(computed.folder), computed.folder
    page, card, *tables = paths = [folder / name for name in (DATASET_PAGE, CARD, CSV, SUBJECTS)]
    made_of = versions(), computed.notes, how.get("keep"), *(path.read_bytes() for path in tables)
    is_new = any(record.outcome is Outcome.COMPUTED for record in computed.records.values())
    if is_new or unchanged(page, *made_of, hash_of(card)) is None:
        text, about = (part.encode("utf-8", "replace") for part in page_and_card(data, computed))
        whole = marked(text, *made_of, hashlib.sha256(about).hexdigest())
        write_files(folder, {DATASET_PAGE: whole, CARD: about})
    return data, computed, paths
