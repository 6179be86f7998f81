"""A report: one self-contained HTML page, made of the files of trials and written beside them; pages of the desk."""

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from markupsafe import Markup

from musclesolve._util.arrays import grouped
from musclesolve._util.collection import uncollected
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, joint_kind
from musclesolve.errors import file_error
from musclesolve.laboratory.plotting.figure_names import (
    COMPARISON,
    FIGURE_NAMES,
    REPORT,
    RESULTS,
    UNCERTAINTY,
)
from musclesolve.laboratory.plotting.page.page_style import current_style
from musclesolve.laboratory.plotting.result.joint_figures import clinical_sheet
from musclesolve.laboratory.plotting.study.group_figures import DASHES
from musclesolve.laboratory.report.content import trial_sections
from musclesolve.laboratory.report.content.methods import Citations, methods
from musclesolve.laboratory.report.content.pieces import (
    DASH,
    Absent,
    PageTable,
    Picture,
    cell,
    digest,
    drawn,
    figures_of,
    from_rich,
    plain,
)
from musclesolve.laboratory.report.content.trial_sections import contact_sources
from musclesolve.laboratory.report.inputs import (
    AVERAGE,
    DAMAGE,
    KIND_NAMES,
    RESULT,
    Inputs,
    TrialFiles,
    read_inputs,
    reason,
)
from musclesolve.laboratory.report.picture.moving_picture import with_geometry
from musclesolve.laboratory.report.rendering import css_string, whole_page
from musclesolve.laboratory.report.sections import (
    Headline,
    headline,
    moving,
    no_headline,
    pictures_of,
    sections_of,
)
from musclesolve.laboratory.results.cycles.cycle_averages import differences
from musclesolve.laboratory.results.cycles.gait_scores import norms
from musclesolve.laboratory.results.dataset.result_quantities import listed, number, text, trial_name
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.laboratory.results.files.result_netcdf import (
    answers_beside,
    read_result,
    with_storable_texts,
)
from musclesolve.laboratory.results.tables.average_tables import average_facts, average_table
from musclesolve.version import __version__

MOST_BYTES = 9_500_000
"""Largest size of a page, below 10 MB: figures of the last trials are left out where it would be exceeded."""
LEFT_OUT = "left out to keep the page below 10 MB: make a report of this trial alone"
ONE_PICTURE = Picture(
    *("", "picture", ""),
    fault="The page holds the moving picture of the first trial only, to stay small; see `musclesolve picture`.",
)
PAGE_SUFFIXES = (".html", ".htm")


def write_report(
    paths: Sequence[str | Path],
    output: str | Path | None = None,
    progress: Progress = no_progress,
    geometry: str | Path | None = None,
) -> tuple[Path, Inputs]:
    """Write a report of results, with further files computed of the same trials.

    Args:
        paths: result.nc, uncertainty.nc, comparison.nc, average.nc and answers to questions (margins.nc, ...), in any
            order; their content says which is which. Answers that were made with a result are found beside it.
        output: the page (.html), or a folder for report.html; beside the first file unless given.
        progress: called with the name of each stage and the share of the work that is done.
        geometry: folder with the .vtp, .stl or .obj files of an OpenSim model, where these are not in the folder
            Geometry beside it.

    Returns:
        The page, and its sources.
    """
    progress("reading", 0.0)
    norms(current_style().norm_file)  # a wrong norm file is refused before anything is drawn
    inputs = read_inputs(paths)
    named = {os.path.realpath(source.path) for source in inputs.sources}
    results = [source.path for source in inputs.sources if source.kind == RESULT]
    beside = [
        file for path in results for file in answers_beside(path) if os.path.realpath(file) not in named
    ]
    if beside:
        inputs = read_inputs([*paths, *beside])
    if geometry is not None and inputs.trials:
        inputs.trials[0].base = with_geometry(inputs.trials[0].base, geometry)
    target = Path(paths[0]).parent if output is None else Path(output)
    if target.is_dir():
        target = target / REPORT
    if target.suffix.casefold() not in PAGE_SUFFIXES:
        suffix = target.suffix or "a file without suffix"
        raise file_error(
            "bad_value",
            target,
            f"a report is a page of HTML, not {suffix}",
            "a name that ends in .html, or a folder",
            "-o report.html, which a browser prints to PDF; musclesolve plot --format pdf draws the figures",
        )
    if os.path.realpath(target) in {os.path.realpath(path) for path in paths}:
        raise file_error(
            "occupied_folder",
            target,
            "this is one of the files that the report is made of",
            remedy="choose another name with -o",
        )
    with reserved(target.parent):
        page = report_page(inputs, progress)
        (written,) = write_files(target.parent, {target.name: page.encode("utf-8", "replace")})
    return written, inputs


