"""Peaks of a signal against those that scipy finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import find_peaks, peak_prominences
from thorough import examples

from musclesolve.laboratory.motion.events.foot_events import _falls, _far_apart, _local_maxima

SIGNALS = st.lists(st.integers(-4, 4), min_size=3, max_size=60)


@settings(max_examples=examples(150))
@given(SIGNALS, st.floats(1.0, 12.0))
def test_peaks_are_those_of_scipy(values, distance):
    """Flat tops, equal heights and cut ends among them; equal heights are distinguished by a slope."""
    signal = np.array(values) + 1e-3 * np.arange(len(values)) % 7e-3
    for smooth in (np.array(values, dtype=float), signal):
        np.testing.assert_array_equal(_local_maxima(smooth), find_peaks(smooth)[0])
    peaks = find_peaks(signal, distance=distance)[0]
    np.testing.assert_array_equal(_far_apart(_local_maxima(signal), signal, distance), peaks)
    _, left, right = peak_prominences(signal, peaks)
    falls = [_falls(signal, int(peak)) for peak in peaks]
    bases = [
        (signal[k] - signal[a], signal[k] - signal[b]) for k, a, b in zip(peaks, left, right, strict=True)
    ]
    assert falls == bases
