"""Rows in which an inverse kinematics failed cost the frames beside them, and no others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from small_model import save_model
from small_model_motion import DOFS, TIME, small_motion

import musclesolve as ms


def test_the_frames_beside_impossible_rows_have_no_forces(tmp_path: Path) -> None:
    small = ms.read_osim(save_model(tmp_path))
    given = small_motion(small)
    broken = given["hip_a_r"].copy()
    broken[[20, 21]] = np.nan
    moments = {name: np.zeros(TIME.size) for name in DOFS}
    result = ms.share_model(small, {**given, "hip_a_r": broken}, moments, dofs=DOFS)
    lost = np.isin(np.arange(TIME.size), np.arange(10, 32))
    valid = result["valid"].values.reshape(TIME.size, -1).all(axis=1)
    np.testing.assert_array_equal(valid, ~lost)
