"""Bellies keep their volume while they shorten."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from musclesolve.laboratory.report.picture.picture_data import (
    DRAWN,
    SPECIFIC,
    THIN,
    Bellies,
    path_lengths,
    picture_data,
)


@pytest.fixture
def bellies() -> Bellies:
    """A soleus, a sartorius and a muscle of unknown size, as straight paths of 0.3, 0.5 and 0.1 m."""
    path = np.array(
        [[[0.0, 0.0, 0.0], [0.0, 0.0, 0.3], [1.0, 0.0, 0.0], [1.0, 0.0, 0.5], [2.0, 0, 0], [2.0, 0, 0.1]]]
    )
    strength, fiber = np.array([3549.0, 156.0, np.nan]), np.array([0.05, 0.52, np.nan])
    return Bellies.sized(strength, fiber, path, np.array([0, 2, 4, 6]))


@pytest.mark.parametrize("share", [0.9, 1.0, 1.05])
def test_the_volume_beyond_the_tendon_is_the_same_at_every_length(bellies: Bellies, share: float) -> None:
    for muscle, length in enumerate((0.3, 0.5, 0.1)):
        along = np.linspace(0.0, share * length, 20001)
        of = np.full(along.shape, muscle)
        radius = bellies.radius(of, along, np.full(along.shape, share * length))
        volume = np.pi * np.trapezoid(radius**2 - THIN**2, along)
        assert volume == pytest.approx(bellies.volume[muscle], rel=1e-5)
    assert bellies.volume[0] == pytest.approx(DRAWN * 3549.0 * 0.05 / SPECIFIC)


def test_a_shorter_belly_is_thicker_and_a_tendon_keeps_its_length(bellies: Bellies) -> None:
    soleus = np.zeros(3, int)
    middle = bellies.radius(soleus, np.array([0.13, 0.14, 0.15]), np.full(3, 0.27)).max()
    assert middle > bellies.radius(soleus, np.array([0.14, 0.15, 0.16]), np.full(3, 0.30)).max()
    assert bellies.tendon[1] == pytest.approx(0.05), "a belly is at most 0.9 of its path"


def test_lengths_are_those_of_the_paths(stride: xr.Dataset) -> None:
    """As the result has them: the musculotendon length, but for the points that curved surfaces round off."""
    data = picture_data(stride)
    own = path_lengths(data.path, data.first)
    k = data.muscles.index("soleus_r")
    points = data.path[:, data.first[k] : data.first[k + 1]]
    np.testing.assert_allclose(own[:, k], np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1))
