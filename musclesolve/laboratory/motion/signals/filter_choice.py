"""The filter of a trial with every cut-off: from the trial file, or from the recording by an analysis of residuals.

The analysis after Winter is automated and gives cut-off frequency and noise. The residual R(fc) between the signal and
the filtered signal (Silva 2003, eq. 5.6) falls with the cut-off frequency fc: steeply while the filter removes motion,
then along a line where it removes only noise. Low frequencies are dropped one after the other until the correlation
between curve and line reaches a threshold; the line at fc = 0 is the root mean square of the noise (Winter 1990; Silva
2003, section 5.2.2).

Noise is the part of the signal with equal power at low and high frequencies. Skin that swings on the bone is not noise
in this sense, nor is an error that is smooth from frame to frame.

There are two rules. ``residual_analysis_silva_2003`` is the rule of the thesis: R over fc, correlation 0.99, and the
cut-off at which the residual equals the noise, so that the filter removes as much motion as it passes noise.
``residual_analysis`` changes three things:

- The square of R is fitted over the share of white noise that the filter passes: for noise this curve is straight, at
every sampling rate and up to half of it, while R over fc bends.
- The range of the fit ends at three times the frequency where residual and noise are equal: noise at frequencies far
above the motion is ignored, because cameras and their software often reduce it.
- The cut-off is chosen for the least error of the accelerations, not of the positions. This error follows from the
spectrum of the recording and the noise (``_least_error_cutoff``).

The accuracy was measured on motions with known truth: the reference stride, a recorded walk smoothed by splines, random
motions with spectra f^-6 to f^-10, a few harmonics, impacts; 0.1 to 3 mm of white noise, 60 to 200 samples a second.
The error of acceleration is at the median 3 % above the least one of all cut-offs, and for nine of ten coordinates
within 10 %. In the reference stride 98 of 100 cut-offs lie within 1 Hz of the best one, of all motions 77; the others
are mostly too low, by 1 Hz where accelerations jump (f^-6) and by 5 Hz where impacts ring, and there the error hardly
depends on the cut-off. The noise is estimated 7 % too large, since the line begins within the tail of the motion, and
30 % too large beside impacts. Noise that cameras smooth below 20 Hz has little effect; smoothed below 10 Hz it is
partly mistaken for motion: cut-offs 0.5 Hz too high, noise 15 % too small.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_choice, check_number
from musclesolve._util.messages import shortened
from musclesolve.dynamics.kinematics.low_pass import (
    checked_cutoffs,
    checked_order,
    checked_signal,
    harmonics,
    low_pass,
    lowest_carried,
    lowest_cutoff,
    sine_series,
    smoothing_spline,
    two_pass_gain,
)
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.markers.gaps.gap_filling import jumps
from musclesolve.laboratory.recording.data import SIDES, Recording
from musclesolve.laboratory.recording.trial_settings import FilterSettings

RULES = ("residual_analysis", "residual_analysis_silva_2003")
LOWEST_HZ, HIGHEST_HZ, STEP_HZ = 0.5, 50.0, 0.2
# Share of the sampling rate: closer to half of it the bilinear transform distorts the filter, and no noise remains to
# be removed.
HIGHEST_SHARE = 0.48
CORRELATION = {"residual_analysis": 0.98, "residual_analysis_silva_2003": 0.99}
# A line that begins beyond this share of the range does not show the noise.
LATEST_START = 0.7
# A line that begins below this includes no motion: the step frequency of walking is higher.
EARLIEST_START_HZ = 1.0
SHORTEST_S, LOWEST_RATE_HZ = 1.0, 25.0
# Multiple of the frequency of equal residual and noise beyond which there is no motion.
MOTION_FACTOR = 1.6
# Multiple of the frequency of equal residual and noise up to which the line is fitted, and the lowest such end.
RANGE_FACTOR, SHORTEST_RANGE_HZ = 3.0, 10.0
# Fewest points for fitting a line.
FEWEST_POINTS = 8
# Time [s] over which the signal fades in and out at its ends, so that errors of the filter there, where it knows only
# one side of the signal, do not affect the rest.
FADE_S = 0.25
# Coefficients of the sine transform, and frequencies, that are filtered at once, to bound memory.
_BLOCK = 4096


class CutoffVerdict(IntEnum):
    """Verdict on the curve of a residual analysis."""

    FOUND = 0
    NO_NOISE = 1
    """The curve becomes straight only at the end of the range: no noise, or sampling too slow to show it."""
    NO_MOTION = 2
    """The curve is straight from the start: only noise."""


@dataclass(frozen=True)
class ResidualAnalysis:
    """Residual curves of many coordinates, with cut-off and noise from them.

    Args:
        frequency_hz: (C,) cut-off frequencies of the curves [Hz].
        residual: (C, ...) root mean square of the part that the filter removes, in the unit of the signal.
        line: (C, ...) the line of the fit: the residual of noise alone.
        noise: (...) root mean square of the noise, in the unit of the signal.
        cutoff_hz: (...) the cut-off frequency chosen [Hz].
        linear_from_hz: (...) first frequency of the fitted part of the curve [Hz].
        linear_to_hz: (...) last frequency of the fitted part [Hz].
        verdict: (...) values of ``CutoffVerdict``.
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
        order: order of one pass of the Butterworth filter; at least 2 unless the rule is the thesis' rule.
        rule: one of ``RULES``.
        correlation: between curve and line, from which no more points are dropped; 0.98, or 0.99 for the thesis' rule.

    Raises:
        InputError: the recording has gaps, is too short or sampled too slowly, or the order has no best cut-off.

    Examples:
        >>> time = np.linspace(0.0, 4.0, 401)
        >>> noise = 0.001 * np.random.default_rng(0).standard_normal(401)
        >>> chosen = ms.laboratory.residual_analysis(np.sin(2.0 * np.pi * time) + noise, 100.0)
        >>> 1.0 < float(chosen.cutoff_hz) < 20.0
        True
    """
    numbers, order = checked_signal(signal, rate_hz), checked_order(order)
    check_choice(rule, "rule", RULES)
    frames, shape, by_number = len(numbers), numbers.shape[1:], "give the cut-off frequency as a number"
    if rate_hz < LOWEST_RATE_HZ:
        raise input_error(
            "bad_number",
            problem=f"at {rate_hz:g} samples a second motion and noise cannot be separated",
            expected=f"at least {LOWEST_RATE_HZ:g} samples a second",
            remedy=by_number,
        )
    if frames / rate_hz < SHORTEST_S:
        raise input_error(
            "too_few_frames",
            problem=f"{frames} frames, {frames / rate_hz:.2g} s, are too few to estimate noise from",
            expected=f"at least {SHORTEST_S:g} s without gaps",
            remedy=by_number,
        )
    if order < 2 and rule == "residual_analysis":
        raise input_error(
            "conflict",
            problem="a filter of order 1 has no best cut-off: it lets so much noise through that "
            "accelerations never converge",
            expected="order 2 or higher",
            remedy="order = 2, the rule residual_analysis_silva_2003, or the cut-off frequency as a number",
        )
    threshold = CORRELATION[rule]
    if correlation is not None:
        threshold = check_number(correlation, "correlation", "a number between 0 and 1", above=0.0, below=1.0)

    lowest = max(LOWEST_HZ, lowest_carried(frames, rate_hz))
    frequency = np.arange(lowest, min(HIGHEST_HZ, HIGHEST_SHARE * rate_hz), STEP_HZ)
    flat = numbers.reshape(frames, -1)
    square, passed = _squared_residuals(flat, rate_hz, frequency, order)
    residual, end = np.sqrt(square), np.full(square.shape[1], len(frequency))
    if rule == "residual_analysis":
        # White noise of the variance s^2 leaves R^2 = s^2 (1 - share let through). The range of the fit ends at a
        # multiple of the frequency at which the residual has fallen to the noise; repeat until it no longer shrinks.
        while True:
            start, slope, intercept, reached = _fit_line(passed, square, end, threshold)
            equal = _crossing(frequency, square - intercept)
            ends = np.searchsorted(frequency, np.maximum(RANGE_FACTOR * equal, SHORTEST_RANGE_HZ))
            if np.all(ends >= end):
                break
            end = np.minimum(ends, end)
        line = np.sqrt(np.maximum(intercept + slope * passed[:, None], 0.0))
        noise = np.sqrt(np.maximum(intercept, 0.0))
    else:
        start, slope, intercept, reached = _fit_line(frequency, residual, end, threshold)
        equal = _crossing(frequency, residual - intercept)
        line = intercept + slope * frequency[:, None]
        noise = np.maximum(intercept, 0.0)

    first, last = frequency[start], frequency[end - 1]
    late = ~reached | (first > LATEST_START * last)
    verdict = np.where(late, CutoffVerdict.NO_NOISE, CutoffVerdict.FOUND)
    verdict = np.where(first <= EARLIEST_START_HZ, CutoffVerdict.NO_MOTION, verdict)
    cutoff = equal
    if rule == "residual_analysis":
        variance, motion_below = np.maximum(-slope, 0.0), MOTION_FACTOR * equal
        best = _least_error_cutoff(flat, rate_hz, frequency, variance, motion_below, order)
        cutoff = np.where(verdict == CutoffVerdict.NO_NOISE, equal, best)
    return ResidualAnalysis(
        frequency,
        residual.reshape(-1, *shape),
        line.reshape(-1, *shape),
        noise.reshape(shape),
        cutoff.reshape(shape),
        first.reshape(shape),
        last.reshape(shape),
        verdict.reshape(shape),
        rule,
    )


def _squared_residuals(signal: Array, rate_hz: float, frequency: Array, order: int) -> tuple[Array, Array]:
    """Return R^2 (C, k) of every cut-off, and the share (C,) of the variance of white noise that passes each.

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


