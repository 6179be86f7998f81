from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import butter, freqz

from musclesolve.errors import InputError
from musclesolve.motion import low_pass
from musclesolve.motion.filtering import TWO_PASS_FACTOR, coefficients


@given(rate_hz=st.floats(20.0, 5000.0), share=st.floats(0.01, 0.95))
def test_two_passes_fall_by_3_db_at_the_cutoff_and_by_nothing_at_rest(rate_hz: float, share: float) -> None:
    cutoff_hz = 0.5 * rate_hz * share
    b, a = coefficients(rate_hz, cutoff_hz)
    _, gain = freqz(b, a, worN=[0.0, cutoff_hz], fs=rate_hz)
    np.testing.assert_allclose(np.abs(gain) ** 2, [1.0, np.sqrt(0.5)], rtol=1e-6)


def test_the_factor_is_that_of_the_thesis() -> None:
    assert pytest.approx(0.802, abs=5e-4) == TWO_PASS_FACTOR


def test_coefficients_are_those_of_the_thesis() -> None:
    # Silva 2003, eqs 5.3-5.5: k1 = sqrt(2) w, k2 = w^2, k3 = 2 a0 / k2.
    rate, cutoff = 60.0, 4.0
    w = np.tan(np.pi * cutoff / rate) / TWO_PASS_FACTOR
    k1, k2 = np.sqrt(2.0) * w, w**2
    a0 = k2 / (1.0 + k1 + k2)
    k3 = 2.0 * a0 / k2
    b, a = coefficients(rate, cutoff)
    np.testing.assert_allclose(b, [a0, 2.0 * a0, a0], rtol=1e-12)
    np.testing.assert_allclose(a, [1.0, -(-2.0 * a0 + k3), -(1.0 - 2.0 * a0 - k3)], rtol=1e-12)
    np.testing.assert_allclose(b, butter(2, 2.0 / np.pi * np.arctan(w))[0], rtol=1e-12)


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
