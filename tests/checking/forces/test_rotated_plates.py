"""Horizontal forces rotated by any angle are found with the angle, of one plate and of all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from other_walks import rotate_plates
from trial_copy import TrialCopy

import musclesolve
from musclesolve.files import Trial

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
