"""Runs of True in a mask give the mask again; equal things are one group, what has no hash stays alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from musclesolve._util.arrays import equal_groups, true_runs, unchangeable


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
