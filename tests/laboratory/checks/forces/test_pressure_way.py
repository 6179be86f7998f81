"""Points of force that lie too near the middle of their plate travel a short way under the foot."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_data import recorded
from trial_copy import TrialCopy

from musclesolve.studies.synthetic.places import plate_middles


def ways(copy: TrialCopy, sides: str, factor: float, folder: Path, code: str = "pressure_way") -> list[str]:
    """The plates with a finding after the points of some plates were scaled about the middle of each contact."""
    for plate in (plate for side in sides for plate in copy.plates(side)):
        point = copy.plate(plate, "point")
        middle = plate_middles(copy.plate(plate, "force")[:, 2], point)
        copy.set_plate(plate, "point", middle + factor * (point - middle))
    findings = copy.examined(folder).findings
    return sorted(str(each.where.plate) for each in findings if each.code == code)


@pytest.mark.parametrize(
    ("factor", "is_found"), [(0.5, True), (0.85, False), (1.0, False), (1.3, True), (1.7, True)]
)
def test_the_way_of_scaled_points(factor: float, is_found: bool, tmp_path: Path) -> None:
    assert ways(TrialCopy(), "rl", factor, tmp_path) == ["left", "right"] * is_found


@pytest.mark.parametrize(("side", "factor"), [("r", 1.3), ("l", 0.7)])
def test_balance_and_foot_show_the_way_of_one_plate(side: str, factor: float, tmp_path: Path) -> None:
    found = ways(TrialCopy(), side, factor, tmp_path)
    assert found == [{"r": "right", "l": "left"}[side]]


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.3])
def test_the_way_on_a_treadmill(factor: float, tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_emg/s01") / "trial.toml")
    assert ways(copy, "l", factor, tmp_path) == ["left"] * (factor != 1.0)


@pytest.mark.parametrize(
    ("factor", "code"), [(0.0, "frozen"), (1.0, "frozen"), (1.0, "pressure_way"), (2.0, "pressure_way")]
)
def test_the_part_of_a_contact_shows_a_pressure_that_rests_or_goes_too_far(
    factor: float, code: str, tmp_path: Path
) -> None:
    """The right foot leaves this plate while it is loaded."""
    copy = TrialCopy(recorded("instrumented_knee") / "walk_ss1.toml")
    assert bool(ways(copy, "r", factor, tmp_path, code)) == (factor != 1.0)
