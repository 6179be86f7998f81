"""Frames in which a marker leaps: labels exchanged, or a ghost taken for the marker."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask

# No marker on a person changes its velocity faster than this between frames [m], [m/s^2]: a hundred times gravity.
SMALLEST_LEAP, GREATEST_ACCELERATION = 0.1, 1000.0


def farthest_leap(rate_hz: float) -> float:
    """Return how much longer than the last a step from frame to frame may be [m]."""
    return max(SMALLEST_LEAP, GREATEST_ACCELERATION / rate_hz**2)


def leaps(path: Array, rate_hz: float) -> Mask:
    """Return in which frames the step before and the step after differ by more than a person can move.

    Args:
        path: (T, ..., 3) positions of markers [m]; gaps (NaN) do not count as leaps.
        rate_hz: sampling rate [Hz].

    Returns:
        (T, ...); the first and the last frame have no two steps and are never said to leap.
    """
    leaping = np.zeros(path.shape[:-1], bool)
    change = np.linalg.norm(np.diff(path, n=2, axis=0), axis=-1)
    leaping[1:-1] = change > farthest_leap(rate_hz)
    return leaping