def _fit_line(x: Array, y: Array, end: Indices, threshold: float) -> tuple[Indices, Array, Array, Mask]:
    """Fit a line to every curve (C, k) over x (C,), from the first start with sufficient correlation to the end.

    Returns start, slope and intercept of every line (k,), and where the correlation reaches the threshold. All starts
    are computed at once, by sums from the end backward: small values are added before large ones.
    """
    k = np.arange(y.shape[1])
    level = y[end - 1, k]
    across, up = np.broadcast_to(x[:, None], y.shape), y - level

    def sums(values: Array) -> Array:
        total = np.vstack([np.cumsum(values[::-1], axis=0)[::-1], np.zeros((1, values.shape[1]))])
        return total[:-1] - total[end, k]

    count = end - np.arange(len(x))[:, None]
    enough = count >= FEWEST_POINTS
    n = np.maximum(count, 1)
    sx, sy = sums(across), sums(up)
    xx, yy, xy = sums(across**2) - sx**2 / n, sums(up**2) - sy**2 / n, sums(across * up) - sx * sy / n
    falls = enough & (xx > 0.0) & (yy > 0.0) & (xy < 0.0)
    correlated = falls & (-xy >= threshold * np.sqrt(np.where(falls, xx * yy, 1.0)))
    reached = correlated.any(axis=0)
    start = np.where(reached, correlated.argmax(axis=0), end - FEWEST_POINTS)
    slope = np.where(xx[start, k] > 0.0, xy[start, k] / xx[start, k], 0.0)
    intercept = level + (sy[start, k] - slope * sx[start, k]) / n[start, k]
    return start, slope, intercept, reached


