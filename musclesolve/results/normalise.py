"""Curves over time brought to given times, without a bridge over frames that have no value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

Array = NDArray[np.float64]

ROUND_OFF = 1e-9  # s


def sampled(time: Array, values: Array, at: Array, reach: float = 0.0) -> Array:
    """Values at other times, by a cubic through the frames that neither overshoots nor bends what is straight.

    Piecewise cubic Hermite interpolation with Fritsch and Carlson's slopes (1980, SIAM J Numer Anal 17:238-246): an
    activation stays within the activations of the neighbouring frames, a linear function of time stays linear.

    Args:
        time: (T,) [s], increasing.
        values: (T, ...) NaN where a frame has no valid value.
        at: (P,) times wanted [s].
        reach: so far beyond the first and the last frame the curve goes straight on [s]; what is nowhere negative does
            not become so.

    Returns:
        (P, ...) NaN outside of the frames and between two frames of which one has no value.
    """
    flat = values.reshape(time.size, -1)
    result = np.full((at.size, flat.shape[1]), np.nan)
    patterns, which = np.unique(np.isfinite(flat), axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        columns = np.flatnonzero(which.ravel() == number)
        for first, end in _runs(pattern):
            early, late = (reach if first == 0 else 0.0), (reach if end == time.size else 0.0)
            inside = (at >= time[first] - early - ROUND_OFF) & (at <= time[end - 1] + late + ROUND_OFF)
            if end - first > 1 and inside.any():
                curve = _curve(time[first:end], flat[first:end, columns], at[inside])
                result[np.ix_(inside, columns)] = curve
    return result.reshape(at.size, *values.shape[1:])


def _curve(time: Array, values: Array, at: Array) -> Array:
    """The cubic through frames that all have values, straight on beyond its ends."""
    cubic = PchipInterpolator(time, values, axis=0)
    nearest = np.clip(at, time[0], time[-1])
    found = cubic(nearest) + (at - nearest)[:, None] * cubic(nearest, 1)
    lowest = np.where(values.min(axis=0) >= 0.0, 0.0, -np.inf)
    raised: Array = np.maximum(found, lowest)
    return raised


def _runs(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """First and end (exclusive) of the runs of True, (k, 2)."""
    padded = np.concatenate([[False], mask, [False]])
    return np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2)
