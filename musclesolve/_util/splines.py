"""Interpolating splines by B-splines, and the short holes in columns over time that they fill.

The splines of SciPy would load its linear algebra, optimization and special functions: a fifth of the time of a short
command. There is a hole between two samples of a column that are more than one and a half usual steps of the table
apart, by empty cells or missing rows. It is filled if it is at most `SHARE` of the period of a cut-off frequency f.
Across a hole h = SHARE / f the error of a cubic, for a sine of the frequency c f, is (2 pi c SHARE)^4 / 384 of its
amplitude if the samples beside the hole are close together (interpolation of value and slope at both ends), and up to 9
times this if they are as far apart as the hole is long: 0.6 to 6 % at the cut-off, a sixteenth of it at half the
cut-off. The error of a straight line is (2 pi c SHARE)^2 / 8, 20 and 5 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import SAME_TIME, Array, slices, within

TOGETHER = 1 << 20
"""Number of values through which splines are made together, at least one curve."""


@dataclass(frozen=True, eq=False)
class Spline:
    """The spline sum_i c_i B_i(x) of a degree k.

    knots (n + k + 1,): increasing, the first and the last k + 1 equal; coefficient (n, ...) in the unit of the values.
    """

    knots: Array
    coefficient: Array
    degree: int

    def __call__(self, x: Any, order: int = 0) -> Array:
        """Values (M, ...) at x (M,), or derivatives of an order up to the degree; end pieces go on beyond the ends."""
        at, k = np.asarray(x, dtype=float), self.degree
        piece = _pieces(self.knots, k, at.ravel())
        low, high = (int(piece.min()), int(piece.max())) if piece.size else (k, k)
        # those around x
        knots, c = self.knots[low - k : high + k + 2], self.coefficient[low - k : high + 1]
        for _ in range(order):  # de Boor 1978, A practical guide to splines, chapter X (16)
            span = (knots[k + 1 : -1] - knots[1 : -k - 1]).reshape(-1, *[1] * (c.ndim - 1))
            knots, c, k = knots[1:-1], k * np.diff(c, axis=0) / span, k - 1
        first, basis = b_splines(knots, k, at.ravel())
        basis = basis.reshape(*basis.shape, *[1] * (c.ndim - 1))
        values = np.asarray(sum(basis[r] * c[first + r] for r in range(k + 1)))
        return values.reshape((*at.shape, *self.coefficient.shape[1:]))


def b_splines(knots: Array, degree: int, x: Array) -> tuple[Any, Array]:
    """Number (M,) of the first of the k + 1 B-splines that are not zero at x (M,), and the values (k + 1, M) of all.

    Recurrence of de Boor 1978, chapter X (4).
    """
    piece = _pieces(knots, degree, x)
    basis = np.ones((degree + 1, len(x)))
    for j in range(1, degree + 1):
        saved = np.zeros(len(x))
        for r in range(j):
            before, after = knots[piece + 1 + r - j], knots[piece + 1 + r]
            share = basis[r] / (after - before)
            basis[r] = saved + (after - x) * share
            saved = (x - before) * share
        basis[j] = saved
    return piece - degree, basis


def _pieces(knots: Array, degree: int, x: Array) -> Any:
    """Number (M,) of the knot before x (M,), of the first or last piece beyond the ends."""
    return np.clip(np.searchsorted(knots, x, side="right") - 1, degree, len(knots) - degree - 2)


def spline_through(x: Array, values: Array, degree: int = 3, natural: bool = False) -> Spline:
    """The spline of an odd degree k through values (n, ...), real or complex, at increasing x (n,).

    The first and the last (k - 1) / 2 inner points are no knots ("not a knot"), as by `scipy.interpolate.CubicSpline`
    and `make_interp_spline`; natural: they are, and derivatives of order (k + 1) / 2 to k - 1 vanish at both ends. The
    degree is n - 1 at most.
    """
    from musclesolve._util.series_kernel import BAND

    k = min(degree, len(x) - 1)
    beside = (k - 1) // 2 if natural else 0
    inner = x[1:-1] if natural else x[(k + 1) // 2 :][: len(x) - k - 1]
    knots = np.concatenate([np.repeat(x[0], k + 1), inner, np.repeat(x[-1], k + 1)])
    flat = np.ascontiguousarray(values).reshape(len(x), -1)
    parts = np.asarray(flat.view(float) if np.iscomplexobj(flat) else flat, dtype=float)
    count, columns = len(x) + 2 * beside, max(TOGETHER // len(x), 1)
    if flat.shape[1] > columns:
        whole = np.empty((count, flat.shape[1]), np.result_type(flat, float))
        for some in slices(flat.shape[1], columns):
            whole[:, some] = spline_through(x, flat[:, some], degree, natural).coefficient
        return Spline(knots, whole.reshape(count, *values.shape[1:]), k)
    right, band = np.zeros((count, parts.shape[1])), np.zeros((count, 2 * k + 1))
    rows = np.concatenate([[0], np.arange(1, len(x) - 1) + beside, [count - 1]])
    right[rows] = parts
    first, basis = b_splines(knots, k, x)
    for r in range(k + 1):
        inside = np.abs(first + r - rows) <= k  # beyond the band they are zero
        band[rows[inside], (k + first + r - rows)[inside]] = basis[r, inside]
    for row in range(1, beside + 1):
        ends = (row, slice(0, 2 * k + 2), 0), (count - 1 - row, slice(-2 * k - 2, None), count - k - 1)
        for place, (at, near, column) in zip((x[0], x[-1]), ends, strict=True):
            slopes = Spline(knots[near], np.eye(k + 1), k)(place, k // 2 + row)
            inside = np.abs(column + np.arange(k + 1) - at) <= k
            band[at, (k + column + np.arange(k + 1) - at)[inside]] = slopes[inside] / np.abs(slopes).max()
    BAND.load()(band, right)
    if np.iscomplexobj(flat):
        right = right.view(complex)
    return Spline(knots, right.reshape(count, *values.shape[1:]), k)


@dataclass(frozen=True, eq=False)
class MonotoneCubic:
    """Cubics in powers of x - knot, without overshoot (PCHIP): the numbers of `scipy.interpolate.PchipInterpolator`.

    The slope at a knot is the weighted harmonic mean of the slopes of its two intervals, zero where these differ in
    sign (Fritsch and Butland 1984, SIAM J Sci Stat Comput 5:300-4); at an end it is the slope of the parabola through
    three knots, within the bounds that keep the curve monotone.

    knots (n,) increasing; coefficient (4, n - 1, C), of the highest power first.
    """

    knots: Array
    coefficient: Array

    @classmethod
    def through(cls, knots: Array, values: Array) -> Self:
        """The curve through values (n, C) at two knots (n,) or more."""
        gap = np.diff(knots)[:, None]
        steps = np.diff(values, axis=0) / gap
        before, after = steps[:-1], steps[1:]
        one, other = 2.0 * gap[1:] + gap[:-1], gap[1:] + 2.0 * gap[:-1]
        alike = (np.sign(before) == np.sign(after)) & (before != 0.0)
        mean = (one / np.where(alike, before, 1.0) + other / np.where(alike, after, 1.0)) / (one + other)
        slope = np.empty_like(values)
        slope[1:-1] = np.where(alike, 1.0 / np.where(alike, mean, 1.0), 0.0)
        last = min(1, len(gap) - 1)
        for end, (near, far) in ((0, (0, last)), (-1, (-1, -1 - last))):
            d = ((2.0 * gap[near] + gap[far]) * steps[near] - gap[near] * steps[far]) / (gap[near] + gap[far])
            steep = (np.sign(steps[near]) != np.sign(steps[far])) & (np.abs(d) > 3.0 * np.abs(steps[near]))
            d = np.where(steep, 3.0 * steps[near], np.where(np.sign(d) != np.sign(steps[near]), 0.0, d))
            slope[end] = d if last else steps[0]
        bend = (slope[:-1] + slope[1:] - 2.0 * steps) / gap
        return cls(knots, np.stack([bend / gap, (steps - slope[:-1]) / gap - bend, slope[:-1], values[:-1]]))

    def __call__(self, x: Array, order: int = 0) -> Array:
        """Values (M, C) at x (M,), or first derivatives (order 1); the end pieces go on beyond the ends."""
        piece = np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, len(self.knots) - 2)
        z = (x - self.knots[piece])[:, None]
        a, b, c, d = self.coefficient[:, piece]
        return c + b * z * 2.0 + a * (z * z) * 3.0 if order else d + c * z + b * (z * z) + a * (z * z * z)


SHARE = 0.2
"""Longest filled hole, as a share of the period of the cut-off frequency."""
_USUAL = 1.5
_BESIDE = 3
"""Number of samples on either side of a hole through which the filling curve passes."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class HoleLimits:
    """Least time between two samples [s] that is a hole, and the longest filled one."""

    usual: float
    longest: float

    @classmethod
    def from_times(cls, time: Array, cutoff_hz: float) -> Self:
        """Limits of a table with rows at times (S,) [s]; a usual step is not a hole, whatever its length."""
        usual = _USUAL * float(np.median(np.diff(time))) if len(time) > 1 else 0.0
        return cls(usual, max(usual, SHARE / cutoff_hz + SAME_TIME))

    def long_holes(self, time: Array) -> list[tuple[float, float]]:
        """The times [s] before and after every hole that is not filled, of samples at increasing `time` (S,) [s]."""
        last = np.flatnonzero(np.diff(time) > self.longest)
        return [(float(time[k]), float(time[k + 1])) for k in last]

    def filled(self, time: Array, column: Array, new: Array) -> Array:
        """A column (S,), NaN where it has no number, at other times (T,).

        Linear between samples with no hole between them, a cubic spline across short holes, NaN in long ones and beyond
        the first and last sample.
        """
        present = ~np.isnan(column)
        known, values = time[present], column[present]
        if not known.size:
            return np.full(new.shape, np.nan)
        after = np.clip(np.searchsorted(known, new), 1, max(len(known) - 1, 1))
        left, right = known[after - 1], known[np.minimum(after, len(known) - 1)]
        apart = np.where((new > left + SAME_TIME) & (new < right - SAME_TIME), right - left, 0.0)
        at = np.interp(new, known, values)
        for frame in np.flatnonzero((apart > self.usual) & (apart <= self.longest)):
            at[frame] = self._across(known, values, int(after[frame]), float(new[frame]), at[frame])
        outside = ~within(new, known[0], known[-1])
        at[outside | (apart > self.longest)] = np.nan
        return at

    def _across(self, known: Array, values: Array, after: int, new: float, line: float) -> float:
        """The spline through the samples around a hole up to the next long hole; the value `line` if there are few."""
        first, stop = max(after - _BESIDE, 0), min(after + _BESIDE, len(known))
        parted = first + np.flatnonzero(np.diff(known[first:stop]) > self.longest)
        first = max([first, *(parted[parted < after - 1] + 1)])
        stop = min([stop, *(parted[parted > after - 1] + 1)])
        if min(after - first, stop - after) < 2:
            return line
        return float(spline_through(known[first:stop], values[first:stop])(new))


def hole_note(of: str, holes: Sequence[tuple[float, float]], limits: HoleLimits) -> str:
    """A sentence on holes that are not filled; of: its beginning, "a.sto lacks a column"."""
    named = [f"from {first:.4g} to {last:.4g} s" for first, last in holes[:_MOST_NAMED]]
    more = f" and in {len(holes) - _MOST_NAMED} more holes" if len(holes) > _MOST_NAMED else ""
    return (
        f"{of} {', '.join(named)}{more}: holes of more than {limits.longest:.3g} s ({SHARE:g} periods of the cut-off) "
        "are not filled, and the frames in them are not measured."
    )
