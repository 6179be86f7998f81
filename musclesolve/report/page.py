"""The report as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import xarray as xr
from markupsafe import Markup

from musclesolve._util.progress import Progress, no_progress
from musclesolve.checking.finding import Report
from musclesolve.report.content.citations import Citations
from musclesolve.report.content.headline import Headline, headline, no_headline
from musclesolve.report.content.limits import contact_forces_of_others
from musclesolve.report.content.methods import methods
from musclesolve.report.content.overview import (
    average,
    differences,
    files_of_report,
    overview,
    subjects,
    versions,
)
from musclesolve.report.damage import DAMAGE, reason
from musclesolve.report.drawing import CHECK, FIGURE, Job, Made, make
from musclesolve.report.figures.figure_choice import caption, figures_of
from musclesolve.report.inputs import AVERAGE, Inputs, TrialFiles
from musclesolve.report.sections import Picture, Section, jobs_of, sections_of
from musclesolve.results.dataset.attributes import text, trial_name
from musclesolve.version import __version__

MOST_BYTES = 9_500_000
"""A page is kept below 10 MB: figures of the last trials are left out where it would not be."""
LEFT_OUT = "left out to keep the page below 10 MB: make a report of this trial alone"


@dataclass(frozen=True)
class TrialPage:
    """A trial as the templates take it."""

    key: str
    title: str
    headline: Headline
    sections: list[Section]


def report_page(inputs: Inputs, progress: Progress | None = None, workers: int = 1) -> str:
    """The whole page.

    Args:
        inputs: what `read_inputs` returned.
        progress: called with the name of each stage and the share of the work that is done.
        workers: how many processes draw figures side by side.
    """
    from musclesolve.report.rendering import render

    report = progress or no_progress
    report("drawing", 0.0)
    jobs, datasets = _jobs(inputs)
    made = make(datasets, jobs, workers, report)
    report("writing", 1.0)
    _keep_small(jobs, made)
    trials = _trial_pages(inputs, jobs, made)
    citations = Citations(_version(inputs))
    content = {
        "title": _title(inputs),
        "trials": trials,
        "overview": overview(inputs, [each.headline for each in trials], [each.title for each in trials]),
        "subjects": subjects(inputs),
        "averages": _averages(inputs, jobs, made),
        "methods": _methods(inputs, citations),
        "differences": differences(inputs),
        "citations": citations,
        "contact_sources": _contact_sources(citations),
        "files": files_of_report(inputs),
        "unreadable": inputs.unreadable,
        "versions": versions(),
        "made": date.today().isoformat(),
    }
    return render(content)


def _jobs(inputs: Inputs) -> tuple[list[Job], list[xr.Dataset]]:
    """Everything that takes time, and the datasets that it is made of, three for each trial and one of each average."""
    jobs: list[Job] = []
    datasets: list[xr.Dataset] = []
    for number, trial in enumerate(inputs.trials, start=1):
        jobs += jobs_of(trial, number, len(datasets), picture=number == 1)
        none = xr.Dataset()
        studies = (trial.uncertainty, trial.comparison)
        datasets += [trial.base, *(none if each is None else each for each in studies)]
    for number, source in enumerate(inputs.averages, start=1):
        for name, draw in figures_of(source.data, AVERAGE).items():
            jobs.append(Job(FIGURE, len(datasets), AVERAGE, name, f"a{number}-{name}", caption(name, draw)))
        datasets.append(source.data)
    return jobs, datasets


def _keep_small(jobs: Sequence[Job], made: dict[str, Made]) -> None:
    """Leave out figures, the last ones, of a page that would be too large."""
    size = 0
    for job in jobs:
        if job.what == CHECK or not made[job.key].content:
            continue
        size += len(made[job.key].content)
        if size > MOST_BYTES:
            made[job.key] = Made(fault=LEFT_OUT)


def _trial_pages(inputs: Inputs, jobs: Sequence[Job], made: dict[str, Made]) -> list[TrialPage]:
    titles, pages = _titles(inputs.trials), []
    for number, (trial, title) in enumerate(zip(inputs.trials, titles, strict=True), start=1):
        key = f"t{number}"
        own = [job for job in jobs if job.key.startswith(f"{key}-")]
        top = _headline(trial, made[f"{key}-check"].content)
        pages.append(TrialPage(key, title, top, sections_of(trial, number, own, made)))
    return pages


def _headline(trial: TrialFiles, checked: Report | str | None) -> Headline:
    try:
        return headline(trial.facts, checked)
    except DAMAGE as error:
        return no_headline(reason(error))


def _methods(inputs: Inputs, citations: Citations) -> list[list[Any]]:
    """The paragraph of the first trial; none of a damaged one."""
    try:
        return [methods(trial, citations) for trial in inputs.trials[:1]]
    except DAMAGE:
        return []


def _titles(trials: Sequence[TrialFiles]) -> list[str]:
    """A name for each trial, its own."""
    names = [trial_name(trial.base) or trial.path.stem for trial in trials]
    if len(set(names)) == len(names):
        return names
    longer = [
        f"{name} ({trial.path.parent.name}/{trial.path.name})"
        for name, trial in zip(names, trials, strict=True)
    ]
    if len(set(longer)) == len(longer):
        return longer
    return [f"{number}: {name}" for number, name in enumerate(longer, start=1)]


def _title(inputs: Inputs) -> str:
    names = subjects(inputs)
    who = names[0] if len(names) == 1 else f"{len(names)} subjects" if names else "a subject without name"
    count = len(inputs.trials)
    what = _titles(inputs.trials)[0] if count == 1 else f"{count} trials" if count else "average"
    return f"{who}, {what}"


def _averages(inputs: Inputs, jobs: Sequence[Job], made: dict[str, Made]) -> list[dict[str, Any]]:
    found = []
    for number, source in enumerate(inputs.averages, start=1):
        own = [job for job in jobs if job.key.startswith(f"a{number}-")]
        figures = [
            Picture(job.name, job.label, Markup(made[job.key].content or ""), made[job.key].fault)
            for job in own
        ]
        try:
            content, fault = average(source.data), ""
        except DAMAGE as error:
            content, fault = {}, reason(error)
        found.append(
            {"key": f"a{number}", "file": source.path.name, "figures": figures, "fault": fault, **content}
        )
    return found


def _contact_sources(citations: Citations) -> Markup:
    """The works that the contact forces of others are taken from."""
    sources = (each["sources"] for each in contact_forces_of_others().values())
    return citations.cite(*dict.fromkeys(key for own in sources for key in own))


def _version(inputs: Inputs) -> str:
    return next((text(each.data, "musclesolve_version") for each in inputs.sources), "") or __version__
