"""The spline of tendon coordinates: what it is exact for, its order, and its rows as matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from musclesolve.trajectory.motion_problem import TimeBasis

QUICK = settings(max_examples=40, derandomize=True)
STEPS = st.lists(st.floats(0.002, 0.05), min_size=3, max_size=60)


def uneven(frames: int, seed: int = 0) -> np.ndarray:
    return 0.3 + np.cumsum(np.random.default_rng(seed).uniform(0.005, 0.02, frames))


def rates(time: np.ndarray, value: np.ndarray) -> np.ndarray:
    basis = TimeBasis.from_times(time)
    return basis.rates(basis.coefficients(value))


@QUICK
@given(STEPS)
def test_parabolas_are_exact_at_any_times(steps):
    time = np.cumsum([0.1, *steps])
    span = (time - time[0]) / (time[-1] - time[0])
    value = np.stack([np.ones_like(span), 2.0 - span, 0.3 + span - 2.0 * span**2], axis=1)
    expected = np.stack([0.0 * span, 0.0 * span - 1.0, 1.0 - 4.0 * span], axis=1) / (time[-1] - time[0])
    basis = TimeBasis.from_times(time)
    c = basis.coefficients(value)
    assert np.abs(basis.values(c) - value).max() < 1e-11
    assert np.abs(rates(time, value) - expected).max() < 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("time", [uneven(12), uneven(5, 1), 0.01 * np.arange(4)], ids=len)
def test_it_is_the_spline_whose_third_derivative_vanishes_at_the_ends(time):
    """Twice continuously differentiable, a cubic between frames, a parabola in the first and last interval."""
    z = np.random.default_rng(2).normal(size=(len(time), 2))
    basis = TimeBasis.from_times(time)
    c = basis.coefficients(z)
    same = CubicSpline(time, z, bc_type=((1, basis.rates(c)[0]), (1, basis.rates(c)[-1])))
    assert np.abs(same(time, 1) - basis.rates(c)).max() < 1e-9 * np.abs(basis.rates(c)).max()
    third = same.c[0]
    largest = max(np.abs(third).max(), np.abs(same.c[1]).max() / np.diff(time).min())
    assert np.abs(third[[0, -1]]).max() < 1e-9 * largest
    assert len(time) == 4 or np.abs(third[1:-1]).max() > 1e-3 * largest
    between = np.linspace(time[0], time[-1], 57)
    value, rate = basis.between(c, between)
    assert np.abs(value - same(between)).max() < 1e-10
    assert np.abs(rate - same(between, 1)).max() < 1e-8 * np.abs(rate).max()


def test_rates_of_a_sine_are_exact_to_the_fourth_order():
    """Away from the ends, where they are exact to the second."""

    def errors(frames: int) -> tuple[float, float]:
        time = np.linspace(0.0, 1.0, frames)
        miss = np.abs(rates(time, np.sin(7.0 * time[:, None])) / 7.0 - np.cos(7.0 * time[:, None]))[:, 0]
        return miss[frames // 4 : -(frames // 4)].max(), miss.max()

    (coarse, coarse_end), (fine, fine_end) = errors(41), errors(81)
    assert 3.8 < np.log2(coarse / fine) < 4.5 and fine < 1e-5
    assert 1.8 < np.log2(coarse_end / fine_end) < 3.2 and fine_end < 2e-3


@QUICK
@given(STEPS)
def test_gather_is_the_transpose_of_values_and_rates(steps):
    time = np.cumsum([0.1, *steps])
    basis = TimeBasis.from_times(time)
    c, p, q = np.random.default_rng(3).normal(size=(3, len(time), 2))
    forward = (basis.values(c) * p).sum() + (basis.rates(c) * q).sum()
    backward = (basis.gather(p, q) * c).sum()
    assert backward == pytest.approx(forward, rel=1e-9, abs=1e-9 * np.abs(basis.rates(c) * q).sum())


def test_rows_are_those_of_the_first_three_coefficients():
    basis = TimeBasis.from_times(uneven(7))
    assert basis.first.tolist() == [0, 0, 1, 2, 3, 4, 4]
    identity = np.eye(7)
    value, rate = basis.values(identity), basis.rates(identity)
    for t, first in enumerate(basis.first):
        other = np.setdiff1d(np.arange(7), first + np.arange(3))
        assert (value[t, other] == 0.0).all() and (rate[t, other] == 0.0).all()
    assert np.abs(value.sum(axis=1) - 1.0).max() < 1e-14
    assert np.abs(rate.sum(axis=1)).max() < 1e-11


def test_the_unit_of_time_does_not_matter():
    time, z = uneven(9), np.random.default_rng(4).normal(size=(9, 1))
    assert 1000.0 * rates(1000.0 * time, z) == pytest.approx(rates(time, z), rel=1e-9)


def test_slopes_by_values_are_those_by_coefficients():
    """z = Z c and y = Y c: what p . dz + q . dy is for every change of the values."""
    time, random = uneven(9), np.random.default_rng(3)
    basis = TimeBasis.from_times(time)
    p, q, change = random.normal(size=(3, 9, 2))
    expected = (p * change).sum() + (q * basis.rates(basis.coefficients(change))).sum()
    assert (basis.by_values(p, q) * change).sum() == pytest.approx(expected, rel=1e-11)
