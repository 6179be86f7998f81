"""Zero-lag low-pass filter: a second-order Butterworth run forwards and backwards (Silva 2003, eqs 5.2-5.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import butter, filtfilt

from musclesolve.errors import InputError

Array = NDArray[np.float64]

# Two passes attenuate twice, so each pass gets a higher cut-off. With w = tan(pi fc / fs) one pass has the gain
# 1 / sqrt(1 + (w / w_c)^4); two passes fall to 1/sqrt(2) at fc when w_c = w / (sqrt(2) - 1)^(1/4).
TWO_PASS_FACTOR = (np.sqrt(2.0) - 1.0) ** 0.25


def coefficients(rate_hz: float, cutoff_hz: float) -> tuple[Array, Array]:
    """Return b (3,), a (3,) of one pass, such that two passes fall by 3 dB at the cut-off frequency.

    The thesis divides the frequency fc by 0.802; dividing tan(pi fc / fs) is exact at every rate.

    Args:
        rate_hz: sampling rate [Hz].
        cutoff_hz: cut-off frequency of the two passes together [Hz].

    Raises:
        InputError: a cut-off that is not between zero and half the rate.
    """
    if not 0.0 < cutoff_hz < 0.5 * rate_hz:
        raise InputError(
            f"a cut-off of {cutoff_hz:g} Hz at {rate_hz:g} samples a second",
            expected="a cut-off above zero and below half the sampling rate",
            remedy="walking needs about 6 Hz",
        )
    corrected = np.tan(np.pi * cutoff_hz / rate_hz) / TWO_PASS_FACTOR
    b, a = butter(2, 2.0 / np.pi * np.arctan(corrected))
    return b, a


def low_pass(signal: Array, rate_hz: float, cutoff_hz: float) -> Array:
    """Return the signal without what lies above the cut-off frequency, without lag, with gain one at rest.

    Args:
        signal: (T, ...) evenly spaced samples without gaps, filtered along the first axis.
        rate_hz: sampling rate [Hz].
        cutoff_hz: frequency at which the two passes together fall by 3 dB [Hz].

    Returns:
        (T, ...) the filtered signal.

    Raises:
        InputError: a cut-off that is not between zero and half the rate.
    """
    b, a = coefficients(rate_hz, cutoff_hz)
    # The answer of the filter to a jump has died away after three periods of the cut-off: so much is mirrored
    # at each end, as far as the recording reaches.
    padding = min(signal.shape[0] - 1, int(np.ceil(3.0 * rate_hz / cutoff_hz)))
    filtered: Array = filtfilt(b, a, signal, axis=0, padtype="odd", padlen=padding)
    return filtered
