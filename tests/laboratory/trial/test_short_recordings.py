"""A recording too short for a stretch to be found: its ends, where accelerations are guesses, are left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from thorough import some
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve.studies import synthetic_recording

DOFS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    steps = ("r1", "r2", "l1", "l2")
    return synthetic_recording(tmp_path_factory.mktemp("walk"), force_rate_hz=300.0, steps=steps)


@pytest.mark.parametrize("stated", [True, False])
def test_a_recording_of_three_frames_has_no_range_to_choose(tmp_path: Path, stated: bool) -> None:
    copy = TrialCopy()
    if not stated:
        copy.walk = replace(copy.walk, time=copy.walk.time[:3], position=copy.walk.position[:3])
        copy.lines = [line for line in copy.lines if not line.startswith(("start_s", "end_s"))]
    else:
        copy.set_key("time", "end_s", "0.32")
    with refused("bad_range") as short:
        ms.read_trial(copy.write(tmp_path))
    assert ("choose an end" in str(short.value)) == stated
    assert ("longer recording" in str(short.value)) != stated


def test_a_stated_end_that_a_cut_file_lacks_names_both_numbers_of_rows(tmp_path: Path) -> None:
    path = TrialCopy().write(tmp_path)
    file = tmp_path / "walk.trc"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:36]))
    with refused("bad_range") as cut:
        ms.read_trial(path)
    stated = lines[2].split()[2]
    assert f"walk.trc holds 30 rows of data, its header states {stated}" in str(cut.value)
    assert "export the file again" in str(cut.value)


@pytest.mark.parametrize("duration", some([0.2, 0.25, 0.3, 0.35], 2))
def test_valid_frames_of_a_short_recording_have_the_true_moments(whole, duration, tmp_path):
    copy = TrialCopy(whole)
    for name, values in (("walk", "position"), ("forces", "values")):
        table = getattr(copy, name)
        kept = (table.time >= 0.9) & (table.time <= 0.9 + duration + 1e-6)
        setattr(copy, name, replace(table, time=table.time[kept], **{values: getattr(table, values)[kept]}))
    result = ms.run(copy.write(tmp_path))
    assert "but its ends" in result.attrs["analyzed"][0] or "right leg" in result.attrs["analyzed"][0]
    with xr.open_dataset(whole.parent / "truth.nc") as truth:
        for side in "rl":
            dofs = [f"{dof}_{side}" for dof in DOFS]
            true = truth.joint_moment.sel(dof=dofs)
            error = (result.joint_moment.sel(dof=dofs) - true.interp(time=result.time)) / abs(true).max(
                "time"
            )
            valid = result.valid.sel(side=side).values
            assert valid.sum() >= 10
            assert float(np.abs(error.values[valid]).max()) < 0.25
