"""Every cost on the recorded walk, from the files to the forces."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from refusals import refused
from sharing_cases import SMOOTH

import musclesolve as ms
from musclesolve.sharing.cost import JointReactionSquared

NAMES = [name for name in SMOOTH if name != "emg_tracking"]


@pytest.fixture(scope="module")
def result_of(recorded_walk_trial):
    """The result of a cost, computed once."""
    return cache(lambda name: ms.run(recorded_walk_trial, cost=name))


@pytest.mark.in_part(5)
@pytest.mark.parametrize("name", NAMES)
def test_every_frame_of_both_legs_is_certified(result_of, name):
    result = result_of(name)
    assert set(np.unique(result.status)) <= {ms.Status.SOLVED, ms.Status.SOLVED_WITH_RESERVE}
    assert float(result.gap.max()) <= 1e-9


@pytest.mark.thorough
def test_the_knees_are_loaded_least_where_that_is_the_cost(recorded_walk_trial, result_of):
    """In the contact forces of the result, on frames in which the muscles alone produce the moments."""
    spared = ms.run(recorded_walk_trial, cost=JointReactionSquared({"knee": 1.0}, effort=10.0))
    for side in "rl":

        def alone(result, side=side):
            return (result.status.sel(side=side) == ms.Status.SOLVED).values

        def load(result, joint=f"knee_{side}"):
            return np.square(result.joint_reaction.sel(joint=joint).values).sum(axis=1)

        least = load(spared)
        for name in NAMES:
            result = result_of(name)
            both = alone(spared) & alone(result)
            assert both.sum() > 80
            # 43 muscles at an effort of 10 N^2
            assert (load(result)[both] >= least[both] - 430.0).all(), name
        cubed = result_of("stress_cubed")
        both = alone(spared) & alone(cubed)
        assert least[both].mean() < 0.9 * load(cubed)[both].mean()


def test_without_measured_activations_tracking_is_refused(recorded_walk_trial):
    with refused("missing_key", "emg_tracking", "[emg]"):
        ms.run(replace(recorded_walk_trial, emg=None), cost="emg_tracking", side="r")
