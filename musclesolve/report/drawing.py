"""What takes time, done side by side: figures, checks of recordings and moving pictures."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import xarray as xr

from musclesolve._util.progress import Progress, no_progress
from musclesolve._util.worker_pool import Lost, Pool
from musclesolve.report.content.pieces import DAMAGE, reason

FIGURE, CHECK, PICTURE = "figure", "check", "picture"
FEW = 9
"""So many jobs take less time than starting processes for them."""


@dataclass(frozen=True)
class Job:
    """Something to make of one of the datasets."""

    what: str  # figure, check or picture
    dataset: int  # its number
    kind: str  # of the dataset
    name: str  # of the figure
    key: str  # its own in the page
    label: str = ""  # what a figure shows


@dataclass(frozen=True)
class Made:
    """What a job gave, or why it gave nothing."""

    content: Any = None
    fault: str = ""


def make(
    datasets: Sequence[xr.Dataset], jobs: Sequence[Job], workers: int = 1, progress: Progress | None = None
) -> dict[str, Made]:
    """Do all jobs, in several processes if there are many; the outcome of each by its key."""
    report = progress or no_progress
    found: dict[str, Made] = {}
    with contextlib.closing(_results(datasets, jobs, workers)) as results:
        for done, (number, made) in enumerate(results, start=1):
            found[jobs[number].key] = Made(fault=made.reason) if isinstance(made, Lost) else made
            report("drawing", done / len(jobs))
    return found


def _results(datasets: Sequence[xr.Dataset], jobs: Sequence[Job], workers: int) -> Generator[tuple[int, Any]]:
    if workers > 1 and len(jobs) > FEW:
        yield from Pool(work, list(datasets), list(jobs), workers).results()
        return
    for number, job in enumerate(jobs):
        yield number, work(datasets, job, no_progress)


def work(datasets: Sequence[xr.Dataset], job: Job, progress: Progress) -> Made:
    """Do a job; what is wrong with the file that keeps it from being done is a sentence of the report."""
    progress("drawing", 0.0)
    try:
        return _work(datasets[job.dataset], job)
    except DAMAGE as error:
        return Made(fault=reason(error))


def _work(data: xr.Dataset, job: Job) -> Made:
    if job.what == CHECK:
        from musclesolve.report.recheck import recheck

        return Made(recheck(data))
    if job.what == PICTURE:
        from musclesolve.report.picture.moving_picture import picture_fragment

        return Made(picture_fragment(data))
    from musclesolve.report.figures.figure_choice import figures_of
    from musclesolve.report.figures.inline_svg import inline_svg

    draw = figures_of(data, job.kind)[job.name]
    return Made(inline_svg(partial(draw, data), job.key, job.label))
