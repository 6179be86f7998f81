"""Faults that a signal of EMG shows by itself."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask, long_enough, true_runs

FLAT = 1e-9
"""A signal whose range is below this share of its size is flat."""
SATURATED_RUN = 3
"""So many samples in a row at the largest or the smallest number show that the amplifier saturated."""
FEWEST_LEVELS = 32
"""Signals of fewer different numbers repeat them anyway."""
ONE_SIDED = 0.35
"""The median of a raw signal lies in the middle of its range, that of a rectified one below this share of it."""
NEGATIVE = 0.1
"""An envelope is never below zero by more than this share of its maximum."""


def is_flat(signal: Array) -> bool:
    """Return whether a signal (S,) has no samples, or never changes; gaps (NaN) do not count."""
    known = signal[np.isfinite(signal)]
    return known.size == 0 or bool(np.ptp(known) <= FLAT * np.abs(known).max())


def saturated(signal: Array) -> Mask:
    """Return which samples (S,) lie in a run at the end of the range of the amplifier."""
    none: Mask = np.zeros(signal.size, bool)
    known = signal[np.isfinite(signal)]
    if known.size == 0 or np.unique(known).size < FEWEST_LEVELS:
        return none
    return sum((long_enough(signal == end, SATURATED_RUN) for end in (known.min(), known.max())), none)


def is_negative(envelope: Array) -> bool:
    """Return whether a signal (S,) lies so far below zero that it is no envelope."""
    return bool(np.nanmin(envelope) < -NEGATIVE * np.nanmax(np.abs(envelope)))


def is_one_sided(signal: Array) -> bool:
    """Return whether a signal (S,) seems to be rectified: never negative, and mostly near its least value."""
    known = signal[np.isfinite(signal)]
    if is_flat(signal) or known.min() < 0.0:
        return False
    return bool(np.median(known) - known.min() < ONE_SIDED * np.ptp(known))


def longest_gap(signal: Array) -> int:
    """Return the number of samples of the longest gap (NaN) in a signal (S,)."""
    return max((stop - first for first, stop in true_runs(~np.isfinite(signal))), default=0)
