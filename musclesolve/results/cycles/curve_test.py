"""The tests of a study as records, read once from what `compare_curves` returns, for tables, figures and page."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.results.dataset.quantities import shown


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
