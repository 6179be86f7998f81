"""Sled and truck of the source: the printed numbers that its tables must give, and balances of the runs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rollover import DATA, hard_surfaces, rollover, truck
from benchmarks.sled import SPEED, figures, sled


def test_the_tables_of_the_truck_agree_with_its_text():
    """1470 kg; the ground 0.650 m below the center of mass, which is 1.232 m behind the front axle (4.3.2)."""
    model = truck()
    assert model.mass.total == pytest.approx(1470.0, abs=0.5)
    wheels = np.array([skin.center for skin in hard_surfaces()[0] if skin.name.startswith("wheel")])
    assert wheels[:, 2].min() - DATA["tire"]["radius"] == pytest.approx(-0.650)
    assert wheels[:, 0].max() == 1.232
    np.testing.assert_allclose(model.mass.center, 0.0, atol=0.02)


def test_the_truck_lands_on_its_wheels_when_the_source_says_and_rolls_over():
    run = rollover(False)
    first = next(event for event in run.events if event.begins)
    assert "wheel" in first.pair and first.time == pytest.approx(0.3, abs=2e-3)
    up = run.motions["sled"].q[:, 1] - run.motions["sled"].q[:, 0]
    assert up[:, 2].min() < -0.4  # upside down, of 0.5 m
    assert abs(run.imbalance).max() < 1e-3 * run.lost[-1]


def test_a_belted_occupant_stays_in_the_seat():
    run = sled()
    peak, criterion, _, neck, _, moved = figures(run)
    assert float(peak) < 80.0 and float(criterion) < 1000.0 and float(neck) > 100.0
    assert float(moved) < 0.3
    assert run.motions["sled"].qd[-1, 0, 0] == pytest.approx(0.0, abs=1e-6 * SPEED)
    assert abs(run.imbalance).max() < 1e-4 * run.lost[-1]
    assert (run.tension >= 0.0).all() and not run.tension[0].any()
