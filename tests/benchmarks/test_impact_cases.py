"""Sled and truck of the source: the printed numbers that its tables must give, and balances of the runs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.chapter_4 import SUBJECTS, subject
from benchmarks.rollover import DATA, hard_surfaces, rollover, truck
from benchmarks.sled import SPEED, figures, sled


def test_the_subjects_have_their_mass_and_the_lengths_of_the_print():
    """Table 3.2: 81.52 kg, head 4.241 kg, a thigh of 0.434 m; a player of another mass has the same lengths."""
    for name, (_, mass, _) in SUBJECTS.items():
        assert subject(name).mass.total == pytest.approx(mass, abs=1e-6)
    man, player = subject(), subject(mass=75.0)
    assert man.mass.mass[man.body("head")] == pytest.approx(4.241, rel=1e-3)
    assert np.linalg.norm(
        man.standing[man.slot("knee_r")] - man.standing[man.slot("hip_r")]
    ) == pytest.approx(0.434)
    assert player.mass.total == pytest.approx(75.0)
    np.testing.assert_allclose(player.standing, man.standing, atol=1e-12)


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
    found = figures(run)
    assert found["peak"] < 80.0 and found["criterion_36"] < 1000.0 and found["neck_limit"] > 100.0
    assert found["criterion_15"] < found["criterion_36"] and found["hips"] < 0.3
    assert run.motions["sled"].qd[-1, 0, 0] == pytest.approx(0.0, abs=1e-5 * SPEED)
    assert abs(run.imbalance).max() < 1e-4 * run.lost[-1]
    assert (run.tension >= 0.0).all() and not run.tension[0].any()
