"""The page of a study: subjects, trials left out and reasons, mean curves and differences, a strip for every trial."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import capitalized, count_of
from musclesolve._util.names import shortened
from musclesolve._util.progress import Progress, no_progress
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES
from musclesolve.plotting.figure_names import REPORT, STUDY_PAGE, group_figures_in
from musclesolve.plotting.study.group_figures import group_drawings, group_files
from musclesolve.report.content.methods import OF_METHODS, Citations, study_methods
from musclesolve.report.content.overview import versions
from musclesolve.report.content.pieces import DAMAGE, DASH, PageTable, from_rich, plain
from musclesolve.report.figures.figure_choice import Picture, drawn
from musclesolve.report.inputs import TrialFiles, read_inputs
from musclesolve.report.page import trial_report
from musclesolve.report.rendering import whole_page
from musclesolve.results.cycles.curve_test import CurveTest, curve_tests
from musclesolve.results.cycles.gait_cycles import SPREAD
from musclesolve.results.cycles.outcomes import CYCLE, STRIDE, without_arms_and_empty
from musclesolve.results.dataset.quantities import shown
from musclesolve.results.dataset.result_quantities import listed
from musclesolve.results.files.atomic_writing import write_files
from musclesolve.results.files.result_netcdf import result_attributes
from musclesolve.results.judgement import LABELS, USABLE, counted_verdicts, words
from musclesolve.results.plausibility import NOT_KNOWN
from musclesolve.results.tables import study_tables
from musclesolve.results.tables.lines import decimal
from musclesolve.sharing.status import verdict_words
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.studies.study.analysis import COMPARISONS, VALUES, StudyResult, analyze_study
from musclesolve.studies.study.plausible_trials import VERDICTS, counted, reasons
from musclesolve.studies.study.run_study import compute_trials
from musclesolve.studies.study.study_data import DATA

NUMBER = re.compile(r"[0-9]+(?:[.][0-9]+)?")
"""Pattern of numbers: reasons that differ only in numbers are joined."""
MOST_ROWS = 400
"""Number of trials up to which all are listed; of more trials only those with remarks."""
COUNTS = (("solved", "solved"), ("with_reserve", "solved_with_reserve"), ("without_solution", "infeasible"),
         ("not_measured", "not_measured"))  # fmt: skip
"""Counts of a trial's record, and the verdict whose color they have."""


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


def study_page(result: StudyResult, progress: Progress | None = None) -> str:
    """Return the whole page, which needs no other file; links lead to the reports of the trials beside it."""
    report = progress or no_progress
    study, records = result.computed.study, result.computed.records
    citations, colors = Citations(), verdict_words()
    return whole_page(
        STUDY_PAGE,
        title=study.title,
        lead=_lead(result),
        css=next((words(name)["css"] for name, _ in Counter(_verdicts(result)).most_common(1)), ""),
        families=_families(result, citations),
        sensitivity=result.sensitivity,
        plausible=_plausible(result),
        nothing_found=_nothing_found(result),
        people=_people(result),
        left_out=left_out_table(result),
        findings=_findings(result),
        compared=[f"{capitalized(sentence)}." for sentence in result.compared.said],
        trials=list(trial_rows(result)),
        not_judged=not_judged(result),
        total=sum(record.outcome.has_result for record in records.values()),
        key=[(colors[verdict]["color"], plain(count)) for count, verdict in COUNTS],
        figures=list(_figures(result, report)),
        differences=_differences(result),
        said=[]
        if result.comparisons is None
        else [plain(statement) for statement in listed(result.comparisons, "said")],
        not_compared=result.not_compared.replace("not tested: ", "").removeprefix("Nothing is compared: "),
        curve_notes=_curve_notes(result),
        values=list(_values(result)),
        values_file=next((path.name for path in result.files if path.stem == VALUES), ""),
        degrees=_degrees(result),
        outliers=_outliers(result),
        uncertain=_uncertainty(result),
        notes=[*_on_left_out(result), *result.computed.notes],
        methods=_methods(result, citations),
        citations=citations,
        files=[*(path.relative_to(result.computed.folder).as_posix() for path in result.files), CSV],
        versions=versions(),
        made=date.today().isoformat(),
    )


def _verdicts(result: StudyResult) -> list[str]:
    """The verdicts of the trials with a result."""
    return [record.measures.verdict for record in result.computed.records.values() if record.measures]


