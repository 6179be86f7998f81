"""The tests of a study, read once from what `compare_curves` returns: as records for tables, figures and page, as
comma-separated values, and those with a difference on a terminal.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsFloat

import numpy as np
import xarray as xr
from rich.table import Column, Table

from musclesolve._util.arrays import AnyArray, Array, grouped
from musclesolve._util.messages import shortened
from musclesolve.laboratory.results.dataset.quantities import shown
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.fact_table import Fact, plain_fact
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.tables.lines import csv_text, decimal, numbers, titled_table, words


@dataclass(frozen=True)
class Cluster:
    """A part of the cycle in which a test finds a difference, or the difference of a value."""

    start: float  # [%], NaN of a value
    end: float
    p: float  # of the curve, before any correction
    difference: float  # mean over the cluster in the unit of the test, NaN where not known
    percent: float  # the difference over the largest magnitude of the reference curve [%], or NaN
    of: str  # what it is the difference of


@dataclass(frozen=True)
class Interval:
    """The difference of a value and its confidence interval, not corrected for the number of tests."""

    difference: float  # in the unit of the test
    low: float
    high: float
    of: str  # what it is the difference of
    share: float  # of the confidence interval, such as 0.95


@dataclass(frozen=True, eq=False)
class CurveTest:
    """The test of an effect on a curve or value."""

    row: int  # its place among all tests
    variable: str
    name: str
    effect: str
    kind: str
    family: str  # primary or exploratory, where outcomes are stated
    note: str
    unit: str  # of differences
    statistic: Array  # (Q,), NaN where not tested
    is_t: bool
    threshold: float  # NaN where there is no test
    level: float
    p_largest: float
    follows: int  # place of the analysis of variance that it follows, else -1
    clusters: tuple[Cluster, ...]  # in the order of the cycle
    interval: Interval | None  # of a value that a t test compares

    @property
    def words(self) -> str:
        """Variable and curve: joint moment knee flexion."""
        return " ".join(dict.fromkeys((self.variable.replace("_", " "), self.name.replace("_", " "))))

    @property
    def compared(self) -> str:
        """The group or condition that is compared with the first: slow in "condition: slow - level"; "" of others."""
        return self.effect.partition(": ")[2].rpartition(" - ")[0]

    @property
    def largest(self) -> Cluster | None:
        """The cluster with the largest difference; None where no difference is known."""
        known = [cluster for cluster in self.clusters if np.isfinite(cluster.difference)]
        return max(known, key=lambda cluster: abs(cluster.difference), default=None)


def curve_tests(comparisons: xr.Dataset) -> list[CurveTest]:
    """All tests in their order; differences in the units that pages and tables show."""
    units = [shown(str(unit)) for unit in comparisons["units"].values]
    clusters: list[list[Cluster]] = [[] for _ in units]
    keys = ("cluster_test", "start", "end", "p", "mean_difference", "mean_difference_percent")
    columns = (comparisons[key].values.tolist() for key in keys)
    for row, start, end, p, difference, percent, of in zip(
        *columns, comparisons["difference_of"].values, strict=True
    ):
        clusters[row].append(Cluster(start, end, p, units[row][0] * difference, percent, str(of)))
    of_test = {key: variable.values for key, variable in comparisons.variables.items()}
    return [
        CurveTest(
            row=row,
            variable=str(of_test["variable"][row]),
            name=str(of_test["name"][row]),
            effect=str(of_test["effect"][row]),
            kind=str(of_test["kind"][row]),
            family=str(of_test["family"][row]),
            note=str(of_test["note"][row]),
            unit=units[row][1],
            statistic=of_test["statistic"][row],
            is_t=bool(of_test["is_t"][row]),
            threshold=float(of_test["threshold"][row]),
            level=float(of_test["level_of_test"][row]),
            p_largest=float(of_test["p_largest"][row]),
            follows=int(of_test["follows"][row]),
            clusters=tuple(clusters[row]),
            interval=_interval(of_test, row, units[row][0], 1.0 - float(comparisons.attrs["level"])),
        )
        for row in range(len(units))
    ]


def _interval(of_test: Mapping[Hashable, AnyArray], row: int, factor: float, share: float) -> Interval | None:
    """The confidence interval of the difference of a value; None of a curve, of F, and where it is not known."""
    keys = ("value_difference", "value_low", "value_high")
    difference, low, high = (factor * float(of_test[key][row]) for key in keys)
    return Interval(difference, low, high, str(of_test["value_of"][row]), share) if np.isfinite(low) else None


HEADINGS = (
    *("variable", "name", "effect", "family", "test", "subjects"),
    *("df_numerator", "df_denominator", "level_of_test"),
    *("statistic", "threshold", "largest", "largest_at_percent", "p_of_largest"),
    *("cluster", "start_percent", "end_percent", "p", "mean_difference", "unit", "difference_of"),
    *("difference_low", "difference_high"),
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
    `percent_of_reference` refers to the largest magnitude of the reference's mean curve. Values that a t test compares
    have their difference, found or not, and the ends of its confidence interval.
    """
    return csv_text([HEADINGS, *_rows(comparisons)])


