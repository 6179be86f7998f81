"""Runs of True, groups of equal things, arrays that stay as they are, medians of known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from musclesolve._util.arrays import equal_groups, mean_length, median_of_known, true_runs, unchangeable


@given(st.lists(st.booleans(), max_size=40))
def test_the_runs_are_the_mask_and_none_touches_the_next(flags):
    mask, again = np.array(flags, bool), np.zeros(len(flags), bool)
    runs = true_runs(mask)
    for first, stop in runs:
        assert first < stop
        again[first:stop] = True
    assert (again == mask).all()
    ends = np.ravel(runs)
    assert (np.diff(ends) > 0).all()


def test_rows_that_are_equal_in_every_column_are_one_group():
    found = equal_groups(["a", "b", "a", "a"], [1.0, 1.0, 2.0, 1])
    assert [group.tolist() for group in found] == [[0, 3], [1], [2]]
    assert equal_groups([]) == []


def test_what_has_no_hash_is_equal_to_itself_alone():
    own = [0.0]
    assert [group.tolist() for group in equal_groups([own, [0.0], own])] == [[0, 2], [1]]


def test_an_array_that_nobody_can_write_to_is_not_copied() -> None:
    own = np.arange(3.0)
    copy = unchangeable(own)
    assert copy is not own and not copy.flags.writeable
    assert unchangeable(copy) is copy
    shown = own.view()
    shown.flags.writeable = False  # read-only, but another name can change its numbers
    own[0] = 5.0
    assert unchangeable(shown) is not shown and copy[0] == 0.0


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (8,), (1, 4), (6, 4), (301, 3), (5, 4, 3)])
@pytest.mark.parametrize("lacking", [0.0, 0.3, 1.0])
def test_the_median_of_known_values_is_the_median_of_numpy(shape, lacking):
    rng = np.random.default_rng(len(shape))
    values = rng.normal(size=shape)
    known = np.where(rng.random(shape) < lacking, np.nan, values)
    expected = np.full(shape[1:], np.nan)
    for place in np.ndindex(shape[1:]):
        column = known[(slice(None), *place)]
        if np.isfinite(column).any():
            expected[place] = np.median(column[np.isfinite(column)])
    np.testing.assert_array_equal(median_of_known(known), expected)
    np.testing.assert_array_equal(median_of_known(np.where(np.isnan(known), -np.inf, known)), expected)


def test_the_median_of_nothing_is_not_known():
    np.testing.assert_array_equal(median_of_known(np.empty((0, 2))), [np.nan, np.nan])


def test_the_length_of_vectors_that_are_never_known_is_unknown() -> None:
    """Without a warning of numpy: a recording without stature and trunk markers has no neck."""
    assert np.isnan(mean_length(np.full((4, 3), np.nan)))
    jumps = np.array([[3.0, 4.0, 0.0], [3.0, 4.0, 0.0], [30.0, 40.0, 0.0], [np.nan, 0.0, 0.0]])
    assert mean_length(jumps) == 5.0
