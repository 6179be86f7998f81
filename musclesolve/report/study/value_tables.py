"""Tables of a study page: differences, values of the cycles, outliers and how uncertain trials are."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from musclesolve.report.content.pieces import DASH, PageTable, from_rich, plain
from musclesolve.results.cycles.discrete_values import CYCLE, STRIDE, without_arms_and_empty
from musclesolve.results.cycles.gait_cycles import SPREAD
from musclesolve.results.dataset.quantities import shown
from musclesolve.results.tables import study_tables
from musclesolve.studies.study.analysis import COMPARISONS, VALUES, StudyResult
from musclesolve.studies.study.study_data import DATA


def differences_of(result: StudyResult) -> PageTable | None:
    """Return the table of differences; None if no test found one."""
    if result.comparisons is None or not result.comparisons.sizes["cluster"]:
        return None
    return replace(from_rich(study_tables.table(result.comparisons)), compact=True)


def curve_notes_of(result: StudyResult) -> list[str]:
    """Return notes on single tests, each with its curves."""
    if result.comparisons is None:
        return []
    partly = study_tables.partly_tested(result.comparisons)
    notes = [f"Partly tested: {partly}"] if partly else []
    return [f"{plain(note)}." for note in (*notes, *study_tables.notes(result.comparisons))]


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
        own, between = (factor * float(np.nanmean(groups[key].values)) for key in (name, f"{variable}_std"))
        parts.append(f"{plain(variable)} {own:.2g} {unit} of a trial, {between:.2g} {unit} between subjects")
    return (
        f"Standard deviations, mean over all curves: {'; '.join(parts)}. The bands contain the errors of trials that "
        "differ from subject to subject. Errors that all trials share, such as errors of the muscle set, remain in the "
        "mean of a group, up to the standard deviation of a trial."
    )