def _crossing(frequency: Array, excess: Array) -> Array:
    """Return the first frequency (k,) at which a curve (C, k) is not positive; the last one if it always is."""
    below = excess <= 0.0
    crossed = below.any(axis=0)
    after = np.where(crossed, below.argmax(axis=0), len(frequency) - 1)
    before, k = np.maximum(after - 1, 0), np.arange(excess.shape[1])
    high, low = excess[before, k], excess[after, k]
    part = np.where(crossed & (after > 0), high / np.where(high > low, high - low, 1.0), 1.0)
    return np.asarray(frequency[before] + part * (frequency[after] - frequency[before]))


def _least_error_cutoff(
    signal: Array, rate_hz: float, tried_hz: Array, variance: Array, motion_below_hz: Array, order: int
) -> Array:
    """Return the cut-off (k,) [Hz] of the least expected error of acceleration, for known noise.

    For a signal with the power spectrum P and white noise with the spectrum B, a filter of the gain G results in the
    mean square error of acceleration

        sum (2 pi f)^4 ((1 - G)^2 (P - B) + G^2 B),

    the motion that the filter removes and the noise that it passes (the unbiased estimate of risk; Mallows 1973).
    Beyond a frequency from the residual there is no motion, and P - B counts as zero.

    Args:
        signal: (T, k) the recording.
        tried_hz: (C,) cut-offs, evenly spaced [Hz].
        variance: (k,) mean square of the white noise at the frequencies of motion, in the unit of the signal squared.
        motion_below_hz: (k,) frequency above which everything counts as noise [Hz].
    """
    frequency, power = interior_power(signal, rate_hz)
    noise = 2.0 * variance / (len(signal) - 2)
    error = np.zeros((len(tried_hz), signal.shape[1]))
    for first in range(0, len(frequency), _BLOCK):
        block = slice(first, first + _BLOCK)
        f = frequency[block]
        gain, weight = two_pass_gain(f, rate_hz, tried_hz[:, None], order), (2.0 * np.pi * f) ** 4
        motion = np.where(f[:, None] <= motion_below_hz, power[block] - noise, 0.0)
        error += (weight * (1.0 - gain) ** 2) @ motion + np.outer((weight * gain**2).sum(axis=1), noise)
    # The lowest point of each curve, by a parabola through it and its neighbors.
    at, k = np.clip(error.argmin(axis=0), 1, len(tried_hz) - 2), np.arange(error.shape[1])
    before, middle, after = error[at - 1, k], error[at, k], error[at + 1, k]
    bend = before - 2.0 * middle + after
    part = np.where(bend > 0.0, 0.5 * (before - after) / np.where(bend > 0.0, bend, 1.0), 0.0)
    return np.asarray(tried_hz[at] + (tried_hz[1] - tried_hz[0]) * np.clip(part, -1.0, 1.0))


