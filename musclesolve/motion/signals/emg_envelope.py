"""The linear envelope of EMG: band-pass, full-wave rectification, low-pass (Winter 2009, Biomechanics, chapter 10)."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.motion.signals.band_pass import band_pass
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.recording.data import Emg, EmgOptions


def linear_envelopes(emg: Emg) -> Array:
    """Return the envelopes (S, k) of all channels, as shares of their maximum; NaN where samples are missing.

    A signal with a gap is bridged by a straight line for the filters; its envelope is unknown within the gap and half
    a period of the cut-off beside it.
    """
    known = np.isfinite(emg.values)
    envelope = emg.values if known.all() else _bridged(emg.values, known)
    if not emg.options.processed:
        envelope = linear_envelope(envelope, emg.rate, emg.options)
        known = _beside_gaps(known, round(0.5 * emg.rate / emg.options.envelope_hz))
    envelope = np.where(known, np.maximum(envelope, 0.0), np.nan)
    largest = np.max(envelope, axis=0, where=known, initial=0.0)
    maximum = [own if given is None else given for given, own in zip(emg.maximum, largest, strict=True)]
    return np.divide(envelope, maximum, out=np.full(envelope.shape, np.nan), where=np.array(maximum) > 0.0)


def linear_envelope(signal: Array, rate_hz: float, options: EmgOptions) -> Array:
    """Return the envelope of raw signals (S, k) without gaps, in their unit: low-pass of |band-pass|, without lag.

    The signal is mirrored at its ends: filtered alone it would end at its own last sample, as positions do, and not at
    the mean of the samples beside it.
    """
    from scipy.fft import next_fast_len

    beyond = round(2.0 * rate_hz / options.envelope_hz)
    inside = slice(beyond, beyond + len(signal))
    # The sine series of the filters are fastest where the number of intervals has small factors.
    behind = next_fast_len(len(signal) + 2 * beyond) + 1 - beyond - len(signal)
    longer = np.pad(signal, ((beyond, behind), (0, 0)), mode="symmetric")
    band = band_pass(longer, rate_hz, (options.highpass_hz, options.lowpass_hz), options.band_order)
    return low_pass(np.abs(band), rate_hz, options.envelope_hz, options.envelope_order)[inside]


def _bridged(values: Array, known: Mask) -> Array:
    sample = np.arange(len(values))
    columns = [np.interp(sample, sample[k], v[k]) for v, k in zip(values.T, known.T, strict=True)]
    return np.stack(columns, axis=-1)


def _beside_gaps(known: Mask, samples: int) -> Mask:
    """Return the known samples (S, k) that lie farther than so many samples from any gap."""
    if known.all():
        return known
    lost = np.cumsum(np.pad(~known, ((samples + 1, samples), (0, 0))), axis=0)
    return lost[2 * samples + 1 :] == lost[: len(known)]
