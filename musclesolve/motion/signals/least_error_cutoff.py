"""The cut-off frequency with the least error of acceleration to expect, where the noise is known.

Of a signal with the power spectrum P, the noise in it being white with the spectrum B, a filter of the gain G makes in
the acceleration the mean square error

    sum (2 pi f)^4 ((1 - G)^2 (P - B) + G^2 B),

what it takes of the motion and what it lets through of the noise (the unbiased estimate of risk; Mallows 1973). P - B
is the motion only where there is some: beyond a frequency that the residual shows it is counted as nothing.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.motion.signals.low_pass import two_pass_gain

# At either end the signal fades in and out over this time [s]: of what the filter does at the ends, where it knows
# only one side of the signal, nothing follows for the rest.
FADE_S = 0.25
# Frequencies that are looked at at once, to bound memory.
_BLOCK = 4096


def least_error_cutoff(
    signal: Array, rate_hz: float, tried_hz: Array, variance: Array, motion_below_hz: Array, order: int
) -> Array:
    """Return the cut-off (k,) of the least error of acceleration [Hz].

    Args:
        signal: (T, k) the recording.
        tried_hz: (C,) cut-offs, evenly spaced [Hz].
        variance: (k,) mean square of white noise as it is beside the motion, in the unit of the signal squared.
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
    return _lowest(tried_hz, error)


def interior_power(signal: Array, rate_hz: float) -> tuple[Array, Array]:
    """Return frequencies (H,) [Hz] and the mean square (H, k) of a signal (T, k) at each, its ends left out.

    It is the second differences that fade in and out, so that neither drift nor the large slow part of the motion
    leaks into higher frequencies; their spectrum is divided by that of differencing, (2 sin(pi f / fs))^4. The two
    lowest frequencies are left out: hardly anything is left of them.
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


def _lowest(x: Array, curve: Array) -> Array:
    """Return the place (k,) of the lowest point of curves (C, k) over evenly spaced x (C,), by a parabola there."""
    at, k = np.clip(curve.argmin(axis=0), 1, len(x) - 2), np.arange(curve.shape[1])
    before, middle, after = curve[at - 1, k], curve[at, k], curve[at + 1, k]
    bend = before - 2.0 * middle + after
    part = np.where(bend > 0.0, 0.5 * (before - after) / np.where(bend > 0.0, bend, 1.0), 0.0)
    return np.asarray(x[at] + (x[1] - x[0]) * np.clip(part, -1.0, 1.0))
