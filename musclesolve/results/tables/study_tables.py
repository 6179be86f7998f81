"""The tests of a study as tables: all of them as comma-separated values, those with a difference on a terminal."""

from collections.abc import Iterator, Sequence

import numpy as np
import xarray as xr
from rich.table import Column, Table

from musclesolve._util.names import shortened
from musclesolve.results.dataset.quantities import shown
from musclesolve.results.dataset.result_quantities import listed
from musclesolve.results.finding import Finding
from musclesolve.results.tables.lines import csv_text, decimal, line, numbers, titled_table, words

HEADINGS = (
    *(
        "variable",
        "name",
        "effect",
        "family",
        "test",
        "subjects",
        "df_numerator",
        "df_denominator",
        "level_of_test",
    ),
    *("statistic", "threshold", "largest", "largest_at_percent", "p_of_largest"),
    *("cluster", "start_percent", "end_percent", "p", "mean_difference", "unit", "difference_of"),
    *("percent_of_reference", "fwhm_percent", "resels", "percentages_tested", "note"),
)
"""Columns of comparisons.csv; p is that of a curve, to be compared with level_of_test."""


NOT_EVERYWHERE = "percentages not tested"
"""End of the note that counts them."""
NO_GROUP = "no group"
"""Name for subjects without a group where others have one."""


def comparisons_csv(comparisons: xr.Dataset) -> str:
    """Return the results of ``compare_curves`` as comma-separated values, a row for each cluster or test without
    cluster.

    Cells are empty where there is no number. `mean_difference` is in `unit` (angles in degrees);
    `percent_of_reference` refers to the largest magnitude of the reference's mean curve.
    """
    return csv_text([HEADINGS, *_rows(comparisons)])


def _rows(comparisons: xr.Dataset) -> Iterator[list[object]]:
    of_cluster = comparisons["cluster_test"].values
    for row in range(comparisons.sizes["test"]):
        test = comparisons.isel(test=row)
        factor, unit = shown(str(test["units"].values))
        tested = bool(np.isfinite(test["threshold"]))
        first = [str(test[key].values) for key in ("variable", "name", "effect", "kind")]
        degrees = [_cell(value) for value in test["df"].values]
        if test["is_t"]:
            degrees[0] = ""
        level = float(test["level_of_test"]) if tested else ""
        statistic = ("t" if test["is_t"] else "F") if tested else ""
        main = [_cell(test[key]) for key in ("threshold", "largest", "largest_at", "p_largest")]
        last = [_cell(test["fwhm"]), _cell(test["resels"].values[1]), int(test["tested_percent"])]
        last.append(str(test["note"].values))
        first.insert(3, str(test["family"].values))
        start = [*first, int(test["subjects"]), *degrees, level, statistic, *main]
        members = np.flatnonzero(of_cluster == row)
        for number, place in enumerate(members, start=1):
            found = comparisons.isel(cluster=place)
            where = [_cell(found[key]) for key in ("start", "end", "p")]
            amount = [_cell(factor * found["mean_difference"]), unit, str(found["difference_of"].values)]
            yield [*start, number, *where, *amount, _cell(found["mean_difference_percent"]), *last]
        if not members.size:
            yield [*start, "", "", "", "", "", unit, "", "", *last]


def _cell(value: object) -> object:
    number = float(np.asarray(value))
    return float(f"{number:.6g}") if np.isfinite(number) else ""


def table(comparisons: xr.Dataset, most: int | None = None) -> Table:
    """The clusters, with the smallest p first; `most` of them if given."""
    rows = []
    for place in np.argsort(comparisons["p"].values, kind="stable")[:most]:
        found = comparisons.isel(cluster=place)
        test = comparisons.isel(test=int(found["cluster_test"]))
        factor, unit = shown(str(test["units"].values))
        amount = factor * float(found["mean_difference"])
        rows.append(
            (
                curve_words(test),
                str(test["effect"].values),
                stretch(float(found["start"]), float(found["end"]), "-"),
                p_text(float(found["p"])),
                f"{amount:.3g} {unit}" if np.isfinite(amount) else "-",
                decimal(float(found["mean_difference_percent"]), 0),
                str(found["difference_of"].values),
            )
        )
    measures = numbers("from-to [%]", "p", "difference", "of ref. [%]", whole=True)
    return titled_table(
        "differences between curves", (*words("curve", "effect"), *measures, *words("of")), rows
    )


def curve_words(test: xr.Dataset) -> str:
    """The variable and the curve of a test: joint moment knee flexion."""
    parts = (str(test[key].values).replace("_", " ") for key in ("variable", "name"))
    return " ".join(dict.fromkeys(parts))


def stretch(start: float, end: float, between: str) -> str:
    """A part of the cycle in whole percent: 12-25, or 93 if narrower than one percent; a dash for a value."""
    if not start >= 0.0:
        return "-"
    first, last = f"{start:.0f}", f"{end:.0f}"
    return first if first == last else f"{first}{between}{last}"


def remarks(comparisons: xr.Dataset) -> list[str]:
    """Lines on the tests, on curves without difference, and on curves that could not be tested."""
    made = int(comparisons.attrs["tests"])
    text = [line("" if k else "tested", said) for k, said in enumerate(listed(comparisons, "said"))]
    if made:
        first = int(
            np.isin(
                np.flatnonzero(comparisons["follows"].values < 0), comparisons["cluster_test"].values
            ).sum()
        )
        text.append(line("difference", f"{first} of {made} tests; none in {made - first}"))
    if partly := partly_tested(comparisons):
        text.append(line("partly tested", partly))
    return text + [line("note", note) for note in notes(comparisons)]


def partly_tested(comparisons: xr.Dataset) -> str:
    """Return the number of tests that leave out percentages, the reason, and their curves; "" if none does."""
    tested = comparisons["tested_percent"].values
    short = (tested > 1) & (tested < comparisons.sizes["percent"])  # 1: a value
    if not short.any():
        return ""
    which = shortened(list(dict.fromkeys(comparisons["name"].values[short].tolist())))
    count = f"{int(short.sum())} of {int(comparisons.attrs['tests'])} tests"
    return f"{count}: elsewhere a value lacks, or nothing varies ({which})"


def notes(comparisons: xr.Dataset) -> list[str]:
    """Return notes on subjects left out and on missing tests, each with its curves."""
    found: dict[str, list[str]] = {}
    for name, note in zip(comparisons["name"].values, comparisons["note"].values, strict=True):
        for part in filter(None, str(note).split("; ")):
            if not part.endswith(NOT_EVERYWHERE):
                found.setdefault(part, []).append(str(name))
    return [f"{note} ({shortened(list(dict.fromkeys(of)))})" for note, of in found.items()]


def findings_table(findings: Sequence[tuple[Finding, Sequence[str]]]) -> Table:
    """Errors and warnings of a study, each once: number and names of its trials, statement, remedy."""
    columns = [
        Column(name, ratio=ratio) for name, ratio in (("trials", 2), ("what", 5), ("how to fix it", 4))
    ]
    table = Table(*words("finding"), *columns, title="findings", title_justify="left", show_lines=True)
    for entry, trials in findings:
        if entry.severity == "note":
            continue
        which = (
            f"{len(trials)}: {shortened(list(dict.fromkeys(trials)))}"
            if trials
            else entry.where.subject or ""
        )
        table.add_row(f"{entry.severity}: {entry.code}", which, entry.sentence, entry.remedy)
    return table


def p_text(p: float) -> str:
    """A probability as papers print it: 0.032, <0.001."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"
