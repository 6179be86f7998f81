"""Markers of a treadmill that are turned about the vertical against its plates."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve.laboratory.checks.forces.plate_axes import drifting_points, turned_cameras
from musclesolve.laboratory.results.finding import Finding, Where
from tests.support.examined import loaded
from tests.support.recorded_data import recorded


@pytest.mark.parametrize("trial", ["treadmill_walk/p1/walk.toml", "treadmill_emg/s18/trial.toml"])
@pytest.mark.parametrize("degrees", [-6.0, 0.0, 4.0])
def test_turned_markers_on_belts(trial: str, degrees: float, tmp_path: Path) -> None:
    """Both feet roll inward by up to 6 degrees of the way of the belt; only what they share is an angle."""
    copy = TrialCopy(recorded(trial))
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    turn = np.array([[cosine, sine, 0.0], [-sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    copy.put(copy.walk.position @ copy.rotation.T @ turn @ copy.rotation)
    case = loaded(copy.write(tmp_path))
    said = [re.search(r"turned by ([-+.0-9]+) degrees", f.what) for f in turned_cameras(case)]
    assert len(said) == (len(case.trial.forces) if degrees else 0)
    assert all(found is not None and abs(float(found[1]) - degrees) < 1.5 for found in said)
    for found in list(turned_cameras(case)):
        case = case.repaired(found)
    assert not list(turned_cameras(case))


def test_late_points_on_belts_are_no_turned_markers(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_emg/s01/trial.toml"))
    late = round(0.04 / float(np.diff(copy.forces.time).mean()))
    copy.change_plates(["point"], lambda points: np.roll(points, late, axis=0))
    assert not list(turned_cameras(loaded(copy.write(tmp_path))))


@pytest.mark.parametrize("way", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.5, 0.6)])
def test_an_origin_that_drifts_is_named(way: tuple[float, float, float], tmp_path: Path) -> None:
    """Markers drift by 40 mm over a recording of 4 s; the repair leaves none of it."""
    copy = TrialCopy(recorded("treadmill_walk/p3/walk.toml"))
    passed = np.linspace(0.0, 0.04, len(copy.walk.time))[:, None, None]
    copy.put(copy.walk.position + passed * copy.in_file(way))
    case = loaded(copy.write(tmp_path))
    said = list(drifting_points(case))
    assert [each.code for each in said] == ["pressure_offset"] * any(way)
    for each in said:
        assert 25.0 < float(each.what.partition(": by ")[2].partition(" mm")[0]) < 45.0
        assert not list(drifting_points(case.repaired(each)))


def test_points_of_forces_that_lost_samples_do_not_drift(tmp_path: Path) -> None:
    """What follows a lost sample is early: points run ahead of both feet."""
    copy = TrialCopy(recorded("treadmill_walk/p3/walk.toml"))
    passed = np.linspace(0.0, 0.04, len(copy.walk.time))[:, None, None]
    copy.put(copy.walk.position + passed * copy.in_file((1.0, 0.0, 0.0)))
    case = loaded(copy.write(tmp_path))
    step = Finding("force_step", "warning", "", "", Where())
    assert list(drifting_points(case))
    assert not list(drifting_points(replace(case, findings=(step,))))