def _lead(result: StudyResult) -> str:
    """Return a sentence on the numbers of subjects, groups, conditions, trials and cycles, all and averaged."""
    study, records = result.computed.study, result.computed.records
    subjects = {trial.subject for trial in study.included}
    groups = {str(study.of_subject(name, "group", "")) for name in subjects} - {""}
    conditions = {trial.condition for trial in study.included} - {""}
    parts, averaged, cycles = [count_of(len(subjects), "subject")], 0, 0
    if result.cycles is not None:
        counting = result.cycles["counts"].values.astype(bool)
        people, averaged = (
            len(set(result.cycles[key].values[counting].tolist())) for key in ("subject", "trial")
        )
        cycles = int(counting.sum())
        parts = [f"{people} of {parts[0]}"] if people < len(subjects) else parts
    parts += [count_of(len(groups), "group")] if len(groups) > 1 else []
    parts += [count_of(len(conditions), "condition")] if len(conditions) > 1 else []
    without = sum(not record.outcome.has_result for record in records.values())
    excluded = len(study.trials) - len(study.included)
    trials = f"{len(records) - without} of {count_of(len(study.trials), 'trial')} with a result"
    trials += f", {excluded} excluded" if excluded else ""
    trials += f", {without} without one" if without else ""
    trials += f", {averaged} averaged" if averaged < len(records) - without else ""
    verdicts = counted_verdicts(_verdicts(result))
    return f"{'; '.join(filter(None, (', '.join(parts), trials, count_of(cycles, 'cycle'), verdicts)))}."


def _families(result: StudyResult, citations: Citations) -> list[dict[str, Any]]:
    """The outcome of each family of tests in sentences: primary outcomes first, then the smallest p.

    Differences of other outcomes that are smaller than the measurement error are counted only. A family has its title,
    differences that were found and the number of `more` in the table alone, a sentence on `small` ones, and on `none`.
    """
    if result.comparisons is None:
        return []
    tests = curve_tests(result.comparisons)
    families = list[dict[str, Any]]()
    for name in sorted({test.family for test in tests}, key=lambda each: each == "exploratory"):
        own = [test for test in tests if test.family == name and test.follows < 0]
        primary = name == "primary"
        differing = sorted((test for test in own if test.clusters), key=_least_p)
        counted_only = [test for test in differing if not primary and _is_small(test)]
        found = [_sentence(test, tests) for test in differing if test not in counted_only]
        most = len(found) if primary else MOST_SENTENCES
        without: dict[str, list[str]] = {}
        for test in own if primary else ():
            if not test.clusters and np.isfinite(test.threshold):
                size = "" if test.interval is None else f", {_amount(test, test.interval.difference)}"
                p = f"{_effect(test)} p {_p_words(test.p_largest)}{size}"
                without.setdefault(test.words, []).append(p)
        curves = "; ".join(f"{words} ({', '.join(each)})" for words, each in without.items())
        none = f"No difference found, with p of the largest: {curves}." if curves else ""
        title = {"primary": "Primary outcomes", "exploratory": "Exploratory"}.get(name, "")
        if name == "exploratory" and not differing:
            none = f"None of {count_of(len(own), 'exploratory test')} finds a difference."
        small = _small_words([test.unit for test in counted_only], citations)
        families.append(
            {"title": title, "found": found[:most], "more": len(found[most:]), "small": small, "none": none}
        )
    return families


def _small_words(units: Sequence[str], citations: Citations) -> Markup | str:
    """A sentence on differences that are smaller than the measurement error, by their units; "" without any."""
    if not units:
        return ""
    count = len(units)
    errors = Markup(", ").join(
        Markup("{} {}{}").format(f"{error['size']:g}", unit, citations.cite(error["work"]))
        for unit, error in measurement_error().items()
        if unit in units
    )
    are = "is" if count == 1 else "are"
    what = f"{count_of(count, 'difference')} {are} smaller than sessions of one person differ"
    return Markup("{} ({}); {} in the table alone.").format(
        what, errors, "it is" if count == 1 else "they are"
    )


def measurement_error() -> dict[str, Any]:
    """Size and source of the standard error of measurement between sessions, by unit."""
    return bundled_toml("musclesolve.results.tables", "measurement_error.toml")


MOST_SENTENCES = 12
"""Largest number of sentences on differences of other than primary outcomes."""


