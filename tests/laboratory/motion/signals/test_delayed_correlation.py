"""The delay at which two curves agree best, and their correlation there."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.laboratory.motion.signals.emg_envelope import at_times_inside, best_delays

FAST = np.arange(0.0, 3.0, 0.0005)
TIME = np.arange(0.5, 2.5, 0.01)


def bump(time: np.ndarray) -> np.ndarray:
    return np.exp(-(((time - 1.3) / 0.2) ** 2)) + 0.4 * np.sin(5.0 * time)


@pytest.mark.parametrize("delay", [0.0, 0.031, 0.08])
def test_a_planted_delay_is_found(delay: float) -> None:
    r, found = best_delays(TIME, 3.0 * bump(TIME - delay)[:, None] + 1.0, FAST, bump(FAST)[:, None], 0.08)
    assert r[0] == pytest.approx(1.0, abs=1e-5)
    assert found[0] == pytest.approx(delay, abs=1e-9)


def test_without_delay_it_is_the_correlation_of_numpy() -> None:
    curves = np.stack([np.cos(3.0 * TIME), np.sin(TIME)], axis=1)
    leading = np.stack([bump(FAST), FAST], axis=1)
    r, delay = best_delays(TIME, curves, FAST, leading, 0.0)
    expected = [np.corrcoef(curves[:, k], np.interp(TIME, FAST, leading[:, k]))[0, 1] for k in (0, 1)]
    np.testing.assert_allclose(r, expected)
    assert (delay == 0.0).all()


def test_a_delay_outside_of_the_range_is_not_found() -> None:
    _, found = best_delays(TIME, bump(TIME - 0.2)[:, None], FAST, bump(FAST)[:, None], 0.08)
    assert found[0] == pytest.approx(0.08)


def test_frames_that_do_not_count() -> None:
    curve = bump(TIME - 0.04)
    spoiled = curve.copy()
    spoiled[50:70] = np.nan
    r, found = best_delays(TIME, spoiled[:, None], FAST, bump(FAST)[:, None], 0.08)
    assert (r[0], found[0]) == (pytest.approx(1.0, abs=1e-5), pytest.approx(0.04))


@pytest.mark.parametrize("level", [0.01, 0.1, 1.0 / 3.0])
def test_round_off_of_a_constant_is_not_correlated(level: float) -> None:
    """A muscle at its least activation in all frames; the mean of equal numbers may differ from them."""
    r, delay = best_delays(TIME[:74], np.full((74, 1), level), FAST, bump(FAST)[:, None], 0.08)
    assert np.isnan(r[0]) and np.isnan(delay[0])


def test_too_few_samples_and_constant_curves_have_no_correlation() -> None:
    few = np.full(TIME.size, np.nan)
    few[:9] = bump(TIME[:9])
    r, delay = best_delays(
        TIME, np.stack([few, np.ones(TIME.size)], axis=1), FAST, np.stack([bump(FAST)] * 2, axis=1), 0.08
    )
    assert np.isnan(r).all() and np.isnan(delay).all()


def test_nothing_is_known_beyond_the_ends() -> None:
    values = at_times_inside(FAST, FAST[:, None], np.array([-0.1, 0.0, 1.0, 5.0]))[:, 0]
    np.testing.assert_allclose(values, [np.nan, 0.0, 1.0, np.nan])
