"""Phases of a curve over the gait cycle."""

from __future__ import annotations

import numpy as np

from benchmarks.on_phases import phases


def test_phases_of_a_curve() -> None:
    curve = np.zeros(100)
    curve[[*range(90, 100), *range(15)]] = 1.0
    curve[40:60] = 0.5
    assert phases(curve, 0.2) == "40-60, 90-15"
    assert phases(curve, 0.6) == "90-15"
    curve[48:50], curve[30:32] = 0.0, 1.0  # a gap and a burst of 2 % are none
    assert phases(curve, 0.2) == "40-60, 90-15"
    curve[45:50] = 0.0
    assert phases(curve, 0.2) == "40-45, 50-60, 90-15"
    assert phases(np.ones(100), 0.2) == "always"
