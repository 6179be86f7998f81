"""Curves brought to other times: straight ones stay straight, nothing is made up where there is no value."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve._util.splines import MonotoneCubic
from musclesolve.laboratory.results.cycles.gait_cycles import sampled

TIME = np.linspace(2.0, 3.0, 51)  # frames every 20 ms


@settings(max_examples=50)
@given(
    slope=st.floats(-1e3, 1e3, allow_subnormal=False),
    level=st.floats(-1e3, 1e3, allow_subnormal=False),
    lost=st.sets(st.integers(0, 50), max_size=12),
    at=st.lists(st.floats(1.5, 3.5), min_size=1, max_size=20),
)
def test_a_linear_function_stays_linear_wherever_it_has_a_value(slope, level, lost, at):
    values = level + slope * TIME
    values[list(lost)] = np.nan
    found = sampled(TIME, values, np.array(at))
    there = np.isfinite(found)
    np.testing.assert_allclose(
        found[there],
        level + slope * np.array(at)[there],
        rtol=1e-9,
        atol=1e-9 * (1.0 + abs(slope) + abs(level)),
    )


@settings(max_examples=50)
@given(lost=st.sets(st.integers(0, 50), max_size=12), at=st.floats(2.0, 3.0))
def test_there_is_a_value_exactly_where_both_neighbors_have_one(lost, at):
    values = np.ones(51)
    values[list(lost)] = np.nan
    before = min(int(np.searchsorted(TIME, at, side="right")) - 1, 49)
    expected = bool(np.isfinite(values[before : before + 2]).all())
    on_a_frame = np.abs(TIME - at).min() < 1e-7
    if not on_a_frame:
        assert bool(np.isfinite(sampled(TIME, values, np.array([at]))[0])) == expected


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_no_value_lies_beyond_its_neighbors_and_frames_are_kept(seed):
    values = np.random.default_rng(seed).uniform(0.0, 1.0, (51, 3)).round(1)
    at = np.linspace(2.0, 3.0, 501)
    found = sampled(TIME, values, at)
    before = np.minimum(np.searchsorted(TIME, at + 1e-9, side="right") - 1, 49)
    low, high = (pick(values[before], values[before + 1]) for pick in (np.minimum, np.maximum))
    assert (found >= low - 1e-12).all() and (found <= high + 1e-12).all()
    np.testing.assert_allclose(found[::10], values, atol=1e-9)


def test_columns_with_unlike_gaps_do_not_disturb_each_other():
    values = np.stack([np.sin(TIME), np.cos(TIME), TIME], axis=1).reshape(51, 3, 1) * np.ones((1, 1, 2))
    alone = sampled(TIME, values, TIME + 0.007)
    values[10:13, 1, 0] = np.nan
    found = sampled(TIME, values, TIME + 0.007)
    lost = ~np.isfinite(found)
    assert np.flatnonzero(lost[:50, 1, 0]).tolist() == [9, 10, 11, 12]
    assert lost[:50].sum() == 4
    np.testing.assert_array_equal(
        np.delete(found.reshape(51, 6), 2, 1), np.delete(alone.reshape(51, 6), 2, 1)
    )


def test_beyond_the_ends_the_curve_goes_straight_on_as_far_as_it_may():
    at = np.array([1.989, 1.991, 3.009, 3.011])
    found = sampled(TIME, 3.0 * TIME, at, reach=0.01)
    np.testing.assert_allclose(found, [np.nan, 3.0 * 1.991, 3.0 * 3.009, np.nan])
    assert np.isnan(sampled(TIME, TIME, at)).all()
    # A frame that lost its value at the end is no end of the recording.
    values = np.where(TIME > 2.99, np.nan, TIME)
    assert np.isnan(sampled(TIME, values, np.array([2.985]), reach=0.01)).all()


def test_what_is_not_negative_stays_so_beyond_the_ends():
    falling = np.maximum(3.0 - TIME, 0.0)
    assert sampled(TIME, falling, np.array([3.01]), reach=0.01)[0] == 0.0
    assert sampled(TIME, falling - 1.0, np.array([3.01]), reach=0.01)[0] < -1.0


def test_a_curve_as_fast_as_a_filtered_motion_is_kept_to_half_a_per_cent():
    """6 Hz, the usual cut-off, sampled at 100 Hz."""
    time = np.arange(0.0, 1.0, 0.01)
    at = np.linspace(0.1, 0.9, 333)
    error = sampled(time, np.sin(2.0 * np.pi * 6.0 * time), at) - np.sin(2.0 * np.pi * 6.0 * at)
    assert np.abs(error).max() < 0.02
    assert np.sqrt(np.mean(error**2)) < 0.005


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), lost=st.sets(st.integers(0, 50), max_size=12))
def test_the_frames_around_the_wanted_times_are_enough(seed, lost):
    """A curve piece by piece equals the curve of all the frames at once."""
    values = np.random.default_rng(seed).uniform(-1.0, 1.0, (51, 2))
    values[list(lost), 0] = np.nan
    at = np.linspace(1.99, 3.01, 103)
    whole = sampled(TIME, values, at, reach=0.02)
    parts = [sampled(TIME, values, part, reach=0.02) for part in np.split(at, [1, 20, 47, 48, 90])]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_the_work_does_not_grow_with_the_frames_elsewhere(monkeypatch):
    seen = []
    through = MonotoneCubic.through
    monkeypatch.setattr(
        MonotoneCubic, "through", lambda time, values: seen.append(len(time)) or through(time, values)
    )
    time = np.arange(100_000) / 100.0
    sampled(time, np.sin(time), np.linspace(500.0, 501.0, 101))
    assert seen and max(seen) <= 110


def test_what_is_not_straight_keeps_its_end_value_beyond_the_ends():
    """An activation that comes near 1 in the last frame does not pass it behind that frame."""
    rising = np.clip(TIME - 2.0, 0.0, 0.99)
    found = sampled(TIME, rising, np.array([1.99, 3.01]), reach=0.01, straight=False)
    np.testing.assert_allclose(found, rising[[0, -1]], atol=1e-14)
