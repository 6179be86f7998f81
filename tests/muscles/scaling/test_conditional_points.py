"""Where via points switch on a person: near the tabulated angle, each at its own, and without a change worth naming."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles.scaling.fiber_lengths import sampled_poses
from musclesolve.muscles.scaling.scaled_paths import (
    SEARCH,
    adjust_switches,
    frame_maps,
    reference_model,
    scaled_paths,
)


def both(model, database, side="r"):
    tabulated = scaled_paths(model, database, side, frame_maps(model, database, side))
    return tabulated, adjust_switches(model, tabulated)


def test_two_points_of_a_muscle_keep_their_own_angles():
    """The vasti of gait2392 have two via points each, 33 and 41 degrees apart."""
    database = muscle_db.load("gait2392")
    tabulated, adjusted = both(human_model(), database)
    for name in ("vastus_medialis", "vastus_lateralis"):
        muscle = [each.name for each in database].index(name)
        (own,) = np.nonzero(tabulated.layout.point_muscle[tabulated.switched] == muscle)
        assert len(own) == 2
        apart = np.diff(adjusted.switch_lower[own]) - np.diff(tabulated.switch_lower[own])
        assert np.degrees(np.abs(apart)) < 5.0


@pytest.mark.parametrize("name", ["silva_2003", "gait2392"])
def test_angles_that_cannot_be_reached_stay(name):
    tabulated, adjusted = both(human_model(stature=1.6), muscle_db.load(name))
    for edge in ("switch_lower", "switch_upper"):
        before, after = np.degrees(getattr(tabulated, edge)), np.degrees(getattr(adjusted, edge))
        beyond = np.abs(before) >= 130.0
        assert (after[(before <= -60.0) | beyond] == before[(before <= -60.0) | beyond]).all()
        assert np.abs(after - before).max() <= np.degrees(SEARCH)
        assert (after != before).any() == (~beyond & (before > -60.0)).any()


def test_on_the_own_skeleton_little_changes():
    """The authors of gait2392 chose the angles so that paths hardly jump: knee points stay within 2 degrees.

    The knee points of iliacus and psoas stay within 5 of 45 degrees; in adduction the path around the brim is longer.
    """
    database = muscle_db.load("gait2392")
    model = reference_model(database.reference)
    tabulated, adjusted = both(model, database)
    knee = tabulated.switch_dof == model.dof("knee_flexion_r")
    for edge in ("switch_lower", "switch_upper"):
        moved = np.degrees(np.abs(getattr(adjusted, edge) - getattr(tabulated, edge)))
        assert moved[knee].max() < 2.0 and moved.max() < 5.0
    q, coordinates = sampled_poses(model, "r")
    change = np.abs(adjusted.evaluate(q, coordinates).length - tabulated.evaluate(q, coordinates).length)
    assert np.sqrt(np.mean(change**2)) < 1e-3


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("name", ["silva_2003", "gait2392", "gait2392_hip", "silva_2003_wrapped"])
@pytest.mark.parametrize("off", [0.0, np.radians(12.0), np.radians(40.0)])
def test_a_search_beside_known_angles_finds_the_same(name, side, off):
    """Beside the angles of another subject, and in the whole range where these are far off."""
    database = muscle_db.load(name)
    tabulated, wide = both(human_model(75.0, 1.78), database, side)
    _, near = both(human_model(), database, side)
    near = replace(near, switch_lower=near.switch_lower + off, switch_upper=near.switch_upper + off)
    narrow = adjust_switches(human_model(75.0, 1.78), tabulated, near)
    np.testing.assert_array_equal(narrow.switch_lower, wide.switch_lower)
    np.testing.assert_array_equal(narrow.switch_upper, wide.switch_upper)
    assert (wide.switch_upper != tabulated.switch_upper).any()
