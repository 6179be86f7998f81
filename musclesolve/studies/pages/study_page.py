"""The page of a study: subjects, trials left out and why, mean curves, differences, a strip for every trial."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import product
from typing import Any

import numpy as np

from musclesolve._util.messages import Progress, capitalized, count_of, no_progress
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES
from musclesolve.laboratory.plotting.figure_names import REPORT, STUDY_PAGE
from musclesolve.laboratory.plotting.study.group_figures import group_drawings
from musclesolve.laboratory.report.content.methods import Citations
from musclesolve.laboratory.report.content.pieces import DASH, PageTable, Picture, drawn, from_rich, plain
from musclesolve.laboratory.report.page import versions
from musclesolve.laboratory.report.rendering import whole_page
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.judgement import LABELS, USABLE, words
from musclesolve.laboratory.results.plausibility import NOT_KNOWN
from musclesolve.laboratory.results.tables import study_tables
from musclesolve.laboratory.results.tables.lines import decimal
from musclesolve.sharing.status import verdict_words
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.pages import study_words
from musclesolve.studies.pages.study_words import left_out_table
from musclesolve.studies.study.analysis import VALUES, StudyResult
from musclesolve.studies.study.study_findings import VERDICTS, counted, has_legs, reasons, untested_reason

MOST_ROWS = 400
"""Number of trials up to which all are listed; of more trials only those with remarks."""


def study_page(result: StudyResult, progress: Progress = no_progress) -> str:
    """Return the whole page, which needs no other file; links lead to the reports of the trials beside it."""
    study, records = result.computed.study, result.computed.records
    citations, colors = Citations(), verdict_words()
    return whole_page(
        STUDY_PAGE,
        title=study.title,
        lead=study_words.lead_of(result),
        css=next(
            (words(name)["css"] for name, _ in Counter(study_words.verdicts_of(result)).most_common(1)), ""
        ),
        families=study_words.families_in_words(result, citations),
        sensitivity=result.sensitivity,
        plausible=_plausible(result),
        nothing_found=study_words.none_in_words(result),
        people=_people(result),
        left_out=left_out_table(result),
        findings=_findings(result),
        compared=[f"{capitalized(sentence)}." for sentence in result.compared.said],
        trials=list(trial_rows(result)),
        not_judged=not_judged(result),
        total=sum(record.outcome.has_result for record in records.values()),
        key=[(colors[verdict]["color"], plain(count)) for count, verdict in study_words.COUNTS],
        figures=list(_figures(result, progress)),
        differences=study_words.differences_of(result),
        said=[]
        if result.comparisons is None
        else [plain(statement) for statement in listed(result.comparisons, "said")],
        not_compared=untested_reason(result.not_compared),
        curve_notes=study_words.curve_notes_of(result),
        values=list(study_words.values_of(result)),
        values_file=next((path.name for path in result.files if path.stem == VALUES), ""),
        degrees=study_words.degrees_of(result),
        outliers=study_words.outliers_of(result),
        uncertain=study_words.uncertain_words(result),
        notes=[*_on_left_out(result), *result.computed.notes],
        methods=study_words.methods_of(result, citations),
        citations=citations,
        files=[*(path.relative_to(result.computed.folder).as_posix() for path in result.files), CSV],
        versions=versions(),
        made=date.today().isoformat(),
    )


def _plausible(result: StudyResult) -> list[PageTable]:
    """Return tables of the plausible legs of trials in each group and condition, with reasons for the others."""
    study, verdicts = result.computed.study, result.verdicts
    if not verdicts:
        return []
    label = {}
    for trial in study.included:
        label[trial.name] = str(study.of_subject(trial.subject, "group", "")), trial.condition
    of_cells = counted(verdicts, label)
    counts = {
        ", ".join(plain(part) for part in cell if part) or "all": of_cells[cell]
        for cell in product(study.people_of_groups, study.conditions)
        if cell in of_cells
    }
    if len(counts) > 1:
        counts["all"] = sum(counts.values(), Counter[str]())
    rows = [[name, *(count[key] for key in VERDICTS)] for name, count in counts.items()]
    legs = "legs" if has_legs(verdicts) else "trials"
    caption = f"{'Legs of trials' if has_legs(verdicts) else 'Trials'} that count, by their verdict"
    tables = [PageTable(caption, ["", *VERDICTS], rows)]
    why = [
        (name, outside, edge, f"{sentence} ({trial})")
        for name, outside, edge, sentence, trial in reasons(verdicts)
    ]
    if why:
        columns = ("criterion", f"{legs} outside", f"{legs} at the edge", "one of them")
        tables.append(PageTable(f"Why {legs} are not plausible, or at the edge", columns, why, prose=True))
    return tables


AFFECTED = {**SIDE_NAMES, "both": "both", "none": "none"}
"""Affected side of a subject, in words."""


def _people(result: StudyResult) -> list[PageTable]:
    """Return subjects of every group with their sizes and affected sides, trials and cycles of every condition."""
    study, cycles = result.computed.study, result.cycles
    groups = study.people_of_groups
    unnamed = study_tables.NO_GROUP if len(groups) > 1 else "all"

    def size(names: Sequence[str], key: str, digits: int) -> str:
        known = [study.of_subject(name, key, result.sizes.get(name, {}).get(key)) for name in names]
        values = [float(value) for value in known if value is not None]
        if not values:
            return DASH
        spread = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
        return f"{np.mean(values):.{digits}f}{spread}"

    sides = {name: study.of_subject(name, "affected_side") for names in groups.values() for name in names}
    rows = []
    for group, names in groups.items():
        females = [study.of_subject(name, "sex") for name in names].count("female")
        known = any(study.of_subject(name, "sex") for name in names)
        sizes = [
            size(names, key, digits) for key, digits in (("mass_kg", 1), ("stature_m", 2), ("age_years", 0))
        ]
        row = [group or unnamed, len(names), females if known else DASH, *sizes]
        if any(sides.values()):
            count = Counter(AFFECTED.get(str(sides[name]), "not stated") for name in names)
            row.append(", ".join(f"{number} {side}" for side, number in count.items()))
        rows.append(row)
    columns = ["group", "subjects", "female", "mass [kg]", "stature [m]", "age [years]"]
    columns += ["affected side"] * any(sides.values())
    caption = "Subjects, mean ± standard deviation; as the study file states them, else their trial files and models"
    known_of = [number for number in range(len(columns)) if any(row[number] != DASH for row in rows)]
    rows = [[row[number] for number in known_of] for row in rows]
    tables = [PageTable(caption, [columns[number] for number in known_of], rows)]

    conditions = study.conditions
    texts = dict.fromkeys(("subject", "trial", "group", "condition", "cycle_leg"), np.zeros(0, str))
    if cycles is not None:
        counting = cycles["counts"].values.astype(bool)
        texts = {key: np.asarray(cycles[key].values, str)[counting] for key in texts}
    legs = [name for name in dict.fromkeys(texts["cycle_leg"].tolist()) if name]
    counted = []
    for condition in conditions:
        row = [plain(condition) or "all trials"]
        for group in groups:
            here = (texts["group"] == group) & (texts["condition"] == condition)
            row += [str(np.unique(texts[key][here]).size) for key in ("subject", "trial")]
            row.append(str(int(here.sum())))
            row += [str(int((here & (texts["cycle_leg"] == leg)).sum())) for leg in legs]
        counted.append(row)
    heads = [
        f"{group or unnamed}: {what}" if len(groups) > 1 else what
        for group in groups
        for what in ("subjects", "trials", "cycles", *(f"of the {leg} leg" for leg in legs))
    ]
    title = "Subjects, trials and cycles that are averaged"
    return [*tables, PageTable(title, ["condition", *heads], counted)]


def _on_left_out(result: StudyResult) -> list[str]:
    """Return a sentence on the subjects in no mean and no test."""
    names = dict.fromkeys(result.computed.study.trial_of[name].subject for name in result.left_out)
    if not names:
        return []
    return [
        f"In no mean and no test: {', '.join(names)} ({count_of(len(result.left_out), 'trial')}), whose curves cannot "
        "be right; see what was found."
    ]


def _findings(result: StudyResult) -> PageTable | None:
    """Return errors and warnings on subjects and trials, each once."""
    table = study_tables.findings_table(result.findings)
    return replace(from_rich(table), compact=False) if table.row_count else None


def trial_rows(result: StudyResult) -> Iterator[dict[str, Any]]:
    """A row for every trial with a result; for very many trials only those with remarks.

    link: its report, or its folder. parts: width [%], color and words of each verdict. contact: peaks of the joints of
    legs, "" where there are none.
    """
    study, folder = result.computed.study, result.computed.folder
    verdicts = verdict_words()
    records = [record for record in result.computed.records.values() if record.outcome.has_result]
    if len(records) > MOST_ROWS:
        records = [
            one for one in records if not one.fine or (one.measures and one.measures.verdict != USABLE)
        ][:MOST_ROWS]
    for record in records:
        trial, measures = study.trial_of[record.name], record.measures
        if measures is None:
            continue
        counts = [getattr(measures, key) for key, _ in study_words.COUNTS]
        every = max(sum(counts), 1)
        parts = [
            (100.0 * count / every, verdicts[verdict]["color"], f"{count} {key.replace('_', ' ')}")
            for count, (key, verdict) in zip(counts, study_words.COUNTS, strict=True)
            if count
        ]
        page = record.folder / REPORT
        link = page if page.is_file() else record.folder
        yield {
            "name": record.name,
            "link": link.relative_to(folder).as_posix() + ("" if page.is_file() else "/"),
            "subject": trial.subject,
            "group": str(study.of_subject(trial.subject, "group", "")),
            "condition": trial.condition,
            "parts": parts,
            "badge": (words(measures.verdict)["css"], LABELS[measures.verdict].lower()),
            "contact": " / ".join(decimal(measures.contact[joint], 1) for joint in LEG_JOINTS)
            if measures.joints
            else "",
            "message": "; ".join(measures.findings),
        }


def not_judged(result: StudyResult) -> list[str]:
    """Return the reasons why the verdict on trials is not known, each reason once with its number of trials."""
    measured = [record.measures for record in result.computed.records.values() if record.measures is not None]
    reasons = Counter(one.reason for one in measured if one.plausibility == NOT_KNOWN and one.reason)
    return [
        f"The plausibility of {count_of(n, 'trial')} is not known: {text}." for text, n in reasons.items()
    ]


def _figures(result: StudyResult, report: Progress) -> Iterator[Picture]:
    """Return the mean curves of every quantity."""
    if result.groups is None:
        return
    groups = result.groups
    drawings = group_drawings(groups, result.comparisons, result.computed.study.design.drawn)
    for number, (name, draw) in enumerate(drawings.items()):
        report("drawing", number / len(drawings))
        quantity, _, page = name.removeprefix("group_").rpartition("_")
        label = f"{quantity}, page {page}" if page.isdecimal() else name.removeprefix("group_")
        label = plain(label).capitalize()
        yield drawn(f"s-{name}", name, draw, groups, label)