def interior_power(signal: Array, rate_hz: float) -> tuple[Array, Array]:
    """Return frequencies (H,) [Hz] and the mean square (H, k) of a signal (T, k) at each, without effects of its ends.

    The second differences are faded in and out, so that neither drift nor the large slow part of the motion leaks into
    higher frequencies; their spectrum is divided by the spectrum of differencing, (2 sin(pi f / fs))^4. The two lowest
    frequencies are omitted, because differencing nearly removes them.
    """
    curvature = np.diff(signal, 2, axis=0)
    frames, fading = len(curvature), min(round(FADE_S * rate_hz), len(curvature) // 2)
    window = np.ones(frames)
    window[:fading] = 0.5 - 0.5 * np.cos(np.pi * (np.arange(fading) + 0.5) / fading)
    window[frames - fading :] *= window[:fading][::-1]
    frequency = np.arange(2, (frames + 1) // 2) * rate_hz / frames
    spectrum = np.fft.rfft(curvature * window[:, None], axis=0)[2 : (frames + 1) // 2]
    differencing = (2.0 * np.sin(np.pi * frequency / rate_hz))[:, None] ** 4
    power: Array = 2.0 / (frames * np.sum(window**2)) * np.abs(spectrum) ** 2 / differencing
    return frequency, power


# Whose cut-offs the forces get: the plate acts on the foot, and where foot and force are filtered unlike, impacts of
# the one are not matched by the other and show as moments of the joints (Bisseling & Hof 2006, J Biomech
# 39:2438; Kristianslund et al. 2012, J Biomech 45:666).
OF_THE_FOOT = ("ankle_lateral", "heel", "toe", "metatarsal_5")


@dataclass(frozen=True)
class FilterChoice:
    """The low-pass filter of a trial, n needed markers."""

    options: FilterSettings  # options in the trial file
    markers: tuple[str, ...]  # n names
    # frames of the longest stretch around the time range in which every needed marker is seen and none jumps
    gap_free: slice
    # (n, 3) cut-off of every coordinate [Hz]; where a residual analysis found none, the median over the other axes of
    # the marker, or over all markers
    cutoff_hz: Array
    # cut-off of the forces: as given, the same, or the median of the coordinates of the foot markers [Hz]
    force_cutoff_hz: float
    noise: Array | None = None  # (n, 3) estimated noise [m]; None with a stated cut-off
    analysis: ResidualAnalysis | None = None  # the residual curves (C, n, 3), where they chose

    def smooth(self, position: Array, rate_hz: float) -> Array:
        """Return the filtered markers (T, n, 3)."""
        if self.options.method == "spline":
            return smoothing_spline(position, rate_hz, self.cutoff_hz, self.options.order).position
        return low_pass(position, rate_hz, self.cutoff_hz, self.options.order)

    def smooth_force(self, wrench: Array, rate_hz: float) -> Array:
        """Return the filtered forces (S, k).

        Always by the Butterworth filter: its gain equals the gain of a spline of the same half order, and forces need
        neither derivatives nor a separate choice.
        """
        return low_pass(wrench, rate_hz, self.force_cutoff_hz, self.options.order)


def filter_choice(recording: Recording, options: FilterSettings) -> FilterChoice:
    """Return the filter of a trial."""
    names, rate, position = recording.used_markers, recording.markers.rate, needed_markers(recording)
    lost = np.isnan(position).any(axis=(1, 2)) | jumps(position, rate).any(axis=1)
    at, frames = np.flatnonzero(lost), recording.frames()
    first = int(max(at[at < frames.start], default=-1)) + 1
    gap_free = slice(first, int(min(at[at >= frames.stop], default=len(position))))
    position, noise, analysis = position[gap_free], None, None
    try:
        if options.fixed_cutoff is not None:
            lowest = lowest_cutoff(rate, options.order) if options.method == "spline" else 0.0
            cutoff = checked_cutoffs(options.fixed_cutoff, position.shape, rate, lowest)
        elif options.choice == "cross_validation":
            spline = smoothing_spline(position, rate, None, options.order)
            cutoff, noise = spline.cutoff_hz, spline.noise
        else:
            analysis = residual_analysis(position, rate, options.order, options.choice)
            cutoff, noise = analysis.cutoff_hz.copy(), analysis.noise
            # Without a cut-off from the curve: from the other axes of the marker, or from all markers.
            clear = analysis.verdict == CutoffVerdict.FOUND
            usual = cutoff[clear]
            for marker in np.flatnonzero(~clear.all(axis=1)) if usual.size else ():
                cutoffs = cutoff[marker, clear[marker]]
                cutoff[marker, ~clear[marker]] = np.median(cutoffs if cutoffs.size else usual)
    except InputError as error:
        raise recording.document.placed(error, "filter", "cutoff_hz") from None

    force_cutoff = options.force_cutoff_hz or options.fixed_cutoff
    if force_cutoff is None:
        mapped = (recording.mapping.get(f"{part}_{side}", ()) for part in OF_THE_FOOT for side in SIDES)
        of_the_feet = {marker for weights in mapped for marker in weights}
        force_cutoff = float(np.median(cutoff[[name in of_the_feet for name in names]]))
    for plate in recording.forces:
        try:
            checked_cutoffs(force_cutoff, plate.force.shape, plate.rate)
        except InputError as error:
            key = "cutoff_hz" if options.force_cutoff_hz is None else "force_cutoff_hz"
            raise recording.document.placed(error, "filter", key, after=" of forces") from None
    return FilterChoice(options, names, gap_free, cutoff, force_cutoff, noise, analysis)


def choice_notes(chosen: FilterChoice) -> list[str]:
    """Return sentences on coordinates whose noise cannot be separated from their motion."""
    if chosen.analysis is None:
        return []
    meanings = {
        CutoffVerdict.NO_NOISE: "the residual becomes straight only near its end, so there is no noise, or too "
        "little to fit its line",
        CutoffVerdict.NO_MOTION: "only noise: the residual is straight from the start",
    }
    instead = (
        "; filtered like the other axes of the marker, or like the other markers."
        if (chosen.analysis.verdict == CutoffVerdict.FOUND).any()
        else "; the cut-off is uncertain."
    )
    notes = []
    for verdict, meaning in meanings.items():
        places = np.argwhere(chosen.analysis.verdict == verdict)
        if len(places):
            shown = shortened([f"{chosen.markers[k]} {'xyz'[axis]}" for k, axis in places], 4)
            notes.append(f"Residual analysis of {shown}: {meaning}{instead}")
    return notes


def needed_markers(recording: Recording) -> Array:
    """Return the recorded positions of ``used_markers``, (T, n, 3) [m]."""
    return np.stack([recording.markers[name] for name in recording.used_markers], axis=1)
