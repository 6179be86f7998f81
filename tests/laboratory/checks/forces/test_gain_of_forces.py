"""Accelerations and forces of another size, and scales whose error is large, but small against their size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from trial_copy import TrialCopy

from musclesolve.laboratory.checks.forces.plate_balance import BalanceTerm, Observed, accusations


def scaled_clocks(copy: TrialCopy, rate: float) -> TrialCopy:
    for part in ("walk", "forces"):
        recorded = getattr(copy, part)
        setattr(copy, part, replace(recorded, time=rate * recorded.time))
    for key in ("start_s", "end_s"):
        if (value := getattr(copy.settings.time, key)) is not None:
            copy.set_key("time", key, f"{rate * value:.4f}")
    return copy


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_rates_far_off_are_no_fault_of_the_mass(tmp_path: Path, rate: float) -> None:
    copy = scaled_clocks(TrialCopy(recorded("treadmill_walk") / "p1" / "walk.toml"), rate)
    codes = {finding.code for finding in copy.examined(tmp_path, costs=False).findings}
    assert "unbalanced" in codes and "mass" not in codes


@pytest.mark.parametrize(("rate", "found"), [(0.9, True), (1.0, False), (1.1, True)])
def test_both_clocks_scale_the_accelerations(tmp_path: Path, rate: float, found: bool) -> None:
    """Accelerations go with the square of a rate that markers and plates share, and the weight stays."""
    copy = scaled_clocks(TrialCopy(), rate)
    codes = {finding.code for finding in copy.examined(tmp_path, costs=False).findings}
    assert ("unbalanced" in codes) == found


@pytest.mark.parametrize(("size", "found"), [(0.14, False), (0.25, True)])
def test_a_scale_of_five_standard_errors_is_shown(size: float, found: bool) -> None:
    """A single step shows the scale of a plate to 4.6 %: 25 % are clear, 14 % are not."""
    effect = np.array([[1.0 / 0.046]])
    terms = {
        name: BalanceTerm(by * effect, np.array([0.012])) for name, by in (("scale 0", 1.0), ("mass", 0.0))
    }
    observed = Observed(effect[:, 0] * size, terms, np.ones(6), np.eye(3), False)
    assert bool(accusations(observed, ["scale 0"])) == found


@pytest.mark.parametrize(("markers", "forces"), [("ss1", "ss9"), ("ss9", "ss1")])
def test_forces_of_another_walk_of_the_same_person_are_named(
    markers: str, forces: str, tmp_path: Path
) -> None:
    """They change a muscle force by 1.4 kN, and seemed to be plates 100 mm off their place."""
    copy, other = (
        TrialCopy(recorded("instrumented_knee") / f"walk_{name}.toml") for name in (markers, forces)
    )
    copy.forces = other.forces
    first = copy.examined(tmp_path, costs=False)
    error = next(finding for finding in first.findings if finding.code == "another_motion")
    assert error.severity == "error" and min(first.findings, key=lambda f: f.urgency) == error


def test_points_off_the_feet_alone_are_no_other_motion(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("instrumented_knee") / "walk_ss1.toml")
    copy.change_plates(["point"], lambda point: np.array([0.08, 0.0, 0.0]) + point)
    codes = {finding.code for finding in copy.examined(tmp_path, costs=False).findings}
    assert "pressure_offset" in codes and "another_motion" not in codes
