"""Numbers of a study in words and tables: lead sentence, methods, tests; differences, values, outliers, uncertainty.

Sentences on tests say where curves differ, by how much, and beside the measurement error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from musclesolve._util.arrays import grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import alike, capitalized, count_of, shortened
from musclesolve.laboratory.report.content.methods import OF_METHODS, Citations, study_methods
from musclesolve.laboratory.report.content.pieces import DAMAGE, DASH, PageTable, from_rich, plain
from musclesolve.laboratory.report.inputs import TrialFiles, read_inputs
from musclesolve.laboratory.results.cycles.discrete_values import CYCLE, STRIDE, without_arms_and_empty
from musclesolve.laboratory.results.cycles.gait_cycles import SPREAD
from musclesolve.laboratory.results.dataset.quantities import KINDS, shown
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.files.result_netcdf import result_attributes
from musclesolve.laboratory.results.judgement import counted_verdicts
from musclesolve.laboratory.results.tables import study_tables
from musclesolve.laboratory.results.tables.study_tables import CurveTest, curve_tests
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.study.analysis import COMPARISONS, VALUES, StudyResult
from musclesolve.studies.study.study_data import DATA
from musclesolve.studies.study.study_findings import has_legs

COUNTS = (("solved", "solved"), ("with_reserve", "solved_with_reserve"), ("without_solution", "infeasible"),
         ("not_measured", "not_measured"))  # fmt: skip
"""Counts of a trial's record, and the verdict whose color they have."""


def verdicts_of(result: StudyResult) -> list[str]:
    """The verdicts of the trials with a result."""
    return [record.measures.verdict for record in result.computed.records.values() if record.measures]


def lead_of(result: StudyResult) -> str:
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
    excluded = sum(bool(trial.exclude) for trial in study.trials)
    trials = f"{len(records) - without} of {count_of(len(study.trials), 'trial')} with a result"
    trials += f", {excluded} excluded" if excluded else ""
    trials += f", {without} without one" if without else ""
    trials += f", {averaged} averaged" if averaged < len(records) - without else ""
    verdicts = counted_verdicts(verdicts_of(result))
    return f"{'; '.join(filter(None, (', '.join(parts), trials, count_of(cycles, 'cycle'), verdicts)))}."


def methods_of(result: StudyResult, citations: Citations) -> list[Markup]:
    """Return the methods paragraph: steps for all trials or for some of them, then steps of the study."""
    texts = bundled_toml("musclesolve.laboratory.report", "texts", "study_methods.toml")
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
    measured = [record.measures for record in computed if record.measures is not None]
    total = {key: sum(getattr(one, key) for one in measured) for key, _ in COUNTS}
    sentences = [
        texts["subjects"].format(lead=lead_of(result).rstrip(".")),
        texts["solved"].format(
            valid=total["solved"] + total["with_reserve"],
            analyzed=sum(total.values()) - total["not_measured"],
            reserve=total["with_reserve"],
            frames="leg-frames" if any(one.joints for one in measured) else "frames",
        ),
        texts["means"],
    ]
    if result.groups is not None:
        sentences.append(texts["band"].format(band=result.groups.attrs["band"]))
    if result.comparisons is not None and int(result.comparisons.attrs["tests"]):
        sentences += [texts["mapping"], *listed(result.comparisons, "said")]
    if result.plausible is not None:
        legs = "legs of trials" if has_legs(result.verdicts) else "trials"
        sentences.append(texts["sensitivity"].format(legs=legs))
    sentences.append(
        texts["units"].format(
            units=", ".join(f"{plain(kind)} {unit}" for kind, unit in _units_of(result).items())
        )
    )
    return [*study_methods(trials, citations), *(citations.marked(sentence) for sentence in sentences)]


def _units_of(result: StudyResult) -> dict[str, str]:
    """Kind of quantity -> unit, of the kinds that the cycles have."""
    there = {*(() if result.cycles is None else result.cycles.data_vars)}
    units = result.computed.study.units
    return {kind: unit for kind, unit in units.items() if there & {*KINDS[kind].names}}


