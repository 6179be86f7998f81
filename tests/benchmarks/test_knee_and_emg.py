"""The cost between volume and knee contains the default and the cost of volumes; the interval is of a mean."""

from __future__ import annotations

import numpy as np
import pytest

import musclesolve as ms
from benchmarks.knee_and_emg import VolumeAndKnee, interval
from musclesolve.sharing.cost import ActivationVolume


@pytest.fixture(scope="module")
def problem():
    return ms.pose_problem(
        {"hip_flexion_r": 0.6, "knee_flexion_r": 1.0}, None, {"hip_flexion_r": 20.0, "knee_flexion_r": -60.0}
    )


def test_without_a_power_of_volume_the_cost_is_the_default(problem):
    ours, usual = ms.solve(problem, VolumeAndKnee()), ms.solve(problem)
    np.testing.assert_allclose(ours.activation, usual.activation, atol=1e-6)
    assert float(ours.cost) == pytest.approx(float(usual.cost), rel=1e-9)


def test_with_the_whole_volume_and_no_knee_the_cost_is_that_of_volumes(problem):
    ours, volumes = (
        ms.solve(problem, VolumeAndKnee(power=1.0, scale=1e9)),
        ms.solve(problem, ActivationVolume()),
    )
    np.testing.assert_allclose(ours.activation, volumes.activation, atol=1e-5)
    half = ms.solve(problem, VolumeAndKnee(power=0.5, scale=1e9))
    assert np.abs(half.activation - volumes.activation).max() > 1e-3


def test_the_interval_holds_the_mean_and_leaves_out_channels_without_emg():
    differences = np.array([0.1, 0.2, np.nan, 0.0, -0.1, 0.3])
    low, high = interval(differences)
    assert -0.1 < low < np.nanmean(differences) < high < 0.3
