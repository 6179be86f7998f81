"""Holes in columns over time: short ones are filled, longer ones stay empty.

There is a hole between two samples of a column that are more than one and a half usual steps of the table apart, by
empty cells or missing rows. It is filled if it is at most `SHARE` of the period of a cut-off frequency f. Across a hole
h = SHARE / f the error of a cubic, for a sine of the frequency c f, is (2 pi c SHARE)^4 / 384 of its amplitude if the
samples beside the hole are close together (interpolation of value and slope at both ends), and up to 9 times this if
they are as far apart as the hole is long: 0.6 to 6 % at the cut-off, a sixteenth of it at half the cut-off. The error
of a straight line is (2 pi c SHARE)^2 / 8, 20 and 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import SAME_TIME, Array, within
from musclesolve._util.splines import spline_through

SHARE = 0.2
"""Longest filled hole, as a share of the period of the cut-off frequency."""
_USUAL = 1.5
_BESIDE = 3
"""Number of samples on either side of a hole through which the filling curve passes."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class HoleLimits:
    """Least time between two samples [s] that is a hole, and the longest filled one."""

    usual: float
    longest: float

    @classmethod
    def from_times(cls, time: Array, cutoff_hz: float) -> HoleLimits:
        """Limits of a table with rows at times (S,) [s]; a usual step is not a hole, whatever its length."""
        usual = _USUAL * float(np.median(np.diff(time))) if len(time) > 1 else 0.0
        return cls(usual, max(usual, SHARE / cutoff_hz + SAME_TIME))

    def long_holes(self, time: Array) -> list[tuple[float, float]]:
        """The times [s] before and after every hole that is not filled, of samples at increasing `time` (S,) [s]."""
        last = np.flatnonzero(np.diff(time) > self.longest)
        return [(float(time[k]), float(time[k + 1])) for k in last]

    def filled(self, time: Array, column: Array, new: Array) -> Array:
        """A column (S,), NaN where it has no number, at other times (T,).

        Linear between samples with no hole between them, a cubic spline across short holes, NaN in long ones and beyond
        the first and last sample.
        """
        present = ~np.isnan(column)
        known, values = time[present], column[present]
        if not known.size:
            return np.full(new.shape, np.nan)
        after = np.clip(np.searchsorted(known, new), 1, max(len(known) - 1, 1))
        left, right = known[after - 1], known[np.minimum(after, len(known) - 1)]
        apart = np.where((new > left + SAME_TIME) & (new < right - SAME_TIME), right - left, 0.0)
        found = np.interp(new, known, values)
        for frame in np.flatnonzero((apart > self.usual) & (apart <= self.longest)):
            found[frame] = self._across(known, values, int(after[frame]), float(new[frame]), found[frame])
        outside = ~within(new, known[0], known[-1])
        found[outside | (apart > self.longest)] = np.nan
        return found

    def _across(self, known: Array, values: Array, after: int, new: float, line: float) -> float:
        """The spline through the samples around a hole up to the next long hole; the value `line` if there are few."""
        first, stop = max(after - _BESIDE, 0), min(after + _BESIDE, len(known))
        parted = first + np.flatnonzero(np.diff(known[first:stop]) > self.longest)
        first = max([first, *(parted[parted < after - 1] + 1)])
        stop = min([stop, *(parted[parted > after - 1] + 1)])
        if min(after - first, stop - after) < 2:
            return line
        return float(spline_through(known[first:stop], values[first:stop])(new))


def hole_note(of: str, holes: Sequence[tuple[float, float]], limits: HoleLimits) -> str:
    """A sentence on holes that are not filled; of: its beginning, "a.sto lacks a column"."""
    named = [f"from {first:.4g} to {last:.4g} s" for first, last in holes[:_MOST_NAMED]]
    more = f" and in {len(holes) - _MOST_NAMED} more holes" if len(holes) > _MOST_NAMED else ""
    return (
        f"{of} {', '.join(named)}{more}: holes of more than {limits.longest:.3g} s ({SHARE:g} periods of the cut-off) "
        "are not filled, and the frames in them are not measured."
    )
