"""Pelvis, trunk and feet of a recorded walk, from its markers and from OpenSim's inverse kinematics of its model."""

from __future__ import annotations

import numpy as np
import pytest

import musclesolve as ms


@pytest.fixture(scope="module")
def both(default_walk_trial, recorded_walk):
    folder = recorded_walk / "reference"
    files = ("rajagopal_lai_uhlrich_2023_scaled.osim", "opensim_ik.mot", "opensim_id.sto")
    return ms.run(default_walk_trial), ms.share_model(*(folder / name for name in files))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("segment", ["pelvis", "trunk"])
@pytest.mark.parametrize("rotation", ["tilt", "list", "rotation"])
def test_pelvis_and_trunk_are_those_of_opensim(both, segment, rotation):
    """Degrees, up to the neutral poses of two models."""
    own, other = (
        np.degrees(each[f"{segment}_angle"].sel({f"{segment}_rotation": rotation})) for each in both
    )
    other = np.interp(own["time"], other["time"], other)
    assert np.corrcoef(own, other)[0, 1] > 0.75
    assert np.std(own - other) < 1.5 and abs(np.mean(own - other)) < 5.0


@pytest.mark.parametrize("side", ["r", "l"])
def test_feet_on_the_ground_point_as_those_of_opensim(both, side):
    own, other = (np.degrees(each["foot_progression_angle"].sel(side=side)) for each in both)
    stands = both[0]["ground_reaction_force"].sel(side=side, axis="z").values > 500.0
    difference = (own - np.interp(own["time"], other["time"], other)).values[stands]
    assert abs(difference.mean()) < 4.0 and difference.std() < 5.0


def test_the_walking_direction_is_the_same(both):
    own, other = both
    heading = np.interp(own["time"], other["time"], other["heading"])
    assert np.degrees(np.abs(own["heading"] - heading)).max() < 3.0
