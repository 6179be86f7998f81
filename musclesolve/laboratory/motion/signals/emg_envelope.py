"""The linear envelope of EMG, and the correlation of a curve with another one that leads it by an unknown time.

Band-pass, full-wave rectification, low-pass (Winter 2009, Biomechanics, chapter 10). The zero-lag band-pass is a
low-pass at the upper cut-off minus a low-pass at the lower one.
"""

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask, at_times
from musclesolve.dynamics.kinematics.low_pass import (
    checked_cutoffs,
    checked_order,
    checked_signal,
    fast_length,
    harmonics,
    low_pass,
    sine_series,
    sine_transform,
    two_pass_gain,
)
from musclesolve.laboratory.recording.data import Emg
from musclesolve.laboratory.recording.trial_settings import EmgSettings


def linear_envelopes(emg: Emg) -> Array:
    """Return the envelopes (S, k) of all channels, as shares of their maximum; NaN where samples are missing."""
    envelope, maximum = envelopes_in_unit(emg)
    return np.divide(envelope, maximum, out=np.full(envelope.shape, np.nan), where=maximum > 0.0)


def envelopes_in_unit(emg: Emg) -> tuple[Array, Array]:
    """Return the envelopes (S, k) of all channels and their maxima (k,) in the unit of the file; NaN is unknown.

    For the filters, gaps are filled by straight lines; the envelope is NaN within a gap and half a period of the
    cut-off beside it.
    """
    known = np.isfinite(emg.cleaned)
    whole, sample = known.all(), np.arange(len(known))
    envelope = emg.cleaned
    if not whole:
        columns = zip(emg.cleaned.T, known.T, strict=True)
        bridged = [np.interp(sample, sample[k], v[k]) if k.any() else np.zeros(len(v)) for v, k in columns]
        envelope = np.stack(bridged, axis=-1)
    if not emg.options.processed:
        envelope = linear_envelope(envelope, emg.rate, emg.options)
        if not whole:
            # Known are the samples that lie farther than this from any gap.
            beside = round(0.5 * emg.rate / emg.options.envelope_hz)
            lost = np.cumsum(np.pad(~known, ((beside + 1, beside), (0, 0))), axis=0)
            known = lost[2 * beside + 1 :] == lost[: len(known)]
    envelope = np.where(known, np.maximum(envelope, 0.0), np.nan)
    largest = np.max(envelope, axis=0, where=known, initial=0.0)
    maximum = [
        highest if stated is None else stated for stated, highest in zip(emg.maximum, largest, strict=True)
    ]
    return envelope, np.array(maximum, dtype=float)


def shaped(envelope: Array, shape: float) -> Array:
    """Return the activation (exp(A e) - 1) / (exp(A) - 1) at envelopes e of any shape; e if A is 0.

    A is between -3 and 0 (Lloyd & Besier 2003, J Biomech 36:765-76).
    """
    if abs(shape) < 1e-9:
        return envelope
    return np.asarray(np.expm1(shape * envelope) / np.expm1(shape))


def linear_envelope(signal: Array, rate_hz: float, options: EmgSettings) -> Array:
    """Return the envelope of raw signals (S, k) without gaps, in their unit: low-pass of |band-pass|, without lag."""
    longer, inside = mirrored(signal, rate_hz, options)
    band = band_pass(longer, rate_hz, (options.highpass_hz, options.lowpass_hz), options.band_order)
    return low_pass(np.abs(band), rate_hz, options.envelope_hz, options.envelope_order)[inside]


def mirrored(signal: Array, rate_hz: float, options: EmgSettings) -> tuple[Array, slice]:
    """Return signals (S, k) with their mirror images at both ends, and the place of the signals among the rows.

    Otherwise an envelope would end at the last sample, as filtered positions do, and not at the mean of the samples
    beside it.
    """
    beyond = round(2.0 * rate_hz / options.envelope_hz)
    # The sine series of the filters are fastest where the number of intervals has small factors.
    behind = fast_length(len(signal) + 2 * beyond, (2, 3, 5, 7, 11)) + 1 - beyond - len(signal)
    longer = np.pad(signal, ((beyond, behind), (0, 0)), mode="symmetric")
    return longer, slice(beyond, beyond + len(signal))


