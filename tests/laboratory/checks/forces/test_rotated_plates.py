"""Horizontal forces rotated by any angle are found with the angle, of one plate and of all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from other_walks import rotate_plates
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory import Trial

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def rotated(trial: Path, degrees: float, sides: str, folder: Path, *, points: bool = False):
    copy = TrialCopy(trial)
    rotate_plates(copy, degrees, sides, points=points)
    return copy.examined(folder)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("degrees", "sides"), [(-120.0, "l"), (-15.0, "rl"), (-35.0, "l"), (45.0, "rl")])
def test_a_rotation_is_found_with_its_angle(degrees: float, sides: str, tmp_path: Path) -> None:
    report = rotated(STRIDE, degrees, sides, tmp_path)
    assert set(report.codes) == {"plate_axes"}, str(report)
    assert {f.where.plate for f in report.of("error")} == {{"r": "right", "l": "left"}[s] for s in sides}
    for finding in report.of("error"):
        found = re.search(r"rotated by (\d+) degrees to the (\w+)", finding.what)
        assert found
        # Back again.
        assert int(found[1]) * (1 if found[2] == "right" else -1) == pytest.approx(degrees, abs=3.0)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("degrees", "sides"), [(-5.0, "r"), (5.0, "rl")])
def test_a_small_rotation_is_none(degrees: float, sides: str, tmp_path: Path) -> None:
    assert rotated(STRIDE, degrees, sides, tmp_path).codes == ()


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("degrees", "sides"), [(-45.0, "r"), (20.0, "rl"), (15.0, "rl"), (-15.0, "r")])
def test_a_rotation_is_found_in_the_recorded_walk(
    degrees: float, sides: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    report = rotated(recorded_walk_trial.path, degrees, sides, tmp_path)
    assert set(report.codes) == {"plate_axes"}, str(report)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("degrees", [90.0, 180.0])
def test_points_that_rotate_with_the_plate_are_no_second_fault(degrees: float, tmp_path: Path) -> None:
    report = rotated(STRIDE, degrees, "l", tmp_path, points=True)
    assert report.codes == ("plate_axes",), str(report)


@pytest.mark.parametrize("degrees", [-4.0, 0.0, 3.0])
def test_markers_turned_against_the_plates(
    degrees: float, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    about_up = np.array([[cosine, 0.0, -sine], [0.0, 1.0, 0.0], [sine, 0.0, cosine]])
    middle = np.nanmean(copy.walk.position, axis=(0, 1))
    copy.put(middle + (copy.walk.position - middle) @ about_up)
    found = [entry for entry in copy.examined(tmp_path).findings if entry.code == "plate_axes"]
    angles = [float(number[1]) for entry in found if (number := re.search(r"by (\S+) degrees", entry.what))]
    assert angles == pytest.approx([degrees] * len(angles), abs=0.5)
    assert len(angles) == (2 if degrees else 0)
    assert "pressure_offset" not in copy.examined(tmp_path).codes
