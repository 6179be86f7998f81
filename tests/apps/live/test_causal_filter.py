"""The causal filter: polynomials pass, noise has the stated gain, lost samples are left out, long lags are offline."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.apps.live.causal_filter import CausalFilter, spline_weights, window_length
from musclesolve.dynamics import smoothing_spline

RATE, CUTOFF = 100.0, 6.0
LAGS = [0.0, 0.01, 0.025, 0.05, 0.1]


def filtered(signal, lag, lost=()):
    """Positions, velocities and accelerations (T', 3, k) once the window is full, and the times of the results."""
    each, values, at = CausalFilter(signal.shape[1], RATE, CUTOFF, lag), [], []
    for k, sample in enumerate(signal):
        each.push(None if k in lost else sample)
        if each.ready:
            values.append(each.value())
            at.append(k / RATE - lag)
    return np.array(values), np.array(at)


@pytest.mark.parametrize("lag", LAGS)
def test_polynomials_up_to_the_second_degree_pass_exactly_with_the_lag_as_delay(lag):
    t = np.arange(90) / RATE
    values, at = filtered(np.stack([np.ones_like(t), t, t**2], axis=1), lag)
    one, zero = np.ones_like(at), np.zeros_like(at)
    expected = [[one, at, at**2], [zero, one, 2.0 * at], [zero, zero, 2.0 * one]]
    assert np.allclose(values, np.moveaxis(expected, -1, 0), atol=1e-8)


@pytest.mark.parametrize("lag", LAGS)
def test_white_noise_comes_out_with_the_stated_deviation(lag):
    noise = np.random.default_rng(1).normal(size=(window_length(RATE, CUTOFF), 40_000))
    each = CausalFilter(noise.shape[1], RATE, CUTOFF, lag)
    for sample in noise:
        each.push(sample)
    assert np.allclose(each.value().std(axis=1), each.noise_gain, rtol=0.015)
    assert np.allclose(each.noise_gain**2, (each.weights**2).sum(axis=1))


def test_more_lag_has_less_noise():
    gains = np.array([CausalFilter(1, RATE, CUTOFF, lag).noise_gain for lag in LAGS])
    assert (np.diff(gains, axis=0) < 0.0).all()


def test_a_long_lag_is_the_offline_spline():
    """In the middle of the window nothing of the end is left: the filter is the spline of the whole recording."""
    t = np.arange(300) / RATE
    signal = np.random.default_rng(2).normal(size=(300, 2)).cumsum(axis=0) + np.sin(9.0 * t)[:, None]
    offline = smoothing_spline(signal, RATE, CUTOFF)
    values, at = filtered(signal, 0.25)
    inside = (at > 0.6) & (at < 2.4)
    for order in range(3):
        truth = offline.curve()(at[inside], order)
        assert np.abs(values[inside, order] - truth).max() < 0.01 * np.abs(truth).max()


def test_a_sample_that_was_lost_is_left_out_of_the_spline():
    """The result has no part of it, and a polynomial goes on through the gap."""
    t = np.arange(90) / RATE
    signal = np.stack([t**2 - t, 3.0 * t], axis=1)
    whole, _ = filtered(signal, 0.025)
    holed, _ = filtered(signal, 0.025, lost=(60, 70, 71, 72, 88))
    kept = np.isin(np.arange(window_length(RATE, CUTOFF) - 1, 90), (60, 70, 71, 72, 88), invert=True)
    assert np.allclose(holed, whole[kept], atol=1e-7)
    noisy = signal + np.random.default_rng(3).normal(size=signal.shape)
    spoilt = noisy.copy()
    spoilt[70] = 1e6
    assert np.array_equal(filtered(noisy, 0.025, (70,))[0], filtered(spoilt, 0.025, (70,))[0])


def test_nothing_is_said_before_the_window_is_full_or_when_most_of_it_was_lost():
    each = CausalFilter(1, RATE, CUTOFF, 0.0)
    for _ in range(window_length(RATE, CUTOFF) - 1):
        each.push([1.0])
        assert not each.ready and np.isnan(each.value()).all()
    each.push([1.0])
    assert each.ready and np.allclose(each.value()[:, 0], [1.0, 0.0, 0.0], atol=1e-9)
    for _ in range(40):
        each.push([np.nan])
    each.push([1.0])
    assert np.isnan(each.value()).all()
    each.clear()
    assert not each.ready


def test_a_long_hole_is_not_bridged_until_it_has_left_the_recent_samples():
    """Whatever a signal did in the hole, what the filter says then is of the samples around it."""
    each = CausalFilter(1, RATE, CUTOFF, 0.0, longest=3.0 / RATE)
    count = window_length(RATE, CUTOFF)
    ready = []
    for k in range(count + 60):
        hidden = k in (count + 2, count + 3, count + 4) or count + 10 <= k < count + 16
        each.push(None if hidden else [1.0])
        ready.append(each.ready)
    assert all(ready[count : count + 2]) and all(ready[count + 5 : count + 10]), "three samples are bridged"
    after = ready[count + 16 :]
    assert not after[0] and after == sorted(after) and after[-1]


@pytest.mark.parametrize(
    ("settings", "code"),
    [((0.0, 6.0, 0.0), "bad_number"), ((100.0, 60.0, 0.0), "bad_number"), ((100.0, 6.0, 2.0), "bad_number")],
)
def test_settings_that_cannot_be_are_refused(settings, code):
    with refused(code):
        spline_weights(*settings)
