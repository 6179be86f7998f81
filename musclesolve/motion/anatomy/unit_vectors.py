"""Unit vectors and frames on arrays whose last axis is x, y, z."""

import numpy as np

from musclesolve._util.arrays import Array, median_of_known, unit, vector_product

UNUSUAL = 0.2
"""Largest change of a segment's length by marker noise, as a share of the length."""


def horizontal(vector: Array) -> Array:
    """Return the horizontal part of vectors (..., 3), scaled to length one."""
    return unit(vector * [1.0, 1.0, 0.0])


def across(vector: Array, line: Array) -> Array:
    """Return the part of ``vector`` (..., 3) perpendicular to the unit vector ``line``, scaled to length one."""
    return unit(vector - np.vecdot(vector, line)[..., None] * line)


def frame(x: Array, y: Array) -> Array:
    """Return rotations (..., 3, 3) whose columns are x, y and x cross y, from perpendicular unit vectors (..., 3)."""
    return np.stack([x, y, vector_product(x, y)], axis=-1)


def mean_length(vector: Array) -> float:
    """Return the mean length of vectors (T, 3) over the frames in which it is within a fifth of its median.

    A marker that jumps in some frames does not change the size of a segment.
    """
    length = np.linalg.norm(vector, axis=-1)
    usual = float(median_of_known(length))
    return float(length[np.abs(length - usual) <= UNUSUAL * usual].mean())