def trial_report(result: xr.Dataset, path: Path, facts: Facts | None = None) -> bytes:
    """The report of one trial, as the content of a file beside its result, which is in this file; facts: if known."""
    beside, held = path.with_name(UNCERTAINTY), with_storable_texts(result)
    held.encoding = result.encoding | {"source": str(path)}
    paths = [path, *([beside] if beside.is_file() else []), *answers_beside(path)]
    inputs = read_inputs(paths, {path: held})
    if facts is not None:
        inputs.trials[0].facts = facts
    return report_page(inputs).encode("utf-8", "replace")


@uncollected()
def report_page(inputs: Inputs, progress: Progress = no_progress) -> str:
    """The whole page.

    Args:
        inputs: what `read_inputs` returned.
        progress: called with the name of each stage and the share of the work that is done.
    """
    size, trials, titles, in_implants = 0, list[dict[str, Any]](), _titles(inputs.trials), list[str]()

    def fitting(pictures: Iterable[Picture]) -> Iterator[Picture]:
        """The pictures; the last ones of a too large page are left out."""
        nonlocal size
        for picture in pictures:
            size += len(picture.data)
            yield picture if size <= MOST_BYTES else replace(picture, data="", fault=LEFT_OUT)

    for place, (trial, title) in enumerate(zip(inputs.trials, titles, strict=True), start=1):
        progress("drawing", (place - 1) / len(titles))
        key = f"t{place}"
        (shown,) = fitting([moving(trial)]) if place == 1 else (ONE_PICTURE,)
        figures = {picture.name: picture for picture in fitting(pictures_of(trial, key))}
        try:
            top = headline(trial.facts, trial.table)
            in_implants += contact_sources(trial.facts)
        except DAMAGE as error:
            top = no_headline(reason(error))
        sections = sections_of(trial, key, figures, shown)
        person = trial_sections.person(trial)
        trials.append({"key": key, "title": title, "who": person, "headline": top, "sections": sections})
    averages = []
    for place, source in enumerate(inputs.averages, start=1):
        key, draws = f"a{place}", figures_of(source.data, AVERAGE)
        figs = list(fitting(drawn(f"{key}-{name}", name, draw, source.data) for name, draw in draws.items()))
        try:
            content, fault = average(source.data), ""
        except DAMAGE as error:
            content, fault = {}, reason(error)
        averages.append({"key": key, "file": source.path.name, "figures": figs, "fault": fault, **content})
    progress("writing", 1.0)
    versions_of_files = (text(source.data, "musclesolve_version") for source in inputs.sources)
    citations = Citations(next(versions_of_files, "") or __version__)
    try:
        paragraphs = [methods(trial, citations) for trial in inputs.trials[:1]]
    except DAMAGE:
        paragraphs = []
    names, count = subjects(inputs), len(trials)
    who = names[0] if len(names) == 1 else f"{len(names)} subjects" if names else "a subject without name"
    what = titles[0] if count == 1 else f"{count} trials" if count else "average"
    return whole_page(
        "page.html",
        title=f"{who}, {what}",
        margins=_margins(f"{who}, {what}", inputs.trials),
        trials=trials,
        overview=overview(inputs, [t["headline"] for t in trials], titles),
        together=_together(inputs, titles),
        subjects=names,
        averages=averages,
        methods=paragraphs,
        differences=differences([trial.base for trial in inputs.trials]),
        citations=citations,
        contact_sources=citations.cite(*dict.fromkeys(in_implants)) if in_implants else "",
        files=files_of_report(inputs),
        unreadable=inputs.unreadable,
        versions=versions(),
        made=date.today().isoformat(),
    )


