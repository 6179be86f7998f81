"""Markers of trunk, arms and head that are lost for long are completed; those of legs and pelvis are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.laboratory.markers.gaps.gap_filling import missing
from musclesolve.laboratory.markers.landmarks import bounding_markers, upper_markers
from tests.support.refusals import refused

EVER = (0.0, 10.0)


def recording(folder: Path, *gaps: tuple[str, float, float], **options: object) -> Path:
    return ms.studies.synthetic_recording(folder, truth=False, **{"gaps": gaps} | options)


def warned(path: Path) -> list[str]:
    report = ms.check(path)
    assert report.ok, str(report)
    return [finding.what for finding in report.findings if finding.code == "gap"]


def test_a_shoulder_that_is_lost_at_the_start_follows_the_trunk(tmp_path):
    whole = read_trial(recording(tmp_path / "whole"))
    path = recording(tmp_path / "lost", ("shoulder_center_r", 0.0, 1.0))
    trial = read_trial(path)
    assert trial.time_range == whole.time_range
    note = next(note for note in trial.notes if "shoulder_center_r" in note)
    assert note.startswith(
        "'shoulder_center_r' is missing from 0.4 to 1 s (61 frames): completed from the trunk"
    )
    off = (trial.markers["shoulder_center_r"] - whole.markers["shoulder_center_r"])[trial.frames()]
    assert np.linalg.norm(off, axis=1).max() < 0.05
    assert warned(path) == [note]


@pytest.mark.thorough
def test_an_arm_marker_that_is_never_seen_is_left_out_with_what_hangs_there(tmp_path):
    path = recording(tmp_path, ("elbow_lateral_l", *EVER))
    trial = read_trial(path)
    assert "elbow_lateral_l" not in trial.mapping and "elbow_lateral_r" in trial.mapping
    result = ms.run(trial)
    assert "The left arm: no markers, completed rigidly with the trunk." in result.attrs["completed"]
    assert any(
        note.startswith("'elbow_lateral_l' is never seen: elbow_lateral_l left out")
        for note in result.attrs["notes"]
    )
    assert not (result.status > ms.Status.SOLVED_WITH_RESERVE).any()
    assert len(warned(path)) == 1


@pytest.mark.parametrize(
    ("stem", "side"), [("shoulder_center", "r"), ("elbow_lateral", "l"), ("wrist", "r"), ("hand_radial", "l")]
)
def test_whatever_is_lost_above_the_hips_the_moments_of_the_legs_stay(tmp_path, side, stem):
    """Seen from the ground they do not depend on it, but for the pose that is nearest to all markers."""
    name = f"{stem}_{side}"
    trial = read_trial(recording(tmp_path, (name, *EVER)))
    assert name in " ".join(trial.notes)
    assert not missing(trial.markers.position[trial.frames()])[
        :, [trial.markers.names.index(n) for n in trial.used_markers]
    ].any()


@pytest.mark.parametrize("name", ["asis_r", "knee_lateral_l", "heel_r"])
def test_markers_of_legs_and_pelvis_are_not_completed(tmp_path, name):
    with refused("missing_samples", f"'{name}'"):
        read_trial(recording(tmp_path, (name, 0.5, 1.3)))


def test_shoulders_that_show_the_pelvis_are_needed(tmp_path):
    """The 23 points of the thesis: hips and shoulders show how the pelvis tilts."""
    trial = read_trial(recording(tmp_path, marker_set="silva_2003"))
    shoulders = {name for name in trial.used_markers if "shoulder" in name.casefold()}
    assert shoulders and shoulders <= set(bounding_markers(trial))
    assert set(bounding_markers(trial)) | set(upper_markers(trial)) == set(trial.used_markers)
