"""Means of subjects and groups over the movement cycle, and tests of whole curves by statistical parametric mapping.

The observation of a study is a subject, not a cycle: the cycles of a subject in a condition are averaged first
(`subject_means`), and groups and conditions are described (`group_means`) and compared (`compare_curves`) on these.

A curve of Q percentages is tested as one (Friston et al. 2007, Statistical Parametric Mapping; for movement curves
Pataky 2010, J Biomech 43:1976-82; Pataky, Robinson and Vanrenterghem 2013, J Biomech 46:2394-401): a t or F statistic
at every percentage, and a threshold u that the largest of a smooth Gaussian curve without effect exceeds with
probability `level`. With FWHM the smoothness of the residuals in percent (curves r, sums over subjects)

    1 / FWHM = mean over percent of sqrt(sum (dr/dpercent)^2 / (4 ln 2 sum r^2)),      resels = length / FWHM,

the expected number of excursions above u is rho_0(u) + resels rho_1(u) with the densities rho of the t and F field
(Worsley et al. 1996, Hum Brain Mapp 4:58-73), and the probability of a cluster follows from its extent (Friston et al.
1994, Hum Brain Mapp 1:210-20). Smoothness and probabilities are those of the library spm1d (Pataky 2012, Comput Methods
Biomech Biomed Engin 15:295-301). The statistics are computed here: the two-sample test of spm1d 0.4 divides by one
variance for both groups, and finds differences that are not there where the smaller group is the more variable one
(docs/study_statistics.md, ``python -m benchmarks.study_statistics``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve.errors import InputError
from musclesolve.results.cycles.curve_names import PERCENT, curves_of
from musclesolve.results.tables.study_tables import NOT_EVERYWHERE

QUANTITIES = ("joint_angle", "joint_moment", "joint_power", "muscle_force", "joint_reaction")
"""What is compared unless the design names quantities."""
WITHIN, UNCERTAINTY = "_std", "_uncertainty_sd"
"""Suffixes: standard deviation within the subject, and that which a Monte Carlo analysis gave the cycles."""
FEWEST = 3
"""Subjects that a group needs for a test."""
COVERED = 0.5
"""Share of the percentages that the mean of a subject has to have to be in a test."""
VARIES = 1e-9
"""Standard error over the largest value of a curve, below which it does not vary."""
OF_CYCLES = ("subject", "group", "condition", "session", "coverage", "distance", "outlier")
"""Coordinates over the cycles that are no numbers of the subjects."""


@dataclass(frozen=True)
class Design:
    """What is compared, and how strictly; the keys are those of [design] in a study file.

    Raises:
        InputError: a level that is no probability, or an unknown correction.
    """

    groups: Sequence[str] | None = None  # in their order, the first is the reference; None: as they come
    conditions: Sequence[str] | None = None
    quantities: Sequence[str] | None = None  # None: those of `QUANTITIES` that there are
    level: float = 0.05  # probability of a false positive
    correction: str = "bonferroni"  # level over all tests made; "none": of each test for itself
    covariate: str | None = None  # a number of the subjects, on which their mean curves are regressed

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            problem = f"the level of the tests is {self.level:g}"
            raise InputError(
                problem, code="bad_number", where="[design] level", expected="between 0 and 1, such as 0.05"
            )
        if self.correction not in ("bonferroni", "none"):
            problem = f"there is no correction {self.correction!r}"
            expected = '"bonferroni" or "none"'
            raise InputError(problem, code="unknown_name", where="[design] correction", expected=expected)


def subject_means(
    cycles: xr.Dataset,
    *,
    variables: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    conditions: Sequence[str] | None = None,
    by_side: bool = False,
    outliers: bool = True,
) -> xr.Dataset:
    """Mean over the cycles of each subject in each condition.

    At each percentage the cycles count that have a value there. The standard deviation is that of a sample (n - 1).

    Args:
        cycles: the cycles of a study (study.nc): over ``cycle`` the coordinates ``subject`` and, if there are any,
            ``group`` and ``condition``; other numbers over ``cycle`` that are the same in all cycles of a subject, such
            as ``age_years``, become numbers of the subjects.
        variables: which variables; all numbers over ``cycle`` unless given.
        groups: in their order; subjects of others are left out. As they come unless given.
        conditions: the same for conditions.
        by_side: keep the legs apart (dimension ``side``), otherwise the cycles of both legs are averaged.
        outliers: whether cycles that are marked as outliers count.

    Returns:
        Dataset over subject, condition, (side,) percent, dof, muscle, joint, axis: each variable by its name is the
        mean, with ``_std`` the standard deviation within the subject. ``cycles`` is the number of cycles. A variable
        ``NAME_uncertainty_sd`` is the root mean square of the subject's cycles. ``group`` is a coordinate over
        subject. ``attrs["groups"]`` lists the groups in their order.

    Raises:
        InputError: no cycles of a study, no subjects among them, a subject in two groups, unknown variables.
    """
    if not isinstance(cycles, xr.Dataset) or "cycle" not in cycles.dims or "subject" not in cycles.variables:
        raise InputError(
            "these are not the cycles of a study",
            code="bad_result",
            expected="a dataset over `cycle` with the coordinate `subject`, such as study.nc",
            remedy="musclesolve study STUDY.toml -o OUT writes study.nc",
        )
    if "group" in cycles.variables and "muscle" in cycles["group"].dims:  # function groups of the muscles
        cycles = cycles.rename(group="function_group")
    subject, group, condition, side = (
        _labels(cycles, name) for name in ("subject", "group", "condition", "cycle_side")
    )
    group_order, condition_order = _order(groups, group), _order(conditions, condition)
    used = np.isin(group, group_order) & np.isin(condition, condition_order) & (subject != "")
    if not outliers and "outlier" in cycles.variables:
        used &= ~cycles["outlier"].values.astype(bool)
    if not used.any():
        raise InputError(
            "no cycle belongs to a subject of these groups and conditions",
            code="not_comparable",
            expected=f"groups {', '.join(group_order) or 'none'}; conditions {', '.join(condition_order) or 'none'}",
            remedy="compare [design] groups and conditions with those of the subjects and trials",
        )
    subjects = list(dict.fromkeys(subject[used]))
    group_of = [sorted(set(group[used & (subject == name)])) for name in subjects]
    for name, several in zip(subjects, group_of, strict=True):
        if len(several) == 1:
            continue
        problem = f"the subject {name} is in several groups: {', '.join(several)}"
        remedy = "give what changes within a subject as `condition`"
        raise InputError(problem, code="conflict", expected="one group for each subject", remedy=remedy)
    axes = [subjects, condition_order, *[sorted(set(side[used]))] * by_side]
    places = [{name: place for place, name in enumerate(axis)} for axis in axes]
    cells: dict[tuple[int, ...], list[int]] = {}
    for cycle in np.flatnonzero(used).tolist():
        key = (subject[cycle], condition[cycle], *[side[cycle]] * by_side)
        cells.setdefault(tuple(place[name] for place, name in zip(places, key, strict=True)), []).append(
            cycle
        )
    shape, dims = tuple(map(len, axes)), ("subject", "condition", *["side"] * by_side)
    numeric = [
        str(name)
        for name, each in cycles.data_vars.items()
        if each.dims[:1] == ("cycle",) and np.issubdtype(each.dtype, np.floating)
    ]
    if unknown := sorted(set(variables or ()) - set(numeric)):
        problem = f"the cycles have no {', '.join(unknown)}"
        raise InputError(problem, code="unknown_name", expected=f"some of {', '.join(numeric)}")
    counts = np.zeros(shape, np.int32)
    for place, members in cells.items():
        counts[place] = len(members)
    found: dict[str, xr.Variable] = {
        "cycles": xr.Variable(dims, counts, {"units": "1", "long_name": "cycles that count"})
    }
    for name in numeric if variables is None else variables:
        each = cycles[name]
        values = np.asarray(each.values, float)
        mean, spread = np.full((2, *shape, *values.shape[1:]), np.nan)
        for place, members in cells.items():
            if name.endswith(UNCERTAINTY):
                mean[place] = np.sqrt(_mean_and_sd(values[members] ** 2)[0])
            else:
                mean[place], spread[place] = _mean_and_sd(values[members])
        over = (*dims, *map(str, each.dims[1:]))
        found[name] = xr.Variable(over, mean, each.attrs)
        if not name.endswith(UNCERTAINTY):
            about = f"standard deviation within the subject: {each.attrs.get('long_name', name)}"
            found[name + WITHIN] = xr.Variable(over, spread, {**each.attrs, "long_name": about})
    kept = {dim for each in found.values() for dim in each.dims}
    coords: dict[str, Any] = {
        str(name): coord.variable for name, coord in cycles.coords.items() if set(coord.dims) <= kept
    }
    coords |= dict(zip(dims, axes, strict=True)) | {"group": ("subject", [of[0] for of in group_of])}
    coords |= _numbers_of_subjects(cycles, subject, subjects, used)
    movements = sorted(set(_labels(cycles, "cycle_movement")[used]) - {""})
    attrs = {"groups": group_order, "movements": movements, "cycles": int(used.sum())}
    return xr.Dataset(found, coords, attrs)


def _labels(cycles: xr.Dataset, name: str) -> np.ndarray[Any, Any]:
    """A text over the cycles; empty where there is none."""
    if name not in cycles.variables or cycles[name].dims != ("cycle",):
        return np.full(cycles.sizes["cycle"], "", dtype=object)
    return np.array([str(value) for value in cycles[name].values], dtype=object)


def _order(wanted: Sequence[str] | None, there: np.ndarray[Any, Any]) -> list[str]:
    return list(wanted) if wanted else list(dict.fromkeys(there.tolist()))


def _groups(means: xr.Dataset) -> list[str]:
    """Groups in their order; a list of one is read from a file as its only entry."""
    return [str(name) for name in np.atleast_1d(means.attrs["groups"])]


def _numbers_of_subjects(
    cycles: xr.Dataset, subject: np.ndarray[Any, Any], subjects: Sequence[str], used: Mask
) -> dict[str, Any]:
    """Coordinates over the cycles that are numbers and the same in all cycles of a subject."""
    numbers = {}
    for name, coord in cycles.coords.items():
        told = str(name).startswith("cycle_") or name in OF_CYCLES
        if coord.dims == ("cycle",) and not told and np.issubdtype(coord.dtype, np.number):
            of = [np.unique(coord.values[used & (subject == each)].astype(float)) for each in subjects]
            if all(values.size == 1 for values in of):
                numbers[str(name)] = ("subject", np.concatenate(of), coord.attrs)
    return numbers


def _mean_and_sd(values: Array) -> tuple[Array, Array]:
    """Mean and standard deviation (n - 1) over the first axis of the values that are there."""
    there = np.isfinite(values)
    count = there.sum(axis=0)
    mean = np.where(there, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    squares = (np.where(there, values - mean, 0.0) ** 2).sum(axis=0)
    spread = np.sqrt(squares / np.maximum(count - 1, 1))
    return np.where(count > 0, mean, np.nan), np.where(count > 1, spread, np.nan)


def group_means(
    means: xr.Dataset,
    *,
    level: float = 0.05,
    band: Literal["pointwise", "simultaneous"] = "pointwise",
    common_errors: bool = False,
) -> xr.Dataset:
    """Mean, standard deviation and confidence band of each group in each condition, over its subjects.

    The band is mean ± u SE. Pointwise, u is the quantile of Student's t with n - 1 degrees of freedom at 1 - level / 2:
    at each percentage by itself it covers the mean of the population with probability 1 - level. Simultaneous, u is the
    threshold of random field theory for a curve of this smoothness: it covers the whole curve with that probability.

    SE^2 = SD^2 / n. The spread SD of the subjects' means contains the errors that are independent from subject to
    subject (markers, joint centers, a subject's own muscle parameters) already. An error that is the same in all
    subjects is in no spread and is not averaged out: with `common_errors`, SE^2 = SD^2 / n + (mean of
    NAME_uncertainty_sd)^2, an upper bound, as if all of that uncertainty were common to the study. uncertainty.nc does
    not say which part of it is; unless asked for, the mean is given beside the spread and not combined with it.

    Args:
        means: what `subject_means` returned.
        level: 1 - coverage of the band.
        band: which one.
        common_errors: whether NAME_uncertainty_sd is of errors that all subjects have in common.

    Returns:
        Dataset over group, condition, (side,) percent, ...: mean by the name of the variable, ``_std``, ``_low`` and
        ``_high`` (the band), ``_count`` (subjects at each percentage); ``subjects`` (group, condition) is the number of
        subjects with cycles. ``attrs["band"]`` says in words what the band is.

    Raises:
        InputError: a simultaneous band without the package spm1d.
    """
    theory = _random_field_theory() if band == "simultaneous" else None
    groups, of = _groups(means), means["group"].values
    members = [np.flatnonzero(of == name) for name in groups]
    present = means["cycles"] > 0
    present = present.any("side") if "side" in present.dims else present
    counted = np.stack([present.values[rows].sum(axis=0) for rows in members])
    found: dict[str, xr.Variable] = {
        "subjects": xr.Variable(("group", "condition"), counted.astype(np.int32), {"units": "1"})
    }
    for name, each in means.data_vars.items():
        if name == "cycles" or str(name).endswith((WITHIN, UNCERTAINTY)):
            continue
        dims = ("group", *map(str, each.dims[1:]))
        values = [each.values[rows] for rows in members]
        mean, spread = (np.stack(part) for part in zip(*map(_mean_and_sd, values), strict=True))
        count = np.stack([np.isfinite(part).sum(axis=0) for part in values])
        if theory is not None and PERCENT in dims:
            factor = np.stack([_field_quantiles(theory, part, dims, level) for part in values])
        else:
            from scipy import stats  # slow to load, and what computes trials reads only names here

            factor = stats.t.isf(0.5 * level, np.maximum(count - 1, 1))
        square = spread**2 / np.maximum(count, 1)
        if common_errors and f"{name}{UNCERTAINTY}" in means:
            errors = means[f"{name}{UNCERTAINTY}"].values
            square = square + np.stack([_mean_and_sd(errors[rows])[0] for rows in members]) ** 2
        half = factor * np.sqrt(square)
        for suffix, numbers in (("", mean), (WITHIN, spread), ("_low", mean - half), ("_high", mean + half)):
            found[f"{name}{suffix}"] = xr.Variable(dims, numbers, each.attrs)
        found[f"{name}_count"] = xr.Variable(dims, count.astype(np.int32), {"units": "1"})
    for name, each in means.data_vars.items():
        if str(name).endswith(UNCERTAINTY):
            beside = np.stack([_mean_and_sd(each.values[rows])[0] for rows in members])
            found[str(name)] = xr.Variable(("group", *map(str, each.dims[1:])), beside, each.attrs)
    words = {
        "pointwise": "of the mean at each percentage (Student's t)",
        "simultaneous": "of the whole mean curve (random field theory)",
    }
    extra = ", the uncertainty of the trials included as common to all" if common_errors else ""
    attrs = {**means.attrs, "band": f"{100.0 * (1.0 - level):g} % confidence band {words[band]}{extra}"}
    coords = {
        str(name): coord.variable for name, coord in means.coords.items() if "subject" not in coord.dims
    }
    return xr.Dataset(found, coords | {"group": groups}, attrs)


def _field_quantiles(theory: ModuleType, values: Array, dims: tuple[str, ...], level: float) -> Array:
    """Threshold of the t field of every curve of some subjects (n, ...), the same at all its percentages."""
    axis = dims.index(PERCENT)
    curves = np.moveaxis(values, axis, -1)
    factor = np.full(curves.shape[1:], np.nan)
    for place in np.ndindex(curves.shape[1:-1]):
        curve = curves[(slice(None), *place)]
        there = curve[np.isfinite(curve).any(axis=1)]
        tested = np.isfinite(there).all(axis=0)
        if len(there) > 1 and tested.any():
            whole = np.where(tested, there, np.nan)
            made = _on_varying(lambda kept: _contrast([kept], [1.0]), whole)
            if made is not None:
                factor[place] = _smoothness(theory, *made).threshold(0.5 * level)
    return np.moveaxis(factor, -1, axis - 1)


@dataclass(frozen=True)
class _Effect:
    """A statistic at each tested percentage (K,), and the residuals (J, K) from which its smoothness follows."""

    statistic: Array
    df: tuple[float, float]  # numerator and denominator; those of t are 1 and its own
    residuals: Array
    is_t: bool
    variance: Array  # (K,) of what is tested, in the unit of the curve squared


def _contrast(samples: Sequence[Array], weights: Sequence[float]) -> _Effect:
    """The test of a sum of means of independent samples (n_g, K), variances not pooled.

    The statistic is t = sum w_g m_g / sqrt(sum w_g^2 s_g^2 / n_g). One sample is the paired test on differences, two
    with weights -1 and 1 are the test of Welch (1947, Biometrika 34:28-35). With c_g the share of a sample in the
    variance below the root, its mean over the curve, df = 1 / sum(c_g^2 / (n_g - 1)): a field has the same number of
    degrees of freedom everywhere.
    """
    means = [sample.mean(axis=0) for sample in samples]
    residuals = [
        weight * (sample - mean) / math.sqrt(len(sample) * (len(sample) - 1))
        for sample, mean, weight in zip(samples, means, weights, strict=True)
    ]
    parts = np.stack([(each**2).sum(axis=0) for each in residuals])
    variance = parts.sum(axis=0)
    estimate = sum(weight * mean for weight, mean in zip(weights, means, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies: left out by `_on_varying`
        shares = np.nanmean(parts / variance, axis=1) if (variance > 0.0).any() else np.ones(len(samples))
        statistic = estimate / np.sqrt(variance)
    free = 1.0 / sum(share**2 / (len(sample) - 1) for share, sample in zip(shares, samples, strict=True))
    return _Effect(statistic, (1.0, float(free)), np.concatenate(residuals), True, variance)


def _variance_ratio(samples: Sequence[Array], between: bool) -> _Effect:
    """Analysis of variance of samples of vectors (n_g, C, K) with covariances S_g that need not be equal.

    With p_g the mean vector of a sample and A = diag(n) - n n^T / N (between: are the p_g equal?) or A = 1 (are they
    zero, each sample with the same weight?), F = sum A_gh p_g.p_h / D, D = sum k_g tr S_g, k_g = A_gg / n_g, has the
    expectation 1 without effect. The degrees of freedom are those that match its moments (Box 1954, Ann Math Stat
    25:290-302; for one number a subject Brown and Forsythe 1974, Technometrics 16:129-32, with the numerator of
    Mehrotra 1997, Commun Stat Simul Comput 26:1139-45):

        df1 = D^2 / sum A_gh^2 tr(S_g S_h) / (n_g n_h),      df2 = D^2 / sum k_g^2 tr(S_g^2) / (n_g - 1),

    each covariance over D, the mean over the curve. One sample gives the repeated-measures F with the correction of
    Greenhouse and Geisser (1959, Psychometrika 24:95-112), two samples of numbers the square of the t of Welch. Samples
    of one size have the classical F.
    """
    sizes = np.array([len(each) for each in samples], float)
    form = np.diag(sizes) - np.outer(sizes, sizes) / sizes.sum() if between else np.ones((len(sizes),) * 2)
    share = np.diag(form) / sizes
    centers = np.stack([each.mean(axis=0) for each in samples])
    off = [each - center for each, center in zip(samples, centers, strict=True)]
    covariance = np.stack([np.einsum("nck,ndk->kcd", each, each) / (len(each) - 1) for each in off])
    denominator = np.einsum("g,gkcc->k", share, covariance)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies: left out by `_on_varying`
        statistic = np.einsum("gh,gck,hck->k", form, centers, centers) / denominator
    if not (denominator > 0.0).any():
        return _Effect(statistic, (1.0, 1.0), np.zeros((1, statistic.size)), False, denominator)
    varies = denominator > 0.0
    pooled = (covariance[:, varies] / denominator[varies, None, None]).mean(axis=1)  # (G, C, C), D = 1
    products = np.einsum("gcd,hcd->gh", pooled, pooled)
    above = 1.0 / (form**2 * products / np.outer(sizes, sizes)).sum()
    below = 1.0 / (share**2 * np.diag(products) / (sizes - 1.0)).sum()
    residuals = np.concatenate(
        [
            (np.sqrt(weight / (len(each) - 1)) * each).reshape(-1, statistic.size)
            for weight, each in zip(share, off, strict=True)
        ]
    )
    return _Effect(statistic, (float(above), float(below)), residuals, False, denominator / len(residuals))


def _slope(samples: Sequence[Array], numbers: Sequence[Array]) -> tuple[_Effect, Array]:
    """Regression of curves (n_g, K) on numbers (n_g,), one slope and an intercept for each group: t, slope (K,)."""
    curve, x = np.concatenate(samples), np.concatenate(numbers)
    design = np.zeros((len(x), 1 + len(samples)))
    design[:, 0] = x
    design[np.arange(len(x)), 1 + np.repeat(np.arange(len(samples)), [len(each) for each in samples])] = 1.0
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ curve
    residuals = curve - design @ coefficients
    free = float(len(x) - np.linalg.matrix_rank(design))
    variance = (residuals**2).sum(axis=0) / free * (inverse[0] ** 2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = coefficients[0] / np.sqrt(variance)
    scale = float(np.ptp(x)) ** 2  # to compare with the curve itself
    return _Effect(statistic, (1.0, free), residuals, True, variance * scale), coefficients[0]


def _on_varying(make: Callable[[Array], _Effect], values: Array) -> tuple[_Effect, Mask] | None:
    """An effect on the percentages (last axis) that are finite and vary, and which these are; None where none does."""
    there: Mask = np.asarray(np.isfinite(values).all(axis=tuple(range(values.ndim - 1))))
    for _ in range(2):
        there = _long_runs(there)
        if not there.any():
            return None
        effect = make(values[..., there])
        varies = np.sqrt(effect.variance) > VARIES * np.abs(values[..., there]).max()
        if varies.all():
            return effect, there
        there[there] = varies
    there = _long_runs(there)
    return (make(values[..., there]), there) if there.any() else None


def _long_runs(mask: Mask) -> Mask:
    """Without single percentages: they have no smoothness."""
    kept = np.zeros_like(mask)
    for start, stop in true_runs(mask):
        kept[start:stop] = stop - start > 1
    return kept


def _random_field_theory() -> ModuleType:
    """The module of spm1d for one-dimensional random fields."""
    try:
        import spm1d
    except ImportError as error:
        raise InputError(
            "tests of curves need the package spm1d, which is not installed",
            code="missing_package",
            remedy='pip install "musclesolve[study]"',
        ) from error
    module: ModuleType = spm1d.rft1d
    return module


@dataclass(frozen=True)
class _Field:
    """An effect as a random field on some of the percentages."""

    theory: ModuleType
    effect: _Effect
    tested: Mask  # (Q,)
    fwhm: float  # percentages of the grid
    resels: tuple[int, float]

    def _arguments(self) -> tuple[ModuleType, Any, dict[str, Any]]:
        size = {"withBonf": True, "nNodes": int(self.tested.sum())}
        t = self.effect.is_t
        return (self.theory.t, self.effect.df[1], size) if t else (self.theory.f, list(self.effect.df), size)

    def threshold(self, tail: float) -> float:
        """What the largest value exceeds with this probability where there is no effect, on one side.

        The root of sf(u) = tail, found on the logarithm: the search of spm1d for the least (sf(u) - tail)^2 needs ten
        times as many evaluations.
        """
        field, df, size = self._arguments()

        def above(height: float) -> float:
            return math.log(max(float(field.sf_resels(height, df, self.resels, **size)), 1e-300) / tail)

        high = 2.0
        while above(high) > 0.0:
            high *= 2.0
        return float(brentq(above, 0.5 * high if above(0.5 * high) > 0.0 else 0.0, high, xtol=1e-9))

    def probability(self, height: float) -> float:
        """Of a largest value of at least this where there is no effect, to both sides for t."""
        field, df, size = self._arguments()
        sides = 2.0 if self.effect.is_t else 1.0
        return float(min(1.0, sides * field.sf_resels(height, df, self.resels, **size)))

    def clusters(self, threshold: float) -> list[tuple[float, float, float]]:
        """Begin and end of every cluster on the grid, between percentages along straight lines, and its probability."""
        field, df, size = self._arguments()
        sides = (1.0, -1.0) if self.effect.is_t else (1.0,)
        whole = np.full(self.tested.size, np.nan)
        whole[self.tested] = self.effect.statistic
        found = []
        for sign, (first, end) in itertools.product(sides, true_runs(self.tested)):
            curve = sign * whole[first:end]
            for start, stop in true_runs(curve >= threshold):
                low, high, height = float(start), float(stop - 1), float(curve[start:stop].min())
                if start > 0:
                    low -= (curve[start] - threshold) / (curve[start] - curve[start - 1])
                if stop < curve.size:
                    high += (curve[stop - 1] - threshold) / (curve[stop - 1] - curve[stop])
                if start > 0 or stop < curve.size:
                    height = threshold
                extent = (high - low or 1.0) / self.fwhm
                probability = field.p_cluster_resels(extent, height, df, self.resels, **size)
                found.append((first + low, first + high, float(min(1.0, len(sides) * probability))))
        return sorted(found)


def _smoothness(theory: ModuleType, effect: _Effect, tested: Mask) -> _Field:
    """The field of an effect; gradients are not taken across percentages that are not tested."""
    place, rate = 0, 0.0
    for start, stop in true_runs(tested):
        part = effect.residuals[:, place : place + stop - start]
        rate += (stop - start) / float(theory.geom.estimate_fwhm(part))
        place += stop - start
    fwhm = place / rate
    runs, length = theory.geom.resel_counts(~tested, fwhm, element_based=False)
    return _Field(theory, effect, tested, fwhm, (int(runs), float(length)))


@dataclass
class _Test:
    """A test of one effect on one curve, before the level of each test is known."""

    variable: str
    name: str
    effect: str
    kind: str = ""
    tested: _Field | None = None  # None: there is no test, the last note says why
    subjects: int = 0
    notes: list[str] = field(default_factory=list)
    difference: Array | None = None  # (Q,) in the unit of the curve
    of: str = ""  # what it is the difference of
    reference: float = math.nan  # largest magnitude of the reference curve
    levels: tuple[tuple[str, Array], ...] = ()  # name and mean curve (Q,) of what F compares

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


def compare_curves(means: xr.Dataset, design: Design | Mapping[str, Any] = Design()) -> xr.Dataset:
    """Test every curve of the quantities for differences between conditions and groups.

    What is tested follows from the groups and conditions there are:

    - two conditions: paired t test; more: repeated-measures analysis of variance (Greenhouse-Geisser);
    - two groups: t test of Welch; more: one-way analysis of variance of Brown and Forsythe; variances may differ;
    - groups and conditions: the groups on the subjects' means over the conditions, the conditions with the same weight
      for every group, and their interaction. Effects of one degree of freedom are t tests without pooled variances;
    - a covariate: regression of the curves of each condition on it, with an intercept for each group.

    t tests are two-sided. Percentages at which a subject has no value, or nothing varies, are not tested. A subject
    without one of the conditions, or with less than half of a curve, is left out of the tests of that curve.

    Args:
        means: what `subject_means` returned, of both legs together or by side.
        design: groups, conditions, quantities, level, correction and covariate.

    Returns:
        Dataset over ``test`` (one for each curve and effect): ``statistic`` (test, percent), NaN where not tested, and
        ``difference`` (test, percent) in the curve's unit; ``variable``, ``name``, ``effect``, ``kind``, ``units``,
        ``df`` (numerator, denominator), ``threshold``, ``largest`` (with sign) and ``largest_at`` [%], ``p_largest``,
        ``fwhm`` [%], ``resels``, ``subjects``, ``tested_percent`` (how many percentages), ``note`` (who and what is
        left out, why there is no test). Over ``cluster``: ``cluster_test`` (index of its test), ``start`` and ``end``
        [%], ``p`` (of the curve, before the correction), ``mean_difference``, ``mean_difference_percent`` (of the
        largest magnitude of the reference curve) and ``difference_of`` in words. ``attrs``: ``level``,
        ``level_of_each``, ``correction``, ``tests`` (how many were made), ``said`` (in sentences).

    Raises:
        InputError: no spm1d, quantities or a covariate that are not there, ``means`` of something else.
    """
    if not isinstance(design, Design):
        design = Design(**{key: value for key, value in design.items() if value is not None})
    if not isinstance(means, xr.Dataset) or "subject" not in means.dims or "groups" not in means.attrs:
        problem = "these are no means of subjects"
        raise InputError(problem, code="bad_type", expected="what subject_means returns")
    theory = _random_field_theory()
    curves = [str(name) for name, each in means.data_vars.items() if PERCENT in each.dims]
    if unknown := sorted(set(design.quantities or ()) - set(curves)):
        raise InputError(
            f"the means of the subjects have no {', '.join(unknown)}",
            code="unknown_name",
            where="[design] quantities",
            expected=f"some of {', '.join(name for name in curves if not name.endswith((WITHIN, UNCERTAINTY)))}",
        )
    order = _order(design.conditions, means["condition"].values)
    means = means.sel(condition=[name for name in order if name in means["condition"].values])
    of, groups = means["group"].values, list(design.groups or _groups(means))
    layout = _Layout(
        [str(name) for name in means["subject"].values],
        {name: np.flatnonzero(of == name) for name in groups if (of == name).any()},
        [str(name) for name in means["condition"].values],
        design.covariate,
        _covariate(means, design.covariate),
    )
    tests = [
        test
        for variable in design.quantities or [name for name in QUANTITIES if name in curves]
        for name, curve in curves_of(means[variable])
        for test in layout.tests(
            theory, variable, name, curve.transpose("subject", "condition", PERCENT).values
        )
    ]
    return _assembled(means, design, layout, tests)


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
        for key, each in means.variables.items()
        if each.dims[:1] == ("subject",)
        and set(each.dims) <= {"subject", "condition"}
        and np.issubdtype(each.dtype, np.number)
    ]
    raise InputError(
        f"there is no number {name!r} of the subjects",
        code="unknown_name",
        where="[design] covariate",
        expected=f"one of {', '.join(known) or 'the numbers of [subjects]'}",
        remedy=f"give every subject `{name}` in [subjects]",
    )


@dataclass(frozen=True)
class _Layout:
    """Who is in which group, and in what order conditions stand."""

    subjects: list[str]
    groups: dict[str, np.ndarray[Any, Any]]  # name -> rows of its subjects
    conditions: list[str]
    covariate: str | None
    numbers: Array  # (S, C)

    def tests(self, theory: ModuleType, variable: str, name: str, curve: Array) -> list[_Test]:
        """All tests of a curve (S, C, Q)."""
        found = []
        if len(self.groups) > 1 or len(self.conditions) > 1:
            found += self._of_design(theory, variable, name, curve)
        if self.covariate is not None:
            for place, condition in enumerate(self.conditions):
                found.append(self._of_covariate(theory, variable, name, curve[:, place], place, condition))
        return found

    def _chosen(self, curve: Array) -> tuple[dict[str, np.ndarray[Any, Any]], list[str]]:
        """Rows by group of those who can be in the tests of a curve (S, C, Q), and who is left out and why."""
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
        few = [name for name, rows in chosen.items() if len(rows) < FEWEST]
        for name in few:
            who = f"group {name}" if len(self.groups) > 1 else "these tests"
            notes.append(f"{who}: {len(chosen[name])} subjects, at least {FEWEST} are needed")
        return {name: rows for name, rows in chosen.items() if name not in few}, notes

    def _of_design(self, theory: ModuleType, variable: str, name: str, curve: Array) -> list[_Test]:
        chosen, notes = self._chosen(curve)
        several, repeated = len(self.groups) > 1, len(self.conditions) > 1
        rows, count = np.concatenate([*chosen.values(), np.empty(0, int)]), len(chosen)
        ends = np.cumsum([len(each) for each in chosen.values()])[:-1]
        values = curve[rows]
        group_names, conditions = list(chosen), self.conditions

        def split(kept: Array) -> list[Array]:
            return np.split(kept, ends)

        def profile(kept: Array) -> list[Array]:
            return split(kept - kept.mean(axis=1, keepdims=True))

        def difference(kept: Array) -> list[Array]:
            return [each[:, 1] - each[:, 0] for each in split(kept)]

        def average(kept: Array) -> list[Array]:
            return [each.mean(axis=1) for each in split(kept)]

        def single(numbers: list[Array]) -> list[Array]:
            return [each[:, None] for each in numbers]

        two, pair = count == 2, len(conditions) == 2
        weights = [-1.0, 1.0]
        cell = np.array([each.mean(axis=0) for each in split(values)]) if count else np.empty((0, 0, 0))
        change = f"{conditions[1]} - {conditions[0]}" if repeated else ""
        apart = f"{group_names[1]} - {group_names[0]}" if two else ""
        tests = []

        def add(effect: str, kind: str, make: Callable[[Array], _Effect], enough: bool, **said: Any) -> None:
            test = _Test(variable, name, effect, kind, subjects=len(rows), notes=list(notes), **said)
            if not enough:
                test.notes.append("not tested: too few subjects or groups")
            elif (made := _on_varying(make, values)) is None:
                test.notes.append(
                    "not tested: nothing varies between the subjects, or no percentage is common"
                )
            else:
                test.tested = _smoothness(theory, *made)
                if missing := values.shape[-1] - int(made[1].sum()):
                    test.notes.append(f"{missing} of {values.shape[-1]} {NOT_EVERYWHERE}")
            tests.append(test)

        def reference(curves: Array) -> float:
            finite = curves[np.isfinite(curves)]
            return float(np.abs(finite).max()) if finite.size else math.nan

        if several:
            mixed = "of the subjects' means over the conditions" if repeated else ""
            over = cell.mean(axis=1) if count else cell
            if len(self.groups) == 2:
                said = {"difference": over[1] - over[0], "of": apart} if two else {}
                kind = f"two-sample t test (Welch) {mixed}".strip()
                add("group", kind, lambda k: _contrast(average(k), weights), two, **said)
            else:
                kind, levels = (
                    f"one-way ANOVA (Brown-Forsythe) {mixed}".strip(),
                    tuple(zip(group_names, over, strict=True)),
                )
                add(
                    "group",
                    kind,
                    lambda k: _variance_ratio(single(average(k)), True),
                    count > 1,
                    levels=levels,
                )
            tests[-1].reference = reference(over[0]) if count else math.nan
        if repeated:
            equal = "of all groups with equal weight" if several else ""
            over = cell.mean(axis=0) if count else cell
            if pair:
                said = {"difference": over[1] - over[0], "of": change} if count else {}
                kind = f"paired t test {equal}".strip()
                share = [1.0 / max(count, 1)] * count
                add("condition", kind, lambda k: _contrast(difference(k), share), count > 0, **said)
            else:
                levels = tuple(zip(conditions, over, strict=True)) if count else ()
                kind = f"repeated-measures ANOVA (Greenhouse-Geisser) {equal}".strip()
                add("condition", kind, lambda k: _variance_ratio(profile(k), False), count > 0, levels=levels)
            tests[-1].reference = reference(over[0]) if count else math.nan
        if several and repeated:
            effect = "group x condition"
            if len(self.groups) == 2 and pair:
                said = {}
                if two:
                    interaction = (cell[1, 1] - cell[1, 0]) - (cell[0, 1] - cell[0, 0])
                    said = {"difference": interaction, "of": f"({change}): {apart}"}
                kind = "two-sample t test (Welch) of the paired differences"
                add(effect, kind, lambda k: _contrast(difference(k), weights), two, **said)
            elif pair:
                kind, changes = (
                    "one-way ANOVA (Brown-Forsythe) of the paired differences",
                    cell[:, 1] - cell[:, 0],
                )
                levels = tuple((f"({change}): {g}", d) for g, d in zip(group_names, changes, strict=True))
                add(
                    effect,
                    kind,
                    lambda k: _variance_ratio(single(difference(k)), True),
                    count > 1,
                    levels=levels,
                )
            else:
                add(
                    effect, "mixed ANOVA, interaction", lambda k: _variance_ratio(profile(k), True), count > 1
                )
            tests[-1].reference = reference(cell[0, 0]) if count else math.nan
        return tests

    def _of_covariate(
        self, theory: ModuleType, variable: str, name: str, curve: Array, place: int, condition: str
    ) -> _Test:
        """Regression of the curves (S, Q) of a condition on the covariate."""
        x = self.numbers[:, place]
        known = np.isfinite(x) & (np.isfinite(curve).mean(axis=1) >= COVERED)
        chosen = [own for rows in self.groups.values() if len(own := rows[known[rows]])]
        rows = np.concatenate([*chosen, np.empty(0, int)])
        label = f"{self.covariate}, {condition}" if len(self.conditions) > 1 else str(self.covariate)
        kind = "linear regression" + (", an intercept for each group" if len(self.groups) > 1 else "")
        test = _Test(variable, name, label, kind, subjects=len(rows), of=f"per unit of {self.covariate}")
        members = np.concatenate(list(self.groups.values()))
        if absent := [self.subjects[row] for row in members if not known[row]]:
            test.notes.append(f"left out, for lack of a curve or of {self.covariate}: {', '.join(absent)}")
        groups = [x[own] for own in chosen]
        if len(rows) < FEWEST + len(chosen) - 1 or not any(np.ptp(each) > 0.0 for each in groups):
            test.notes.append(
                f"not tested: {len(rows)} subjects, or {self.covariate} does not vary within a group"
            )
            return test
        ends, slope = np.cumsum([len(each) for each in chosen])[:-1], np.full(curve.shape[1], np.nan)

        def make(kept: Array) -> _Effect:
            return _slope(np.split(kept, ends), groups)[0]

        if (made := _on_varying(make, curve[rows])) is None:
            test.notes.append("not tested: nothing varies between the subjects, or no percentage is common")
            return test
        slope[made[1]] = _slope(np.split(curve[rows][:, made[1]], ends), groups)[1]
        test.tested, test.difference = _smoothness(theory, *made), slope
        test.reference = float(np.abs(curve[rows][:, made[1]].mean(axis=0)).max())
        if missing := curve.shape[1] - int(made[1].sum()):
            test.notes.append(f"{missing} of {curve.shape[1]} {NOT_EVERYWHERE}")
        return test


def _assembled(means: xr.Dataset, design: Design, layout: _Layout, tests: list[_Test]) -> xr.Dataset:
    """Thresholds at the level of each test, clusters, and all of it as one Dataset."""
    percent = np.asarray(means[PERCENT].values, float) if PERCENT in means.coords else np.empty(0)
    step = float(percent[1] - percent[0]) if percent.size > 1 else 1.0
    made = sum(test.tested is not None for test in tests)
    level = design.level / max(made, 1) if design.correction == "bonferroni" else design.level
    statistic, difference = np.full((2, len(tests), percent.size), np.nan)
    df, resels = np.full((2, len(tests), 2), np.nan)
    columns = {
        key: np.full(len(tests), np.nan)
        for key in ("threshold", "largest", "largest_at", "p_largest", "fwhm")
    }
    tested = np.zeros(len(tests), np.int32)
    clusters: list[tuple[int, float, float, float, float, float, str]] = []
    for row, test in enumerate(tests):
        if test.difference is not None:
            difference[row] = test.difference
        if (of := test.tested) is None:
            continue
        statistic[row, of.tested] = of.effect.statistic
        threshold = of.threshold(0.5 * level if of.effect.is_t else level)
        place = int(np.nanargmax(np.abs(statistic[row])))
        df[row], resels[row], tested[row] = of.effect.df, of.resels, of.tested.sum()
        largest = float(statistic[row, place])
        numbers = (threshold, largest, float(percent[place]), of.probability(abs(largest)), step * of.fwhm)
        for key, value in zip(columns, numbers, strict=True):
            columns[key][row] = value
        for start, end, p in of.clusters(threshold):
            amount, words = test.at(start, end)
            share = 100.0 * amount / test.reference if test.reference > 0.0 else math.nan
            clusters.append(
                (row, percent[0] + step * start, percent[0] + step * end, p, amount, share, words)
            )
    texts = {
        "variable": [test.variable for test in tests],
        "name": [test.name for test in tests],
        "effect": [test.effect for test in tests],
        "kind": [test.kind for test in tests],
        "units": [str(means[test.variable].attrs.get("units", "")) for test in tests],
        "note": ["; ".join(test.notes) for test in tests],
    }
    of_clusters = list(zip(*clusters, strict=True)) or [()] * 7
    kinds: list[Any] = [np.int32, float, float, float, float, float, np.str_]
    names = (
        "cluster_test",
        "start",
        "end",
        "p",
        "mean_difference",
        "mean_difference_percent",
        "difference_of",
    )
    return xr.Dataset(
        {
            "statistic": (("test", PERCENT), statistic),
            "difference": (("test", PERCENT), difference),
            "df": (("test", "part"), df),
            "resels": (("test", "resel"), resels),
            **{key: ("test", values) for key, values in columns.items()},
            "subjects": ("test", np.array([test.subjects for test in tests], np.int32)),
            "is_t": ("test", np.array([bool(t.tested and t.tested.effect.is_t) for t in tests], bool)),
            "tested_percent": ("test", tested),
            **{
                key: ("cluster", np.array(values, kind))
                for key, values, kind in zip(names, of_clusters, kinds, strict=True)
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
            "level_of_each": level,
            "correction": design.correction,
            "tests": made,
            "said": _said(design, layout, tests, made, level),
        },
    )


def _said(design: Design, layout: _Layout, tests: list[_Test], made: int, level: float) -> list[str]:
    """What was tested and how, in sentences."""
    if not tests:
        return ["Nothing is compared: there is one group, one condition and no covariate, or no curve."]
    kinds = dict.fromkeys(f"{test.effect}: {test.kind}" for test in tests)
    each = (
        f"{100.0 * design.level:g} % over all {made} tests (Bonferroni: {level:.2g} each)"
        if design.correction == "bonferroni"
        else f"{100.0 * design.level:g} % for each of {made} tests by itself: expect about "
        f"{design.level * made:.0f} false positive curves"
    )
    said = [*kinds, f"Level {each}; thresholds and p by random field theory (spm1d)."]
    if made < len(tests):
        said.append(f"{len(tests) - made} curves could not be tested; the notes say why.")
    return said
