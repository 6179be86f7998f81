"""Cut-off frequency and noise of a recording from the recording itself: Winter's residual analysis, automated.

The residual R(fc) between the signal and the filtered signal (Silva 2003, eq. 5.6) falls with the cut-off frequency fc:
steeply while the filter takes motion away, then along a line where it takes only noise away. Low frequencies are
dropped one after the other until the correlation between curve and line reaches a threshold; where the line meets the
axis fc = 0 stands the root mean square of the noise (Winter 1990; Silva 2003, section 5.2.2).

What counts as noise is what has no more of low than of high frequencies. Skin that swings on the bone is not noise
by that measure, it was really recorded; nor is noise that is smooth from frame to frame.

Two rules do this. ``residual_analysis_silva_2003`` is the thesis' own: R over fc, correlation 0.99, and the cut-off
lies where the residual equals the noise, so that as much motion is taken away as noise is let through.
``residual_analysis`` changes three things:

- The square of R is fitted, over the share of white noise that the filter lets through: that is what noise makes
  straight, at every sampling rate and up to half of it, while R over fc bends.
- The range of the fit ends at three times the frequency where residual and noise are equal: noise far above the
  motion, often less than beside it because cameras and their software smooth, does not count.
- Not the positions, the accelerations are what matters: the cut-off is that of their least error, which follows from
  the spectrum of the recording once the noise in it is known (``least_error_cutoff``).

How good it is was measured on motions whose truth is known (``python -m benchmarks.cutoff``): the reference stride, a
recorded walk smoothed by splines, random motions with spectra f^-6 to f^-10, a few harmonics, impacts; 0.1 to 3 mm of
white noise, 60 to 200 samples a second. The error of acceleration is at the median 3 % above the least that any cut-off
gives, and for nine of ten coordinates within 10 %. Of the reference stride 98 of 100 cut-offs lie within 1 Hz of the
best one, of all motions 77; the others are mostly too low, by 1 Hz where accelerations jump (f^-6) and by 5 Hz where
impacts ring, and there the error hardly depends on the cut-off. The noise comes out 7 % too large, since the line
begins within the tail of the motion, and 30 % beside impacts. Noise that cameras smooth below 20 Hz costs little, below
10 Hz it is partly taken for motion: cut-offs 0.5 Hz too high, noise 15 % too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_number
from musclesolve.errors import InputError
from musclesolve.motion.signals.least_error_cutoff import least_error_cutoff
from musclesolve.motion.signals.low_pass import checked_filter_order, harmonics, sine_series, two_pass_gain
from musclesolve.motion.signals.residual_line import Fit, Indices, consistent_fit, crossing, fit
from musclesolve.motion.signals.sampled_signal import checked_signal, lowest_carried

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
# Beyond so many times the frequency where residual and noise are equal no motion is to be seen.
MOTION_FACTOR = 1.6
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
    signal: ArrayLike,
    rate_hz: float,
    order: int = 2,
    rule: str = "residual_analysis",
    correlation: float | None = None,
) -> ResidualAnalysis:
    """Choose the cut-off frequency of every coordinate, and estimate its noise.

    Args:
        signal: (T, ...) evenly spaced samples without gaps.
        rate_hz: sampling rate [Hz].
        order: order of one pass of the Butterworth filter; from 2 unless the rule is the thesis' own.
        rule: one of ``RULES``.
        correlation: between curve and line, at which no more points are dropped; 0.98, or 0.99 for the thesis' rule.

    Raises:
        InputError: the recording has gaps, is too short or sampled too slowly, or the order has no best cut-off.
    """
    given = checked_signal(signal, rate_hz)
    order = checked_filter_order(order)
    threshold = _checked_threshold(given, rate_hz, order, rule, correlation)
    lowest = max(LOWEST_HZ, lowest_carried(len(given), rate_hz))
    frequency = np.arange(lowest, min(HIGHEST_HZ, HIGHEST_SHARE * rate_hz), STEP_HZ)
    flat, shape = given.reshape(len(given), -1), given.shape[1:]
    square, passed = _squared_residuals(flat, rate_hz, frequency, order)
    if rule == "residual_analysis":
        reading = _read(frequency, passed, square, threshold)
        cutoff = _for_accelerations(flat, rate_hz, frequency, reading, order)
    else:
        reading = _read_silva_2003(frequency, square, threshold)
        cutoff = reading.equal
    return ResidualAnalysis(
        frequency,
        np.sqrt(square).reshape(-1, *shape),
        reading.line.reshape(-1, *shape),
        reading.noise.reshape(shape),
        cutoff.reshape(shape),
        frequency[reading.fit.start].reshape(shape),
        frequency[reading.end - 1].reshape(shape),
        _verdict(frequency, reading).reshape(shape),
        rule,
    )


@dataclass(frozen=True)
class _Reading:
    """What k curves show: line (C, k), noise (k,), where they equal the noise (k,), fit, one past its last point."""

    line: Array
    noise: Array
    equal: Array
    fit: Fit
    end: Indices


def _read(frequency: Array, passed: Array, square: Array, threshold: float) -> _Reading:
    """Fit a line to the squared residual (C, k) over the share (C,) of white noise that is let through."""
    found, end, equal = consistent_fit(frequency, passed, square, threshold)
    line = np.sqrt(np.maximum(found.intercept + found.slope * passed[:, None], 0.0))
    return _Reading(line, np.sqrt(np.maximum(found.intercept, 0.0)), equal, found, end)


def _read_silva_2003(frequency: Array, square: Array, threshold: float) -> _Reading:
    """Fit a line to the residual over the cut-off frequency (Silva 2003, section 5.2.2)."""
    residual, end = np.sqrt(square), np.full(square.shape[1], len(frequency))
    found = fit(frequency, residual, end, threshold)
    line = found.intercept + found.slope * frequency[:, None]
    equal = crossing(frequency, residual - found.intercept)
    return _Reading(line, np.maximum(found.intercept, 0.0), equal, found, end)


def _for_accelerations(
    signal: Array, rate_hz: float, frequency: Array, reading: _Reading, order: int
) -> Array:
    """Return the cut-off (k,) of the least error of acceleration; where no noise is seen, that of the residual."""
    # White noise of the variance s^2 leaves R^2 = s^2 (1 - share let through).
    variance = np.maximum(-reading.fit.slope, 0.0)
    below = MOTION_FACTOR * reading.equal
    best = least_error_cutoff(signal, rate_hz, frequency, variance, below, order)
    return np.where(_verdict(frequency, reading) == Verdict.NO_NOISE, reading.equal, best)


def _verdict(frequency: Array, reading: _Reading) -> NDArray[np.int_]:
    """Return (k,) values of ``Verdict``."""
    first = frequency[reading.fit.start]
    late = ~reading.fit.reached | (first > LATEST_START * frequency[reading.end - 1])
    verdict = np.where(late, Verdict.NO_NOISE, Verdict.FOUND)
    return np.where(first <= EARLIEST_START_HZ, Verdict.NO_MOTION, verdict)


def _squared_residuals(signal: Array, rate_hz: float, frequency: Array, order: int) -> tuple[Array, Array]:
    """Return R^2 (C, k) of every cut-off, and the share (C,) of the variance of white noise that each lets through.

    The filter multiplies every sine of ``sine_series`` by its gain. So one transform serves all cut-offs (Parseval).
    """
    power = sine_series(signal)[1] ** 2 / len(signal)
    frequencies = harmonics(len(signal), rate_hz)
    square, removed = np.zeros((len(frequency), power.shape[1])), np.zeros(len(frequency))
    for first in range(0, len(frequencies), _BLOCK):
        block = slice(first, first + _BLOCK)
        lost = (1.0 - two_pass_gain(frequencies[block], rate_hz, frequency[:, None], order)) ** 2
        square += lost @ power[block]
        removed += lost.sum(axis=1)
    return square, 1.0 - removed / len(frequencies)


def _checked_threshold(
    signal: Array, rate_hz: float, order: int, rule: str, correlation: float | None
) -> float:
    """Return the correlation of the rule, or the given one; refuse signals and orders that the rule cannot take."""
    check_choice(rule, "rule", RULES)
    if rate_hz < LOWEST_RATE_HZ:
        problem = f"at {rate_hz:g} samples a second motion and noise cannot be separated"
        expected = f"at least {LOWEST_RATE_HZ:g} samples a second"
        remedy = "give the cut-off frequency as a number"
        raise InputError(problem, code="bad_number", expected=expected, remedy=remedy)
    if len(signal) / rate_hz < SHORTEST_S:
        problem = f"{len(signal)} frames, {len(signal) / rate_hz:.2g} s, are too few to estimate noise from"
        expected, remedy = f"at least {SHORTEST_S:g} s without gaps", "give the cut-off frequency as a number"
        raise InputError(problem, code="too_few_frames", expected=expected, remedy=remedy)
    if order < 2 and rule == "residual_analysis":
        raise InputError(
            "a filter of order 1 has no best cut-off: it lets so much noise through that accelerations never converge",
            code="conflict",
            expected="order 2 or higher",
            remedy="order = 2, the rule residual_analysis_silva_2003, or the cut-off frequency as a number",
        )
    if correlation is None:
        return CORRELATION[rule]
    return check_number(correlation, "correlation", "a number between 0 and 1", above=0.0, below=1.0)
