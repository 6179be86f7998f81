"""A file of coordinates or loads that broke off is warned of, in the check and beside the result."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from recorded_data import recorded

import musclesolve as ms
from musclesolve import check


@pytest.mark.in_part(2)
@pytest.mark.parametrize("which", ["walk_ik.mot", "walk_grf.mot"])
def test_a_file_that_broke_off_is_warned_of(which: str, tmp_path: Path) -> None:
    shutil.copy(recorded("rajagopal_walk/reference/opensim_ik.mot"), tmp_path / "walk_ik.mot")
    shutil.copy(recorded("rajagopal_walk/walk_grf.mot"), tmp_path / "walk_grf.mot")
    content = (tmp_path / which).read_bytes()
    (tmp_path / which).unlink()
    (tmp_path / which).write_bytes(content[: round(0.7 * len(content))])
    trial = tmp_path / "walk.toml"
    model = recorded("opensim_models/gait2392.osim").resolve().as_posix()
    files = f'model = "{model}"\ncoordinates = "walk_ik.mot"\nloads = "walk_grf.mot"'
    trial.write_text(f"[files]\n{files}\n", encoding="utf-8")
    (found,) = [each for each in check(trial).findings if each.code == "truncated"]
    assert found.severity == "warning" and which in found.what
    assert sum(which in each and "broke off" in each for each in ms.run(trial).attrs["warnings"]) == 1
