"""Low-pass filters without lag: a Butterworth run forward and backward, and the smoothing spline.

The Butterworth filter is the one of Silva 2003, eqs 5.2-5.5 for order 2. The smoothness of a spline follows from
generalized cross-validation. A natural spline g of degree 2m - 1 through T evenly spaced frames minimizes (Reinsch
1967, Woltring 1986)

    sum_t (y_t - g(t))^2 + p  integral (d^m g / dt^m)^2 dt

With one frame as the unit of time, Delta^m g = R c and d^m g = sum_j c_j B_j, where B_j are the B-splines of order m
and R their Gram matrix; so (R + p D^T D) c = D^T y, g = y - p D c, with D^T, (T - m, T), the m-th differences.
Frames are evenly spaced, so R + p D^T D is a banded Toeplitz matrix and everything is O(T).

The spline is a low-pass filter of gain 1 / (1 + p s(w)), s(w) = |1 - exp(iw)|^(2m) / R(w) = w^(2m) (1 + O(w^2)): the
two passes of a Butterworth filter of order m have the same shape. The cut-off frequency of both is where the gain is
1/sqrt(2): p s(2 pi fc / fs) = sqrt(2) - 1.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import count
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, slices
from musclesolve._util.checks import check_number, check_real_array
from musclesolve._util.messages import as_text
from musclesolve.errors import input_error

if TYPE_CHECKING:
    from scipy.interpolate import BSpline


# At the cut-off the amplitude is 1/sqrt(2) of the original, 3 dB less.
HALF_POWER = np.sqrt(2.0) - 1.0
ORDERS = range(1, 9)
TOGETHER = 1 << 17
"""Number of samples of a long signal that are filtered together, at least a column."""
LONG_SIGNAL = 512
"""Samples above which a signal is filtered by `_filtered_long`."""
NEGLIGIBLE = 1e-18
"""Share of a sample that a distant sample may take over from it."""


def two_pass_gain(frequency_hz: ArrayLike, rate_hz: float, cutoff_hz: ArrayLike, order: int = 2) -> Array:
    """Return the gain of both passes together, 1 / (1 + (sqrt(2) - 1) (tan(pi f/fs) / tan(pi fc/fs))^(2n)).

    With w = tan(pi f / fs) one pass has the gain 1 / sqrt(1 + (w / w_c)^(2n)), and two have its square. They fall to
    1/sqrt(2) at fc when w_c = tan(pi fc / fs) / (sqrt(2) - 1)^(1/(2n)), for n = 2 divided by 0.802. The thesis divides
    fc itself by 0.802; dividing the tangent is exact at every rate.

    Frequencies from 0 to below half the rate are broadcast against the cut-offs; n is the order of one pass.
    """
    ratio = np.tan(np.pi * np.asarray(frequency_hz) / rate_hz) / np.tan(
        np.pi * np.asarray(cutoff_hz) / rate_hz
    )
    return np.asarray(1.0 / (1.0 + HALF_POWER * ratio ** (2 * order)))


def low_pass(signal: ArrayLike, rate_hz: float, cutoff_hz: ArrayLike, order: int = 2) -> Array:
    """Return the signal below the cut-off frequency, by a Butterworth filter without lag and with gain one at rest.

    At both ends the signal is continued by repeated point reflection, so that the first and the last sample do not
    change. The two passes then multiply every sine of ``sine_series`` by their gain, exactly.

    Args:
        signal: (T, ...) evenly spaced samples without gaps, filtered along the first axis.
        rate_hz: sampling rate [Hz].
        cutoff_hz: frequency at which the two passes together fall by 3 dB [Hz]; one for all, or one for every
            coordinate, broadcast over the axes after the first.
        order: order of one pass, 1 to 8.

    Returns:
        (T, ...) the filtered signal.

    Raises:
        InputError: gaps, an order that there is not, a cut-off that is not below half the rate, or of which less than
            half a period passes in the whole signal.

    Examples:
        >>> time = np.linspace(0.0, 2.0, 201)
        >>> noisy = np.sin(2.0 * np.pi * time) + 0.1 * np.sin(2.0 * np.pi * 40.0 * time)
        >>> smooth = ms.dynamics.low_pass(noisy, 100.0, 6.0)
        >>> bool(np.abs(smooth - np.sin(2.0 * np.pi * time))[20:-20].max() < 0.01)
        True
    """
    numbers = checked_signal(signal, rate_hz)
    order = checked_order(order)
    cutoffs = checked_cutoffs(cutoff_hz, numbers.shape, rate_hz)
    # One cut-off for all needs its gain once.
    same = cutoffs.size > 0 and np.all(cutoffs == cutoffs.flat[0])
    one: Array = np.asarray(cutoffs.flat[0]) if same else cutoffs
    reach = _reach(rate_hz, float(cutoffs.min()), order)
    if len(numbers) > max(LONG_SIGNAL, reach + 1):
        return _filtered_long(numbers, rate_hz, one, order, reach)
    filtered, sines = sine_series(numbers)
    frequency = harmonics(len(numbers), rate_hz).reshape(-1, *[1] * cutoffs.ndim)
    filtered[1:-1] += sine_transform(two_pass_gain(frequency, rate_hz, one, order) * sines)
    return filtered


def _reach(rate_hz: float, cutoff_hz: float, order: int) -> int:
    """Return the number of samples beyond which the filter takes over less than `NEGLIGIBLE` of a sample.

    The influence of a sample on another one falls with their distance k as r^k, where r is the largest absolute value
    of a pole z = (1 + s) / (1 - s) of the filter, s = w_c exp(i pi (2 j + n - 1) / (2 n)) is a pole of the Butterworth
    filter in continuous time, j = 1 ... n, and w_c is as in `two_pass_gain`.
    """
    corner = np.tan(np.pi * cutoff_hz / rate_hz) / HALF_POWER ** (0.5 / order)
    pole = corner * np.exp(0.5j * np.pi * (2 * np.arange(1, order + 1) + order - 1) / order)
    largest = max(float(np.abs((1 + pole) / (1 - pole)).max()), NEGLIGIBLE)
    return int(np.ceil(np.log(NEGLIGIBLE) / np.log(largest)))


def _filtered_long(signal: Array, rate_hz: float, cutoff_hz: Array, order: int, reach: int) -> Array:
    """Return the filtered signal (T, ...) as `low_pass` does by sines, by a shorter transform.

    The filter does not reach farther than `reach` samples, which is below T: the signal is mirrored for as long only,
    and then filled up to a length of small prime factors. A series of sines has twice the length, and takes up to
    twenty times as long where T - 1 has a large prime factor.
    """
    filtered, columns = np.empty(signal.shape), signal.reshape(len(signal), -1)
    length = fast_length(len(signal) + 2 * reach)
    frequency = np.arange(length // 2 + 1) * (rate_hz / length)
    cutoffs = np.broadcast_to(cutoff_hz, signal.shape[1:]).ravel()
    for some in slices(columns.shape[1], max(TOGETHER // len(signal), 1)):
        line = _line(columns[:, some])
        rest = columns[:, some] - line
        mirrored = np.concatenate([-rest[reach:0:-1], rest, -rest[-2 : -reach - 2 : -1]])
        cutoff_of_some = cutoffs[some] if cutoff_hz.ndim else cutoff_hz
        gain = two_pass_gain(frequency[:, None], rate_hz, cutoff_of_some, order)
        smooth = np.fft.irfft(gain * np.fft.rfft(mirrored, length, axis=0), length, axis=0)
        line[1:-1] += smooth[reach + 1 : reach + len(signal) - 1]
        filtered.reshape(len(signal), -1)[:, some] = line
    return filtered


def _line(signal: Array) -> Array:
    """Return the straight line (T, ...) between first and last sample of a signal."""
    ramp = np.linspace(0.0, 1.0, len(signal)).reshape(-1, *[1] * (signal.ndim - 1))
    return np.asarray(signal[0] + ramp * (signal[-1] - signal[0]))


def sine_series(signal: Array) -> tuple[Array, Array]:
    """Return the straight line (T, ...) between first and last sample, and the sine series (T - 2, ...) of the rest.

    The rest begins and ends at zero. Its sines have the frequencies ``harmonics``, whole numbers of half periods, and
    the same sum of squares as the rest.
    """
    line = _line(signal)
    return line, sine_transform((signal - line)[1:-1])


def sine_transform(values: Array) -> Array:
    """Return the sine series (T, ...) of values, its own inverse: sqrt(2 / (T + 1)) sum_t sin(pi k t / (T + 1)) x_t."""
    none = np.zeros_like(values[:1])
    odd = np.concatenate([none, values, none, -values[::-1]])
    return -np.fft.rfft(odd, axis=0, norm="ortho").imag[1:-1]


def fast_length(least: int, primes: Sequence[int] = (2, 3, 5)) -> int:
    """Return the least number from `least` on without other prime factors: the length of a fast transform."""
    high_power = prod(primes) ** 64  # every such length divides it
    return next(length for length in count(least) if high_power % length == 0)


def harmonics(frames: int, rate_hz: float) -> Array:
    """Return the frequencies (T - 2,) of the sine series of a signal of T frames [Hz]."""
    return np.arange(1, frames - 1) * rate_hz / (2 * (frames - 1))


FEWEST_SAMPLES = 3


def checked_signal(signal: ArrayLike, rate_hz: float) -> Array:
    """Return a signal (T, ...) as numbers; refuse gaps, too few frames and an impossible sampling rate."""
    check_number(rate_hz, "rate_hz", "a sampling rate above zero [Hz]", above=0.0)
    numbers = check_real_array(signal, "signal", "real numbers")
    if numbers.ndim == 0 or len(numbers) < FEWEST_SAMPLES or numbers.size == 0:
        raise input_error(
            "too_few_frames",
            problem=f"a signal of the shape {numbers.shape} is too little to filter",
            expected=f"an array (frames, ...) of at least {FEWEST_SAMPLES} frames",
            remedy="put the frames along the first axis",
        )
    # A single gap would spoil the whole coordinate.
    lost = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if lost.any():
        count = f"{lost.sum()} of {lost.size} frames"
        raise input_error(
            "not_finite",
            problem=f"the signal lacks a number in {count}, first in frame {lost.argmax()}",
            expected="a signal without gaps",
            remedy="fill the gaps, or take a stretch without them",
        )
    return numbers


def checked_order(
    order: int,
    orders: Container[int] = ORDERS,
    what: str = "order of a filter",
    expected: str = f"a whole number from {ORDERS[0]} to {ORDERS[-1]}",
    remedy: str = "order 2 is usual",
) -> int:
    """Return a whole number that is one of `orders`, by default the order of one pass of a filter; refuse others."""
    number = check_real_array(order, what, "a whole number")
    if number.ndim or float(number) not in orders:
        raise input_error(
            "bad_number", problem=f"{as_text(order)} as {what}", expected=expected, remedy=remedy
        )
    return int(number)


def checked_cutoffs(
    cutoff_hz: ArrayLike, shape: tuple[int, ...], rate_hz: float, lowest_hz: float = 0.0
) -> Array:
    """Return the cut-off frequencies (...) of the coordinates of a signal of this shape (T, ...) [Hz].

    Args:
        cutoff_hz: one for all, or one for every coordinate, broadcast over the axes after the first [Hz].
        lowest_hz: the lowest possible cut-off of the filter [Hz].
    """
    cutoffs = check_real_array(cutoff_hz, "cut-off", "frequencies [Hz]")
    try:
        by_coordinate = np.broadcast_to(cutoffs, shape[1:])
    except ValueError:
        raise input_error(
            "bad_shape",
            problem=f"cut-offs of the shape {cutoffs.shape} for coordinates of the shape {shape[1:]}",
            expected="one cut-off for all coordinates, or one for each",
        ) from None
    low = max(lowest_hz, lowest_carried(shape[0], rate_hz))
    wrong = by_coordinate[~((by_coordinate >= low) & (by_coordinate < 0.5 * rate_hz))]
    if wrong.size:
        raise input_error(
            "bad_number",
            problem=f"a cut-off of {wrong[0]:g} Hz at {rate_hz:g} samples a second in {shape[0]} frames",
            expected=f"a cut-off from {low:.2g} Hz to below half the sampling rate",
            remedy="walking needs about 6 Hz",
        )
    return by_coordinate


def lowest_carried(frames: int, rate_hz: float) -> float:
    """Return the cut-off of which half a period lasts as long as the signal [Hz].

    The continued signal has no slower part: a lower cut-off would leave only the straight line between the first and
    the last sample.
    """
    return rate_hz / (2.0 * max(frames - 1, 1))


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

    def curve(self) -> "BSpline":
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
        >>> spline = ms.dynamics.smoothing_spline(np.sin(2.0 * np.pi * time), 100.0, cutoff_hz=10.0)
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
