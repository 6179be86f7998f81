"""Maxima of a periodic signal with noise, gaps and cut ends, between the samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, true_runs
from musclesolve.motion.signals.low_pass import low_pass

CUTOFF_HZ = 8.0
"""Low-pass filter before maxima are looked for: the swing of a foot has little above, noise has [Hz]."""
FULL_FALL = 0.35
"""A maximum stands above what lies on either side of it by this share of the whole excursion."""
CUT_FALL = 0.05
"""The same where the recording ends before the signal has fallen; the other side must show the full fall."""
SHORTEST_PERIOD = 0.4
"""Between two strikes of one foot lies at least this time, running included [s]."""
PERIOD_SHARE = 0.6
"""And at least this share of the usual time between them."""


def maxima(signal: Array, rate_hz: float, least_excursion: float) -> Array:
    """Places (k,) from 0 to T - 1 of the maxima of a signal (T,), by a parabola through the three highest samples.

    The samples are evenly spaced, NaN where there are none. A signal whose highest and lowest value differ by less than
    `least_excursion` does not swing at all.
    """
    smooth = np.full(signal.size, np.nan)
    for first, end in true_runs(np.isfinite(signal)):
        if end - first > SHORTEST_PERIOD * rate_hz:
            cutoff = min(CUTOFF_HZ, 0.4 * rate_hz)
            smooth[first:end] = low_pass(signal[first:end], rate_hz, cutoff)
    seen = np.isfinite(smooth)
    if not seen.any() or np.ptp(smooth[seen]) < least_excursion:
        return np.zeros(0)
    excursion = float(np.ptp(smooth[seen]))
    peaks = [first + _peaks(smooth[first:end], rate_hz, excursion) for first, end in true_runs(seen)]
    return _between_samples(smooth, _periodic(np.concatenate(peaks), smooth))


def _peaks(smooth: Array, rate_hz: float, excursion: float) -> NDArray[np.intp]:
    """Maxima of one stretch that stand out on both sides, as far as the stretch shows them."""
    peaks = _far_apart(_local_maxima(smooth), smooth, max(1.0, SHORTEST_PERIOD * rate_hz))
    # A side is cut where nothing as high comes between the peak and the end of the stretch.
    cut = np.array(
        [[smooth[:k].max() < smooth[k], smooth[k + 1 :].max() < smooth[k]] for k in peaks], bool
    ).reshape(-1, 2)
    fall = np.array([_falls(smooth, int(peak)) for peak in peaks]).reshape(-1, 2)
    enough = fall >= np.where(cut, CUT_FALL, FULL_FALL) * excursion
    return peaks[enough.all(axis=1) & (fall.max(axis=1) >= FULL_FALL * excursion)]


def _local_maxima(signal: Array) -> NDArray[np.intp]:
    """Samples above those on both sides; of a flat top its middle."""
    first = np.flatnonzero(np.diff(signal, prepend=np.nan) != 0.0)
    last = np.append(first[1:], signal.size) - 1
    level = signal[first]
    top = np.zeros(first.size, dtype=bool)
    top[1:-1] = (level[1:-1] > level[:-2]) & (level[1:-1] > level[2:])
    return np.asarray((first[top] + last[top]) // 2)


def _far_apart(peaks: NDArray[np.intp], signal: Array, distance: float) -> NDArray[np.intp]:
    """Drop what is nearer than a distance to a higher peak that stays."""
    stays = np.ones(peaks.size, dtype=bool)
    for k in np.argsort(signal[peaks])[::-1]:
        if stays[k]:
            stays &= np.abs(peaks - peaks[k]) >= np.ceil(distance)
            stays[k] = True
    return peaks[stays]


def _falls(signal: Array, peak: int) -> tuple[float, float]:
    """How far the signal falls on either side before it rises above the peak."""
    higher = np.flatnonzero(signal > signal[peak])
    start = int(higher[higher < peak].max(initial=-1)) + 1
    end = int(higher[higher > peak].min(initial=signal.size))
    return signal[peak] - signal[start : peak + 1].min(), signal[peak] - signal[peak:end].min()


def _periodic(peaks: NDArray[np.intp], smooth: Array) -> NDArray[np.intp]:
    """Drop the lower one of two peaks that follow each other too soon for the usual period."""
    while peaks.size > 2:
        period = np.diff(peaks)
        soon = int(period.argmin())
        if period[soon] >= PERIOD_SHARE * np.median(period):
            break
        lower = soon if smooth[peaks[soon]] < smooth[peaks[soon + 1]] else soon + 1
        peaks = np.delete(peaks, lower)
    return peaks


def _between_samples(smooth: Array, peaks: NDArray[np.intp]) -> Array:
    """Vertices of the parabolas through each peak and its neighbors."""
    before, top, after = smooth[peaks - 1], smooth[peaks], smooth[peaks + 1]
    bend = before - 2.0 * top + after
    # A flat top has no bend: its first sample is the peak.
    flat = bend == 0.0
    shift: Array = np.where(flat, 0.0, 0.5 * (before - after) / np.where(flat, 1.0, bend))
    return peaks + shift
