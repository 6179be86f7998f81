from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import butter, filtfilt, freqz_sos

from musclesolve.errors import InputError
from musclesolve.motion import low_pass, residual_analysis, smoothing_spline
from musclesolve.motion.filtering import ORDERS, sections, two_pass_factor, two_pass_gain


@pytest.mark.parametrize("order", ORDERS)
@given(rate_hz=st.floats(20.0, 5000.0), share=st.floats(0.01, 0.95))
def test_two_passes_fall_by_3_db_at_the_cutoff_and_by_nothing_at_rest(
    order: int, rate_hz: float, share: float
) -> None:
    cutoff_hz = 0.5 * rate_hz * share
    _, gain = freqz_sos(sections(rate_hz, cutoff_hz, order), worN=[0.0, cutoff_hz], fs=rate_hz)
    np.testing.assert_allclose(np.abs(gain) ** 2, [1.0, np.sqrt(0.5)], rtol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_the_gain_of_two_passes_is_the_square_of_that_of_one(order: int) -> None:
    frequency = np.array([0.0, 2.0, 7.0, 20.0, 45.0])
    _, gain = freqz_sos(sections(100.0, 7.0, order), worN=frequency, fs=100.0)
    expected = two_pass_gain(frequency, 100.0, 7.0, order)
    np.testing.assert_allclose(np.abs(gain) ** 2, expected, rtol=1e-9, atol=1e-12)


def test_the_factor_is_that_of_the_thesis() -> None:
    assert pytest.approx(0.802, abs=5e-4) == two_pass_factor()


def test_the_section_of_order_2_is_that_of_the_thesis() -> None:
    # Silva 2003, eqs 5.3-5.5: k1 = sqrt(2) w, k2 = w^2, k3 = 2 a0 / k2.
    rate, cutoff = 60.0, 4.0
    w = np.tan(np.pi * cutoff / rate) / two_pass_factor()
    k1, k2 = np.sqrt(2.0) * w, w**2
    a0 = k2 / (1.0 + k1 + k2)
    k3 = 2.0 * a0 / k2
    section = sections(rate, cutoff)[0]
    np.testing.assert_allclose(section[:3], [a0, 2.0 * a0, a0], rtol=1e-12)
    np.testing.assert_allclose(section[3:], [1.0, -(-2.0 * a0 + k3), -(1.0 - 2.0 * a0 - k3)], rtol=1e-12)
    np.testing.assert_allclose(section[:3], butter(2, 2.0 / np.pi * np.arctan(w))[0], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_filter_is_that_of_scipy_with_the_corrected_cutoff(order: int) -> None:
    signal = np.cumsum(np.random.default_rng(5).normal(size=(400, 6)), axis=0)
    corrected = 2.0 / np.pi * np.arctan(np.tan(np.pi * 6.0 / 100.0) / two_pass_factor(order))
    b, a = butter(order, corrected)
    slower = max(1.0, np.sin(np.pi / 4) / np.sin(np.pi / (2 * order)))
    expected = filtfilt(b, a, signal, axis=0, padtype="odd", padlen=int(np.ceil(50.0 * slower)))
    np.testing.assert_allclose(low_pass(signal, 100.0, 6.0, order), expected, rtol=0, atol=1e-9)


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


def test_a_constant_and_a_straight_line_are_kept() -> None:
    time = np.arange(150)
    signal = np.stack([np.full(150, 7.0), 3.0 * time - 5.0], axis=1)
    np.testing.assert_allclose(low_pass(signal, 100.0, 6.0), signal, atol=1e-5)


def test_the_filter_commutes_with_reversed_time_and_works_along_the_first_axis() -> None:
    signal = np.random.default_rng(3).normal(size=(300, 4, 3))
    out = low_pass(signal, 100.0, 6.0)
    np.testing.assert_allclose(low_pass(signal[::-1], 100.0, 6.0)[::-1][100:200], out[100:200], atol=1e-6)
    np.testing.assert_allclose(low_pass(signal[:, 2, 1], 100.0, 6.0), out[:, 2, 1], atol=1e-12)


def test_a_recording_shorter_than_the_padding_is_filtered() -> None:
    assert np.isfinite(low_pass(np.random.default_rng(4).normal(size=(11, 3)), 100.0, 6.0)).all()


@pytest.mark.parametrize("cutoff_hz", [0.0, -1.0, 50.0, 80.0, float("nan")])
def test_a_cutoff_that_cannot_be_is_refused(cutoff_hz: float) -> None:
    with pytest.raises(InputError, match="below half the sampling rate"):
        low_pass(np.zeros(100), 100.0, cutoff_hz)


@pytest.mark.parametrize("order", [0, 9, 2.5, -1])
def test_an_order_that_there_is_not_is_refused(order: float) -> None:
    with pytest.raises(InputError, match="from 1 to 8"):
        low_pass(np.zeros(100), 100.0, 6.0, order)  # type: ignore[arg-type]


def test_gaps_are_refused_where_something_is_estimated() -> None:
    signal = np.random.default_rng(8).normal(size=(200, 2))
    signal[30:33, 1] = np.nan
    for estimate in (residual_analysis, smoothing_spline):
        with pytest.raises(InputError, match="in 3 of 200 frames, first in frame 30"):
            estimate(signal, 100.0)
