"""A page of nothing but the figures of a result, by kind, as the desk shows them."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from musclesolve.plotting.figure_names import FIGURE_NAMES, UNCERTAINTY
from musclesolve.report.drawing import FIGURE, work
from musclesolve.report.inputs import read_inputs
from musclesolve.report.rendering import parts, rendered
from musclesolve.report.sections import Picture, dataset_of, jobs_of


def figure_page(result: Path) -> str:
    """The figures of a result and of its uncertainty, where that lies beside it, as one page for a browser.

    Raises:
        InputError: the file cannot be read, or is no result.
    """
    beside = result.with_name(UNCERTAINTY)
    (trial, *_) = read_inputs([result, *([beside] if beside.is_file() else [])]).trials
    kinds: dict[str, list[Picture]] = {each.tab: [] for each in FIGURE_NAMES.values() if each.tab}
    for job in jobs_of(trial, 1, 0, picture=False):
        data = dataset_of(trial, job.kind)
        if job.what == FIGURE and data is not None:
            made = work(data, job)
            shown = Picture(job.key, job.name, job.label, Markup(made.content or ""), made.fault)
            kinds[FIGURE_NAMES[job.name].tab].append(shown)
    return rendered("figures.html", kinds={kind: own for kind, own in kinds.items() if own}, **parts())
