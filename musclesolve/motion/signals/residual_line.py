"""The straight part of residual curves: lines through their upper ends, and where a curve crosses a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array, Mask

Indices = NDArray[np.intp]

RANGE_FACTOR, SHORTEST_RANGE_HZ = 3.0, 10.0
# A line through fewer points is no line.
FEWEST_POINTS = 8


@dataclass(frozen=True)
class Fit:
    """Lines (k,) through the points from `start` on; `reached` where the correlation is as demanded."""

    start: Indices
    slope: Array
    intercept: Array
    reached: Mask


def fit(x: Array, y: Array, end: Indices, threshold: float) -> Fit:
    """Fit a line to the points start to end of every curve (C, k) over x (C,), start the first that correlates.

    All starts at once, by sums from the end backwards: small values are added up before large ones.
    """
    k = np.arange(y.shape[1])
    level = y[end - 1, k]
    across, up = np.broadcast_to(x[:, None], y.shape), y - level

    def sums(values: Array) -> Array:
        total = np.vstack([np.cumsum(values[::-1], axis=0)[::-1], np.zeros((1, values.shape[1]))])
        return total[:-1] - total[end, k]

    count = end - np.arange(len(x))[:, None]
    enough = count >= FEWEST_POINTS
    n = np.maximum(count, 1)
    sx, sy = sums(across), sums(up)
    xx, yy, xy = sums(across**2) - sx**2 / n, sums(up**2) - sy**2 / n, sums(across * up) - sx * sy / n
    falls = enough & (xx > 0.0) & (yy > 0.0) & (xy < 0.0)
    correlated = falls & (-xy >= threshold * np.sqrt(np.where(falls, xx * yy, 1.0)))
    reached = correlated.any(axis=0)
    start = np.where(reached, correlated.argmax(axis=0), end - FEWEST_POINTS)
    slope = np.where(xx[start, k] > 0.0, xy[start, k] / xx[start, k], 0.0)
    intercept = level + (sy[start, k] - slope * sx[start, k]) / n[start, k]
    return Fit(start, slope, intercept, reached)


def consistent_fit(
    frequency: Array, passed: Array, square: Array, threshold: float
) -> tuple[Fit, Indices, Array]:
    """Fit lines to squared residuals (C, k) over the share (C,) of noise let through, each over a range of its own.

    The range ends at a multiple of the frequency at which the residual has fallen to the noise. It is fitted again
    and again until it shrinks no more.

    Returns:
        The lines, one past the last point (k,) of each, and the frequency (k,) where residual and noise are equal.
    """
    end = np.full(square.shape[1], len(frequency))
    while True:
        found = fit(passed, square, end, threshold)
        equal = crossing(frequency, square - found.intercept)
        wanted = np.searchsorted(frequency, np.maximum(RANGE_FACTOR * equal, SHORTEST_RANGE_HZ))
        if np.all(wanted >= end):
            return found, end, equal
        end = np.minimum(wanted, end)


def crossing(frequency: Array, excess: Array) -> Array:
    """Return the first frequency (k,) at which a curve (C, k) is no longer positive; the last where it always is."""
    below = excess <= 0.0
    crossed = below.any(axis=0)
    after = np.where(crossed, below.argmax(axis=0), len(frequency) - 1)
    before, k = np.maximum(after - 1, 0), np.arange(excess.shape[1])
    high, low = excess[before, k], excess[after, k]
    part = np.where(crossed & (after > 0), high / np.where(high > low, high - low, 1.0), 1.0)
    return np.asarray(frequency[before] + part * (frequency[after] - frequency[before]))