def _margins(title: str, trials: Sequence[TrialFiles]) -> list[tuple[str, Markup]]:
    """The margins of every printed page as CSS: the title, the days of the recordings, the number of the page."""
    days = dict.fromkeys(
        day or trial_sections.NOT_STATED
        for trial in trials
        if (day := text(trial.base, "recording_date")) or not trial.of_model
    )
    recorded = [("top-center", css_string(f"recorded on: {', '.join(days)}"))] if days else []
    pages = css_string("page ") + Markup(" counter(page) ") + css_string(" of ") + Markup(" counter(pages)")
    return [("top-left", css_string(title)), *recorded, ("top-right", pages)]


def _together(inputs: Inputs, titles: Sequence[str]) -> Picture | None:
    """The clinical sheet of several trials of one person; None of one trial, of many, or of several persons."""
    trials = inputs.trials
    if not 1 < len(trials) <= len(DASHES) or len(subjects(inputs)) > 1:
        return None
    named = {title: trial.base for title, trial in zip(titles, trials, strict=True)}
    label = "Angles, moments and powers of the trials: the color says the leg, the dashes say the trial."
    return drawn("together", "clinical_sheet", clinical_sheet, named, label)


def _titles(trials: Sequence[TrialFiles]) -> list[str]:
    """A unique name for each trial."""
    names = [trial_name(trial.base) or trial.path.stem for trial in trials]
    if len(set(names)) == len(names):
        return names
    paths = [trial.path.resolve().parts for trial in trials]
    for depth in range(2, max(map(len, paths)) + 1):
        longer = [f"{name} ({'/'.join(path[-depth:])})" for name, path in zip(names, paths, strict=True)]
        if len(set(longer)) == len(longer):
            return longer
    return [f"{number}: {name}" for number, name in enumerate(names, start=1)]


def figure_page(result: Path) -> str:
    """The figures of a result and of its uncertainty, where that lies beside it, as one page for a browser."""
    beside = result.with_name(UNCERTAINTY)
    (trial, *_) = read_inputs([result, *([beside] if beside.is_file() else [])]).trials
    shown = grouped((FIGURE_NAMES[picture.name].tab, picture) for picture in pictures_of(trial, "t1"))
    tabs = dict.fromkeys(figure.tab for figure in FIGURE_NAMES.values())
    kinds = {tab: shown[tab] for tab in tabs if tab in shown}
    return whole_page("figures.html", heading="Figures of the result", kinds=kinds)


def answer_page(path: Path, question: str) -> str:
    """The answer to a question about a trial: sentences, figures and tables, as in the section of a report."""
    data, pictures = read_result(path), list[Picture]()
    try:
        content = dict(trial_sections.answer(data, question))
    except Absent as absent:
        content = {"answer": str(absent)}
    else:
        pictures = [drawn(name, name, draw, data) for name, draw in figures_of(data, question).items()]
    kinds = {"Figures": pictures} if pictures else {}
    return whole_page("figures.html", heading="Answer", kinds=kinds, **content)


def comparison_page(path: Path) -> str:
    """Figures of a comparison of costs (comparison.nc) or of results (compared.nc), a page for each leg and figure."""
    data = read_result(path)
    figures = figures_of(data, COMPARISON if "cost" in data.dims else RESULTS)
    kinds = grouped(
        (FIGURE_NAMES[name.rpartition("_")[0]].tab, drawn(name, name, draw, data))
        for name, draw in figures.items()
    )
    return whole_page("figures.html", heading="Figures of the comparison", kinds=kinds)


