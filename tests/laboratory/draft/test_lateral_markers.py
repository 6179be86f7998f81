"""Legs with lateral markers only, beside a standing trial with the medial ones."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.tables import read_trc, write_trc


def test_foot_and_shank_carry_the_medial_markers(tmp_path: Path) -> None:
    stride = ms.data.reference_stride().parent
    for name in ("static.trc", "forces.mot"):
        shutil.copy(stride / name, tmp_path)
    walk = read_trc(stride / "walk.trc")
    lost = {f"{joint}_medial_{side}" for joint in ("knee", "ankle") for side in "rl"}
    kept = [k for k, name in enumerate(walk.names) if name not in lost]
    assert len(kept) == len(walk.names) - 4
    names = tuple(walk.names[k] for k in kept)
    write_trc(tmp_path / "walk.trc", replace(walk, names=names, position=walk.position[:, kept]))
    draft = draft_folder(tmp_path, subject=GivenSubject(mass_kg=70.25, stature_m=1.7, sex="male"))
    (trial,) = draft.trials
    content = tomllib.loads(trial.text)
    assert set(content["clusters"]) == {"foot_r", "foot_l", "shank_r", "shank_l"}
    assert {of for of in content["carried"].values()} == set(content["clusters"])
    write_drafts(draft)
    same = ms.read_trial(ms.data.reference_stride()).with_settings(filter={"cutoff_hz": 6.0})
    result, whole = ms.run(trial.path), ms.run(same)
    assert any("another cluster carries" in note for note in result.attrs["notes"])
    moments = ["hip_flexion_r", "hip_adduction_l", "knee_flexion_r", "ankle_dorsiflexion_l"]
    both = [each.joint_moment.sel(dof=moments, time=slice(0.4, 1.3)).values for each in (result, whole)]
    np.testing.assert_allclose(*both, atol=3.0)