def band_pass(signal: ArrayLike, rate_hz: float, band_hz: tuple[float, float], order: int) -> Array:
    """Return the part of a signal between two cut-off frequencies, without lag, -3 dB at either of them.

    The ends are treated as by ``low_pass``; the straight line between them is removed.

    Args:
        signal: (S, ...) evenly spaced samples without gaps.
        rate_hz: sampling rate [Hz].
        band_hz: lower and upper cut-off [Hz].
        order: of one pass of the high-pass and of the low-pass, 1 to 8.
    """
    numbers = checked_signal(signal, rate_hz)
    order = checked_order(order)
    low, high = (float(checked_cutoffs(cutoff, numbers.shape, rate_hz).flat[0]) for cutoff in band_hz)
    line, sines = sine_series(numbers)
    frequency = harmonics(len(numbers), rate_hz).reshape(-1, *[1] * (numbers.ndim - 1))
    # The gain of the high-pass is the gain of the low-pass with the ratio of the tangents inverted.
    gain = two_pass_gain(low, rate_hz, frequency, order) * two_pass_gain(frequency, rate_hz, high, order)
    passed = np.zeros_like(line)
    passed[1:-1] = sine_transform(gain * sines)
    return passed


DELAY_STEP = 0.001
"""Step between trial delays [s]."""
ROUND_OFF = 1e-6
"""Largest difference from the mean of a curve that is constant but for the solver and round-off, over the mean."""
FEWEST_SAMPLES = 10
"""Samples that a correlation needs."""


def at_times_inside(time: Array, columns: Array, new: Array) -> Array:
    """Return columns (S, k) of increasing times (S,) at other times (...,), (..., k); NaN beyond the ends."""
    values = at_times(time, columns, new) if columns.shape[1] else np.empty((*new.shape, 0))
    outside = (new < time[0] - 1e-9) | (new > time[-1] + 1e-9)
    return np.where(outside[..., None], np.nan, values)


def best_delays(
    time: Array, curves: Array, leading_time: Array, leading: Array, longest: float
) -> tuple[Array, Array]:
    """Return the largest Pearson correlation of each curve(t) with leading(t - d), 0 <= d <= longest, and that d.

    All delays are compared over the same samples, in which the curve is known, and the leading curve at every delay.

    Args:
        time: (T,) [s].
        curves: (T, k), NaN where not known.
        leading_time: (S,) [s].
        leading: (S, k), NaN where not known.
        longest: the longest delay [s].

    Returns:
        Correlation (k,) and delay (k,) [s]; NaN with fewer than ten common samples, or where a curve is constant.
    """
    delays = np.linspace(0.0, longest, round(longest / DELAY_STEP) + 1)
    r = delayed_correlations(time, curves, leading_time, leading, delays)
    best = np.where(np.isnan(r), -np.inf, r).argmax(axis=0)
    largest = r[best, np.arange(r.shape[1])]
    return largest, np.where(np.isnan(largest), np.nan, delays[best])


def delayed_correlations(
    time: Array, curves: Array, leading_time: Array, leading: Array, delays: Array
) -> Array:
    """Return the Pearson correlation (D, k) of each curve(t) with leading(t - d), arguments as of `best_delays`.

    All delays d (D,) [s] are compared over the same samples; NaN with fewer than ten, or where a curve is constant.
    """
    moved = at_times_inside(leading_time, leading, time - delays[:, None])  # (D, T, k)
    known = np.isfinite(curves) & np.isfinite(moved).all(axis=0)
    curve, lead = _centered(curves, known), _centered(moved, known)
    size = np.sqrt((curve**2).sum(axis=0) * (lead**2).sum(axis=1))
    enough = (known.sum(axis=0) >= FEWEST_SAMPLES) & (size > 0.0)
    return np.divide((curve * lead).sum(axis=1), size, out=np.full(size.shape, np.nan), where=enough)


def _centered(values: Array, known: Mask) -> Array:
    """Return values (..., T, k) less their mean over the known samples (T, k), zero elsewhere, and of a constant."""
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=-2, keepdims=True) / count
    centered = np.where(known, values - mean, 0.0)
    most = np.abs(centered).max(axis=-2, keepdims=True, initial=0.0)
    return np.where(most > ROUND_OFF * np.abs(mean), centered, 0.0)
