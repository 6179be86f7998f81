"""Files of a motion-capture service: two walks and a jump without a standing trial, with forces and without."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest
from examined import examined
from recorded_data import recorded

from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts

MOTIONS = ("DJ1", "walking2", "walking3")


@pytest.fixture(scope="module")
def subject() -> Path:
    return recorded("addbiomechanics/opencap_subject")


@pytest.mark.in_part(2)
@pytest.mark.parametrize("forces", [True, False])
def test_every_motion_is_drafted_and_check_names_what_is_left_open(
    forces: bool, subject: Path, tmp_path: Path
) -> None:
    for folder in ("MarkerData", "ID")[: 1 + forces]:
        for path in (subject / folder).iterdir():
            shutil.copyfile(path, tmp_path / path.name)
    draft = draft_folder(tmp_path)
    assert [trial.path.name for trial in draft.trials] == [f"trial_{name}.toml" for name in MOTIONS]
    for path in write_drafts(draft):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        assert content["laboratory"] == {"forward": "+x", "up": "+y"}
        assert {"asis_r", "psis_l", "knee_lateral_r", "ankle_lateral_l", "heel_r", "toe_l"} <= set(
            content["mapping"]
        )
        assert ("force" in content) == forces
        named = path.stem.removeprefix("trial_")
        assert content["files"].get("forces") == (f"{named}_grf.mot" if forces else "predicted")
        missing = [each.what for each in examined(path).findings if each.severity == "error"]
        keys = ("mass_kg", "stature_m", "sex", *(f"{j}_medial_{s}" for j in ("knee", "ankle") for s in "rl"))
        assert all(
            any(f"'{key}' is missing" in what for what in missing) for key in keys if key not in str(content)
        )


def test_a_hip_center_that_is_seldom_seen_is_left_out_on_both_sides(subject: Path, tmp_path: Path) -> None:
    shutil.copyfile(subject / "MarkerData" / "walking2.trc", tmp_path / "walking2.trc")
    text = draft_folder(tmp_path).trials[0].text
    assert not any(name.startswith("hip_center") for name in tomllib.loads(text)["mapping"])
    assert "too few frames: hip_center_r, hip_center_l" in " ".join(text.replace("#", "").split())