def families_in_words(result: StudyResult, citations: Citations) -> list[dict[str, Any]]:
    """The outcome of each family of tests in sentences: primary outcomes first, then the smallest p.

    Differences of other outcomes that are smaller than the measurement error are counted only. A family has its title,
    differences that were found and the number of `more` in the table alone, a sentence on `small` ones, and on `none`.
    """
    if result.comparisons is None:
        return []
    tests = curve_tests(result.comparisons)
    families = list[dict[str, Any]]()
    for name in sorted({test.family for test in tests}, key=lambda key: key == "exploratory"):
        of_family = [test for test in tests if test.family == name and test.follows < 0]
        primary = name == "primary"
        differing = sorted((test for test in of_family if test.clusters), key=_least_p)
        counted_only = [test for test in differing if not primary and _is_small(test)]
        said = [_sentence(test, tests) for test in differing if test not in counted_only]
        most = len(said) if primary else MOST_SENTENCES
        without: dict[str, list[str]] = {}
        for test in of_family if primary else ():
            if not test.clusters and np.isfinite(test.threshold):
                size = "" if test.interval is None else f", {_amount(test, test.interval.difference)}"
                p = f"{_effect(test)} p {_p_words(test.p_largest)}{size}"
                without.setdefault(test.words, []).append(p)
        curves = "; ".join(f"{words} ({', '.join(key)})" for words, key in without.items())
        none = f"No difference found, with p of the largest: {curves}." if curves else ""
        title = {"primary": "Primary outcomes", "exploratory": "Exploratory"}.get(name, "")
        if name == "exploratory" and not differing:
            none = f"None of {count_of(len(of_family), 'exploratory test')} finds a difference."
        small = _small_words([test.unit for test in counted_only], citations)
        families.append(
            {"title": title, "found": said[:most], "more": len(said[most:]), "small": small, "none": none}
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
    return bundled_toml("musclesolve.laboratory.results.tables", "measurement_error.toml")


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
    return f"{capitalized(test.words)}: {effect}{where} (p {_p_words(_least_p(test))}{size})"


def none_in_words(result: StudyResult) -> str:
    """Return a sentence on the meaning of tests without any difference."""
    if result.comparisons is None:
        return ""
    tests = result.comparisons
    subjects = int(tests["subjects"].values[tests["tested_percent"].values > 0].max(initial=0))
    return (
        f"No difference that these tests could find with {count_of(subjects, 'subject')}. That does not show that the "
        "curves agree: the fewer the subjects, the larger a difference has to be for a test to find it."
    )


def differences_of(result: StudyResult) -> PageTable | None:
    """Return the table of differences; None if no test found one."""
    if result.comparisons is None or not result.comparisons.sizes["cluster"]:
        return None
    return replace(from_rich(study_tables.table_of_tests(result.comparisons)), compact=True)


def curve_notes_of(result: StudyResult) -> list[str]:
    """Return notes on single tests, each with its curves."""
    if result.comparisons is None:
        return []
    partly = study_tables.partly_tested(result.comparisons)
    notes = [f"Partly tested: {partly}"] if partly else []
    return [f"{plain(note)}." for note in (*notes, *study_tables.notes_on_tests(result.comparisons))]


MEASURES = ("max", "min", "mean", "impulse", "positive_work", "negative_work", STRIDE)
"""Discrete values on the page; the tables have stance and ranges as well."""


def values_of(result: StudyResult) -> Iterator[PageTable]:
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
    for (variable, unit), rows in values[~of_strides].groupby(["variable", "unit"], sort=False):
        factor, shown_unit = shown(str(unit))
        rows = rows.sort_values("name", key=lambda names: pd.factorize(names)[0], kind="stable")
        labels = [
            f"{plain(name)} {plain(measure)}".strip()
            for name, measure in zip(rows["name"], rows["measure"], strict=True)
        ]
        yield _table_of(f"{plain(str(variable)).capitalize()} [{shown_unit}]", rows, labels, factor)
    if of_strides.any():
        rows = values[of_strides]
        cells = zip(rows["variable"], rows["name"], rows["unit"], strict=True)
        labels = [f"{plain(f'{variable} {name}'.strip())} [{unit}]" for variable, name, unit in cells]
        yield _table_of("Measures of the cycles", rows, labels)


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
    rows = [[label, *(line.get(column, DASH) for column in columns)] for label, line in cells.items()]
    return PageTable(caption, ["", *columns.values()], rows, compact=True)


def degrees_of(result: StudyResult) -> str:
    """Return a sentence on the unit of angles, if the files have another unit than the page."""
    unit = result.computed.study.units["angle"]
    if shown(unit)[1] == unit:
        return ""
    files = [path.name for path in result.files if path.name == DATA or path.stem == VALUES]
    compared = f" and in {COMPARISONS}" if result.comparisons is not None else ""
    return f"Angles are in {shown(unit)[1]} on this page{compared}, and in {unit} in {' and '.join(files)}."


def outliers_of(result: StudyResult) -> PageTable | None:
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
    caption = "Cycles far from the others of their subject; they count, unless their trials are excluded"
    return PageTable(caption, columns, rows, prose=True)


def uncertain_words(result: StudyResult) -> str:
    """Return a sentence on the uncertainty of the trials themselves."""
    groups = result.groups
    names = [] if groups is None else [name for name in groups.data_vars if str(name).endswith(SPREAD)]
    if groups is None or not names:
        return (
            "The bands contain what differs from subject to subject, with errors of measurement. They do not contain "
            "errors that all subjects share. --uncertainty computes the uncertainty of each trial."
        )
    parts = []
    for name in names:
        variable = str(name).removesuffix(SPREAD)
        factor, unit = shown(str(groups[variable].attrs.get("units", "")))
        sd, between = (factor * float(np.nanmean(groups[key].values)) for key in (name, f"{variable}_std"))
        parts.append(f"{plain(variable)} {sd:.2g} {unit} of a trial, {between:.2g} {unit} between subjects")
    return (
        f"Standard deviations, mean over all curves: {'; '.join(parts)}. The bands contain the errors of trials that "
        "differ from subject to subject. Errors that all trials share, such as errors of the muscle set, remain in the "
        "mean of a group, up to the standard deviation of a trial."
    )


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
            rows.append((name, trial.subject, trial.condition, record.outcome.at_last.value, message))
    for names in map(list, alike(result.not_averaged.items())):
        of = [study.trial_of[name] for name in names]
        people, conditions = (
            shortened(list(dict.fromkeys(pair)))
            for pair in zip(*((t.subject, t.condition) for t in of), strict=True)
        )
        why = result.not_averaged[names[0]] + (f" ({names[0]}; the others alike)" if len(names) > 1 else "")
        rows.append((shortened(names), people, conditions, "not averaged", why))
    left_out = [(study.trial_of[name], name, why) for name, why in result.left_out.items()]
    of_cells = grouped(((trial.subject, trial.condition, why), name) for trial, name, why in left_out)
    for (subject, condition, why), names in of_cells.items():
        remedy = f"{why}; to let it count: state the reason in the column keep_subject of {subject}"
        rows.append((shortened(names), subject, condition, "left out", remedy))
    if not rows:
        return None
    columns = ("trial", "subject", "condition", "what", "why")
    return PageTable("Trials that do not count", columns, rows, prose=True, compact=len(rows) > 1)
