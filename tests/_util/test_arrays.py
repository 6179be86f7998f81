"""Runs of True in a mask, against the mask put together from them again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from musclesolve._util.arrays import true_runs


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
