"""Markers and forces in two files that count time from different zeros."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from musclesolve import read_trial
from musclesolve.data import reference_stride


def moved(folder: Path, seconds: float, plates: str = "") -> Path:
    """A copy of the bundled stride whose forces count from elsewhere, with a table [plates]."""
    shutil.copytree(reference_stride().parent, folder, dirs_exist_ok=True)
    file = folder / "forces.mot"
    head, _, rows = file.read_text(encoding="utf-8").partition("endheader\n")
    names, *lines = rows.splitlines()
    split = [line.split(maxsplit=1) for line in lines]
    kept = [f"{float(time) + seconds:.6f} {rest}" for time, rest in split]
    file.write_text("\n".join([head + "endheader\n" + names, *kept]) + "\n", encoding="utf-8")
    trial = folder / reference_stride().name
    trial.write_text(f"{trial.read_text(encoding='utf-8')}\n{plates}", encoding="utf-8")
    return trial


@pytest.mark.parametrize(("seconds", "offset"), [(-1.0, 0.0), (7.0, 0.0), (5.0, 0.01)])
def test_forces_that_count_from_another_zero_begin_with_the_markers(tmp_path, seconds, offset):
    usual = read_trial(reference_stride())
    trial = read_trial(moved(tmp_path, seconds, f"[plates]\noffset_s = {offset}" if offset else ""))
    for plate, known in zip(trial.forces, usual.forces, strict=True):
        np.testing.assert_allclose(plate.time, known.time + offset, atol=1e-5)
    assert any("from different zeros" in note and f"{-seconds:+.3f} s" in note for note in trial.notes)


def test_a_stated_offset_is_enough(tmp_path):
    trial = read_trial(moved(tmp_path, -1.0, "[plates]\noffset_s = 1.0"))
    np.testing.assert_allclose(trial.forces[0].time, read_trial(reference_stride()).forces[0].time, atol=1e-5)
    assert not any("from different zeros" in note for note in trial.notes)


def test_forces_on_the_clock_of_the_markers_stay_where_they_are():
    assert not any("from different zeros" in note for note in read_trial(reference_stride()).notes)
