"""Figures of a result on an OpenSim model: every coordinate is drawn, with a side or without."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from small_model import TEXT, save_model

from musclesolve import read_osim
from musclesolve.laboratory.plotting import coordinates_and_moments, reserves
from musclesolve.laboratory.run_trial import share_model

TIME = np.linspace(0.0, 1.0, 31)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    """A hip without side, an ankle of the right, and moments that need reserves."""
    model = read_osim(save_model(tmp_path_factory.mktemp("small"), TEXT.replace("hip_a_r", "hip_a")))
    motion = {name: 0.3 + 0.1 * np.sin(6.0 * TIME) for name in model.coordinates if name != "beta_r"}
    moments = {"hip_a": 900.0 * np.cos(TIME), "ankle_a_r": 0.0 * TIME}
    dofs = ["hip_a", "ankle_a_r"]
    return share_model(model, {"time": TIME, **motion}, moments, dofs=dofs, passive="none")


def test_coordinates_and_moments(shared: xr.Dataset) -> None:
    assert shared["side"].values.tolist() == ["r", "other"]
    figure = coordinates_and_moments(shared)
    curves = [axes.lines[0].get_ydata() for axes in figure.axes]
    degrees, moment = np.degrees(shared["joint_angle"].values), shared["joint_moment"].values
    for found, wanted in zip(curves, (degrees[:, 0], moment[:, 0], degrees[:, 1], moment[:, 1]), strict=True):
        np.testing.assert_allclose(np.asarray(found, float), wanted)


def test_reserves(shared: xr.Dataset, tmp_path: Path) -> None:
    assert np.abs(shared["reserve_moment"].sel(dof="hip_a")).max() > 100.0
    hip, ankle = reserves(shared).axes
    drawn = [np.asarray(line.get_ydata(), float) for line in hip.lines if len(line.get_ydata()) == 31]
    np.testing.assert_allclose(np.nanmax(np.abs(drawn)), np.abs(shared["reserve_moment"].values).max())
    low, high = ankle.get_ylim()
    assert low <= -1.0 and high >= 1.0, "a negligible reserve looks small"
