"""Markers that come later than those beside them, and all markers that are displaced from one frame to the next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory.checks.markers.trajectories import _late, bumped_cameras
from tests.support.examined import loaded
from tests.support.recorded_data import recorded

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"
FOOT = ("ankle_lateral", "ankle_medial", "heel", "toe", "metatarsal_5")


def delayed(parts: tuple[str, ...], frames: int) -> TrialCopy:
    copy = TrialCopy(recorded("treadmill_walk/p3/walk.toml"))
    column = [
        copy.walk.names.index(m) for part in parts for m in copy.mapping.get(part, ()) if m in copy.walk
    ]
    position = copy.walk.position.copy()
    position[frames:, column] = position[:-frames, column]
    copy.put(position)
    return copy


@pytest.mark.parametrize("parts", [("ankle_medial_l",), ("knee_lateral_r",), tuple(f"{k}_l" for k in FOOT)])
@pytest.mark.parametrize("frames", [2, 4])
def test_late_markers_are_named(parts: tuple[str, ...], frames: int, tmp_path: Path) -> None:
    """Two or four frames at 120 Hz; shifted back, nothing else is said about distances."""
    copy = delayed(parts, frames)
    (said,) = (f for f in copy.examined(tmp_path).findings if f.code == "segment_length")
    late = {m for part in parts for m in copy.mapping.get(part, ())} & {*copy.walk.names}
    assert {*said.where.markers} == late and " late " in said.what
    assert float(said.what.partition(" are ")[2].partition(" ms")[0]) == pytest.approx(frames / 0.12, abs=3.0)


def test_skin_that_is_late_on_both_knees_is_skin() -> None:
    """A marker that comes late alone is named, not the pair of twins."""
    case = loaded(recorded("treadmill_walk/p3/walk.toml"))
    markers, names = case.trial.markers, [next(iter(case.trial.mapping[f"knee_lateral_{s}"])) for s in "rl"]
    position = markers.position.copy()
    for count, name in enumerate(names, 1):
        column = markers.names.index(name)
        position[4:, column] = position[:-4, column]
        said = list(_late(replace(case.trial, markers=replace(markers, position=position.copy()))))
        assert len(said) == 2 - count


def test_less_than_a_step_shows_no_late_marker() -> None:
    trial = loaded(recorded("instrumented_knee/walk_ss1.toml")).trial
    assert not list(_late(replace(trial, time_range=(0.31, 0.99))))


def test_skin_is_not_late(tmp_path: Path) -> None:
    case = loaded(recorded("treadmill_walk/p3/walk.toml"))
    assert not list(_late(case.trial))


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_bumped_cameras_are_no_lost_frames(share: float, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    position, first = copy.walk.position.copy(), copy.frame(share)
    position[first:] += copy.in_file((0.012, 0.004, 0.0))
    copy.put(position)
    report = copy.examined(tmp_path)
    (said,) = (f for f in report.findings if f.code == "leap")
    assert "all markers" in said.what and "13 mm" in said.what and "frames_skipped" not in report.codes
    case = loaded(tmp_path / "trial.toml")
    (bumped,) = bumped_cameras(case)
    moved = case.repaired(bumped).trial.markers.position - case.trial.markers.position
    assert np.abs(moved[:first]).max() < 1e-9 and np.linalg.norm(moved[first:], axis=2).min() > 0.011


def test_lost_frames_are_no_bumped_cameras(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    position, first = copy.walk.position.copy(), copy.frame(0.4)
    position[first:-2] = position[first + 2 :]
    copy.put(position)
    copy.examined(tmp_path)
    case = loaded(tmp_path / "trial.toml")
    assert not list(bumped_cameras(case))
