"""Zero-lag low-pass filter: a Butterworth run forwards and backwards (Silva 2003, eqs 5.2-5.5 for order 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import butter, sosfiltfilt

from musclesolve.errors import InputError

Array = NDArray[np.float64]

# What is left of the amplitude at the cut-off is 1/sqrt(2), that is 3 dB less.
HALF_POWER = np.sqrt(2.0) - 1.0
ORDERS = range(1, 9)


def two_pass_factor(order: int = 2) -> float:
    """Return (sqrt(2) - 1)^(1/(2n)), 0.802 for order n = 2: one pass gets tan(pi fc / fs) divided by it.

    Two passes attenuate twice. With w = tan(pi f / fs) one pass has the gain 1 / sqrt(1 + (w / w_c)^(2n)); two
    passes fall to 1/sqrt(2) at fc when w_c = tan(pi fc / fs) / (sqrt(2) - 1)^(1/(2n)).
    """
    return float(HALF_POWER ** (0.5 / order))


def two_pass_gain(frequency_hz: ArrayLike, rate_hz: float, cutoff_hz: ArrayLike, order: int = 2) -> Array:
    """Return the gain of both passes together, 1 / (1 + (sqrt(2) - 1) (tan(pi f/fs) / tan(pi fc/fs))^(2n)).

    Args:
        frequency_hz: frequencies from 0 to below half the rate, broadcast against the cut-offs [Hz].
        rate_hz: sampling rate [Hz].
        cutoff_hz: cut-off frequencies [Hz].
        order: order n of one pass.
    """
    ratio = np.tan(np.pi * np.asarray(frequency_hz) / rate_hz) / np.tan(
        np.pi * np.asarray(cutoff_hz) / rate_hz
    )
    gain: Array = 1.0 / (1.0 + HALF_POWER * ratio ** (2 * order))
    return gain


def sections(rate_hz: float, cutoff_hz: float, order: int = 2) -> Array:
    """Return the second-order sections (k, 6) of one pass, such that two passes fall by 3 dB at the cut-off.

    The thesis divides the frequency fc by 0.802; dividing tan(pi fc / fs) is exact at every rate. Sections rather
    than one quotient of polynomials, because the latter loses its digits at high orders and low cut-offs.

    Args:
        rate_hz: sampling rate [Hz].
        cutoff_hz: cut-off frequency of the two passes together [Hz].
        order: order of one pass, 1 to 8.

    Raises:
        InputError: a cut-off that is not between zero and half the rate, an order that there is not.
    """
    if not 0.0 < cutoff_hz < 0.5 * rate_hz:
        raise InputError(
            f"a cut-off of {cutoff_hz:g} Hz at {rate_hz:g} samples a second",
            expected="a cut-off above zero and below half the sampling rate",
            remedy="walking needs about 6 Hz",
        )
    if order not in ORDERS:
        raise InputError(
            f"a filter of order {order!r}",
            expected=f"a whole number from {ORDERS[0]} to {ORDERS[-1]}",
            remedy="order 2 is usual",
        )
    corrected = np.tan(np.pi * cutoff_hz / rate_hz) / two_pass_factor(order)
    parts: Array = butter(order, 2.0 / np.pi * np.arctan(corrected), output="sos")
    return parts


def low_pass(signal: Array, rate_hz: float, cutoff_hz: ArrayLike, order: int = 2) -> Array:
    """Return the signal without what lies above the cut-off frequency, without lag, with gain one at rest.

    Args:
        signal: (T, ...) evenly spaced samples without gaps, filtered along the first axis.
        rate_hz: sampling rate [Hz].
        cutoff_hz: frequency at which the two passes together fall by 3 dB [Hz]; one for all, or one for every
            coordinate, broadcast over the axes after the first.
        order: order of one pass, 1 to 8.

    Returns:
        (T, ...) the filtered signal.

    Raises:
        InputError: a cut-off that is not between zero and half the rate, an order that there is not.
    """
    signal = np.asarray(signal, dtype=float)
    cutoffs = np.broadcast_to(np.asarray(cutoff_hz, dtype=float), signal.shape[1:])
    filtered = np.empty_like(signal)
    for cutoff in np.unique(cutoffs):
        own = cutoffs == cutoff
        filtered[:, own] = _filtered(signal[:, own], rate_hz, float(cutoff), order)
    return filtered


def _filtered(signal: Array, rate_hz: float, cutoff_hz: float, order: int) -> Array:
    """Filter coordinates (T, k) with one cut-off."""
    parts = sections(rate_hz, cutoff_hz, order)
    # The answer of the filter to a jump has died away after three periods of the cut-off, later for higher orders,
    # whose slowest pole decays with sin(pi / 2n): so much is mirrored at each end, as far as the recording reaches.
    slower = max(1.0, np.sin(np.pi / 4.0) / np.sin(np.pi / (2 * order)))
    padding = min(signal.shape[0] - 1, int(np.ceil(3.0 * slower * rate_hz / cutoff_hz)))
    filtered: Array = sosfiltfilt(parts, signal, axis=0, padtype="odd", padlen=padding)
    return filtered


def check_complete(signal: Array) -> None:
    """Refuse a signal (T, ...) with gaps: whatever is estimated from it would be nothing.

    Raises:
        InputError: with the first frame that lacks a number.
    """
    lost = ~np.isfinite(signal).reshape(len(signal), -1).all(axis=1)
    if lost.any():
        raise InputError(
            f"the signal lacks a number in {lost.sum()} of {lost.size} frames, first in frame {lost.argmax()}",
            expected="a signal without gaps",
            remedy="fill the gaps, or take a stretch without them",
        )
