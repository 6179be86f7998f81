"""Smoothing splines with smoothness by generalized cross-validation.

A natural spline g of degree 2m - 1 through T evenly spaced frames minimizes (Reinsch 1967, Woltring 1986)

    sum_t (y_t - g(t))^2 + p  integral (d^m g / dt^m)^2 dt

With one frame as the unit of time, Delta^m g = R c and d^m g = sum_j c_j B_j, where B_j are the B-splines of order m
and R their Gram matrix; so (R + p D^T D) c = D^T y, g = y - p D c, with D^T, (T - m, T), the m-th differences.
Frames are evenly spaced, so R + p D^T D is a banded Toeplitz matrix and everything is O(T).

The spline is a low-pass filter of gain 1 / (1 + p s(w)), s(w) = |1 - exp(iw)|^(2m) / R(w) = w^(2m) (1 + O(w^2)): the
two passes of a Butterworth filter of order m have the same shape. The cut-off frequency of both is where the gain is
1/sqrt(2): p s(2 pi fc / fs) = sqrt(2) - 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.errors import input_error
from musclesolve.motion.signals.low_pass import HALF_POWER, checked_cutoffs, checked_order, checked_signal

if TYPE_CHECKING:
    from scipy.interpolate import BSpline


# Scalar products of the B-splines of order m: values of the B-spline of order 2m at its knots, by distance in frames.
_GRAM = {2: np.array([4.0, 1.0]) / 6.0, 3: np.array([66.0, 26.0, 1.0]) / 120.0}
# A smoothness beyond this would use up the digits: w = (1e-11)^(1/2m) radians a frame is the lowest cut-off.
_LARGEST = 1e11
# Cut-offs at which the cross-validation is computed, as a ratio of neighbors; between them it is interpolated.
_GRID_RATIO = 1.3
_HIGHEST_SHARE = 0.4  # of the sampling rate: beyond it hardly a degree of freedom remains for the noise


@dataclass(frozen=True)
class SmoothingSpline:
    """A spline through every coordinate.

    Args:
        time: (T,) from zero [s].
        position: (T, ...) the smoothed signal at the frames, in the unit of the signal.
        cutoff_hz: (...) frequency at which its gain is 1/sqrt(2) [Hz].
        noise: (...) estimated standard deviation of the noise, in the unit of the signal.
        degrees_of_freedom: (...) trace of the matrix from the measured to the smooth signal.
        half_order: m; the degree is 2m - 1.
    """

    time: Array
    position: Array
    cutoff_hz: Array
    noise: Array
    degrees_of_freedom: Array
    half_order: int

    def derivative(self, order: int = 1) -> Array:
        """Return the derivative of this order over time at the frames, (T, ...)."""
        degree = 2 * self.half_order - 1
        expected = f"a whole number from 0 to the degree of the spline, {degree}"
        order = checked_order(order, range(degree + 1), "order of a derivative", expected, "2: acceleration")
        return np.asarray(self.curve().derivative(order)(self.time))

    def curve(self) -> BSpline:
        """Return the spline as a function of time [s]: the natural spline through the smoothed positions."""
        from scipy.interpolate import make_interp_spline

        ends = [
            (k, np.zeros(self.position.shape[1:])) for k in range(self.half_order, 2 * self.half_order - 1)
        ]
        return make_interp_spline(self.time, self.position, 2 * self.half_order - 1, bc_type=(ends, ends))


def smoothing_spline(
    signal: ArrayLike, rate_hz: float, cutoff_hz: ArrayLike | None = None, half_order: int = 3
) -> SmoothingSpline:
    """Smooth every coordinate by a natural spline, with a stated cut-off or by generalized cross-validation.

    The generalized cross-validation (Craven & Wahba 1979) chooses the p with the least (RSS / T) / (1 - trace H / T)^2,
    where g = H y; the noise is sqrt(RSS / (T - trace H)). The noise must be independent from frame to frame: correlated
    noise is mistaken for motion.

    Args:
        signal: (T, ...) evenly spaced samples without gaps.
        rate_hz: sampling rate [Hz].
        cutoff_hz: cut-off frequency, broadcast over the axes after the first [Hz]; None: cross-validation.
        half_order: 2 for cubic, 3 for quintic splines (whose accelerations do not vanish at the ends).

    Raises:
        InputError: gaps, too few frames, a half order that there is not, a cut-off that is too low or too high.

    Examples:
        >>> time = np.linspace(0.0, 1.0, 101)
        >>> spline = ms.signals.smoothing_spline(np.sin(2.0 * np.pi * time), 100.0, cutoff_hz=10.0)
        >>> spline.derivative(1).shape
        (101,)
    """
    numbers = checked_signal(signal, rate_hz)
    what, expected = "half order of a smoothing spline", "2 (cubic) or 3 (quintic)"
    half_order = checked_order(half_order, _GRAM, what, expected, "3 gives smooth accelerations")
    if len(numbers) < 4 * half_order:
        raise input_error(
            "too_few_frames",
            problem=f"{len(numbers)} frames are too few for a smoothing spline",
            expected=f"at least {4 * half_order} frames",
            remedy="take a longer recording",
        )
    shape, flat = numbers.shape[1:], numbers.reshape(len(numbers), -1)
    curvature = np.asfortranarray(np.diff(flat, half_order, axis=0))
    if cutoff_hz is None:
        cutoffs = _cross_validated(curvature, half_order, rate_hz)
    else:
        cutoffs = checked_cutoffs(
            cutoff_hz, numbers.shape, rate_hz, lowest_cutoff(rate_hz, half_order)
        ).ravel()
    smooth, freedom = np.empty_like(flat), np.empty(flat.shape[1])
    for cutoff in np.unique(cutoffs):
        same = cutoffs == cutoff
        p = float(HALF_POWER / symbol(2.0 * np.pi * (cutoff / rate_hz), half_order))
        rest, freedom[same] = unsmooth(np.asfortranarray(curvature[:, same]), half_order, p)
        smooth[:, same] = flat[:, same] - rest
    noise = np.sqrt(np.sum((flat - smooth) ** 2, axis=0) / (len(flat) - freedom))
    time, position = np.arange(len(numbers)) / rate_hz, smooth.reshape(numbers.shape)
    return SmoothingSpline(
        time, position, cutoffs.reshape(shape), noise.reshape(shape), freedom.reshape(shape), half_order
    )


def unsmooth(curvature: Array, m: int, p: float) -> tuple[Array, float]:
    """Return the residual of coordinates, y - g = p D c (T, k), and the degrees of freedom of the spline.

    The degrees of freedom are the trace of the matrix H of g = H y, m + trace of (R + p D^T D)^-1 R. The inverse of a
    symmetric Toeplitz matrix follows from its first column x (Gohberg & Semencul 1972); summed along the d-th diagonal
    it is sum_k (N - d - 2k) x_k x_(k+d) / x_0.

    curvature: the m-th differences (T - m, k), column by column in memory; p: the smoothness.
    """
    from scipy.linalg import cho_solve_banded, cholesky_banded

    n = len(curvature)
    square = np.array([(-1.0) ** k * comb(2 * m, m + k) for k in range(m + 1)])
    rows = np.repeat((np.append(_GRAM[m], 0.0) + p * square)[:, None], n, axis=1)
    factor = cholesky_banded(rows, lower=True, check_finite=False), True
    c = cho_solve_banded(factor, curvature, check_finite=False)
    rest = np.zeros((n + m, c.shape[1]), order="F")
    for k in range(m + 1):
        rest[k : k + n] += p * ((-1.0) ** (m - k) * comb(m, k)) * c
    x = cho_solve_banded(factor, np.eye(n, 1)[:, 0], check_finite=False)
    total = 0.0
    for d, weight in enumerate(_GRAM[m][:n]):
        falling = n - d - 2 * np.arange(n - d)
        total += (1 if d == 0 else 2) * weight * float(np.sum(falling * x[: n - d] * x[d:]))
    return rest, m + total / float(x[0])


def symbol(angle: ArrayLike, m: int) -> Array:
    """Return s(w) of the angle per frame w = 2 pi f / fs: the gain of the spline is 1 / (1 + p s)."""
    w = np.asarray(angle, dtype=float)
    gram = _GRAM[m][0] + 2.0 * sum(_GRAM[m][k] * np.cos(k * w) for k in range(1, m))
    return np.asarray((2.0 * np.sin(0.5 * w)) ** (2 * m) / gram)


def lowest_cutoff(rate_hz: float, half_order: int) -> float:
    """Return the lowest cut-off frequency that round-off allows [Hz]."""
    return float(rate_hz * (HALF_POWER / _LARGEST) ** (0.5 / half_order) / (2.0 * np.pi))


def _cross_validated(curvature: Array, m: int, rate_hz: float) -> Array:
    """Return the cut-off (k,) [Hz] of the least cross-validation error of coordinates with these m-th differences."""
    from scipy.interpolate import CubicSpline

    frames = len(curvature) + m
    # Below one half period in the whole recording motion and noise cannot be separated.
    low = max(lowest_cutoff(rate_hz, m), 0.5 * rate_hz / frames)
    high = _HIGHEST_SHARE * rate_hz
    cutoffs = np.geomspace(low, high, max(8, int(np.ceil(np.log(high / low) / np.log(_GRID_RATIO)))))
    errors = []
    for cutoff in cutoffs:
        rest, freedom = unsmooth(
            curvature, m, float(HALF_POWER / symbol(2.0 * np.pi * (cutoff / rate_hz), m))
        )
        errors.append(np.mean(rest**2, axis=0) / (1.0 - freedom / frames) ** 2)
    # A signal without any noise has an error of zero somewhere.
    score = np.log(np.maximum(errors, np.finfo(float).tiny))
    x = np.log(cutoffs)
    fine = np.linspace(x[0], x[-1], 20 * len(x))
    return np.exp(fine[np.argmin(CubicSpline(x, score, axis=0)(fine), axis=0)])
