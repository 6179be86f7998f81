"""Zero-lag band-pass filter: what a low-pass of the upper cut-off leaves, less what lies below the lower one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.motion.signals.low_pass import (
    checked_filter_order,
    harmonics,
    sine_series,
    two_pass_gain,
)
from musclesolve.motion.signals.sampled_signal import checked_cutoffs, checked_signal


def two_pass_high_gain(frequency_hz: ArrayLike, rate_hz: float, cutoff_hz: float, order: int) -> Array:
    """Return the gain of a Butterworth high-pass run both ways, 1/sqrt(2) at the cut-off fc.

        1 / (1 + (sqrt(2) - 1) (tan(pi fc/fs) / tan(pi f/fs))^(2n)),

    n the order of one pass: that of the low-pass (``two_pass_gain``) with the ratio turned over.
    """
    return two_pass_gain(cutoff_hz, rate_hz, frequency_hz, order)


def band_pass(signal: ArrayLike, rate_hz: float, band_hz: tuple[float, float], order: int) -> Array:
    """Return what of a signal lies between two cut-off frequencies, without lag, -3 dB at either of them.

    The ends are treated as by ``low_pass``; the straight line between them is left out.

    Args:
        signal: (S, ...) evenly spaced samples without gaps.
        rate_hz: sampling rate [Hz].
        band_hz: lower and upper cut-off [Hz].
        order: of one pass of the high-pass and of the low-pass, 1 to 8.

    Raises:
        InputError: as ``low_pass``.
    """
    from scipy.fft import dst

    given = checked_signal(signal, rate_hz)
    order = checked_filter_order(order)
    low, high = (float(checked_cutoffs(cutoff, given.shape, rate_hz).flat[0]) for cutoff in band_hz)
    line, sines = sine_series(given)
    frequency = harmonics(len(given), rate_hz).reshape(-1, *[1] * (given.ndim - 1))
    gain = two_pass_high_gain(frequency, rate_hz, low, order) * two_pass_gain(frequency, rate_hz, high, order)
    passed = np.zeros_like(line)
    passed[1:-1] = dst(gain * sines, type=1, axis=0, norm="ortho")
    return passed
