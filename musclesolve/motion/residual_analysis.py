"""Cut-off frequency and noise of a recording from the recording itself: Winter's residual analysis, automated.

The residual R(fc) between the signal and the filtered signal (Silva 2003, eq. 5.6) falls with the cut-off frequency fc:
steeply while the filter takes motion away, then along a line where it takes only noise away. Low frequencies are
dropped one after the other until the correlation between curve and line reaches a threshold; where the line meets the
axis fc = 0 stands the root mean square of the noise (Winter 1990; Silva 2003, section 5.2.2). The cut-off lies where
the motion that is taken away, by which the curve exceeds the line, balances the noise that is let through.

What counts as noise is what has no more of low than of high frequencies. Skin that swings on the bone is not noise
by that measure, it was really recorded; nor is noise that is smooth from frame to frame.

Two rules do this. ``residual_analysis_silva_2003`` is the thesis' own: R over fc, correlation 0.99, and as much motion
taken away as noise let through, R(fc) = noise. ``residual_analysis`` mends three things:

- The square of R is fitted, over the share of white noise that the filter lets through: that is what noise makes
  straight, at every sampling rate and up to half of it, while R over fc bends.
- The range of the fit ends at 2.5 times the cut-off that it yields: noise far above the motion, often less than
  beside it because cameras and their software smooth, does not count. (Fitted again until both agree.)
- The mean square of the motion taken away is a third of that of the noise let through. Their sum is not what matters,
  but that of the errors of acceleration: ``distortion_share`` says for which share it is least.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dst
from scipy.special import beta

from musclesolve.errors import InputError
from musclesolve.motion.filtering import HALF_POWER, check_complete, two_pass_gain
from musclesolve.motion.residual_line import Fit, Indices, consistent_fit, crossing, excess, fit

Array = NDArray[np.float64]

RULES = ("residual_analysis", "residual_analysis_silva_2003")
LOWEST_HZ, HIGHEST_HZ, STEP_HZ = 0.5, 50.0, 0.2
# Of the sampling rate: nearer to half of it the bilinear filter bends, and nothing is left to remove.
HIGHEST_SHARE = 0.48
CORRELATION = {"residual_analysis": 0.98, "residual_analysis_silva_2003": 0.99}
# A line that begins beyond this share of the range has seen no noise.
LATEST_START = 0.7
# One that begins so low has seen no motion: walking has more of it at its step frequency.
EARLIEST_START_HZ = 1.0
SHORTEST_S, LOWEST_RATE_HZ = 1.0, 25.0
# Coefficients of the sine transform that are filtered at once, to bound memory.
_BLOCK = 4096


class Verdict(IntEnum):
    """Whether a curve could be read."""

    FOUND = 0
    NO_NOISE = 1
    """It becomes straight only at the end of the range: no noise to be seen, or sampled too slowly to see it."""
    NO_MOTION = 2
    """It is straight from the start: nothing but noise."""


@dataclass(frozen=True)
class ResidualAnalysis:
    """Residual curves of many coordinates and what was read from them.

    Args:
        frequency_hz: (C,) cut-off frequencies of the curves [Hz].
        residual: (C, ...) root mean square of what the filter takes away, in the unit of the signal.
        line: (C, ...) the same if there were only noise: the line of the fit.
        noise: (...) root mean square of the noise, in the unit of the signal.
        cutoff_hz: (...) the cut-off frequency chosen [Hz].
        linear_from_hz: (...) where the part of the curve begins that the line was fitted to [Hz].
        linear_to_hz: (...) where it ends [Hz].
        verdict: (...) values of ``Verdict``.
        rule: one of ``RULES``.
    """

    frequency_hz: Array
    residual: Array
    line: Array
    noise: Array
    cutoff_hz: Array
    linear_from_hz: Array
    linear_to_hz: Array
    verdict: NDArray[np.int_]
    rule: str


def residual_analysis(
    signal: Array,
    rate_hz: float,
    order: int = 2,
    rule: str = "residual_analysis",
    correlation: float | None = None,
) -> ResidualAnalysis:
    """Choose the cut-off frequency of every coordinate, and estimate its noise.

    Args:
        signal: (T, ...) evenly spaced samples without gaps.
        rate_hz: sampling rate [Hz].
        order: order of one pass of the Butterworth filter.
        rule: one of ``RULES``.
        correlation: between curve and line, at which no more points are dropped; 0.98, or 0.99 for the thesis' rule.

    Raises:
        InputError: the recording has gaps, is too short or sampled too slowly, or the order has no best cut-off.
    """
    signal = np.asarray(signal, dtype=float)
    _check(signal, rate_hz, order, rule)
    threshold = CORRELATION[rule] if correlation is None else correlation
    frequency = np.arange(LOWEST_HZ, min(HIGHEST_HZ, HIGHEST_SHARE * rate_hz), STEP_HZ)
    square, passed = _squared_residuals(signal.reshape(len(signal), -1), rate_hz, frequency, order)
    if rule == "residual_analysis":
        reading = _read(frequency, passed, square, threshold, distortion_share(order))
    else:
        reading = _read_silva_2003(frequency, square, threshold)
    shape = signal.shape[1:]
    return ResidualAnalysis(
        frequency,
        np.sqrt(square).reshape(-1, *shape),
        reading.line.reshape(-1, *shape),
        reading.noise.reshape(shape),
        reading.cutoff.reshape(shape),
        frequency[reading.fit.start].reshape(shape),
        frequency[reading.end - 1].reshape(shape),
        _verdict(frequency, reading).reshape(shape),
        rule,
    )


@dataclass(frozen=True)
class _Reading:
    """What a rule reads from k curves: line (C, k), noise (k,), cut-off (k,), the fit, and one past its last point."""

    line: Array
    noise: Array
    cutoff: Array
    fit: Fit
    end: Indices


def _read(frequency: Array, passed: Array, square: Array, threshold: float, share: float) -> _Reading:
    """Fit a line to the squared residual (C, k) over the share (C,) of white noise that is let through."""
    found, end = consistent_fit(frequency, passed, square, threshold, share)
    line = np.sqrt(np.maximum(found.intercept + found.slope * passed[:, None], 0.0))
    noise = np.sqrt(np.maximum(found.intercept, 0.0))
    return _Reading(line, noise, crossing(frequency, excess(found, passed, square, share)), found, end)


def _read_silva_2003(frequency: Array, square: Array, threshold: float) -> _Reading:
    """Fit a line to the residual over the cut-off frequency (Silva 2003, section 5.2.2)."""
    residual, end = np.sqrt(square), np.full(square.shape[1], len(frequency))
    found = fit(frequency, residual, end, threshold)
    line = found.intercept + found.slope * frequency[:, None]
    cutoff = crossing(frequency, residual - found.intercept)
    return _Reading(line, np.maximum(found.intercept, 0.0), cutoff, found, end)


def _verdict(frequency: Array, reading: _Reading) -> NDArray[np.int_]:
    """Return (k,) values of ``Verdict``."""
    first = frequency[reading.fit.start]
    late = ~reading.fit.reached | (first > LATEST_START * frequency[reading.end - 1])
    verdict = np.where(late, Verdict.NO_NOISE, Verdict.FOUND)
    return np.where(first <= EARLIEST_START_HZ, Verdict.NO_MOTION, verdict)


def distortion_share(order: int) -> float:
    """Return D^2 / N^2 at the cut-off of the least error of acceleration, of motion lost over noise let through.

    A motion whose acceleration jumps, as it does when a foot meets the ground, has a power spectrum A / f^6; noise has
    the spectrum B. With the gain G of two passes of order n, all integrals from 0 to infinity,

        D^2 = A I (1-G)^2 f^-6 df,  N^2 = B I (1 - (1-G)^2) df,
        mean square error of acceleration ~ A I f^4 (1-G)^2 f^-6 df + B I f^4 G^2 df,

    of which the first part is C1 A / fc and the second C2 B fc^5: the sum is least where the first is five times the
    second. 1/3 for n = 2, 1/7 for n = 3.
    """

    def integral(power: int, lost: int, left: int) -> float:
        """I x^power u^lost / (1 + u)^(lost + left) dx with u = (sqrt(2) - 1) x^(2n): (1-G)^lost G^left."""
        a = (power + 1) / (2 * order)
        return float(HALF_POWER**-a / (2 * order) * beta(lost + a, left - a))

    lost_acceleration, passed_acceleration = integral(-2, 2, 0), integral(4, 0, 2)
    # 1 - (1-G)^2 = G^2 + 2 G (1-G)
    passed = integral(0, 0, 2) + 2.0 * integral(0, 1, 1)
    return 5.0 * passed_acceleration / lost_acceleration * integral(-6, 2, 0) / passed


def _squared_residuals(signal: Array, rate_hz: float, frequency: Array, order: int) -> tuple[Array, Array]:
    """Return R^2 (C, k) of every cut-off, and the share (C,) of the variance of white noise that each lets through.

    Forwards and backwards over a signal that is mirrored in a point at both ends (``low_pass``), the filter
    multiplies the sine coefficients of the signal less the straight line between its ends by its gain. So one
    transform serves all cut-offs (Parseval).
    """
    frames = len(signal)
    ramp = np.linspace(0.0, 1.0, frames)[:, None]
    rest = signal - signal[0] - ramp * (signal[-1] - signal[0])
    power = dst(rest[1:-1], type=1, axis=0, norm="ortho") ** 2 / frames
    harmonic = np.arange(1, frames - 1) * rate_hz / (2 * (frames - 1))
    square, removed = np.zeros((len(frequency), power.shape[1])), np.zeros(len(frequency))
    for first in range(0, len(harmonic), _BLOCK):
        block = slice(first, first + _BLOCK)
        lost = (1.0 - two_pass_gain(harmonic[block], rate_hz, frequency[:, None], order)) ** 2
        square += lost @ power[block]
        removed += lost.sum(axis=1)
    return square, 1.0 - removed / len(harmonic)


def _check(signal: Array, rate_hz: float, order: int, rule: str) -> None:
    if rule not in RULES:
        raise InputError(f"there is no rule {rule!r}", expected=f"one of {', '.join(RULES)}")
    if rate_hz < LOWEST_RATE_HZ:
        raise InputError(
            f"at {rate_hz:g} samples a second motion and noise cannot be told apart",
            expected=f"at least {LOWEST_RATE_HZ:g} samples a second",
            remedy="give the cut-off frequency as a number",
        )
    if len(signal) / rate_hz < SHORTEST_S:
        raise InputError(
            f"{len(signal)} frames, {len(signal) / rate_hz:.2g} s, are too few to estimate noise from",
            expected=f"at least {SHORTEST_S:g} s without gaps",
            remedy="give the cut-off frequency as a number",
        )
    check_complete(signal)
    if order < 2:
        raise InputError(
            "a filter of order 1 has no best cut-off: it lets so much noise through that accelerations never settle",
            expected="order 2 or higher",
            remedy="order = 2, or give the cut-off frequency as a number",
        )
