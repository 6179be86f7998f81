"""Frames in which a marker jumps: labels exchanged, or a ghost taken for the marker."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask

# No marker on a subject changes its velocity faster than this between frames [m], [m/s^2]: a hundred times gravity.
SMALLEST_JUMP, GREATEST_ACCELERATION = 0.1, 1000.0


def largest_jump(rate_hz: float) -> float:
    """Return how much longer than the last a step from frame to frame may be [m]."""
    return max(SMALLEST_JUMP, GREATEST_ACCELERATION / rate_hz**2)


def jumps(path: Array, rate_hz: float) -> Mask:
    """Return in which frames (T, ...) the steps before and after differ by more than a subject can move.

    Positions are (T, ..., 3) [m]; gaps (NaN), the first and the last frame do not count as jumps.
    """
    jumping = np.zeros(path.shape[:-1], bool)
    change = np.linalg.norm(np.diff(path, n=2, axis=0), axis=-1)
    jumping[1:-1] = change > largest_jump(rate_hz)
    return jumping
