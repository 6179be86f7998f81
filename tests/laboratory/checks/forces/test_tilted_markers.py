"""Markers that are tilted against the plates are named by the ground under loaded feet; lost samples by a step."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.spatial.transform import Rotation
from trial_copy import TrialCopy

from musclesolve.laboratory.checks.forces.newtons_law import early_or_late, tilted_markers
from musclesolve.laboratory.results.finding import Where, finding
from tests.support.examined import loaded
from tests.support.recorded_data import recorded

WALK = "instrumented_knee/walk_ss1.toml"


@pytest.mark.parametrize("degrees", [-4.0, -2.0, 0.0, 2.0, 4.0])
def test_the_ground_under_loaded_feet_shows_a_tilt(degrees: float, tmp_path: Path) -> None:
    copy = TrialCopy(recorded(WALK))
    turn = Rotation.from_euler("y", degrees, degrees=True).as_matrix()
    for static in (False, True):
        markers = copy.static if static else copy.walk
        copy.put(markers.position @ copy.rotation.T @ turn.T @ copy.rotation, static=static)
    case = loaded(copy.write(tmp_path))
    said = [*tilted_markers(case)]
    assert len(said) == (degrees != 0.0)
    for found in said:
        assert float(found.what.split(" by ")[1].split(" degrees")[0]) == pytest.approx(abs(degrees), abs=0.7)
        assert not [*tilted_markers(case.repaired(found))]


def test_early_forces_after_a_step_are_lost_samples() -> None:
    case = loaded(recorded(WALK))
    step = finding(
        "force_step",
        "warning",
        {"size": 100.0, "at": 1.0, "others": 4.0, "more": ""},
        Where(case.trial.forces[0].path, times=((0.999, 1.0),)),
    )
    assert "either samples are missing there" in early_or_late(case.with_findings([step]), -0.03).what
    assert "samples are missing" not in early_or_late(case.with_findings([step]), 0.03).what
    assert early_or_late(case, -0.03).change
