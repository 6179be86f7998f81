"""The recorded walk, exported under OpenSim's names, beside what OpenSim computes from the same files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms


@pytest.fixture(scope="module")
def exported(default_walk_trial, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    result = ms.run(default_walk_trial)
    for suffix in ("mot", "sto"):
        ms.export(result, folder / f"walk.{suffix}", names="rajagopal")
    return folder


@pytest.mark.parametrize(
    ("name", "offset", "spread"),
    [
        *(("pelvis_tilt", 3.0, 1.0), ("pelvis_list", 1.0, 1.5), ("pelvis_rotation", 3.0, 1.0)),
        *(("pelvis_tx", 0.03, 0.005), ("pelvis_ty", 0.03, 0.005), ("pelvis_tz", 0.03, 0.005)),
        *(("hip_flexion_r", 4.0, 1.5), ("hip_adduction_l", 4.0, 3.0)),
        *(("knee_angle_r", 4.0, 2.5), ("knee_angle_l", 4.0, 2.5), ("ankle_angle_r", 4.0, 4.0)),
    ],
)
def test_the_motion_is_that_of_opensim(exported: Path, recorded_walk: Path, name, offset, spread) -> None:
    """Degrees and meters, up to what other joint axes and neutral poses do; a wrong sign or sequence is far off."""
    ours, theirs = (
        ms.tables.read_mot(exported / "walk.mot"),
        ms.tables.read_mot(recorded_walk / "reference" / "opensim_ik.mot"),
    )
    difference = ours[name] - np.interp(ours.time, theirs.time, theirs[name])
    assert abs(difference.mean()) < offset
    assert difference.std() < spread


@pytest.mark.parametrize(
    "name", ["hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle"]
)
def test_the_moments_are_those_of_opensim(exported: Path, recorded_walk: Path, name: str) -> None:
    ours = ms.tables.read_mot(exported / "walk_inverse_dynamics.sto")
    theirs = ms.tables.read_mot(recorded_walk / "reference" / "opensim_id.sto")
    for side in "rl":
        column = f"{name}_{side}_moment"
        assert np.corrcoef(ours[column], np.interp(ours.time, theirs.time, theirs[column]))[0, 1] > 0.9
