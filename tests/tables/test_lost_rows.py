"""Rows that a file lost come back without values; times on no even grid stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from musclesolve.tables import Markers, Table
from musclesolve.tables.lost_rows import rows_of_grid, with_lost_rows


@given(rate=st.sampled_from([60.0, 59.94, 100.0, 240.0, 1000.0]), count=st.integers(40, 400), data=st.data())
def test_the_grid_comes_back(rate: float, count: int, data: st.DataObject) -> None:
    full = 0.3 + np.arange(count) / rate
    inner = st.integers(1, count - 2)
    lost = sorted(data.draw(st.sets(inner, min_size=1, max_size=max(1, count // 20))))
    printed = np.round(np.delete(full, lost), 3 if rate < 500.0 else 6)
    found = rows_of_grid(printed)
    assert found is not None
    grid, present = found
    assert np.flatnonzero(~present).tolist() == lost
    np.testing.assert_allclose(grid, full, atol=1e-3)


@pytest.mark.parametrize(("rate", "lost"), [(240.0, 20), (300.0, 20), (150.0, 30)])
def test_a_long_hole_in_rounded_times_is_found(rate: float, lost: int) -> None:
    printed = np.round(np.delete(np.arange(1000) / rate, np.arange(400, 400 + lost)), 3)
    found = rows_of_grid(printed)
    assert found is not None and np.flatnonzero(~found[1]).tolist() == list(range(400, 400 + lost))


@pytest.mark.parametrize(
    "time",
    [
        np.arange(50) / 100.0,  # even
        np.sort(np.random.default_rng(0).uniform(0.0, 1.0, 50)),
        np.delete(np.arange(90) / 100.0, np.arange(1, 89, 3)),  # every third row
        np.r_[np.arange(30), 30.5 + np.arange(30)] / 100.0,  # a step of one and a half
        np.array([0.0, 0.01]),
        np.array([0.0, 0.01, 0.01, 0.02]),
    ],
)
def test_other_times_stay(time: np.ndarray) -> None:
    assert rows_of_grid(time) is None


def test_markers_and_tables_have_gaps_in_the_place_of_lost_rows() -> None:
    time = np.delete(np.arange(40) / 100.0, [10, 11, 20])
    position = np.random.default_rng(1).normal(size=(37, 2, 3))
    markers = with_lost_rows(Markers(time, ("A", "B"), position, Path("m.trc")))
    assert markers.time.size == 40 and np.isnan(markers.position[[10, 11, 20]]).all()
    np.testing.assert_array_equal(np.delete(markers.position, [10, 11, 20], axis=0), position)
    assert markers.notes == (
        "3 rows of m.trc are absent, the first one at 0.100 s: a gap takes the place of each.",
    )
    values, lines = position[:, 0], np.arange(5, 42)
    table = with_lost_rows(Table(time, ("a", "b", "c"), values, False, Path("f.mot"), lines))
    assert np.isnan(table.values[[10, 11, 20]]).all() and table.lines.size == 40
    np.testing.assert_array_equal(np.delete(table.lines, [10, 11, 20]), lines)
    assert with_lost_rows(table) is table
