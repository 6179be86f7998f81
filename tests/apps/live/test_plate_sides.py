"""Plates are given to feet contact by contact: to the nearer one, once that is clear, and to none before."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.apps.live.plate_sides import PlateSides

FEET = np.array([[[0.0, -0.1, 0.0], [0.25, -0.1, 0.0]], [[0.6, 0.1, 0.0], [0.85, 0.1, 0.0]]])
"""Heel and toe of the right foot, and of the left one."""


def plate(x: float, y: float, force: float) -> np.ndarray:
    return np.array([0.0, 0.0, force, x, y, 0.0, 0.0, 0.0, 1.0])


def test_stated_plates_keep_their_feet_wherever_these_are():
    wrench, amiss = PlateSides(("l", "r"), 20.0, 800.0, 100.0).wrenches(
        np.array([plate(0.1, -0.1, 500), plate(5, 5, 90)]), None
    )
    assert not amiss
    assert np.allclose(wrench[1], [0, 0, 500, -50, -50, 1])
    assert np.allclose(wrench[0, 2], 90)


def test_a_plate_goes_to_the_foot_on_it_and_stays_there_while_it_is_loaded():
    sides = PlateSides((None, None), 20.0, 800.0, 100.0)
    both = np.array([plate(0.1, -0.1, 500), plate(0.7, 0.1, 300)])
    wrench, amiss = sides.wrenches(both, FEET)
    assert not amiss and np.allclose(wrench[:, 2], [500, 300])
    # the center of pressure of the right foot comes nearer to the left one for a moment
    wrench, amiss = sides.wrenches(np.array([plate(0.45, 0.05, 30), plate(0.7, 0.1, 300)]), FEET)
    assert not amiss and np.allclose(wrench[:, 2], [30, 300])
    # unloaded, then the left foot steps on it
    sides.wrenches(np.array([plate(0.45, 0.05, 5), plate(0.7, 0.1, 300)]), FEET)
    wrench, amiss = sides.wrenches(np.array([plate(0.7, 0.1, 400), plate(0.7, 0.1, 0)]), FEET)
    assert not amiss and np.allclose(wrench[:, 2], [0, 400])


def test_a_load_that_is_no_foots_is_nobodys_and_neither_leg_is_measured():
    for odd, feet in ((plate(3.0, 3.0, 300), FEET), (plate(0.1, -0.1, 300), None)):
        wrench, amiss = PlateSides((None,), 20.0, 800.0, 100.0).wrenches(odd[None], feet)
        assert np.isnan(wrench).all() and "plate 1" in amiss


def test_both_feet_on_a_plate_are_not_told_apart():
    sides = PlateSides((None,), 20.0, 800.0, 100.0)
    sides.wrenches(plate(0.1, -0.1, 300)[None], FEET)
    wrench, amiss = sides.wrenches(plate(0.7, 0.1, 300)[None], FEET)
    assert np.isnan(wrench).all() and amiss


def test_a_plate_that_says_nothing_is_not_zero():
    lost = np.full((1, 9), np.nan)
    wrench, _ = PlateSides(("r",), 20.0, 800.0, 100.0).wrenches(lost, FEET)
    assert np.isnan(wrench[0]).all() and np.array_equal(wrench[1], np.zeros(6))


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ([0, 0, 30_000, 0.1, -0.1, 0, 0, 0, 1], "is 3e+04 N"),
        ([0, 0, -500, 0.1, -0.1, 0, 0, 0, 1], "pulls it down with 500 N"),
        ([1500, 0, 600, 0.1, -0.1, 0, 0, 0, 1], "sideways with 1500 N"),
        ([0, 0, 600, 0.1, -0.1, 0, 0, 0, 5000], "moment of 5000 N m"),
        ([0, 0, 600, 100.0, -100.0, 0, 0, 0, 1], "m away from it"),
    ],
)
def test_what_cannot_be_of_a_foot_is_not_measured(sample, said):
    stated = PlateSides(("r", "l"), 20.0, 800.0, 100.0)
    other = plate(0.7, 0.1, 300)
    wrench, amiss = stated.wrenches(np.array([sample, other], float), FEET)
    assert np.isnan(wrench[0]).all() and "right foot" in amiss and said in amiss
    assert np.allclose(wrench[1, 2], 300)
    wrench, amiss = stated.wrenches(np.array([plate(0.1, -0.1, 600), other]), FEET)
    assert not amiss and np.allclose(wrench[:, 2], [600, 300])
