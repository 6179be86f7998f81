"""Times that were rounded when they were printed: the even grid of the sampling clock is found again.

A file may print a 60 Hz clock as 0.000, 0.017, 0.033, 0.050. Taken literally that is a sawtooth of velocity, and one of
20 Hz in every acceleration. Where an even grid agrees with every time to the digits printed, the grid is what was
meant; where none does, the samples are uneven or rows are missing, and the times stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
class Grid:
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
        _check_time(printed, lines, path)
        return printed, ()
    return grid.time, _notes(printed, grid, path, stated_hz)


def _check_time(time: Array, lines: NDArray[np.int64], path: Path) -> None:
    """Refuse a time column with gaps or one that does not increase."""
    if np.isnan(time).any():
        line = lines[int(np.argmax(np.isnan(time)))]
        raise error_at(path, line, "the time is missing", "a time in seconds", code="missing_samples")
    late = np.flatnonzero(np.diff(time) <= 0)
    if late.size:
        k = int(late[0])
        problem = f"the time goes from {time[k]:g} s to {time[k + 1]:g} s"
        expected = "times that increase from row to row"
        remedy = f"{EXPORT_AGAIN}, with more decimals of the time if two rows have the same"
        raise error_at(path, lines[k + 1], problem, expected, remedy, code="time_not_increasing")


def _notes(printed: Array, grid: Grid, path: Path, stated_hz: float | None) -> tuple[str, ...]:
    moved = float(np.abs(grid.time - printed).max())
    if moved < NOTED_S:
        return ()
    source = "of its header" if grid.stated else "that fit them"
    if stated_hz and not grid.stated:
        source += f", not the {stated_hz:g} Hz of its header"
    return (
        f"The times of {path.name} are rounded: they are taken as the even {grid.rate:.6g} Hz {source}, up to "
        f"{1000 * moved:.2g} ms away from what is printed.",
    )


def even_grid(printed: Array, stated_hz: float | None = None) -> Grid | None:
    """Return the even grid that was rounded, or cut off, to the printed times (T,) [s]; a stated rate is tried first.

    None where no grid agrees with every time to the digits printed, and where the times are even.
    """
    steps = np.diff(printed)
    if printed.size < 3 or not (steps >= 0.0).all() or printed[-1] == printed[0] or _even(printed):
        return None
    for half in _half_units(printed):
        if (grid := _grid_within(printed, half, stated_hz)) is not None:
            return grid
    return None


def _grid_within(printed: Array, half: Array, stated_hz: float | None) -> Grid | None:
    """Return the even grid that agrees with times (T,) [s] to within half a unit (T,) [s] of each, None without one."""
    stated = [stated_hz] if stated_hz and SLOWEST_HZ <= stated_hz < np.inf else []
    for rate in stated:
        if (time := _agreeing(printed, half, rate)) is not None:
            return Grid(time, rate, True)
    for rate in _fitted(printed, half) if printed.size >= FEWEST else ():
        if (time := _agreeing(printed, half, rate)) is not None:
            return Grid(time, rate, False)
    return None


def _even(time: Array) -> bool:
    step = (time[-1] - time[0]) / (time.size - 1)
    return bool(np.abs(time - np.linspace(time[0], time[-1], time.size)).max() <= EVEN * step)


def _half_units(printed: Array) -> Iterator[Array]:
    """Yield half the unit to which every time (T,) [s] may have been rounded, nothing where all digits are used.

    The first is the same for all: the largest of which all times are multiples. 0.000, 0.017, 0.033 are multiples of
    1 ms. The second grows with the time, as where a number of significant digits is printed: 0.0166667 and 10.0167 both
    have six.
    """
    decimals = _decimals(printed)
    if decimals is None:
        return
    whole = np.rint(np.abs(printed) * 10.0**decimals).astype(np.int64)
    common = 10.0**-decimals * float(np.gcd.reduce(whole))
    yield np.full(printed.size, 0.5 * common)
    size = np.floor(np.log10(np.maximum(whole, 1)) + 1e-12) - decimals
    growing = np.maximum(common, 10.0 ** (size + 1.0 - _significant(whole)))
    if growing.max() > common:
        yield 0.5 * growing


def _decimals(printed: Array) -> int | None:
    """Return the decimals of the time that has the most of them."""
    for decimals in range(_MOST_DECIMALS):
        scaled = printed * 10.0**decimals
        slack = 8.0 * _EPS * np.abs(scaled)
        if slack.max() > 0.01:
            return None
        if (np.abs(scaled - np.rint(scaled)) <= slack).all():
            return decimals
    return None


def _significant(whole: NDArray[np.int64]) -> int:
    """Return the digits of the number (T,) that has the most of them, trailing zeros left out."""
    rest = whole.copy()
    while (ends := (rest > 0) & (rest % 10 == 0)).any():
        rest[ends] //= 10
    return len(str(rest.max()))


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
    if unit / period < COARSE:
        yield 1.0 / period
        yield 1.0 / _narrowest(printed, half, index, period)


def _narrowest(printed: Array, half: Array, index: Array, period: float) -> float:
    """Return the period of the line from which no time deviates by more than need be, relative to its digits.

    The width of the strip that holds all times is a convex function of the period: halved by thirds.
    """
    low, high = (period + sign * 4.0 * half.max() / printed.size for sign in (-1.0, 1.0))
    for _ in range(60):
        one, other = low + (high - low) / 3.0, high - (high - low) / 3.0
        if _misfit(printed - one * index, half) < _misfit(printed - other * index, half):
            high = other
        else:
            low = one
    return 0.5 * (low + high)


def _misfit(residual: Array, half: Array) -> float:
    return float((residual - half).max() - (residual + half).min())


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
