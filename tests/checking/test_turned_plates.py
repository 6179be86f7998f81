"""Horizontal forces turned by any angle are found with the angle, of one plate and of all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import musclesolve
from musclesolve.checking import Report, check
from musclesolve.recording import Trial
from musclesolve.runs import true_runs
from musclesolve.synthetic.copies import open_copy, write_copy

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def turned(trial: Path, degrees: float, sides: str, folder: Path, *, points: bool = False) -> Report:
    """Turn the forces to the left; the points as well, about the middle of each contact, if wanted."""
    copy, angle = open_copy(trial), np.radians(degrees)
    turn = np.array(
        [[np.cos(angle), np.sin(angle), 0.0], [-np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    )
    for plate in (plate for side in sides for plate in copy.plates(side)):  # type: ignore[arg-type]
        force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
        copy.set_plate(plate, "force", force @ turn)
        for first, stop in true_runs(force[:, 2] > 5.0) if points else []:
            middle = point[first:stop].mean(axis=0)
            point[first:stop] = (point[first:stop] - middle) @ turn + middle
        copy.set_plate(plate, "point", point)
    return check(write_copy(copy, folder))


@pytest.mark.parametrize("sides", ["l", "rl"])
@pytest.mark.parametrize("degrees", [-120.0, -15.0, 45.0])
def test_a_turn_is_found_with_its_angle(degrees: float, sides: str, tmp_path: Path) -> None:
    report = turned(STRIDE, degrees, sides, tmp_path)
    assert set(report.codes) == {"plate_axes"}, str(report)
    assert {f.where.plate for f in report.of("error")} == {{"r": "right", "l": "left"}[s] for s in sides}
    for finding in report.of("error"):
        told = re.search(r"turned by (\d+) degrees to the (\w+)", finding.what)
        assert told
        # Back again.
        assert int(told[1]) * (1 if told[2] == "right" else -1) == pytest.approx(degrees, abs=3.0)


@pytest.mark.parametrize(("degrees", "sides"), [(-8.0, "r"), (8.0, "rl")])
def test_a_small_turn_is_none(degrees: float, sides: str, tmp_path: Path) -> None:
    assert turned(STRIDE, degrees, sides, tmp_path).codes == ()


@pytest.mark.parametrize(("degrees", "sides"), [(-45.0, "r"), (20.0, "r"), (20.0, "rl")])
def test_a_turn_is_found_in_the_recorded_walk(
    degrees: float, sides: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    report = turned(recorded_walk_trial.path, degrees, sides, tmp_path)
    assert set(report.codes) == {"plate_axes"}, str(report)


@pytest.mark.parametrize("degrees", [90.0, 180.0])
def test_points_that_turn_with_the_plate_are_no_second_fault(degrees: float, tmp_path: Path) -> None:
    report = turned(STRIDE, degrees, "l", tmp_path, points=True)
    assert report.codes == ("plate_axes",), str(report)
