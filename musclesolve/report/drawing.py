"""Drawings of datasets for a page: data of figures, moving pictures, and checks for changed recordings."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from musclesolve._util.progress import Progress, no_progress
from musclesolve.recording.text.text_file import has_hash
from musclesolve.report.content.pieces import DAMAGE, Changed, reason
from musclesolve.results.dataset.checked import MODEL
from musclesolve.results.dataset.result_quantities import inputs_of
from musclesolve.results.files.result_netcdf import trial_path

FIGURE, CHECK, PICTURE = "figure", "check", "picture"
PICTURE_FRAMES = 75
"""Most frames of the moving picture in a page; `musclesolve picture` writes all of them."""


@dataclass(frozen=True)
class DrawingTask:
    """A task for one of the datasets."""

    what: str  # figure, check or picture
    dataset: int  # its number
    kind: str  # of the dataset
    name: str  # of the figure
    key: str  # unique in the page
    label: str = ""  # description of a figure


@dataclass(frozen=True)
class Made:
    """Output of a task, or the reason of its absence."""

    content: Any = None
    fault: str = ""


def make(
    datasets: Sequence[xr.Dataset], jobs: Sequence[DrawingTask], progress: Progress | None = None
) -> dict[str, Made]:
    """Do all jobs; the outcome of each by its key."""
    report, outcomes = progress or no_progress, dict[str, Made]()
    for number, job in enumerate(jobs):
        report("drawing", number / len(jobs))
        outcomes[job.key] = work(datasets[job.dataset], job)
    return outcomes


def work(data: xr.Dataset, job: DrawingTask) -> Made:
    """Do a task; a fault of the file that prevents it becomes a sentence of the report."""
    try:
        if job.what == CHECK:
            return Made(recording_state(data))
        if job.what == PICTURE:
            from musclesolve.report.picture.moving_picture import picture_fragment

            every = -(-data.sizes["time"] // PICTURE_FRAMES)
            return Made(picture_fragment(data.isel(time=slice(None, None, every))))
        from musclesolve.plotting.browser import page_parts
        from musclesolve.plotting.page.described_sheet import described
        from musclesolve.report.figures.figure_choice import figures_of

        draw = figures_of(data, job.kind)[job.name]
        return Made(page_parts.data(described(partial(draw, data))))
    except DAMAGE as error:
        return Made(fault=reason(error))


def recording_state(result: xr.Dataset) -> str:
    """A sentence if the recording of a result has changed since the analysis (`Changed`) or is missing; else ""."""
    path = analyzed_trial(result)
    if MODEL in result.attrs and (path is None or path.suffix != ".toml"):
        return ""  # the files were given to `share`
    if path is None:
        return "The result does not name the trial file that it was computed from."
    files = inputs_of(result)
    if not files:
        return (
            "The result holds no hashes of its files: whether the recording is still the same is not known."
        )
    if not path.is_file():
        return (
            f"The recording is not at hand to see whether it is still the same: {path} does not exist here."
        )
    folder = path.resolve().parent
    trial = [sha for role, _, sha in files if role == "trial"]
    if trial and not has_hash(path, trial[0]) and not _same_settings(result, path):  # it may name other files
        changed = [path.name]
    elif absent := [name for _, name, _ in files if not (folder / name).is_file()]:
        return (
            f"The recording of {path} is not at hand any more as it was analyzed: {absent[0]} does not exist"
        )
    else:
        changed = [name for role, name, sha in files if role != "trial" and not has_hash(folder / name, sha)]
    if changed:
        names = ", ".join(changed)
        return Changed(
            f"The recording of {path} has changed since it was analyzed ({names}): this "
            "result is of what it was before."
        )
    return ""


def _same_settings(result: xr.Dataset, path: Path) -> bool:
    """Whether a trial file differs from the one of a result in comments or [questions] alone."""
    from musclesolve.studies.many_trials.recipe import ATTRIBUTE, has_settings

    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return has_settings(result.attrs.get(ATTRIBUTE, ""), content)


def analyzed_trial(result: xr.Dataset) -> Path | None:
    """The trial file of a result, looked for from the folder of the file that the result was read from."""
    source = result.encoding.get("source")
    return trial_path(result.attrs, Path(source).parent if source else None)
