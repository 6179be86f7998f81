"""Holes in columns over time: what is filled, how well, and what stays empty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from musclesolve._util.splines import SHARE, HoleLimits, hole_note

TIME = np.arange(201) / 100.0


def without(first: int, count: int, column: np.ndarray) -> np.ndarray:
    holed = column.copy()
    holed[first : first + count] = np.nan
    return holed


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("rate", [1000.0, 100.0, 50.0])
def test_a_short_hole_misses_a_sine_by_what_the_formula_says(share: float, rate: float) -> None:
    """The longest hole that is filled, of 40 ms at 5 Hz: x^4 / 384 with samples close together, up to 9 times this."""
    time = np.arange(0.0, 2.0, 1.0 / rate)
    limits, missing = HoleLimits.from_times(time, 5.0), round(SHARE / 5.0 * rate) - 1
    apart, line = [], []
    for phase in np.linspace(0.0, np.pi, 24):
        wave = np.sin(2.0 * np.pi * 5.0 * share * time + phase)
        holed = without(len(time) // 2, missing, wave)
        apart.append(np.abs(limits.filled(time, holed, time) - wave).max())
        seen = np.isfinite(holed)
        line.append(np.abs(np.interp(time, time[seen], holed[seen]) - wave).max())
    angle = 2.0 * np.pi * share * SHARE
    assert 0.9 < max(apart) / (angle**4 / 384.0) < (1.3 if rate == 1000.0 else 9.0)
    assert abs(max(line) / (angle**2 / 8.0) - 1.0) < 0.15


@settings(max_examples=examples(200))
@given(
    lost=st.lists(st.booleans(), min_size=40, max_size=40),
    cutoff=st.sampled_from([2.0, 6.0, 15.0]),
    shift=st.sampled_from([0.0, 0.0037]),
)
def test_only_times_near_samples_get_numbers(lost: list[bool], cutoff: float, shift: float) -> None:
    """A straight line comes back wherever there is no long hole, and nothing does where there is one."""
    time = np.arange(40) / 100.0
    column = np.where(lost, np.nan, 2.0 - 3.0 * time)
    limits, new = HoleLimits.from_times(time, cutoff), time + shift
    found = limits.filled(time, column, new)
    seen = time[~np.array(lost)]
    for at, value in zip(new, found, strict=True):
        before, after = seen[seen <= at + 1e-9], seen[seen >= at - 1e-9]
        known = (
            before.size > 0 and after.size > 0 and after[0] - before[-1] <= max(SHARE / cutoff, 0.015) + 2e-6
        )
        assert np.isfinite(value) == known
        assert not known or abs(value - (2.0 - 3.0 * at)) < 1e-9


def test_missing_rows_are_a_hole_as_empty_cells_are() -> None:
    wave, limits = np.sin(9.0 * TIME), HoleLimits.from_times(TIME, 6.0)
    for count in (1, 2, 3, 30):
        holed = without(50, count, wave)
        seen = np.isfinite(holed)
        np.testing.assert_array_equal(
            limits.filled(TIME, holed, TIME), limits.filled(TIME[seen], wave[seen], TIME)
        )


def test_the_usual_step_of_a_table_is_no_hole() -> None:
    coarse = np.arange(11) / 10.0
    limits = HoleLimits.from_times(coarse, 6.0)
    np.testing.assert_allclose(limits.filled(coarse, coarse, TIME[:101]), TIME[:101], atol=1e-12)
    assert limits.long_holes(coarse) == [] and limits.long_holes(np.delete(coarse, 4)) == [(0.3, 0.5)]


def test_a_column_without_numbers_or_with_one() -> None:
    limits = HoleLimits.from_times(TIME, 6.0)
    assert np.isnan(limits.filled(TIME, np.full(201, np.nan), TIME)).all()
    one = np.where(np.arange(201) == 7, 4.0, np.nan)
    np.testing.assert_array_equal(limits.filled(TIME, one, TIME), one)


def test_a_note_names_the_first_holes_and_counts_the_others() -> None:
    holes = [(float(k), k + 0.5) for k in range(9)]
    note = hole_note("a.sto lacks b", holes, HoleLimits.from_times(TIME, 6.0))
    assert "from 0 to 0.5 s" in note and "6 more" in note and "from 5" not in note
