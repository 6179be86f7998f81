"""Statistics at every percentage of a curve, and the random field theory of their largest value.

A curve of Q percentages is tested as one (Friston et al. 2007, Statistical Parametric Mapping; for movement curves
Pataky 2010, J Biomech 43:1976-82; Pataky, Robinson and Vanrenterghem 2013, J Biomech 46:2394-401): a t or F statistic
at every percentage, and a threshold u that the largest of a smooth Gaussian curve without effect exceeds with
probability `level`. With FWHM the smoothness of the residuals in percent (curves r, sums over subjects)

    1 / FWHM = mean over percent of sqrt(sum (dr/dpercent)^2 / (4 ln 2 sum r^2)),      resels = length / FWHM,

the expected number of excursions above u is rho_0(u) + resels rho_1(u) with the densities rho of the t and F field
(Worsley et al. 1996, Hum Brain Mapp 4:58-73), and the probability of a cluster follows from its extent (Friston et al.
1994, Hum Brain Mapp 1:210-20). Smoothness and probabilities come from the library spm1d (Pataky 2012, Comput Methods
Biomech Biomed Engin 15:295-301). The statistics are computed here: the two-sample test of spm1d 0.4 divides by one
variance for both groups, and finds differences that are not there where the smaller group is the more variable one.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough, true_runs
from musclesolve.errors import not_installed

VARIES = 1e-9
"""Standard error over the largest value of a curve, below which it does not vary."""


@dataclass(frozen=True)
class Effect:
    """A statistic at each tested percentage (K,), and the residuals (J, K) from which its smoothness follows."""

    statistic: Array
    df: tuple[float, float]  # numerator and denominator; those of t are 1 and its own
    residuals: Array
    is_t: bool
    variance: Array  # (K,) of what is tested, in the unit of the curve squared


def contrast(samples: Sequence[Array], weights: Sequence[float]) -> Effect:
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
    parts = np.stack([(residual**2).sum(axis=0) for residual in residuals])
    variance = parts.sum(axis=0)
    estimate = sum(weight * mean for weight, mean in zip(weights, means, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies: left out by `on_varying`
        shares = np.nanmean(parts / variance, axis=1) if (variance > 0.0).any() else np.ones(len(samples))
        statistic = estimate / np.sqrt(variance)
    free = 1.0 / sum(share**2 / (len(sample) - 1) for share, sample in zip(shares, samples, strict=True))
    return Effect(statistic, (1.0, float(free)), np.concatenate(residuals), True, variance)


def variance_ratio(samples: Sequence[Array], between: bool) -> Effect:
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
    sizes = np.array([len(sample) for sample in samples], float)
    form = np.diag(sizes) - np.outer(sizes, sizes) / sizes.sum() if between else np.ones((len(sizes),) * 2)
    share = np.diag(form) / sizes
    centers = np.stack([sample.mean(axis=0) for sample in samples])
    off = [sample - center for sample, center in zip(samples, centers, strict=True)]
    covariance = np.stack([np.einsum("nck,ndk->kcd", part, part) / (len(part) - 1) for part in off])
    denominator = np.einsum("g,gkcc->k", share, covariance)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies: left out by `on_varying`
        statistic = np.einsum("gh,gck,hck->k", form, centers, centers) / denominator
    if not (denominator > 0.0).any():
        return Effect(statistic, (1.0, 1.0), np.zeros((1, statistic.size)), False, denominator)
    varies = denominator > 0.0
    pooled = (covariance[:, varies] / denominator[varies, None, None]).mean(axis=1)  # (G, C, C), D = 1
    products = np.einsum("gcd,hcd->gh", pooled, pooled)
    above = 1.0 / (form**2 * products / np.outer(sizes, sizes)).sum()
    below = 1.0 / (share**2 * np.diag(products) / (sizes - 1.0)).sum()
    residuals = np.concatenate(
        [
            (np.sqrt(weight / (len(part) - 1)) * part).reshape(-1, statistic.size)
            for weight, part in zip(share, off, strict=True)
        ]
    )
    return Effect(statistic, (float(above), float(below)), residuals, False, denominator / len(residuals))


def regression(samples: Sequence[Array], numbers: Sequence[Array]) -> tuple[Effect, Array]:
    """Regression of curves (n_g, K) on numbers (n_g,), one slope and an intercept for each group: t, slope (K,)."""
    curve, x = np.concatenate(samples), np.concatenate(numbers)
    of_sample = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    design = np.column_stack([x, of_sample[:, None] == np.arange(len(samples))])
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ curve
    residuals = curve - design @ coefficients
    free = float(len(x) - np.linalg.matrix_rank(design))
    variance = (residuals**2).sum(axis=0) / free * (inverse[0] ** 2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = coefficients[0] / np.sqrt(variance)
    scale = float(np.ptp(x)) ** 2  # to compare with the curve itself
    return Effect(statistic, (1.0, free), residuals, True, variance * scale), coefficients[0]


def on_varying(make: Callable[[Array], Effect], values: Array) -> tuple[Effect, Mask] | None:
    """Make an effect on the percentages (last axis) that are finite and vary, with their mask; None without any."""
    there: Mask = np.asarray(np.isfinite(values).all(axis=tuple(range(values.ndim - 1))))
    for _ in range(2):
        there = long_enough(there, 2)  # single percentages have no smoothness
        if not there.any():
            return None
        effect = make(values[..., there])
        varies = np.sqrt(effect.variance) > VARIES * np.abs(values[..., there]).max()
        if varies.all():
            return effect, there
        there[there] = varies
    there = long_enough(there, 2)
    return (make(values[..., there]), there) if there.any() else None


def random_field_theory() -> ModuleType:
    """The module of spm1d for one-dimensional random fields."""
    try:
        import spm1d
    except ImportError as error:
        raise not_installed("tests of curves need", "spm1d", "study") from error
    module: ModuleType = spm1d.rft1d
    return module


@dataclass(frozen=True)
class Field:
    """An effect as a random field on some of the percentages."""

    effect: Effect
    tested: Mask  # (Q,)
    fwhm: float  # percentages of the grid
    resels: tuple[int, float]

    def _arguments(self) -> tuple[ModuleType, Any, dict[str, Any]]:
        size = {"withBonf": True, "nNodes": int(self.tested.sum())}
        theory, effect = random_field_theory(), self.effect
        return (theory.t, effect.df[1], size) if effect.is_t else (theory.f, list(effect.df), size)

    def threshold(self, tail: float) -> float:
        """Return the height that the largest value exceeds with a probability where there is no effect, on one side.

        The root of sf(u) = tail, found on the logarithm: the search of spm1d for the least (sf(u) - tail)^2 needs ten
        times as many evaluations.
        """
        from scipy.optimize import brentq  # slow to load

        field, df, size = self._arguments()

        def above(height: float) -> float:
            return math.log(max(float(field.sf_resels(height, df, self.resels, **size)), 1e-300) / tail)

        high = 2.0
        while above(high) > 0.0:
            high *= 2.0
        return float(brentq(above, 0.5 * high if above(0.5 * high) > 0.0 else 0.0, high, xtol=1e-9))

    def probability(self, height: float) -> float:
        """Probability of a largest value of at least this height where there is no effect, to both sides for t."""
        field, df, size = self._arguments()
        sides = 2.0 if self.effect.is_t else 1.0
        return float(min(1.0, sides * field.sf_resels(height, df, self.resels, **size)))

    def clusters(self, threshold: float) -> list[tuple[float, float, float]]:
        """Begin and end of every cluster on the grid, between percentages along straight lines, and its probability."""
        field, df, size = self._arguments()
        sides = (1.0, -1.0) if self.effect.is_t else (1.0,)
        whole = np.full(self.tested.size, np.nan)
        whole[self.tested] = self.effect.statistic
        clusters = []
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
                clusters.append((first + low, first + high, float(min(1.0, len(sides) * probability))))
        return sorted(clusters)


class Number(Field):
    """An effect on one number of each subject, such as a peak: a field of one place, with Student's t or F."""

    @property
    def _distribution(self) -> Any:
        from scipy import stats

        return stats.t(self.effect.df[1]) if self.effect.is_t else stats.f(*self.effect.df)

    def threshold(self, tail: float) -> float:
        """Return the height that the statistic exceeds with a probability where there is no effect, on one side."""
        return float(self._distribution.isf(tail))

    def probability(self, height: float) -> float:
        """Probability of a statistic of at least this height where there is no effect, to both sides for t."""
        return float(min(1.0, (2.0 if self.effect.is_t else 1.0) * self._distribution.sf(height)))

    def clusters(self, threshold: float) -> list[tuple[float, float, float]]:
        """A cluster at place 0 with its probability where the statistic of the number reaches the threshold."""
        height = abs(float(self.effect.statistic[0]))
        return [(0.0, 0.0, self.probability(height))] if height >= threshold else []


def number(make: Callable[[Array], Effect], values: Array) -> Number | None:
    """The test of one number of each subject (..., 1); None where a number lacks or nothing varies."""
    if not values.size or not np.isfinite(values).all():
        return None
    effect = make(values)
    if not math.sqrt(float(effect.variance[0])) > VARIES * float(np.abs(values).max()):
        return None
    return Number(effect, np.ones(1, bool), math.nan, (1, 0.0))


def smoothness(effect: Effect, tested: Mask) -> Field:
    """The field of an effect; gradients are not taken across percentages that are not tested."""
    geometry, place, rate = random_field_theory().geom, 0, 0.0
    for start, stop in true_runs(tested):
        part = effect.residuals[:, place : place + stop - start]
        rate += (stop - start) / float(geometry.estimate_fwhm(part))
        place += stop - start
    fwhm = place / rate
    runs, length = geometry.resel_counts(~tested, fwhm, element_based=False)
    return Field(effect, tested, fwhm, (int(runs), float(length)))
