"""Curves over time at other times, without interpolation across frames that have no value."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, true_runs

ROUND_OFF = 1e-9  # s
NEIGHBOURS = 3
"""The slope at a frame follows from this many frames at most: three at an end, one to either side elsewhere."""


def sampled(time: Array, values: Array, at: Array, reach: float = 0.0, *, straight: bool = True) -> Array:
    """Values at other times, by a cubic through the frames that neither overshoots nor bends what is straight.

    Piecewise cubic Hermite interpolation with the slopes of Fritsch and Butland (1984, SIAM J Sci Stat Comput
    5:300-304): between two frames a value lies between theirs, a linear function of time stays linear.

    Values (T, ...) at times (T,) are NaN in frames without a valid value, and the result (P, ...) at times (P,) [s]
    between two frames of which one has none, and outside of the frames. `reach` [s] beyond the first and the last one
    the curve is extended: along its tangent if `straight`, but what is nowhere negative not below zero; otherwise
    it keeps the value of that frame.
    """
    flat = values.reshape(time.size, -1)
    result = np.full((at.size, flat.shape[1]), np.nan)
    # The slopes are local: the frames around the wanted times give the same curve as all of them.
    start = max(int(np.searchsorted(time, at.min())) - NEIGHBOURS, 0)
    stop = int(np.searchsorted(time, at.max())) + NEIGHBOURS + 1
    patterns, which = np.unique(np.isfinite(flat[start:stop]), axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        columns = np.flatnonzero(which.ravel() == number)
        for first, end in [(start + a, start + b) for a, b in true_runs(pattern)]:
            early, late = (reach if first == 0 else 0.0), (reach if end == time.size else 0.0)
            inside = (at >= time[first] - early - ROUND_OFF) & (at <= time[end - 1] + late + ROUND_OFF)
            if end - first > 1 and inside.any():
                curve = _curve(time[first:end], flat[first:end, columns], at[inside], straight)
                result[np.ix_(inside, columns)] = curve
    beyond = (at < time[0]) | (at > time[-1])
    if beyond.any():
        result[beyond] = np.maximum(result[beyond], np.where((flat < 0.0).any(axis=0), -np.inf, 0.0))
    return result.reshape(at.size, *values.shape[1:])


def _curve(time: Array, values: Array, at: Array, straight: bool) -> Array:
    """The cubic through frames that all have values and, beyond its ends, its tangents or the values there."""
    from scipy.interpolate import PchipInterpolator

    cubic = PchipInterpolator(time, values, axis=0)
    nearest = np.clip(at, time[0], time[-1])
    found: Array = cubic(nearest)
    return found + (at - nearest)[:, None] * cubic(nearest, 1) if straight else found
