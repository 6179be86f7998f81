"""Walking direction of a subject, frame by frame, from the markers alone, for any axes of the laboratory."""

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array

Complex = NDArray[np.complex128]
"""Horizontal vectors as complex numbers x + iy: products rotate them."""

HEADING_WINDOW = 1.0
"""Time [s] over which the heading is averaged: about a stride, so that sway cancels."""
SLOWEST = 0.25
"""Speed of the pelvis below which its path shows no heading [m/s]: a treadmill, or standing."""


def headings(time: Array, pelvis: Array, facing: Array) -> tuple[Array, bool]:
    """Return horizontal unit vectors (T, 3) of the walking direction, and whether the pelvis travels.

    Where the pelvis travels, the direction is along its path, which may curve or lead backward. Where the pelvis does
    not travel, the direction rotates with it from the nearest frame in which it does. On a treadmill the direction is
    the one in which the pelvis faces.

    Times (T,) increase [s]; `pelvis` (T, 3) is a point of the pelvis [m], `facing` (T, 3) the direction in which the
    subject faces, of any length. Unseen values are NaN, but not all of them.
    """
    early = np.clip(time - 0.5 * HEADING_WINDOW, time[0], max(time[0], time[-1] - HEADING_WINDOW))
    late = np.minimum(early + HEADING_WINDOW, time[-1])

    def change(path: Complex) -> Complex:
        return np.asarray(np.interp(late, time, path) - np.interp(early, time, path))

    path, face = _filled(time, pelvis), _unit(_filled(time, facing))
    travel, faced = change(path), change(_integral(time, face))
    moving = np.flatnonzero(np.abs(travel) > SLOWEST * (late - early))
    if moving.size:
        # Direction of the path relative to the pelvis, from the facing of the pelvis at each time.
        on_the_way = change(_integral(time, face * np.abs(np.gradient(path, time))))
        nearest = moving[np.searchsorted(0.5 * (moving[1:] + moving[:-1]), np.arange(time.size))]
        faced = faced * np.conj(on_the_way[nearest]) * travel[nearest]
        faced[moving] = travel[moving]
    unit = _unit(faced)
    return np.stack([unit.real, unit.imag, 0.0 * unit.real], axis=1), bool(moving.size)


def _filled(time: Array, vector: Array) -> Complex:
    """The horizontal part x + iy (T,) of vectors (T, 3), with NaN interpolated."""
    seen = np.isfinite(vector).all(axis=1)
    x, y = (np.interp(time, time[seen], vector[seen, k]) for k in range(2))
    return np.asarray(x + 1j * y)


def _integral(time: Array, values: Complex) -> Complex:
    """The integral over time (T,) from the first frame on."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(time)
    return np.concatenate([np.zeros(1, complex), np.cumsum(steps)])


def _unit(values: Complex) -> Complex:
    """Complex numbers of size one; 1 where there is no direction."""
    size = np.abs(values)
    return np.asarray(np.where(size > 0.0, values, 1.0) / np.where(size > 0.0, size, 1.0), complex)
