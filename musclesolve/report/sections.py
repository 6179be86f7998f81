"""The sections of a trial: what each of them says, its figures, or why it is absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.report.content import trial_sections as content
from musclesolve.report.content.headline import general, limits
from musclesolve.report.content.pieces import DAMAGE, Absent, reason
from musclesolve.report.drawing import CHECK, FIGURE, PICTURE, DrawingTask, Made
from musclesolve.report.figures.figure_choice import caption, figures_of
from musclesolve.report.inputs import COMPARISON, RESULT, UNCERTAINTY, TrialFiles
from musclesolve.results.dataset.result_quantities import is_elastic
from musclesolve.results.finding import SEVERITIES
from musclesolve.results.judgement import judge

ONE_PICTURE = (
    "The page holds the moving picture of the first trial only, to stay small; see `musclesolve picture`."
)
ONE_FRAME = "A result of a single frame has no curves to draw."
LAST = "further"


@dataclass(frozen=True)
class Picture:
    """A figure of a section, or why it is not there."""

    name: str
    label: str
    svg: str = ""  # safe
    fault: str = ""


@dataclass(frozen=True)
class Section:
    """A section as the templates take it."""

    name: str
    title: str
    lead: str
    content: Mapping[str, Any]
    figures: Sequence[Picture]
    absent: str = ""
    note: str = ""  # why there are no figures


def specifications() -> dict[str, dict[str, Any]]:
    """Title, lead and figures of every section."""
    return bundled_toml("musclesolve.report", "texts", "sections.toml")


def dataset_of(trial: TrialFiles, kind: str) -> xr.Dataset | None:
    """The dataset that figures of a kind are of."""
    return {RESULT: trial.base, UNCERTAINTY: trial.uncertainty, COMPARISON: trial.comparison}[kind]


def jobs_of(trial: TrialFiles, number: int, first: int, picture: bool) -> list[DrawingTask]:
    """What takes time for a trial; `first` is the number of its base dataset, those of the studies follow."""
    key = f"t{number}"
    jobs = [DrawingTask(CHECK, first, RESULT, CHECK, f"{key}-check")]
    if picture:
        jobs.append(DrawingTask(PICTURE, first, RESULT, PICTURE, f"{key}-picture"))
    for place, kind in enumerate((RESULT, UNCERTAINTY, COMPARISON)):
        data = dataset_of(trial, kind)
        if data is not None and data.sizes["time"] > 1 and (kind != RESULT or trial.origin != UNCERTAINTY):
            for name, draw in figures_of(data, kind).items():
                jobs.append(
                    DrawingTask(FIGURE, first + place, kind, name, f"{key}-{name}", caption(name, draw))
                )
    return jobs


def sections_of(
    trial: TrialFiles, number: int, jobs: Sequence[DrawingTask], made: Mapping[str, Made]
) -> list[Section]:
    """All sections of a trial, in their order."""
    key = f"t{number}"
    figures = {
        job.name: Picture(job.name, job.label, Markup(made[job.key].content or ""), made[job.key].fault)
        for job in jobs
        if job.what == FIGURE
    }
    named = {name for spec in specifications().values() for name in spec.get("figures", [])}
    sections = []
    for name, spec in specifications().items():
        if spec.get("only_with", "time") not in trial.base:
            continue
        wanted = spec.get("figures", [])
        if name == LAST:
            wanted = [each for each in figures if each not in named]
            if not wanted:
                continue
        # a result that lacks or damages a part has the other sections still
        said, absent = dict[str, Any](), ""
        try:
            said = _content(name, trial, key, made)
        except Absent as why:
            absent = str(why)
        except DAMAGE as error:
            absent = f"This section cannot be made of this file: {reason(error)}"
        own = [] if absent else [figures[each] for each in wanted if each in figures]
        note = ONE_FRAME if wanted and not absent and trial.base.sizes["time"] < 2 else ""
        sections.append(Section(name, spec["title"], spec.get("lead", ""), said, own, absent, note))
    return sections


def _content(name: str, trial: TrialFiles, key: str, made: Mapping[str, Made]) -> dict[str, Any]:
    """What a section says.

    Raises:
        Absent: why it says nothing.
    """
    checked, picture = made.get(f"{key}-check"), made.get(f"{key}-picture")
    match name:
        case "check":
            judgement = judge(trial.facts)
            findings = {severity: judgement.of(severity) for severity in SEVERITIES}
            state = "" if checked is None else checked.fault or checked.content
            return {"verdict": judgement.sentence, "found": findings, "state": state}
        case "picture":
            if picture is None:
                raise Absent(ONE_PICTURE)
            if picture.fault:
                raise Absent(f"The moving picture could not be made: {picture.fault}")
            return {"html": Markup(picture.content)}
        case "verdicts":
            return content.verdicts(trial, key)
        case "limits":
            known = limits(trial.facts, trial.changed)
            of_method = general(trial.of_model, is_elastic(trial.base))
            return {"own": [limit.sentence for limit in known], "general": of_method}
        case _ if name == LAST:
            return {}
        case _:  # a section that needs nothing but the files of the trial
            build: Callable[[TrialFiles], dict[str, Any]] = getattr(content, name)
            return build(trial)
