"""Which way a person walks, seen from the markers alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WINDOW = 1.0
"""The heading is that of the pelvis over so long a time: about a stride, so that sway averages out [s]."""
SLOWEST = 0.25
"""Below this speed of the pelvis its path does not show a heading: a treadmill, or standing [m/s]."""


def headings(time: Array, pelvis: Array, feet: Array) -> tuple[Array, bool]:
    """Horizontal unit vector of the walking direction in every frame.

    Where the pelvis travels it is the direction of its path; a person may turn. Frames in which it does not travel
    take the heading of the nearest one in which it does. On a treadmill it never does: then the heading is the mean
    direction in which the feet point, the same in all frames.

    Args:
        time: (T,) [s], increasing.
        pelvis: (T, 3) a point of the pelvis [m]; NaN where it was not seen, but not everywhere.
        feet: (T, 3) sum of the vectors from heel to toe of both feet [m]; NaN likewise.

    Returns:
        (T, 3) unit vectors, and whether the pelvis travels.
    """
    seen = np.isfinite(pelvis).all(axis=1)
    path = [np.interp(time, time[seen], pelvis[seen, k]) for k in range(2)]
    early = np.clip(time - 0.5 * WINDOW, time[0], max(time[0], time[-1] - WINDOW))
    late = np.minimum(early + WINDOW, time[-1])
    travel = np.stack([np.interp(late, time, p) - np.interp(early, time, p) for p in path], axis=1)
    moving = np.flatnonzero(np.linalg.norm(travel, axis=1) > SLOWEST * (late - early))
    if moving.size == 0:
        return np.tile(_horizontal(np.nanmean(feet[:, :2], axis=0)), (time.size, 1)), False
    return _horizontal(travel[_nearest(moving, time.size)]), True


def _nearest(chosen: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """For each of so many frames the nearest of the chosen ones, which are in order."""
    middle = 0.5 * (chosen[1:] + chosen[:-1])
    return chosen[np.searchsorted(middle, np.arange(size))]


def _horizontal(vector: Array) -> Array:
    """Unit vectors (..., 3) in the horizontal plane along vectors (..., 2)."""
    unit = vector / np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([unit, np.zeros((*unit.shape[:-1], 1))], axis=-1)
