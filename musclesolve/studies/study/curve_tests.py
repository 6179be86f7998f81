"""Differences of conditions and groups, tested on whole curves: statistical parametric mapping.

`compare_curves` lists the test of each design; statistics and thresholds come from `random_field`.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, greatest
from musclesolve._util.messages import capitalized, count_of
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.file_settings import DesignSettings
from musclesolve.laboratory.results.cycles.discrete_values import Outcome, matching, without_arms_and_empty
from musclesolve.laboratory.results.cycles.gait_cycles import PERCENT, SPREAD, curves_of
from musclesolve.laboratory.results.dataset.quantities import in_set
from musclesolve.laboratory.results.tables.study_tables import NO_GROUP, NOT_EVERYWHERE
from musclesolve.studies.study.means import COVERED, WITHIN, check_means, groups_of, in_order
from musclesolve.studies.study.random_field import (
    Effect,
    Field,
    contrast,
    number,
    on_varying,
    regression,
    smoothness,
    variance_ratio,
)
from musclesolve.tables.document import check_value
from musclesolve.tables.settings import settings_of

FEWEST_SUBJECTS = 3
"""Least number of subjects of a group in a test."""
LEG = "leg"
"""Dimension of means that distinguishes legs as a factor of the tests."""
BETWEEN = (-1.0, 1.0)
"""Weights of the first group and of the one that is compared with it."""
NOTHING_VARIES = "not tested: nothing varies between the subjects, or no percentage is common"


@dataclass
class _Test:
    """A test of one effect on one curve, and what it finds at its level."""

    effect: str
    kind: str
    subjects: int
    notes: list[str]
    difference: Array | None = None  # (Q,) in the unit of the curve
    of: str = ""  # what it is the difference of
    reference: float = math.nan  # largest magnitude of the reference curve
    levels: Sequence[tuple[str, Array]] = ()  # name and mean curve (Q,) of what F compares
    after: "_Test | None" = (
        None  # the analysis of variance that has to find a difference before this is tested
    )
    among: int = 1  # how many tests follow the same one
    in_pairs: bool = False  # of two conditions, because too few subjects have all
    variable: str = ""
    name: str = ""
    family: str = ""  # primary or exploratory, where outcomes are stated
    tested: Field | None = None  # None: there is no test, the last note says why
    level: float = math.nan
    threshold: float = math.nan
    clusters: Sequence[tuple[float, float, float]] = ()  # begin and end on the grid, and p

    def make(self, effect: Callable[[Array], Effect], values: Array) -> None:
        """Test an effect on the curves or numbers (..., Q) of the subjects, or note why there is no test."""
        if values.shape[-1] == 1:
            self.tested = number(effect, values)
        elif (made := on_varying(effect, values)) is not None:
            self.tested = smoothness(*made)
            if missing := values.shape[-1] - int(made[1].sum()):
                self.notes.append(f"{missing} of {values.shape[-1]} {NOT_EVERYWHERE}")
        if self.tested is None:
            self.notes.append(NOTHING_VARIES)

    def at(self, start: float, end: float) -> tuple[float, str]:
        """Mean difference over a cluster, and of what; of more than two levels the two that differ most there."""
        assert self.tested is not None
        inside = np.zeros(self.tested.tested.size, bool)
        inside[int(np.ceil(start)) : int(np.floor(end)) + 1] = True
        inside[round(0.5 * (start + end))] |= not inside.any()  # a cluster between two percentages
        inside &= self.tested.tested
        if self.difference is not None:
            return float(self.difference[inside].mean()), self.of
        if not self.levels:
            return math.nan, ""
        means = [float(curve[inside].mean()) for _, curve in self.levels]
        low, high = sorted((int(np.argmin(means)), int(np.argmax(means))))  # the later one minus the earlier
        return means[high] - means[low], f"{self.levels[high][0]} - {self.levels[low][0]}"


def compare_curves(means: xr.Dataset, design: DesignSettings | Mapping[str, Any] | None = None) -> xr.Dataset:
    """Test every curve of the quantities for differences between conditions and groups.

    The groups and conditions determine the tests:

    - two conditions: paired t test; more: repeated-measures analysis of variance (Greenhouse-Geisser);
    - two groups: t test of Welch; more: one-way analysis of variance of Brown and Forsythe; variances may differ;
    - groups and conditions: the groups on the subjects' means over the conditions, the conditions with the same weight
      for every group, and their interaction. Effects of one degree of freedom are t tests without pooled variances;
    - where too few subjects have all of more than two conditions: each of the others against the first by a paired
      t test of the subjects who have both, each a test of its own;
    - where an analysis of variance of groups or of k conditions has a cluster, each of the others is compared with the
      first by a t test, at the level of the analysis divided by k - 1;
    - the leg, where ``means`` has a dimension ``leg``: as a condition that every subject has besides;
    - a covariate: regression of the curves of each condition on it, with an intercept for each group.

    Outcomes are primary; they and the rest, which is then exploratory, are two families of tests, each with the level
    for itself. The probability of a false positive among all tests that follow one analysis of variance is at most the
    level of the analysis: if no level differs, the analysis itself has to be wrong; else Bonferroni holds among them.

    t tests are two-sided. Percentages at which a subject has no value, or nothing varies, are not tested. A subject
    without one of the conditions, or with less than half of a curve, is left out of the tests of that curve.

    Args:
        means: what `subject_means` returned, of both legs together or by side.
        design: groups (the first is the reference), conditions, quantities (the set "compared" unless given), outcomes,
            level, correction and covariate, as in [design] of a study.

    Returns:
        Dataset over ``test`` (one for each curve and effect): ``statistic`` (test, percent), NaN where not tested, and
        ``difference`` (test, percent) in the curve's unit; ``variable``, ``name``, ``effect``, ``kind``, ``units``,
        ``df`` (numerator, denominator), ``threshold``, ``largest`` (with sign) and ``largest_at`` [%], ``p_largest``,
        ``fwhm`` [%], ``resels``, ``subjects``, ``tested_percent`` (how many percentages), ``family`` (primary,
        exploratory, or empty), ``level_of_test``, ``follows`` (index of the analysis of variance that it follows, else
        -1), ``note`` (who and what is left out, why there is no test). Over ``cluster``: ``cluster_test`` (index of its
        test), ``start`` and ``end`` [%], NaN of a value, ``p`` (of the curve, before the correction),
        ``mean_difference``, ``mean_difference_percent`` (of the largest magnitude of the reference curve) and
        ``difference_of`` in words. For a t test of a value: ``value_difference``, ``value_low`` and ``value_high``
        (test), the difference d and the ends of its confidence interval d ± u |d / t|, with u the quantile of Student's
        t at 1 - level / 2 (not corrected for the number of tests), and ``value_of``. ``attrs``: ``level``,
        ``level_of_each`` (of the first family), ``correction``, ``tests`` (how many were made, without those that
        follow another), ``said`` (in sentences).

    Raises:
        InputError: quantities or a covariate that are not there, ``means`` of something else.
    """
    if not isinstance(design, DesignSettings):
        design = DesignSettings(**{key: value for key, value in (design or {}).items() if value is not None})
    for name in ("level", "correction"):
        check_value(design[name], settings_of(DesignSettings)[name], f"[design] {name}")
    check_means(means)
    curves = [str(name) for name, variable in means.data_vars.items() if PERCENT in variable.dims]
    if unknown := sorted(set(design.quantities or ()) - set(curves)):
        raise input_error(
            "unknown_name",
            where="[design] quantities",
            problem=f"the means of the subjects have no {', '.join(map(str, unknown))}",
            expected=f"some of {', '.join(map(str, (name for name in curves if not name.endswith((WITHIN, SPREAD)))))}",
        )
    order = in_order(design.conditions, means["condition"].values)
    means = means.sel(condition=[name for name in order if name in means["condition"].values])
    of, groups = means["group"].values, list(design.groups or groups_of(means))
    layout = _Layout(
        [str(name) for name in means["subject"].values],
        {name: np.flatnonzero(of == name) for name in groups if (of == name).any()},
        [str(name) for name in means["condition"].values],
        design.covariate,
        _covariate(means, design.covariate),
        [str(name) for name in means[LEG].values] if LEG in means.dims else [],
    )
    outcomes = matching(means, design.outcomes or ())
    compared = [*(design.quantities or [name for name in in_set("compared") if name in curves])]
    curves_kept, left_out = without_arms_and_empty(means, compared)
    wanted = dict.fromkeys(outcomes)
    wanted |= dict.fromkeys(Outcome(of, name) for of, names in curves_kept.items() for name in names)
    values = {variable: dict(curves_of(means[variable])) for variable in {one.variable for one in wanted}}
    tests = list[_Test]()
    for one in wanted:
        curve = values[one.variable][one.name]
        dims = [dim for dim in ("subject", "condition", LEG, PERCENT) if dim in curve.dims]
        curve = curve.transpose(*dims)
        cube = curve.values if PERCENT in dims else curve.values[..., None]
        family = ("primary" if one in outcomes else "exploratory") if outcomes else ""
        for test in layout.tests(cube):
            test.variable, test.name, test.family = one.variable, one.name, family
            tests.append(test)
    return _assembled(means, design, layout, tests, left_out)


def _covariate(means: xr.Dataset, name: str | None) -> Array:
    """A number of every subject in every condition, (S, C); NaN where it is not known."""
    shape = (means.sizes["subject"], means.sizes["condition"])
    if name is None:
        return np.full(shape, np.nan)
    if name in means.variables and set(means[name].dims) <= {"subject", "condition"}:
        there = means[name].transpose(..., "subject", "condition", missing_dims="ignore")
        if there.dims[:1] == ("subject",) and np.issubdtype(there.dtype, np.number):
            values = np.asarray(there.values, float)
            return np.broadcast_to(values.reshape(shape[0], -1), shape)
    known = [
        str(key)
        for key, variable in means.variables.items()
        if variable.dims[:1] == ("subject",)
        and set(variable.dims) <= {"subject", "condition"}
        and np.issubdtype(variable.dtype, np.number)
    ]
    raise input_error(
        "unknown_name",
        where="[design] covariate",
        problem=f"there is no number {name!r} of the subjects",
        expected=f"one of {', '.join(known) or 'the numbers of the subjects'}",
        remedy="state it in the table of trials, in a column age_years or numbers.NAME",
    )


@dataclass(frozen=True)
class _Layout:
    """Layout of the tests: the subjects of each group, and the order of the conditions."""

    subjects: list[str]
    groups: dict[str, np.ndarray[Any, Any]]  # name -> rows of its subjects
    conditions: list[str]
    covariate: str | None
    numbers: Array  # (S, C)
    legs: list[str]  # names of the levels of the factor leg; none where both legs are averaged

    def tests(self, curve: Array) -> list[_Test]:
        """All tests of a curve (S, C, Q), or of the legs apart (S, C, L, Q)."""
        tests, apart = list[_Test](), curve
        if self.legs:
            curve = curve.mean(axis=2)
        if len(self.groups) > 1 or len(self.conditions) > 1:
            tests += self._of_design(curve)
        if len(self.conditions) > 2 and not any(test.tested for test in tests):
            if pairs := self._of_pairs(curve):
                tests = [test for test in tests if test.effect != "condition"] + pairs
        if len(self.legs) == 2:
            tests += self._of_legs(apart)
        if self.covariate is not None:
            tests += [self._of_covariate(curve[:, place], place) for place in range(len(self.conditions))]
        return tests

    def _chosen(self, curve: Array) -> tuple[dict[str, np.ndarray[Any, Any]], list[str]]:
        """Rows by group of the subjects in the tests of a curve (S, C, Q), and notes on subjects left out."""
        covered = np.isfinite(curve).mean(axis=2) >= COVERED
        notes = []
        absent = [
            f"{self.subjects[row]} ({', '.join(np.array(self.conditions)[~covered[row]])})".replace(" ()", "")
            for rows in self.groups.values()
            for row in rows
            if not covered[row].all() and covered.any()
        ]
        if absent:
            notes.append(f"left out, for lack of a curve: {', '.join(absent)}")
        chosen = {name: rows[covered[rows].all(axis=1)] for name, rows in self.groups.items()}
        few = [name for name, rows in chosen.items() if len(rows) < FEWEST_SUBJECTS]
        for name in few:
            who = (f"group {name}" if name else NO_GROUP) if len(self.groups) > 1 else "not tested"
            there = ("there is none", "there is 1", "there are 2")[len(chosen[name])]
            of_all = " with every condition" * (len(self.conditions) > 1)
            notes.append(f"{who}: a test needs {FEWEST_SUBJECTS} subjects{of_all}, {there}")
        return {name: rows for name, rows in chosen.items() if name not in few}, notes

    def _of_pairs(self, curve: Array) -> list[_Test]:
        """Each other condition against the first, of the subjects who have both, for a curve (S, C, Q).

        Used where too few subjects have all conditions: a missing condition affects its own comparison alone. These are
        separate tests, among which the level is divided.
        """
        pairs = []
        for place, condition in enumerate(self.conditions[1:], start=1):
            both = [self.conditions[0], condition]
            for test in replace(self, conditions=both)._of_design(curve[:, [0, place]]):
                if test.effect == "condition" and test.tested is not None:
                    test.effect, test.in_pairs = f"condition: {condition} - {both[0]}", True
                    pairs.append(test)
        return pairs

    def _of_legs(self, curve: Array) -> list[_Test]:
        """Tests of the factor leg on a curve (S, C, 2, Q): the legs, and whether their difference depends on others."""
        tests = []
        for test in replace(self, conditions=self.legs)._of_design(curve.mean(axis=1)):
            if test.effect != "group":  # tested already on the means over both legs
                test.effect = test.effect.replace("condition", LEG)
                tests.append(test)
        if len(self.conditions) > 1:
            for test in self._of_design(curve[:, :, 1] - curve[:, :, 0]):
                if test.effect.startswith("condition"):
                    test.effect = test.effect.replace("condition", f"condition x {LEG}", 1)
                    test.kind = f"{test.kind} of the differences {self.legs[1]} - {self.legs[0]}"
                    test.reference = math.nan  # a difference has no size to compare with
                    tests.append(test)
        return tests

    def _of_design(self, curve: Array) -> list[_Test]:
        """Tests of the groups, of the conditions, and of their interaction, for a curve (S, C, Q).

        Each effect is a function of the samples (n, C, K) of the groups at the tested percentages.
        """
        chosen, notes = self._chosen(curve)
        several, repeated = len(self.groups) > 1, len(self.conditions) > 1
        rows = np.concatenate([*chosen.values(), np.empty(0, int)])
        ends = np.cumsum([len(members) for members in chosen.values()])[:-1]
        cell = np.empty((len(chosen), *curve.shape[1:]))  # the mean of each group in each condition
        for group, members in enumerate(chosen.values()):
            cell[group] = curve[members].mean(axis=0)
        tests = list[_Test]()

        def add(
            effect: str, kind: str, make: Callable[[list[Array]], Effect], enough: bool, **more: Any
        ) -> _Test:
            test = _Test(effect, kind, len(rows), list(notes), **more)
            if enough:
                test.make(lambda kept: make(np.split(kept, ends)), curve[rows])
            elif several:  # of one group it is noted already
                test.notes.append("not tested: too few subjects or groups")
            tests.append(test)
            return test

        def add_factor(
            effect: str,
            levels: Sequence[tuple[str, Array]],
            two: bool,
            t: tuple[str, Callable[..., Effect]],
            f: tuple[str, Callable[[list[Array]], Effect]],
        ) -> None:
            """Test a factor: of two levels by t, of more by F, then each other level against the first by t."""
            more: dict[str, Any] = {"reference": greatest(np.abs(levels[0][1])) if levels else math.nan}
            if not two:
                after = add(effect, *f, len(levels) > 1, levels=levels, **more)
                more |= {"after": after, "among": len(levels) - 1}
            elif len(levels) < 2:
                add(effect, t[0], partial(t[1], level=1), False, **more)
            for place, (name, mean) in enumerate(levels[1:], start=1):
                of, difference = f"{name} - {levels[0][0]}", mean - levels[0][1]
                label, make = effect if two else f"{effect}: {of}", partial(t[1], level=place)
                add(label, t[0], make, two or len(levels) > 2, difference=difference, of=of, **more)

        groups = [name or NO_GROUP for name in chosen]
        if several:
            means = " of the subjects' means over the conditions" * repeated
            add_factor(
                "group",
                list(zip(groups, cell.mean(axis=1), strict=True)),
                len(self.groups) == 2,
                (
                    f"two-sample t test (Welch){means}",
                    lambda samples, level: contrast([samples[k].mean(axis=1) for k in (0, level)], BETWEEN),
                ),
                (
                    f"one-way ANOVA (Brown-Forsythe){means}",
                    lambda samples: variance_ratio(
                        [sample.mean(axis=1)[:, None] for sample in samples], True
                    ),
                ),
            )
        if repeated:
            equal = " of all groups with equal weight" * several
            add_factor(
                "condition",
                list(zip(self.conditions, cell.mean(axis=0), strict=True)) if groups else [],
                len(self.conditions) == 2,
                (f"paired t test{equal}", _condition_effect),
                (
                    f"repeated-measures ANOVA (Greenhouse-Geisser){equal}",
                    lambda samples: variance_ratio(_profiles(samples), False),
                ),
            )
        if several and repeated:
            more: dict[str, Any] = {"reference": greatest(np.abs(cell[0, 0])) if groups else math.nan}
            change, changes = f"({self.conditions[1]} - {self.conditions[0]})", cell[:, 1] - cell[:, 0]
            make: Callable[[list[Array]], Effect]
            if len(self.conditions) > 2:
                kind, make = (
                    "mixed ANOVA, interaction",
                    lambda samples: variance_ratio(_profiles(samples), True),
                )
            elif len(self.groups) > 2:
                kind, make = (
                    "one-way ANOVA (Brown-Forsythe) of the paired differences",
                    lambda samples: variance_ratio(
                        [sample[:, [1]] - sample[:, [0]] for sample in samples], True
                    ),
                )
                more["levels"] = [(f"{change}: {of}", mean) for of, mean in zip(groups, changes, strict=True)]
            else:
                kind, make = (
                    "two-sample t test (Welch) of the paired differences",
                    lambda samples: contrast([sample[:, 1] - sample[:, 0] for sample in samples], BETWEEN),
                )
                if len(groups) > 1:
                    more["difference"] = changes[1] - changes[0]
                    more["of"] = f"{change}: {groups[1]} - {groups[0]}"
            add("group x condition", kind, make, len(groups) > 1, **more)
        return tests

    def _of_covariate(self, curve: Array, place: int) -> _Test:
        """Regression of the curves (S, Q) of a condition, by its place, on the covariate."""
        x = self.numbers[:, place]
        known = np.isfinite(x) & (np.isfinite(curve).mean(axis=1) >= COVERED)
        chosen = [rows_known for rows in self.groups.values() if len(rows_known := rows[known[rows]])]
        rows = np.concatenate([*chosen, np.empty(0, int)])
        effect = (
            f"{self.covariate}, {self.conditions[place]}" if len(self.conditions) > 1 else str(self.covariate)
        )
        kind = "linear regression" + ", an intercept for each group" * (len(self.groups) > 1)
        test = _Test(effect, kind, len(rows), [], of=f"per unit of {self.covariate}")
        members = np.concatenate(list(self.groups.values()))
        if absent := [self.subjects[row] for row in members if not known[row]]:
            test.notes.append(f"left out, for lack of a curve or of {self.covariate}: {', '.join(absent)}")
        groups = [x[rows_known] for rows_known in chosen]
        if len(rows) < FEWEST_SUBJECTS + len(chosen) - 1 or not any(np.ptp(group) > 0.0 for group in groups):
            test.notes.append(
                f"not tested: {count_of(len(rows), 'subject')}, or {self.covariate} does not vary within a group"
            )
            return test
        ends = np.cumsum([len(one) for one in chosen])[:-1]
        test.make(lambda kept: regression(np.split(kept, ends), groups)[0], curve[rows])
        if test.tested is not None:
            there = test.tested.tested
            test.difference = np.full(curve.shape[1], np.nan)
            test.difference[there] = regression(np.split(curve[rows][:, there], ends), groups)[1]
            test.reference = greatest(np.abs(curve[rows][:, there].mean(axis=0)))
        return test


def _condition_effect(samples: list[Array], level: int) -> Effect:
    """A condition against the first one, each group with the same weight."""
    changes = [sample[:, level] - sample[:, 0] for sample in samples]
    return contrast(changes, [1.0 / len(changes)] * len(changes))


def _profiles(samples: list[Array]) -> list[Array]:
    """The conditions of each subject less their mean."""
    return [sample - sample.mean(axis=1, keepdims=True) for sample in samples]


def _interval(test: _Test, level: float) -> tuple[float, float, float]:
    """Difference of a value that a t test compares, and the ends of its confidence interval; NaN where not known."""
    if test.tested is None or test.difference is None or not test.tested.effect.is_t:
        return math.nan, math.nan, math.nan
    from scipy import stats  # slow to load

    effect, difference = test.tested.effect, float(test.difference[0])
    t = float(effect.statistic[0])
    half = stats.t.isf(0.5 * level, effect.df[1]) * abs(difference / t) if t else math.nan
    return difference, difference - half, difference + half


OF_CLUSTER = {
    **{"cluster_test": np.int32, "start": float, "end": float, "p": float},
    **{"mean_difference": float, "mean_difference_percent": float, "difference_of": np.str_},
}
"""Variables over the clusters and their types."""


def _assembled(
    means: xr.Dataset, design: DesignSettings, layout: _Layout, tests: list[_Test], left_out: list[str]
) -> xr.Dataset:
    """Compute thresholds at the level of each test and clusters, and assemble one Dataset."""
    percent = np.asarray(means[PERCENT].values, float) if PERCENT in means.coords else np.empty(0)
    step = float(percent[1] - percent[0]) if percent.size > 1 else 1.0
    count = Counter(test.family for test in tests if test.tested is not None and test.after is None)
    tests = _inferred(tests, count, design)
    statistic, difference = np.full((2, len(tests), percent.size), np.nan)
    df, resels = np.full((2, len(tests), 2), np.nan)
    names = ("largest", "largest_at", "p_largest", "fwhm", "value_difference", "value_low", "value_high")
    numbers = {name: np.full(len(tests), np.nan) for name in names}
    clusters = list[tuple[int, float, float, float, float, float, str]]()
    for row, test in enumerate(tests):
        value = test.tested is not None and test.tested.tested.size == 1
        if test.difference is not None and not value:
            difference[row] = test.difference
        if (field_of := test.tested) is None:
            continue
        effect = field_of.effect
        place = int(np.nanargmax(np.abs(effect.statistic)))
        if not value:
            statistic[row, field_of.tested] = effect.statistic
            numbers["largest_at"][row] = percent[field_of.tested][place]
        else:
            for name, number_of in zip(names[4:], _interval(test, design.level), strict=True):
                numbers[name][row] = number_of
        df[row], resels[row], numbers["fwhm"][row] = effect.df, field_of.resels, step * field_of.fwhm
        numbers["largest"][row] = effect.statistic[place]
        numbers["p_largest"][row] = field_of.probability(abs(float(effect.statistic[place])))
        for start, end, p in test.clusters:
            amount, words = test.at(start, end)
            share = 100.0 * amount / test.reference if test.reference > 0.0 else math.nan
            ends = [math.nan] * 2 if value else [percent[0] + step * start, percent[0] + step * end]
            clusters.append((row, ends[0], ends[1], p, amount, share, words))
    places = {id(test): row for row, test in enumerate(tests)}
    known = np.isfinite(numbers["value_difference"])
    whole = {
        "subjects": [test.subjects for test in tests],
        "follows": [places.get(id(test.after), -1) for test in tests],
        "tested_percent": [test.tested.tested.sum() if test.tested else 0 for test in tests],
    }
    texts = {
        **{
            key: [getattr(test, key) for test in tests]
            for key in ("variable", "name", "effect", "kind", "family")
        },
        "units": [str(means[test.variable].attrs.get("units", "")) for test in tests],
        "note": ["; ".join(test.notes) for test in tests],
        "value_of": [test.of * bool(there) for test, there in zip(tests, known, strict=True)],
    }
    return xr.Dataset(
        {
            "statistic": (("test", PERCENT), statistic),
            "difference": (("test", PERCENT), difference),
            "df": (("test", "part"), df),
            "resels": (("test", "resel"), resels),
            "threshold": ("test", [test.threshold for test in tests]),
            "level_of_test": ("test", [test.level for test in tests]),
            **{name: ("test", values) for name, values in numbers.items()},
            **{name: ("test", np.array(values, np.int32)) for name, values in whole.items()},
            "is_t": ("test", np.array([bool(t.tested and t.tested.effect.is_t) for t in tests], bool)),
            **{
                key: ("cluster", np.array([cluster[k] for cluster in clusters], kind))
                for k, (key, kind) in enumerate(OF_CLUSTER.items())
            },
        },
        {
            PERCENT: means[PERCENT].variable if PERCENT in means.coords else percent,
            **{key: ("test", np.array(values, np.str_)) for key, values in texts.items()},
            "part": ["numerator", "denominator"],
            "resel": ["segments", "length"],
        },
        {
            "level": design.level,
            "level_of_each": design.level
            / (max(next(iter(count.values()), 1), 1) if design.correction == "bonferroni" else 1),
            "correction": design.correction,
            "tests": sum(count.values()),
            "said": [
                *_said(design, layout, tests, count),
                *(f"Left out: {reason}." for reason in left_out if any(count.values())),
            ],
        },
    )


def _inferred(tests: Sequence[_Test], count: Mapping[str, int], design: DesignSettings) -> list[_Test]:
    """The tests with threshold and clusters at their level, without followers of a test that found nothing.

    The tests of a family share its level; tests that follow the same test share the level of a test.
    """
    kept = list[_Test]()
    for test in tests:
        if test.after is not None and not test.after.clusters:
            continue
        if (field_of := test.tested) is not None:
            shared = max(count[test.family], 1) if design.correction == "bonferroni" else 1
            test.level = design.level / shared / test.among
            test.threshold = field_of.threshold(0.5 * test.level if field_of.effect.is_t else test.level)
            test.clusters = field_of.clusters(test.threshold)
        kept.append(test)
    return kept


def _of_subjects(numbers: set[int]) -> str:
    """The number of subjects of some tests, in brackets: the fewest and the most where they differ."""
    if not numbers:
        return ""
    fewest, most = min(numbers), max(numbers)
    return f" ({count_of(most, 'subject') if fewest == most else f'{fewest} to {most} subjects'})"


def _said(design: DesignSettings, layout: _Layout, tests: list[_Test], count: Mapping[str, int]) -> list[str]:
    """Return sentences on the tests and their methods."""
    if not tests:
        if max(map(len, (layout.groups, layout.conditions, layout.legs))) > 1 or layout.covariate is not None:
            return ["Nothing is compared: no curve of the chosen quantities and outcomes has values."]
        return [
            "Nothing is compared: no two groups, conditions or legs have enough subjects, and no covariate is stated."
        ]
    alone = [test for test in tests if test.after is None and not test.in_pairs]
    kinds: dict[str, set[int]] = {}
    for test in alone:
        kinds.setdefault(f"{capitalized(test.effect)}: {test.kind}", set()).update(
            [] if test.tested is None else [test.subjects]
        )
    said = [f"{kind}{_of_subjects(numbers)}." for kind, numbers in kinds.items()]
    if pairs := next((test for test in tests if test.in_pairs), None):
        said.append(
            f"Where fewer than {FEWEST_SUBJECTS} subjects have all conditions, each other one is compared with "
            f"{layout.conditions[0]}, of the subjects who have both: {pairs.kind}, each a test of its own."
        )
    if followed := {test.after.effect: test for test in tests if test.after is not None}:
        first = {"group": next(iter(layout.groups)) or NO_GROUP}
        for effect, test in followed.items():
            said.append(
                f"Where the {effect} differs, each other one is compared with "
                f"{first.get(effect, layout.conditions[0])}: {test.kind}, at the level of the test divided by "
                f"{test.among}."
            )
    for family in count:
        made = count[family]
        level = design.level / max(made, 1)
        of = count_of(made, f"{family} test".strip())
        said.append(
            f"Level of {of}{' together' * (made > 1)}: {100.0 * design.level:g} %"
            f"{f' (Bonferroni: {level:.2g} each)' * (made > 1)}."
            if design.correction == "bonferroni"
            else f"Level of each of {of} by itself {100.0 * design.level:g} %: expect about "
            f"{design.level * made:.0f} false positive curves."
        )
    said.append("Thresholds and p of curves by random field theory.")
    if "exploratory" in count:
        said.append(
            "Exploratory tests have a level of their own: what they find has to be confirmed by a study in which it is "
            "primary."
        )
    plan = [test for test in tests if test.after is None]
    if sum(count.values()) < len(plan):
        said.append(f"Not tested: {count_of(len(plan) - sum(count.values()), 'curve')}; the notes say why.")
    return said