def _p_words(p: float) -> str:
    text = study_tables.p_text(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _least_p(test: CurveTest) -> float:
    return min(cluster.p for cluster in test.clusters)


def _effect(test: CurveTest) -> str:
    """Return the effect of a test without its prefix, such as "slow - level"."""
    return plain(test.effect.partition(": ")[2] or test.effect)


def _is_small(test: CurveTest) -> bool:
    """Return whether the largest difference is smaller than the measurement error."""
    error = measurement_error().get(test.unit)
    return error is not None and test.largest is not None and abs(test.largest.difference) < error["size"]


def _amount(test: CurveTest, difference: float) -> str:
    """A difference with its unit, and of a value its confidence interval."""
    interval = study_tables.interval_text(test)
    amount = study_tables.with_unit(f"{difference:+.3g}", test.unit)
    return f"{amount} ({interval})" if interval else amount


def _sentence(test: CurveTest, tests: Sequence[CurveTest]) -> str:
    """Return a sentence on the stretches where the curves of a test differ, the size, and the conditions or groups that
    differ from the first.
    """
    where = ", ".join(study_tables.stretch(cluster, " to ") for cluster in test.clusters)
    where = f", at {where} % of the cycle" if np.isfinite(test.clusters[0].start) else ""
    effect, size = _effect(test), ""
    if (largest := test.largest) is not None:
        of = plain(largest.of) or "difference"
        of = "" if of == effect else f"{of}: "
        share = f", {largest.percent:+z.0f} % of the reference's peak" if np.isfinite(largest.percent) else ""
        small = ", smaller than the measurement error" if _is_small(test) else ""
        size = f"; {of}{_amount(test, largest.difference)}{share}{small}"
    if followed := [other for other in tests if other.follows == test.row]:
        pairs = [other.effect.partition(": ")[2].rpartition(" - ") for other in followed if other.clusters]
        apart = ", ".join(plain(name) for name, _, _ in pairs)
        size += f"; against {plain(pairs[0][2])}: {apart}" if pairs else "; no single one stands out"
    return f"{test.words.capitalize()}: {effect}{where} (p {_p_words(_least_p(test))}{size})"


def _plausible(result: StudyResult) -> list[PageTable]:
    """Return tables of the plausible legs of trials in each group and condition, with reasons for the others."""
    study, verdicts = result.computed.study, result.verdicts
    if not verdicts:
        return []
    label = {}
    for trial in study.included:
        group = str(study.of_subject(trial.subject, "group", ""))
        label[trial.name] = group, trial.condition
    of_cells = counted(verdicts, label)
    counts = {
        ", ".join(plain(part) for part in cell if part) or "all": of_cells[cell]
        for cell in product(study.people_of_groups, study.conditions)
        if cell in of_cells
    }
    if len(counts) > 1:
        counts["all"] = sum(counts.values(), Counter[str]())
    rows = [[name, *(count[each] for each in VERDICTS)] for name, count in counts.items()]
    tables = [PageTable("Legs of trials that count, by their verdict", ["", *VERDICTS], rows)]
    why = [
        (name, outside, edge, f"{sentence} ({trial})")
        for name, outside, edge, sentence, trial in reasons(verdicts)
    ]
    if why:
        columns = ("criterion", "legs outside", "legs at the edge", "one of them")
        tables.append(PageTable("Why legs are not plausible, or at the edge", columns, why, prose=True))
    return tables


def _nothing_found(result: StudyResult) -> str:
    """Return a sentence on the meaning of tests without any difference."""
    if result.comparisons is None:
        return ""
    tests = result.comparisons
    subjects = int(tests["subjects"].values[tests["tested_percent"].values > 0].max(initial=0))
    return (
        f"No difference that these tests could find with {count_of(subjects, 'subject')}. That does not show that the "
        "curves agree: the fewer the subjects, the larger a difference has to be for a test to find it."
    )


AFFECTED = {**SIDE_NAMES, "both": "both", "none": "none"}
"""Affected side of a subject, in words."""


def _people(result: StudyResult) -> list[PageTable]:
    """Return subjects of every group with their sizes and affected sides, trials and cycles of every condition."""
    study, cycles = result.computed.study, result.cycles
    groups = study.people_of_groups
    unnamed = study_tables.NO_GROUP if len(groups) > 1 else "all"

    def size(names: Sequence[str], key: str, digits: int) -> str:
        known = [study.of_subject(name, key, result.sizes.get(name, {}).get(key)) for name in names]
        values = [float(each) for each in known if each is not None]
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
    tables = [PageTable(caption, columns, rows)]

    conditions = study.conditions
    own = dict.fromkeys(("subject", "trial", "group", "condition", "cycle_leg"), np.zeros(0, str))
    if cycles is not None:
        counting = cycles["counts"].values.astype(bool)
        own = {key: np.asarray(cycles[key].values, str)[counting] for key in own}
    legs = [name for name in dict.fromkeys(own["cycle_leg"].tolist()) if name]
    counted = []
    for condition in conditions:
        row = [plain(condition) or "all trials"]
        for group in groups:
            here = (own["group"] == group) & (own["condition"] == condition)
            row += [str(np.unique(own[key][here]).size) for key in ("subject", "trial")]
            row.append(str(int(here.sum())))
            row += [str(int((here & (own["cycle_leg"] == leg)).sum())) for leg in legs]
        counted.append(row)
    heads = [
        f"{group or unnamed}: {what}" if len(groups) > 1 else what
        for group in groups
        for what in ("subjects", "trials", "cycles", *(f"of the {leg} leg" for leg in legs))
    ]
    return [
        *tables,
        PageTable("Subjects, trials and cycles that are averaged", ["condition", *heads], counted),
    ]


def _on_left_out(result: StudyResult) -> list[str]:
    """Return a sentence on the subjects in no mean and no test."""
    names = dict.fromkeys(result.computed.study.trial_of[name].subject for name in result.left_out)
    if not names:
        return []
    return [
        f"In no mean and no test: {', '.join(names)} ({count_of(len(result.left_out), 'trial')}), whose curves cannot "
        "be right; see what was found."
    ]


def left_out_table(result: StudyResult) -> PageTable | None:
    """Return excluded trials, and those without result or without cycles that count, with the reasons."""
    study, records = result.computed.study, result.computed.records
    rows: list[tuple[str, ...]] = [
        (trial.name, trial.subject, trial.condition, "excluded", trial.exclude)
        for trial in study.trials
        if trial.exclude
    ]
    for name, record in records.items():
        trial = study.trial_of[name]
        if not record.outcome.has_result:
            message = Markup("<br>").join(line.strip() for line in record.message.splitlines())
            rows.append((name, trial.subject, trial.condition, record.outcome.value, message))
    reasons: dict[str, list[str]] = {}
    for name, why in result.not_averaged.items():
        reasons.setdefault(NUMBER.sub("#", why), []).append(name)
    for names in reasons.values():
        of = [study.trial_of[name] for name in names]
        people, conditions = (
            shortened(list(dict.fromkeys(each)))
            for each in zip(*((t.subject, t.condition) for t in of), strict=True)
        )
        why = result.not_averaged[names[0]] + (f" ({names[0]}; the others alike)" if len(names) > 1 else "")
        rows.append((shortened(names), people, conditions, "not averaged", why))
    alike: dict[tuple[str, str, str], list[str]] = {}
    for name, why in result.left_out.items():
        alike.setdefault((study.trial_of[name].subject, study.trial_of[name].condition, why), []).append(name)
    for (subject, condition, why), names in alike.items():
        remedy = f'{why}; to let it count: {subject} = {{ keep = "the reason" }} in [subjects]'
        rows.append((shortened(names), subject, condition, "left out", remedy))
    if not rows:
        return None
    return PageTable(
        "Trials that do not count",
        ("trial", "subject", "condition", "what", "why"),
        rows,
        prose=True,
        compact=len(rows) > 1,
    )


def _findings(result: StudyResult) -> PageTable | None:
    """Return errors and warnings on subjects and trials, each once."""
    table = study_tables.findings_table(result.findings)
    return from_rich(table) if table.row_count else None


def trial_rows(result: StudyResult) -> Iterator[dict[str, Any]]:
    """A row for every trial with a result; for very many trials only those with remarks.

    link: its report, or its folder. parts: width [%], color and words of each verdict. contact: peaks of the joints.
    """
    study, folder = result.computed.study, result.computed.folder
    verdicts = verdict_words()
    records = [record for record in result.computed.records.values() if record.outcome.has_result]
    if len(records) > MOST_ROWS:
        records = [
            each for each in records if not each.fine or (each.measures and each.measures.verdict != USABLE)
        ][:MOST_ROWS]
    for record in records:
        trial, found = study.trial_of[record.name], record.measures
        if found is None:
            continue
        counts = [getattr(found, key) for key, _ in COUNTS]
        every = max(sum(counts), 1)
        parts = [
            (100.0 * count / every, verdicts[verdict]["color"], f"{count} {key.replace('_', ' ')}")
            for count, (key, verdict) in zip(counts, COUNTS, strict=True)
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
            "badge": (words(found.verdict)["css"], LABELS[found.verdict].lower()),
            "contact": " / ".join(decimal(found.contact[joint], 1) for joint in LEG_JOINTS),
            "message": "; ".join(found.findings),
        }


def not_judged(result: StudyResult) -> list[str]:
    """Return the reasons why the verdict on trials is not known, each reason once with its number of trials."""
    found = [record.measures for record in result.computed.records.values() if record.measures is not None]
    reasons = Counter(each.reason for each in found if each.plausibility == NOT_KNOWN)
    return [f"Not known in {count_of(count, 'trial')}: {text}." for text, count in reasons.items() if text]


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


def _differences(result: StudyResult) -> PageTable | None:
    if result.comparisons is None or not result.comparisons.sizes["cluster"]:
        return None
    return replace(from_rich(study_tables.table(result.comparisons)), compact=True)


def _curve_notes(result: StudyResult) -> list[str]:
    """Return notes on single tests, each with its curves."""
    if result.comparisons is None:
        return []
    partly = study_tables.partly_tested(result.comparisons)
    notes = [f"Partly tested: {partly}"] if partly else []
    return [f"{plain(note)}." for note in (*notes, *study_tables.notes(result.comparisons))]


MEASURES = ("max", "min", "mean", "impulse", "positive_work", "negative_work", STRIDE)
"""Discrete values on the page; the tables have stance and ranges as well."""


def _values(result: StudyResult) -> Iterator[PageTable]:
    """Return mean and standard deviation over subjects of the discrete values, a table for each quantity."""
    if result.values.empty:
        return
    values = result.values[(result.values["phase"] == CYCLE) & result.values["measure"].isin(MEASURES)]
    if (groups := result.groups) is not None:
        curves = [name for name in values["variable"].unique() if name in groups]
        known, _ = without_arms_and_empty(groups, curves)
        drawn = {(variable, name) for variable, names in known.items() for name in (*names, "")}
        outcomes = tuple(result.computed.study.design.outcomes or ())
        values = values[
            [
                variable not in curves
                or (variable, name) in drawn
                or any(text.startswith(f"{variable} {name}") for text in outcomes)
                for variable, name in zip(values["variable"], values["name"], strict=True)
            ]
        ]
    of_strides = values["measure"] == STRIDE
    for (variable, unit), own in values[~of_strides].groupby(["variable", "unit"], sort=False):
        factor, shown_unit = shown(str(unit))
        own = own.sort_values("name", key=lambda names: pd.factorize(names)[0], kind="stable")
        labels = [
            f"{plain(name)} {plain(measure)}".strip()
            for name, measure in zip(own["name"], own["measure"], strict=True)
        ]
        yield _table_of(f"{plain(str(variable)).capitalize()} [{shown_unit}]", own, labels, factor)
    if of_strides.any():
        own = values[of_strides]
        cells = zip(own["variable"], own["name"], own["unit"], strict=True)
        labels = [f"{plain(f'{variable} {name}'.strip())} [{unit}]" for variable, name, unit in cells]
        yield _table_of("Measures of the cycles", own, labels)


def _table_of(caption: str, values: pd.DataFrame, labels: Sequence[str], factor: float = 1.0) -> PageTable:
    """Return mean and standard deviation over subjects, a column for each group and condition with its number of
    subjects; a cell of fewer has its own number.
    """
    cells: dict[str, dict[str, str]] = {}
    unnamed = study_tables.NO_GROUP if values["group"].nunique() > 1 else ""
    most = values.groupby(["group", "condition"])["count"].max()
    columns = dict[str, str]()
    for label, (_, row) in zip(labels, values.iterrows(), strict=True):
        of = (row["group"] or unnamed, row["condition"])
        column = ", ".join(plain(name) for name in of if name) or "all"
        of_most = most[row["group"], row["condition"]]
        if row["count"]:
            spread = f" ± {factor * row['std']:.2g}" if row["count"] > 1 else ""
            fewer = f" (n = {row['count']})" if row["count"] < of_most else ""
            cells.setdefault(label, {})[column] = f"{factor * row['mean']:.3g}{spread}{fewer}"
        columns[column] = f"{column} (n = {of_most})"
    rows = [[label, *(each.get(column, DASH) for column in columns)] for label, each in cells.items()]
    return PageTable(caption, ["", *columns.values()], rows, compact=True)


def _degrees(result: StudyResult) -> str:
    """Return a sentence on the unit of angles, if the files have another unit than the page."""
    unit = result.computed.study.units["angle"]
    if shown(unit)[1] == unit:
        return ""
    files = [path.name for path in result.files if path.name == DATA or path.stem == VALUES]
    compared = f" and in {COMPARISONS}" if result.comparisons is not None else ""
    return f"Angles are in {shown(unit)[1]} on this page{compared}, and in {unit} in {' and '.join(files)}."


def _outliers(result: StudyResult) -> PageTable | None:
    """Return cycles far from the subject's others, farthest first."""
    cycles = result.cycles
    if cycles is None or "outlier" not in cycles.variables:
        return None
    places = np.flatnonzero(cycles["outlier"].values.astype(bool))
    if not places.size:
        return None
    far = cycles["distance"].values
    rows = []
    for place in sorted(places, key=lambda k: -float(far[k])):
        of = cycles.isel(cycle=int(place))
        rows.append([str(of["trial"].values), str(of["subject"].values), str(of["condition"].values),
                     f"{float(of['cycle_start']):.2f} s", str(of["outlier_reason"].values)])  # fmt: skip
    columns = ("trial", "subject", "condition", "cycle from", "what is unusual")
    return PageTable(
        "Cycles far from the others of their subject; they count, unless their trials are excluded",
        columns,
        rows,
        prose=True,
    )


def _uncertainty(result: StudyResult) -> str:
    """Return a sentence on the uncertainty of the trials themselves."""
    groups = result.groups
    names = [] if groups is None else [name for name in groups.data_vars if str(name).endswith(SPREAD)]
    if groups is None or not names:
        return (
            "The bands contain what differs from subject to subject, errors of measurement that do so included. No "
            "uncertainty of the trials themselves was computed (--uncertainty): what is wrong in all subjects alike is "
            "in no band."
        )
    parts = []
    for name in names:
        variable = str(name).removesuffix(SPREAD)
        factor, unit = shown(str(groups[variable].attrs.get("units", "")))
        own, between = (factor * float(np.nanmean(groups[key].values)) for key in (name, f"{variable}_std"))
        parts.append(f"{plain(variable)} {own:.2g} {unit} of a trial, {between:.2g} {unit} between subjects")
    return (
        f"Standard deviations, mean over all curves: {'; '.join(parts)}. The bands contain the errors of trials that "
        "differ from subject to subject; of errors that all have in common, such as errors of the muscle set, the mean "
        "of a group keeps all, up to the standard deviation of a trial."
    )


def _methods(result: StudyResult, citations: Citations) -> list[Markup]:
    """Return the methods paragraph: steps for all trials or for some of them, then steps of the study."""
    texts = bundled_toml("musclesolve.report", "texts", "study_methods.toml")
    computed = [record for record in result.computed.records.values() if record.outcome.has_result]
    alike: dict[str, list[Path]] = {}
    for record in computed:
        try:
            stated = result_attributes(record.folder / RESULT)
        except DAMAGE:
            continue
        key = str([stated.get(name) for name in OF_METHODS])
        alike.setdefault(key, []).append(record.folder / RESULT)
    trials = list[tuple[TrialFiles, int]]()
    for paths in alike.values():
        try:
            trials.append((read_inputs([paths[0]]).trials[0], len(paths)))
        except DAMAGE:
            continue
    found = [record.measures for record in computed if record.measures is not None]
    total = {key: sum(getattr(each, key) for each in found) for key, _ in COUNTS}
    sentences = [
        texts["subjects"].format(lead=_lead(result).rstrip(".")),
        texts["solved"].format(
            valid=total["solved"] + total["with_reserve"],
            analyzed=sum(total.values()) - total["not_measured"],
            reserve=total["with_reserve"],
        ),
        texts["means"],
    ]
    if result.groups is not None:
        sentences.append(texts["band"].format(band=result.groups.attrs["band"]))
    if result.comparisons is not None and int(result.comparisons.attrs["tests"]):
        sentences += [texts["mapping"], *listed(result.comparisons, "said")]
    if result.sensitivity:
        sentences.append(texts["sensitivity"])
    sentences.append(
        texts["units"].format(
            units=", ".join(f"{plain(kind)} {unit}" for kind, unit in result.computed.study.units.items())
        )
    )
    return [*study_methods(trials, citations), *(citations.marked(sentence) for sentence in sentences)]
