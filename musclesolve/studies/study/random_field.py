"""Statistics at every percentage of a curve, and the random field theory of their largest value.

A curve of Q percentages is tested as one (Friston et al. 2007, Statistical Parametric Mapping; for movement curves
Pataky 2010, J Biomech 43:1976-82; Pataky, Robinson and Vanrenterghem 2013, J Biomech 46:2394-401): a t or F statistic
at every percentage, and a threshold u that the largest of a smooth Gaussian curve without effect exceeds with
probability `level`. With FWHM the smoothness of the residuals in percent (curves r, sums over subjects)

    1 / FWHM = mean over percent of sqrt(sum (dr/dpercent)^2 / (4 ln 2 sum r^2)),      resels = length / FWHM,

the expected number of excursions above u is rho_0(u) + resels rho_1(u) with the densities rho of the t and F field
(Worsley et al. 1996, Hum Brain Mapp 4:58-73), and the probability of a cluster follows from its extent (Friston et al.
1994, Hum Brain Mapp 1:210-20). The tests compare them with the library spm1d (Pataky 2012, Comput Methods Biomech
Biomed Engin 15:295-301). The two-sample test of spm1d 0.4 divides by one variance for both groups, and finds
differences that are not there where the smaller group is the more variable one.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough, true_runs

VARIES = 1e-9
"""Standard error over the largest value of a curve, below which it does not vary."""
RESEL = 4.0 * math.log(2.0)
"""Variance of the slope of a Gaussian curve of unit variance, times the square of its FWHM."""


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


@dataclass(frozen=True)
class Field:
    """An effect as a random field on some of the percentages."""

    effect: Effect
    tested: Mask  # (Q,)
    fwhm: float  # percentages of the grid
    resels: tuple[int, float]

    def _densities(self, height: float) -> tuple[float, float]:
        """The densities rho_0 and rho_1 of excursions above a height, on one side (Worsley et al. 1996).

        With l = 4 ln 2, of the t field of v degrees of freedom

            rho_0 = P(T > u),      rho_1 = sqrt(l) / (2 pi) (1 + u^2 / v)^(-(v - 1) / 2),

        and of the F field of k and v degrees of freedom, with x = k u / v,

            rho_0 = P(F > u),      rho_1 = sqrt(l / pi) Gamma((v + k - 1) / 2) / (Gamma(v / 2) Gamma(k / 2))
                                           x^((k - 1) / 2) (1 + x)^(-(v + k - 2) / 2).
        """
        from scipy import special, stats  # slow to load

        k, v = self.effect.df
        if self.effect.is_t:
            rate = math.sqrt(RESEL) / (2.0 * math.pi) * (1.0 + height**2 / v) ** (-0.5 * (v - 1.0))
            return float(stats.t.sf(height, v)), rate
        x = k * height / v
        gammas = special.gammaln(0.5 * (v + k - 1.0)) - special.gammaln(0.5 * v) - special.gammaln(0.5 * k)
        power = x ** (0.5 * (k - 1.0)) * (1.0 + x) ** (-0.5 * (v + k - 2.0))
        return float(stats.f.sf(height, k, v)), math.sqrt(RESEL / math.pi) * math.exp(gammas) * power

    def _exceeded(self, height: float) -> float:
        """Probability, on one side, that the largest value exceeds a height: 1 - exp(-E), or Bonferroni's bound."""
        point, rate = self._densities(height)
        segments, length = self.resels
        expected = segments * point + length * rate
        return min(-math.expm1(-expected), float(self.tested.sum()) * point)

    def _of_cluster(self, extent: float, height: float) -> float:
        """Probability, on one side, of a cluster of an extent [FWHM] above a height (Friston et al. 1994).

        P = 1 - exp(-E p), where a cluster reaches the extent e with p = exp(-(Gamma(3/2) e rho_1 / rho_0)^2).
        """
        point, rate = self._densities(height)
        segments, length = self.resels
        expected = segments * point + length * rate
        return -math.expm1(-expected * math.exp(-((math.gamma(1.5) * extent * rate / point) ** 2)))

    def threshold(self, tail: float) -> float:
        """Return the height that the largest value exceeds with a probability where there is no effect, on one side.

        The root of P(u) = tail, found on the logarithm.
        """
        from scipy.optimize import brentq  # slow to load

        def above(height: float) -> float:
            return math.log(max(self._exceeded(height), 1e-300) / tail)

        high = 2.0
        while above(high) > 0.0:
            high *= 2.0
        return float(brentq(above, 0.5 * high if above(0.5 * high) > 0.0 else 0.0, high, xtol=1e-9))

    def probability(self, height: float) -> float:
        """Probability of a largest value of at least this height where there is no effect, to both sides for t."""
        sides = 2.0 if self.effect.is_t else 1.0
        return min(1.0, sides * self._exceeded(height))

    def clusters(self, threshold: float) -> list[tuple[float, float, float]]:
        """Begin and end of every cluster on the grid, between percentages along straight lines, and its probability."""
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
                probability = len(sides) * self._of_cluster(extent, height)
                clusters.append((first + low, first + high, min(1.0, probability)))
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
    rate, place, runs = 0.0, 0, true_runs(tested)  # rate: sum over percent of 1 / FWHM
    for start, stop in runs:
        part = effect.residuals[:, place : place + stop - start]
        slope = np.gradient(part, axis=1)
        rate += float(np.sqrt((slope**2).sum(axis=0) / (RESEL * (part**2).sum(axis=0))).sum())
        place += stop - start
    fwhm = place / rate
    return Field(effect, tested, fwhm, (len(runs), (place - len(runs)) / fwhm))
