"""Markers and plates are of one trial, plates have numbers under the foot, and a shoe has the mass of a shoe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from trial_copy import TrialCopy

from musclesolve.data import reference_stride


def test_a_standing_trial_named_as_the_motion_is_named(tmp_path: Path) -> None:
    """What would follow from it, such as plates beside the feet, is not said."""
    copy, rng = TrialCopy(reference_stride()), np.random.default_rng(1)
    position = copy.walk.position
    copy.put(position[:1] + 0.0005 * rng.standard_normal(position.shape))
    errors = copy.examined(tmp_path).of("error")
    assert [each.code for each in errors] == ["another_trial"], errors
    assert "as static" in errors[0].remedy and errors[0].cost is None


def test_a_subject_who_stands_on_both_plates_steps_nowhere(tmp_path: Path) -> None:
    copy, rng = TrialCopy(reference_stride()), np.random.default_rng(1)
    position = copy.walk.position
    copy.put(position[:1] + 0.0005 * rng.standard_normal(position.shape))
    for plate in copy.plates():
        force = copy.plate(plate, "force")
        copy.set_plate(plate, "force", np.broadcast_to(0.5 * force.max(axis=0), force.shape))
    assert "another_trial" not in copy.examined(tmp_path).codes


@pytest.mark.parametrize("name", ["treadmill_walk/p1/walk.toml", "treadmill_walk/p3/walk.toml"])
def test_numbers_of_a_plate_that_are_missing_under_the_foot_are_a_warning(name: str, tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_walk").parent / name)
    copy.lines = [line for line in copy.lines if not line.startswith(("[time]", "start_s", "end_s"))]
    (plate,) = copy.plates("l")
    loaded = np.abs(copy.plate(plate, "force")).max(axis=1) > 15.0
    point = copy.plate(plate, "point")
    half = loaded & (np.arange(len(point)) < 0.5 * len(point))
    for missing, is_found in ((half, False), (loaded, True)):
        copy.set_plate(plate, "point", np.where(missing[:, None], np.nan, point))
        report = copy.examined(tmp_path, costs=False)
        found = [each for each in report.of("warning") if each.code == "plate_channel"]
        assert len(found) == is_found and all("it measures no contact" in each.what for each in found)


@pytest.mark.parametrize(("mass", "severity"), [(0.4, []), (1.5, ["warning"]), (3.5, ["error"])])
def test_the_mass_of_a_shoe_is_as_grave_as_its_effect(
    mass: float, severity: list[str], tmp_path: Path
) -> None:
    copy = TrialCopy(reference_stride())
    copy.set_key("subject", "shoe_mass_kg", repr(mass))
    found = [each for each in copy.examined(tmp_path).findings if each.code == "unusual_value"]
    assert [each.severity for each in found] == severity
    assert all(each.cost is not None and each.cost.unit == "N m" for each in found)
