"""Linear envelopes of EMG: gains of the band-pass, the size of a modulated carrier, gaps, maxima."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.signal import butter, sosfiltfilt

from musclesolve.dynamics.kinematics.low_pass import HALF_POWER, two_pass_gain
from musclesolve.laboratory.motion.signals.emg_envelope import band_pass, linear_envelope, linear_envelopes
from musclesolve.laboratory.recording.data import Emg
from musclesolve.laboratory.recording.trial_settings import EmgSettings

RATE = 2000.0
TIME = np.arange(6000) / RATE
MIDDLE = slice(1000, -1000)


def record(values: np.ndarray, **options: object) -> Emg:
    names = tuple(f"c{k}" for k in range(values.shape[1]))
    none = (None,) * len(names)
    return Emg(
        TIME, names, values, (("soleus_r",),) * len(names), none, Path("emg.sto"), EmgSettings(**options)
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [1, 2, 4])
def test_both_cut_offs_pass_half_the_power(order: int) -> None:
    for cutoff in (20.0, 400.0):
        wave = np.sin(2.0 * np.pi * cutoff * TIME)
        passed = band_pass(wave, RATE, (20.0, 400.0), order)[MIDDLE]
        other = 400.0 if cutoff == 20.0 else 20.0
        others = two_pass_gain(20.0, RATE, np.float64(cutoff), order) if other == 20.0 else 1.0
        expected = np.std(wave[MIDDLE]) / np.sqrt(2.0) * float(others)
        assert np.std(passed) == pytest.approx(expected, rel=0.01 if order > 1 else 0.06)


def test_the_middle_of_the_band_passes_and_an_offset_does_not() -> None:
    wave = np.sin(2.0 * np.pi * 100.0 * TIME)
    passed = band_pass(wave + 5.0, RATE, (20.0, 400.0), 4)
    np.testing.assert_allclose(passed[MIDDLE], wave[MIDDLE], atol=0.01)


def test_the_filter_is_that_of_scipy_with_its_corners_moved() -> None:
    """Two passes of a Butterworth whose corner makes both together fall by 3 dB at the cut-off."""
    signal = np.random.default_rng(1).normal(size=TIME.size)
    order = 4
    shift = HALF_POWER ** (1.0 / (2 * order))

    def corner(cutoff: float, factor: float) -> float:
        return RATE / np.pi * np.arctan(np.tan(np.pi * cutoff / RATE) * factor)

    high = sosfiltfilt(butter(order, corner(20.0, shift), "high", fs=RATE, output="sos"), signal)
    both = sosfiltfilt(butter(order, corner(400.0, 1.0 / shift), "low", fs=RATE, output="sos"), high)
    np.testing.assert_allclose(band_pass(signal, RATE, (20.0, 400.0), order)[MIDDLE], both[MIDDLE], atol=1e-6)


def test_the_envelope_of_a_modulated_carrier_is_two_pi_ths_of_its_amplitude() -> None:
    """The mean of a rectified sine is 2/pi of its amplitude."""
    amplitude = 1.0 + 0.5 * np.sin(2.0 * np.pi * 1.0 * TIME)
    signal = amplitude * np.sin(2.0 * np.pi * 150.0 * TIME)
    envelope = linear_envelope(signal[:, None], RATE, EmgSettings())[:, 0]
    np.testing.assert_allclose(envelope[MIDDLE], 2.0 / np.pi * amplitude[MIDDLE], rtol=0.02)


def test_shares_of_the_largest_or_of_the_given_maximum() -> None:
    values = np.random.default_rng(2).normal(size=(TIME.size, 2)) * [1.0, 30.0]
    emg = record(values)
    free = linear_envelopes(emg)
    np.testing.assert_allclose(free.max(axis=0), 1.0)
    raw = linear_envelope(values, RATE, emg.options)
    fixed = linear_envelopes(Emg(TIME, emg.names, values, emg.muscles, (None, 50.0), emg.path))
    np.testing.assert_allclose(fixed[:, 0], free[:, 0])
    np.testing.assert_allclose(fixed[:, 1], raw[:, 1] / 50.0)


def test_what_is_processed_stays_as_it_is() -> None:
    values = np.abs(np.sin(TIME))[:, None] * 3.0
    np.testing.assert_allclose(linear_envelopes(record(values, processed=True)), values / values.max())


def test_the_envelope_is_unknown_in_a_gap_and_beside_it() -> None:
    values = np.random.default_rng(2).normal(size=(TIME.size, 2))
    whole = linear_envelopes(record(values))
    values[3000:3100, 0] = np.nan
    envelope = linear_envelopes(record(values))
    lost = np.flatnonzero(np.isnan(envelope[:, 0]))
    beside = round(0.5 * RATE / 6.0)
    assert (lost[0], lost[-1]) == (3000 - beside, 3099 + beside)
    assert lost.size == 100 + 2 * beside
    assert np.isfinite(envelope[:, 1]).all()
    np.testing.assert_allclose(
        envelope[:2500, 0] / envelope[100, 0], whole[:2500, 0] / whole[100, 0], rtol=0.02
    )


def test_the_ends_are_as_large_as_the_rest() -> None:
    """A rectified sample may be several times the envelope; none of them is what the envelope ends at."""
    values = np.random.default_rng(4).normal(size=(TIME.size, 40))
    envelope = linear_envelope(values, RATE, EmgSettings())
    for ends in (envelope[0], envelope[-1]):
        assert np.abs(ends / envelope[MIDDLE].mean() - 1.0).max() < 0.5


def test_a_signal_full_of_gaps_has_no_envelope() -> None:
    values = np.random.default_rng(2).normal(size=(TIME.size, 2))
    values[::100, 0] = np.nan
    envelope = linear_envelopes(record(values))
    assert np.isnan(envelope[:, 0]).all() and np.isfinite(envelope[:, 1]).all()


@pytest.mark.parametrize("processed", [True, False])
def test_the_envelope_of_a_channel_without_numbers_is_unknown(processed) -> None:
    values = np.abs(np.random.default_rng(2).normal(size=(TIME.size, 2)))
    values[:, 0] = np.nan
    envelope = linear_envelopes(record(values, processed=processed))
    assert np.isnan(envelope[:, 0]).all() and np.isfinite(envelope[:, 1]).all()
