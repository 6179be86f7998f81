"""Times that were rounded when they were printed: the even grid of the sampling clock is found again.

A file may print a 60 Hz clock as 0.000, 0.017, 0.033, 0.050. Taken literally that is a sawtooth of velocity, and one of
20 Hz in every acceleration. Where an even grid agrees with every time to the digits printed, the grid is what was
meant; where none does, the samples are uneven or rows are missing, and the times stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import Array
from musclesolve.recording.place_errors import EXPORT_AGAIN, error_at

EVEN = 1e-6
"""Deviations from even sampling below this share of a step change nothing."""
NOTED_S = 1e-5
"""A change of the times below this needs no note [s]: at 5 m/s it moves a marker by 0.05 mm."""
COARSE, VERY_COARSE, COARSEST = 0.4, 0.8, 4.0
"""Units of the times, in steps: beyond the first a rate must be stated or common, because a fitted one could hide a
missing row; beyond the second, up to one step, it must be stated, and the clock must have started at a whole number of
steps or at the first time; beyond the third nothing is known of the steps."""
FEWEST = 30
"""So many rows at least show a rate that no header states: in fewer a slightly lower rate hides a missing row."""
SLOWEST_HZ = 0.1
"""Lowest rate at which a motion or force is recorded [Hz]."""
_MOST_DECIMALS = 15
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class TimeGrid:
    """Even times (T,) [s], their rate [Hz], and whether that is the rate of the header."""

    time: Array
    rate: float
    stated: bool


def checked_times(
    printed: Array, lines: NDArray[np.int64], path: Path, stated_hz: float | None = None
) -> tuple[Array, tuple[str, ...]]:
    """Return the times (T,) [s] of a file, even where rounding alone made them uneven, and notes on what changed.

    Missing or decreasing times are refused with their line (T,); `stated_hz` is the rate of the header.
    """
    if printed.size < 2:
        raise error_at(path, None, f"{printed.size} row(s) of data", "at least two", code="too_few_frames")
    grid = even_grid(printed, stated_hz)
    if grid is None:
        for k in np.flatnonzero(np.isnan(printed)):
            raise error_at(path, lines[k], "the time is missing", "a time in seconds", code="missing_samples")
        for k in np.flatnonzero(np.diff(printed) <= 0):
            problem = f"the time goes from {printed[k]:g} s to {printed[k + 1]:g} s"
            expected = "times that increase from row to row"
            remedy = f"{EXPORT_AGAIN}, with more decimals of the time if two rows have the same"
            raise error_at(path, lines[k + 1], problem, expected, remedy, code="time_not_increasing")
        return printed, ()
    moved = float(np.abs(grid.time - printed).max())
    if moved < NOTED_S:
        return grid.time, ()
    source = "of its header" if grid.stated else "that fit them"
    if stated_hz and not grid.stated:
        source += f", not the {stated_hz:g} Hz of its header"
    return grid.time, (
        f"The times of {path.name} are rounded: they are taken as the even {grid.rate:.6g} Hz {source}, up to "
        f"{1000 * moved:.2g} ms away from what is printed.",
    )


def even_grid(printed: Array, stated_hz: float | None = None) -> TimeGrid | None:
    """Return the even grid that was rounded, or cut off, to the printed times (T,) [s]; a stated rate is tried first.

    None where no grid agrees with every time to the digits printed, and where the times are even.
    """
    if printed.size < 3 or not (np.diff(printed) >= 0.0).all() or printed[-1] == printed[0]:
        return None
    even, step = np.linspace(printed[0], printed[-1], printed.size), np.ptp(printed) / (printed.size - 1)
    if np.abs(printed - even).max() <= EVEN * step:
        return None
    stated = [stated_hz] if stated_hz and SLOWEST_HZ <= stated_hz < np.inf else []
    for half in _half_units(printed):
        fitted = _fitted(printed, half) if printed.size >= FEWEST else ()
        for rate, is_stated in chain(((rate, True) for rate in stated), ((rate, False) for rate in fitted)):
            if (time := _agreeing(printed, half, rate)) is not None:
                return TimeGrid(time, rate, is_stated)
    return None


def _half_units(printed: Array) -> Iterator[Array]:
    """Yield half the unit to which every time (T,) [s] may have been rounded, nothing where all digits are used.

    The first is the same for all: the largest of which all times are multiples. 0.000, 0.017, 0.033 are multiples of
    1 ms. The second grows with the time, as where a number of significant digits is printed: 0.0166667 and 10.0167 both
    have six.
    """
    for decimals in range(_MOST_DECIMALS):  # of the time that has the most of them
        scaled = printed * 10.0**decimals
        slack = 8.0 * _EPS * np.abs(scaled)
        if slack.max() > 0.01:
            return
        if (np.abs(scaled - np.rint(scaled)) <= slack).all():
            break
    else:
        return
    whole = np.rint(np.abs(scaled)).astype(np.int64)
    common = 10.0**-decimals * float(np.gcd.reduce(whole))
    yield np.full(printed.size, 0.5 * common)
    rest = whole.copy()
    while (ends := (rest > 0) & (rest % 10 == 0)).any():
        rest[ends] //= 10
    significant = len(str(rest.max()))
    size = np.floor(np.log10(np.maximum(whole, 1)) + 1e-12) - decimals
    growing = np.maximum(common, 10.0 ** (size + 1.0 - significant))
    if growing.max() > common:
        yield 0.5 * growing


def _fitted(printed: Array, half: Array) -> Iterator[float]:
    """Yield the rates [Hz] that may fit the times: common ones near the slope, then the best fits."""
    index: Array = np.arange(printed.size, dtype=np.float64) - 0.5 * (printed.size - 1)
    period, unit = float(index @ printed / (index @ index)), 2.0 * float(half.max())
    # Round rates, those of video (59.94, 119.88), and whole milliseconds (62.5).
    common = (
        *(round(1.0 / period, -places) for places in (2, 1, 0)),
        round(1.001 / period) / 1.001,
        1000.0 / max(round(1000.0 * period), 1),
    )
    for rate in dict.fromkeys(common):
        # Times that are multiples of the step are even, or have a hole that a lower rate would hide.
        if rate > 0.0 and not VERY_COARSE < unit * rate <= 1.0 + EVEN:
            yield float(rate)
    if unit / period >= COARSE:
        return
    yield 1.0 / period

    def strip(period: float) -> float:
        residual = printed - period * index
        return float((residual - half).max() - (residual + half).min())

    # The width of the strip that holds all times, to their digits, is a convex function of the period: thirds of it.
    low, high = (period + sign * 4.0 * half.max() / printed.size for sign in (-1.0, 1.0))
    for _ in range(60):
        one, other = low + (high - low) / 3.0, high - (high - low) / 3.0
        low, high = (low, other) if strip(one) < strip(other) else (one, high)
    yield 1.0 / (0.5 * (low + high))


def _agreeing(printed: Array, half: Array, rate: float) -> Array | None:
    """Return the even times (T,) of a rate that agree with the printed ones to half a unit, None where none do."""
    steps, unit = np.arange(printed.size) / rate, 2.0 * float(half.max())
    if unit * rate > COARSEST:
        return None
    residual, very_coarse = printed - steps, unit * rate > VERY_COARSE
    slack = 1e-6 * unit + 8.0 * _EPS * float(np.abs(printed).max())
    low, high = float((residual - half).max()) - slack, float((residual + half).min()) + slack
    # Digits that were cut off leave the true time above the printed one by less than a unit.
    cut_low, cut_high = float(residual.max()) - slack, float((residual + 2.0 * half).min())
    cut_high += -slack if very_coarse else slack
    for first, last in ((low, high), (cut_low, cut_high)):
        for start in (round(0.5 * (first + last) * rate) / rate, float(printed[0])):
            if first <= start <= last:
                return start + steps
    return None if very_coarse or low > high else 0.5 * (low + high) + steps