def overview(inputs: Inputs, headlines: Sequence[Headline], titles: Sequence[str]) -> PageTable | None:
    """A row for each trial; None of a single one."""
    if len(inputs.trials) < 2:
        return None
    joints, unit = _joints(inputs)
    rows = []
    for trial, top, title in zip(inputs.trials, headlines, titles, strict=True):
        try:
            numbers = _numbers(trial.facts, joints, unit)
        except DAMAGE:
            numbers = [DASH] * (3 + len(joints))
        rows.append(
            (title, text(trial.base, "subject"), f"{top.judgement.mark} {top.judgement.label}", *numbers)
        )
    of_legs = joints == LEG_JOINTS
    peaks = [f"{plain(joint)} peak [{unit}]" for joint in joints]
    valid = "valid leg-frames" if of_legs else "valid frames"
    columns = ("trial", "subject", "verdict", valid, "speed [m/s]", *peaks, "EMG, median r")
    sides = "; contact forces of the right / left leg" if of_legs else ""
    return PageTable(f"The trials side by side{sides}", columns, rows)


def _joints(inputs: Inputs) -> tuple[tuple[str, ...], str]:
    """The joints of the overview, hip, knee and ankle where a trial shows legs, and the unit of their forces.

    Forces are in body weights where these are known of every trial with forces of joints.
    """
    stems, legs, weighed = dict[str, None](), False, True
    for trial in inputs.trials:
        try:
            peaks = trial.facts.contact_peaks
            legs |= trial.facts.shows_legs
        except DAMAGE:
            continue
        stems |= dict.fromkeys(peak.stem for peak in peaks)
        weighed &= all(np.isfinite(peak.body_weights) for peak in peaks)
    return (LEG_JOINTS if legs else tuple(stems)), "BW" if weighed else "N"


def _numbers(facts: Facts, joints: Sequence[str], unit: str) -> list[str]:
    """Valid frames, speed, contact forces at some joints and agreement with EMG of a trial."""
    speeds = facts.result["walking_speed"].values if "walking_speed" in facts.result else np.empty(0)
    speed = cell(float(np.nanmean(speeds)), 2) if np.isfinite(speeds).any() else DASH
    peaks = [
        " / ".join(
            cell(peak.newton, 0) if unit == "N" else cell(peak.body_weights, 2)
            for peak in facts.contact_peaks
            if joint in (peak.stem, joint_kind(peak.stem))
        )
        or DASH
        for joint in joints
    ]
    both = facts.median_and_mean_correlation
    emg = DASH if both is None else cell(both[0], 2)
    return [f"{facts.counts.valid} of {facts.counts.analyzed}", speed, *peaks, emg]


def subjects(inputs: Inputs) -> list[str]:
    """The subjects of the files, each once; equal names and masses, or no stated mass, mean the same subject."""
    known: dict[tuple[str, float | None], str] = {}
    for source in inputs.sources:
        name, mass = text(source.data, "subject"), number(source.data, "subject_mass_kg")
        known.setdefault((name, None if mass is None else round(mass, 3)), name or "a subject without name")
    weighed = {name for name, mass in known if mass is not None}
    known = {key: name for key, name in known.items() if key[1] is not None or key[0] not in weighed}
    names = list(known.values())
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({mass:g} kg)" if mass else name for (_, mass), name in known.items()]


def average(data: xr.Dataset) -> dict[str, object]:
    """Numbers of the strides, and notes on cycles left out."""
    return {
        "tables": [from_rich(average_table(data))],
        "remarks": average_facts(data),
        "cycles": listed(data, "cycles"),
        "legs": ", ".join(
            f"{int(data['cycles'].sel(side=side))} of the {SIDE_NAMES.get(str(side), side)} leg"
            for side in data["side"].values
        ),
    }


def files_of_report(inputs: Inputs) -> PageTable:
    """The files from which the page was made."""
    rows = [
        (
            source.path.name,
            KIND_NAMES[source.kind],
            text(source.data, "musclesolve_version", DASH),
            digest(source.digest),
        )
        for source in inputs.sources
    ]
    return PageTable("Files of this report", ("file", "what", "made by version", "SHA-256"), rows)


def versions() -> list[tuple[str, str]]:
    """Return the versions of the software that made the page."""
    return [("musclesolve", __version__), ("Python", platform.python_version()), ("NumPy", np.__version__)]
