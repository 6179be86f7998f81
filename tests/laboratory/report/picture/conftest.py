"""Results whose pictures are looked at: the bundled stride, and the same with frames without a solution."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from musclesolve import Status, read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory.report.picture.moving_picture import picture_page
from musclesolve.laboratory.run_trial import run

LOST = slice(30, 40)
"""Frames in which the right leg of `troubled` has no solution."""


@pytest.fixture(scope="session")
def stride() -> xr.Dataset:
    return run(read_trial(reference_stride()))


@pytest.fixture(scope="session")
def troubled(stride: xr.Dataset) -> xr.Dataset:
    """The right leg without a solution for ten frames, with a reserve for five; the left one all the time well."""
    result = stride.copy(deep=True)
    result["status"][LOST, 0] = int(Status.INFEASIBLE)
    result["status"][50:55, 0] = int(Status.SOLVED_WITH_RESERVE)
    result["valid"][:] = result["status"].isin([Status.SOLVED, Status.SOLVED_WITH_RESERVE])
    right = np.char.endswith(result["muscle"].values.astype(str), "_r")
    for name in ("activation", "muscle_force"):
        result[name].values[LOST, right] = np.nan
    return result


@pytest.fixture(scope="session")
def hopeless(stride: xr.Dataset) -> xr.Dataset:
    """No frame has a solution."""
    result = stride.copy(deep=True)
    result["status"][:] = int(Status.INVALID_MOTION)
    result["valid"][:] = False
    for name in ("activation", "muscle_force", "joint_reaction"):
        result[name].values[:] = np.nan
    return result


@pytest.fixture(scope="session")
def page_file(troubled: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of `troubled`."""
    file = tmp_path_factory.mktemp("page") / "walk.html"
    file.write_text(picture_page(troubled), encoding="utf-8")
    return file
