"""Curves over time brought to given times, without a bridge over frames that have no value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

Array = NDArray[np.float64]


def sampled(time: Array, values: Array, at: Array) -> Array:
    """Values at other times, by a cubic through the frames that neither overshoots nor bends what is straight.

    Piecewise cubic Hermite interpolation with Fritsch and Carlson's slopes (1980, SIAM J Numer Anal 17:238-246): an
    activation stays within the activations of the neighbouring frames, a linear function of time stays linear.

    Args:
        time: (T,) [s], increasing.
        values: (T, ...) NaN where a frame has no valid value.
        at: (P,) times wanted [s].

    Returns:
        (P, ...) NaN outside of the frames and between two frames of which one has no value. Up to half a frame beyond
        the first and the last frame the curve is continued.
    """
    flat = values.reshape(time.size, -1)
    result = np.full((at.size, flat.shape[1]), np.nan)
    valid = np.isfinite(flat)
    patterns, which = np.unique(valid, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        columns = np.flatnonzero(which.ravel() == number)
        for first, end in _runs(pattern):
            inside = _reached(time, first, end, at)
            if end - first > 1 and inside.any():
                curve = PchipInterpolator(time[first:end], flat[first:end, columns], axis=0)
                result[np.ix_(inside, columns)] = curve(at[inside])
    return result.reshape(at.size, *values.shape[1:])


def _runs(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """First and end (exclusive) of the runs of True, (k, 2)."""
    padded = np.concatenate([[False], mask, [False]])
    return np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2)


def _reached(time: Array, first: int, end: int, at: Array) -> NDArray[np.bool_]:
    """Which times lie within a run of frames, or so near that only round-off or the ends of the recording part them."""
    half = 0.5 * float(np.median(np.diff(time))) if time.size > 1 else 0.0
    slack = 1e-6 * half
    early = half if first == 0 else slack
    late = half if end == time.size else slack
    return (at >= time[first] - early - slack) & (at <= time[end - 1] + late + slack)