def _rows(comparisons: xr.Dataset) -> Iterator[list[object]]:
    for test in curve_tests(comparisons):
        at = comparisons.isel(test=test.row)
        tested = np.isfinite(test.threshold)
        numerator, denominator = map(_cell, at["df"].values)
        start = [test.variable, test.name, test.effect, test.family, test.kind, int(at["subjects"])]
        start += ["" if test.is_t else numerator, denominator, test.level if tested else ""]
        start += [("t" if test.is_t else "F") if tested else "", _cell(test.threshold)]
        start += [_cell(at[key]) for key in ("largest", "largest_at", "p_largest")]
        last = [_cell(at["fwhm"]), _cell(at["resels"].values[1]), int(at["tested_percent"]), test.note]
        interval = test.interval
        ends = ["", ""] if interval is None else [_cell(interval.low), _cell(interval.high)]
        for number, cluster in enumerate(test.clusters, start=1):
            where = map(_cell, (cluster.start, cluster.end, cluster.p, cluster.difference))
            yield [*start, number, *where, test.unit, cluster.of, *ends, _cell(cluster.percent), *last]
        if not test.clusters:
            difference, of = ("", "") if interval is None else (_cell(interval.difference), interval.of)
            yield [*start, "", "", "", "", difference, test.unit, of, *ends, "", *last]


def interval_text(test: CurveTest) -> str:
    """The confidence interval of the difference of a value: "95 % CI -0.2 to 0.4 N"; "" where there is none."""
    if (interval := test.interval) is None:
        return ""
    return f"{100.0 * interval.share:g} % CI {with_unit(f'{interval.low:.3g} to {interval.high:.3g}', test.unit)}"


def _cell(value: SupportsFloat) -> object:
    number = float(value)
    return float(f"{number:.6g}") if np.isfinite(number) else ""


def table_of_tests(comparisons: xr.Dataset, most: int | None = None) -> Table:
    """The clusters, with the smallest p first; `most` of them if given."""
    clusters = [(cluster, test) for test in curve_tests(comparisons) for cluster in test.clusters]
    rows = [
        (
            test.words,
            test.effect,
            stretch(cluster, "-"),
            p_text(cluster.p),
            with_unit(f"{cluster.difference:.3g}", test.unit) if np.isfinite(cluster.difference) else "-",
            decimal(cluster.percent, 0),
            cluster.of,
        )
        for cluster, test in sorted(clusters, key=lambda pair: pair[0].p)[:most]
    ]
    measures = numbers("from-to [%]", "p", "difference", "of ref. [%]", whole=True)
    shown_of = f"; {most} of {len(clusters)}, all: comparisons.csv" if most and len(clusters) > most else ""
    return titled_table(
        f"differences between curves{shown_of}", (*words("curve", "effect"), *measures, *words("of")), rows
    )


def stretch(cluster: Cluster, between: str) -> str:
    """A part of the cycle in whole percent: 12-25, or 93 if narrower than one percent; a dash for a value."""
    if not cluster.start >= 0.0:
        return "-"
    first, last = f"{cluster.start:.0f}", f"{cluster.end:.0f}"
    return first if first == last else f"{first}{between}{last}"


def with_unit(number: str, unit: str) -> str:
    """A number with its unit, which numbers without a unit ("1") do not show."""
    return number if unit in ("", "1") else f"{number} {unit}"


def facts_of_tests(comparisons: xr.Dataset) -> list[Fact]:
    """Facts on the tests, on curves without difference, and on curves that could not be tested."""
    made = int(comparisons.attrs["tests"])
    table = [plain_fact("tested", sentence) for sentence in listed(comparisons, "said")]
    if made:
        first = sum(bool(test.clusters) and test.follows < 0 for test in curve_tests(comparisons))
        table.append(plain_fact("difference", f"found by {first} of {made} tests"))
    if partly := partly_tested(comparisons):
        table.append(plain_fact("partly tested", partly))
    return table + [plain_fact("note", note) for note in notes_on_tests(comparisons)]


def partly_tested(comparisons: xr.Dataset) -> str:
    """Return the number of tests that leave out percentages, the reason, and their curves; "" if none does."""
    tested = comparisons["tested_percent"].values
    short = (tested > 1) & (tested < comparisons.sizes["percent"])  # 1: a value
    if not short.any():
        return ""
    which = shortened(list(dict.fromkeys(comparisons["name"].values[short].tolist())))
    count = f"{int(short.sum())} of {int(comparisons.attrs['tests'])} tests"
    return f"{count}: elsewhere a value lacks, or nothing varies ({which})"


def notes_on_tests(comparisons: xr.Dataset) -> list[str]:
    """Return notes on subjects left out and on missing tests, each with its curves."""
    named = zip(comparisons["name"].values, comparisons["note"].values, strict=True)
    notes = ((part, str(name)) for name, note in named for part in str(note).split("; ") if part)
    parts = grouped((part, name) for part, name in notes if not part.endswith(NOT_EVERYWHERE))
    return [f"{note} ({shortened(list(dict.fromkeys(of)))})" for note, of in parts.items()]


def findings_table(findings: Sequence[tuple[Finding, Sequence[str]]]) -> Table:
    """Errors and warnings of a study, each once: number and names of its trials, statement, remedy."""
    columns = [
        Column(name, ratio=ratio) for name, ratio in (("trials", 2), ("what", 5), ("how to fix it", 4))
    ]
    title = "findings, of each kind the one that changes results most"
    table = Table(*words("finding"), *columns, title=title, title_justify="left", show_lines=True)
    for entry, trials in findings:
        if entry.severity == "note":
            continue
        named = f"{len(trials)}: {shortened(list(dict.fromkeys(trials)))}"
        which = named if trials else entry.where.subject or ""
        what = entry.placed if entry.where.times else entry.sentence
        table.add_row(f"{entry.severity}: {entry.code}", which, what, entry.remedy)
    return table


def p_text(p: float) -> str:
    """A probability as papers print it: 0.032, <0.001."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"
