"""Statistics of samples that come one after the other and are not kept: mean, standard deviation, quantiles.

All of it is of deviations from the nominal values, so that what does not vary has a spread of exactly zero.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array

QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)
"""The median, and the ends of what one half and 19 of 20 samples lie within."""

QUANTILE_MEMORY = 256 * 2**20
"""Memory for the samples that quantiles are taken from [bytes]."""

MOST_KEPT, FEWEST_KEPT = 2000, 200
"""Bounds on the number of samples that quantiles are taken from; the lower one holds for any recording."""

BLOCK = 4096
"""Entries that are sorted at a time."""


class Statistics:
    """Mean, standard deviation and quantiles of vectors (D,) of which some entries may be missing (NaN).

    Mean and variance by the update of Welford (1962, Technometrics 4:419), entry by entry; quantiles from the first
    samples, which are as random as any others.

    nominal (D,) is what deviations are taken from, 0 where it is NaN; samples is how many there will be.
    """

    def __init__(self, nominal: Array, samples: int) -> None:
        self.nominal = nominal
        self._origin = np.where(np.isnan(nominal), 0.0, nominal)
        self.count = np.zeros(nominal.size, np.int64)
        self._mean = np.zeros(nominal.size)
        self._squares = np.zeros(nominal.size)
        affordable = QUANTILE_MEMORY // (4 * nominal.size)
        kept = min(samples, MOST_KEPT, max(affordable, FEWEST_KEPT))
        self._first = np.empty((kept, nominal.size), np.float32)
        self.samples = 0

    def add(self, sample: Array) -> None:
        """Take in one sample (D,)."""
        off = sample - self._origin
        if self.samples < len(self._first):
            self._first[self.samples] = off
        self.samples += 1
        there = ~np.isnan(off)
        self.count += there
        step = np.where(there, off - self._mean, 0.0)
        self._mean += step / np.maximum(self.count, 1)
        self._squares += step * np.where(there, off - self._mean, 0.0)

    @property
    def mean(self) -> Array:
        """(D,) NaN where no sample has a value."""
        return np.where(self.count > 0, self._origin + self._mean, np.nan)

    @property
    def sd(self) -> Array:
        """(D,) standard deviation, NaN where fewer than two samples have a value."""
        return np.where(self.count > 1, np.sqrt(self._squares / np.maximum(self.count - 1, 1)), np.nan)

    @property
    def kept(self) -> int:
        """How many samples the quantiles are taken from."""
        return min(self.samples, len(self._first))

    def quantiles(self) -> Array:
        """(5, D) `QUANTILES`, between order statistics along straight lines; NaN where no sample has a value."""
        starts = range(0, self.nominal.size, BLOCK)
        return np.concatenate([self._quantiles_of(slice(start, start + BLOCK)) for start in starts], axis=1)

    def _quantiles_of(self, block: slice) -> Array:
        """Those of some entries."""
        ordered = np.sort(self._first[: self.kept, block], axis=0)  # missing ones last
        found, origin = np.full((len(QUANTILES), ordered.shape[1]), np.nan), self._origin[block]
        count = (~np.isnan(ordered)).sum(axis=0)
        entry = np.flatnonzero(count)
        for row, share in enumerate(QUANTILES):
            place = share * (count[entry] - 1)
            low = place.astype(int)
            high = np.minimum(low + 1, count[entry] - 1)
            below, above = (ordered[at, entry].astype(float) for at in (low, high))
            found[row, entry] = origin[entry] + below + (place - low) * (above - below)
        return found
