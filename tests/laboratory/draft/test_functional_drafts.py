"""Drafts of recordings whose knees and ankles a movement shows: the lines that ask for it, and only where it helps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.laboratory.draft.draft_folder import TrialDraft, draft_folder, write_drafts
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.forces import anatomy

SUBJECT = GivenSubject(mass_kg=70.25, stature_m=1.7, sex="male")
KEYS = [f"functional_{joint}_{side}" for joint in ("knee", "ankle") for side in "rl"]


def drafted(folder: Path, **options: object) -> TrialDraft:
    """Draft the trial of a synthetic recording, whose own trial file and truth are taken away."""
    ms.studies.synthetic_recording(folder, truth=False, **options).unlink()
    (draft,) = draft_folder(folder, subject=SUBJECT).trials
    return draft


@pytest.mark.thorough
def test_a_movement_and_clusters_are_proposed_where_no_markers_show_the_joints(tmp_path: Path) -> None:
    draft = drafted(tmp_path, functional_deg=60.0, noise="skin", noise_mm=1.0)
    for key in KEYS:
        assert f'{key} = "bending.trc"' in draft.text
    assert 'knee = "functional"' in draft.text and 'ankle = "functional"' in draft.text
    assert not any("knee" in todo or "ankle" in todo for todo in draft.todos)
    assert ("functional", "axes of knee and ankle") in [(name, what[:22]) for name, what in draft.recognized]
    write_drafts(draft_folder(tmp_path, subject=SUBJECT))
    report = ms.check(tmp_path / "trial.toml")
    assert report.ok
    notes = anatomy(read_trial(tmp_path / "trial.toml")).notes
    assert sum("axis is functional" in note for note in notes) == 4


def test_without_the_movement_the_markers_are_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "walk"
    ms.studies.synthetic_recording(folder, truth=False, functional_deg=60.0).unlink()
    (folder / "bending.trc").unlink()
    (draft,) = draft_folder(folder, subject=SUBJECT).trials
    assert "[joint_centers]" not in draft.text
    assert any("knee_medial_r" in todo for todo in draft.todos)


@pytest.mark.parametrize("gone", ["thigh_r_", "shank_l_"])
def test_without_a_cluster_the_joint_is_left_open(tmp_path: Path, gone: str) -> None:
    ms.studies.synthetic_recording(tmp_path, truth=False, functional_deg=60.0).unlink()
    for name in ("walk", "static", "bending"):
        path = tmp_path / f"{name}.trc"
        path.write_text(path.read_text(encoding="utf-8").replace(gone, "extra_"), encoding="utf-8")
    (draft,) = draft_folder(tmp_path, subject=SUBJECT).trials
    assert '\nknee = "functional"\n' not in draft.text
    assert any("knee_medial_r" in todo for todo in draft.todos)
    assert ('\nankle = "functional"\n' in draft.text) == (gone == "thigh_r_")


def test_a_movement_beside_markers_on_the_joints_is_only_mentioned(tmp_path: Path) -> None:
    ms.studies.synthetic_recording(tmp_path, truth=False).unlink()
    walk = ms.laboratory.read_markers(tmp_path / "walk.trc")
    in_place = walk.position - walk.position.mean(axis=1, keepdims=True)
    ms.tables.write_trc(tmp_path / "knee_flexion_r.trc", replace(walk, position=in_place))
    (draft,) = draft_folder(tmp_path, subject=SUBJECT).trials
    text = " ".join(draft.text.replace("\n#", "").split())
    assert "knee_flexion_r.trc seems to show how knee bend" not in text
    assert (
        "knee_flexion_r.trc seems to show how the knee bends" in text
        and "[joint_centers]" not in draft.text.splitlines()
    )


def test_an_exercise_of_the_knee_alone_is_the_motion(tmp_path: Path) -> None:
    ms.studies.synthetic_recording(tmp_path, truth=False).unlink()
    (tmp_path / "walk.trc").rename(tmp_path / "knee_flexion.trc")
    (draft,) = draft_folder(tmp_path, subject=SUBJECT).trials
    assert 'markers = "knee_flexion.trc"' in draft.text
