"""Agreement of a curve with another one that leads it by an unknown time."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times

STEP = 0.001
"""Steps of the delays that are tried [s]."""
FEWEST = 10
"""Samples that a correlation needs."""


def at_times_inside(time: Array, columns: Array, new: Array) -> Array:
    """Return columns (S, k) of increasing times (S,) at other times (...,), (..., k); NaN beyond the ends."""
    values = at_times(time, columns, new) if columns.shape[1] else np.empty((*new.shape, 0))
    outside = (new < time[0] - 1e-9) | (new > time[-1] + 1e-9)
    return np.where(outside[..., None], np.nan, values)


def best_delays(
    time: Array, curves: Array, leading_time: Array, leading: Array, longest: float
) -> tuple[Array, Array]:
    """Return the largest Pearson correlation of each curve(t) with leading(t - d), 0 <= d <= longest, and that d.

    All delays are compared over the same samples: where the curve is known, and the leading one at every delay.

    Args:
        time: (T,) [s].
        curves: (T, k), NaN where not known.
        leading_time: (S,) [s].
        leading: (S, k), NaN where not known.
        longest: the longest delay [s].

    Returns:
        Correlation (k,) and delay (k,) [s]; NaN with fewer than ten common samples, or where a curve is constant.
    """
    delays = np.linspace(0.0, longest, round(longest / STEP) + 1)
    moved = at_times_inside(leading_time, leading, time - delays[:, None])  # (D, T, k)
    known = np.isfinite(curves) & np.isfinite(moved).all(axis=0)
    own, other = _centered(curves, known), _centered(moved, known)
    size = np.sqrt((own**2).sum(axis=0) * (other**2).sum(axis=1))
    enough = (known.sum(axis=0) >= FEWEST) & (size > 0.0)
    r = np.divide((own * other).sum(axis=1), size, out=np.full(size.shape, np.nan), where=enough)
    best = np.where(np.isnan(r), -np.inf, r).argmax(axis=0)
    found = r[best, np.arange(r.shape[1])]
    return found, np.where(np.isnan(found), np.nan, delays[best])


def _centered(values: Array, known: Mask) -> Array:
    """Return values (..., T, k) less their mean over the known samples (T, k), zero elsewhere."""
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=-2, keepdims=True) / count
    return np.where(known, values - mean, 0.0)
