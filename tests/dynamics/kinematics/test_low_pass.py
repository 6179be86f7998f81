from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from scipy.fft import dst
from scipy.signal import butter, freqz, sosfiltfilt

from musclesolve.dynamics import low_pass, smoothing_spline
from musclesolve.dynamics.kinematics.low_pass import (
    HALF_POWER,
    LONG_SIGNAL,
    ORDERS,
    harmonics,
    sine_series,
    two_pass_gain,
)
from musclesolve.errors import InputError

THESIS_FACTOR = 0.802


def twice(signal: np.ndarray, rate_hz: float, cutoff_hz: float, order: int) -> np.ndarray:
    """A Butterworth filter run forward and backward as recursion over a signal mirrored many times at its ends."""
    w = np.tan(np.pi * cutoff_hz / rate_hz) / HALF_POWER ** (0.5 / order)
    turns, frames = 9, len(signal)
    line = signal[0] + np.linspace(0.0, 1.0, frames)[:, None] * (signal[-1] - signal[0])
    rest = signal - line
    period = np.concatenate([rest[:-1], -rest[:0:-1]])
    sections = butter(order, 2.0 / np.pi * np.arctan(w), output="sos")
    filtered = sosfiltfilt(sections, np.tile(period, (turns, 1)), axis=0, padtype=None)
    first = (turns // 2) * len(period)
    return line + filtered[first : first + frames]


@pytest.mark.parametrize("order", ORDERS)
@given(rate_hz=st.floats(20.0, 5000.0), share=st.floats(0.01, 0.95))
def test_two_passes_fall_by_3_db_at_the_cutoff_and_by_nothing_at_rest(
    order: int, rate_hz: float, share: float
) -> None:
    cutoff_hz = 0.5 * rate_hz * share
    gain = two_pass_gain([0.0, cutoff_hz], rate_hz, cutoff_hz, order)
    np.testing.assert_allclose(gain, [1.0, np.sqrt(0.5)], rtol=1e-9)


def test_the_gain_is_that_of_the_section_of_the_thesis_run_twice() -> None:
    # Silva 2003, eqs 5.3-5.5: k1 = sqrt(2) w, k2 = w^2, k3 = 2 a0 / k2.
    rate, cutoff = 60.0, 4.0
    w = np.tan(np.pi * cutoff / rate) / HALF_POWER**0.25
    assert pytest.approx(THESIS_FACTOR, abs=5e-4) == HALF_POWER**0.25
    k1, k2 = np.sqrt(2.0) * w, w**2
    a0 = k2 / (1.0 + k1 + k2)
    k3 = 2.0 * a0 / k2
    frequency = np.array([0.0, 1.0, 4.0, 9.0, 25.0])
    _, once = freqz([a0, 2.0 * a0, a0], [1.0, 2.0 * a0 - k3, -1.0 + 2.0 * a0 + k3], worN=frequency, fs=rate)
    gain = two_pass_gain(frequency, rate, cutoff)
    np.testing.assert_allclose(np.abs(once) ** 2, gain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("cutoff_hz", [2.0, 6.0, 20.0, 48.0])
def test_the_filter_is_the_recursion_run_forward_and_backward(order: int, cutoff_hz: float) -> None:
    signal = np.cumsum(np.random.default_rng(5).normal(size=(239, 6)), axis=0)
    expected = twice(signal, 100.0, cutoff_hz, order)
    np.testing.assert_allclose(low_pass(signal, 100.0, cutoff_hz, order), expected, rtol=0, atol=1e-9)


def test_every_coordinate_may_have_a_cutoff_of_its_own() -> None:
    signal = np.random.default_rng(6).normal(size=(200, 4, 3))
    cutoff = np.linspace(3.0, 20.0, 12).reshape(4, 3)
    cutoff[1] = 6.0
    out = low_pass(signal, 100.0, cutoff)
    for place in np.ndindex(4, 3):
        alone = low_pass(signal[(slice(None), *place)], 100.0, cutoff[place])
        np.testing.assert_allclose(out[(slice(None), *place)], alone, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(
        low_pass(signal, 100.0, [3.0, 6.0, 9.0]), low_pass(signal, 100.0, np.tile([3.0, 6.0, 9.0], (4, 1)))
    )


@pytest.mark.parametrize("order", ORDERS)
def test_high_orders_at_low_cutoffs_keep_their_digits(order: int) -> None:
    time = np.arange(4000) / 1000.0
    slow, fast = np.sin(2 * np.pi * 0.5 * time), np.sin(2 * np.pi * 200.0 * time)
    out = low_pass(slow + fast, 1000.0, 6.0, order)[1000:-1000]
    gains = two_pass_gain([0.5, 200.0], 1000.0, 6.0, order)
    expected = (gains[0] * slow + gains[1] * fast)[1000:-1000]
    np.testing.assert_allclose(out, expected, atol=1e-4)


@pytest.mark.parametrize("frequency_hz", [1.0, 3.0, 6.0, 12.0])
def test_a_sine_comes_out_without_lag_and_with_the_gain_of_two_passes(frequency_hz: float) -> None:
    rate, cutoff = 200.0, 6.0
    time = np.arange(2000) / rate
    signal = np.cos(2.0 * np.pi * frequency_hz * time)
    out = low_pass(signal, rate, cutoff)[400:-400]
    ratio = np.tan(np.pi * frequency_hz / rate) / np.tan(np.pi * cutoff / rate)
    gain = 1.0 / (1.0 + (np.sqrt(2.0) - 1.0) * ratio**4)
    # A lag of a tenth of a frame would show as 3e-3 of the amplitude at 6 Hz.
    np.testing.assert_allclose(out, gain * signal[400:-400], atol=1e-6)


@pytest.mark.parametrize("frames", [5, 10, 11, 150])
@pytest.mark.parametrize("order", [1, 2, 8])
def test_a_constant_and_a_straight_line_are_kept_and_the_ends_stay(frames: int, order: int) -> None:
    time = np.arange(frames)
    signal = np.stack([np.full(frames, 7.0), 3.0 * time - 5.0], axis=1)
    np.testing.assert_allclose(low_pass(signal, 100.0, 13.0, order), signal, rtol=1e-12, atol=1e-12)
    noisy = np.random.default_rng(2).normal(size=frames)
    np.testing.assert_allclose(low_pass(noisy, 100.0, 13.0, order)[[0, -1]], noisy[[0, -1]], atol=1e-14)


def test_the_filter_commutes_with_reversed_time_and_works_along_the_first_axis() -> None:
    signal = np.random.default_rng(3).normal(size=(300, 4, 3))
    out = low_pass(signal, 100.0, 6.0)
    np.testing.assert_allclose(low_pass(signal[::-1], 100.0, 6.0)[::-1][100:200], out[100:200], atol=1e-6)
    np.testing.assert_allclose(low_pass(signal[:, 2, 1], 100.0, 6.0), out[:, 2, 1], atol=1e-12)


@pytest.mark.parametrize("cutoff_hz", [0.0, -1.0, 50.0, 80.0, float("nan"), 4.99])
def test_a_cutoff_that_cannot_be_is_refused(cutoff_hz: float) -> None:
    """Half a period of the lowest passes in the whole signal."""
    with refused("bad_number", "from 5 Hz"):
        low_pass(np.zeros(11), 100.0, cutoff_hz)
    assert np.isfinite(low_pass(np.random.default_rng(4).normal(size=(11, 3)), 100.0, 5.0)).all()


@pytest.mark.parametrize("cutoff", [[6.0, 6.0], "6", None, [[6.0], [6.0]]])
def test_cutoffs_that_do_not_belong_to_the_coordinates_are_refused(cutoff: object) -> None:
    with pytest.raises(InputError, match="cut-off"):
        low_pass(np.zeros((200, 3)), 100.0, cutoff)


def test_whole_numbers_may_be_of_any_kind() -> None:
    signal = np.random.default_rng(9).normal(size=200)
    np.testing.assert_array_equal(low_pass(signal, 100, 6, np.int8(3)), low_pass(signal, 100.0, 6.0, 3.0))
    found = smoothing_spline(np.arange(40), np.float32(100), half_order=2.0)
    assert found.half_order == 2 and found.derivative(np.int64(1)).shape == (40,)


@pytest.mark.parametrize("order", (1, 2, 8))
@pytest.mark.parametrize("cutoff_hz", (2.0, 49.9))
def test_a_long_signal_is_filtered_as_by_its_sines(order: int, cutoff_hz: float) -> None:
    signal = np.cumsum(np.random.default_rng(7).normal(size=(LONG_SIGNAL + 1, 2)), axis=0)
    line, sines = sine_series(signal)
    gain = two_pass_gain(harmonics(len(signal), 100.0), 100.0, cutoff_hz, order)[:, None]
    line[1:-1] += dst(gain * sines, type=1, axis=0, norm="ortho")
    filtered = low_pass(signal, 100.0, cutoff_hz, order)
    np.testing.assert_allclose(filtered, line, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(filtered[[0, -1]], signal[[0, -1]])


def test_each_column_of_a_long_signal_has_its_own_cutoff() -> None:
    signal = np.cumsum(np.random.default_rng(8).normal(size=(LONG_SIGNAL + 1, 2)), axis=0)
    both = low_pass(signal, 100.0, [3.0, 20.0])
    for column, cutoff_hz in enumerate((3.0, 20.0)):
        alone = low_pass(signal[:, column], 100.0, cutoff_hz)
        np.testing.assert_allclose(both[:, column], alone, rtol=0, atol=1e-11)
