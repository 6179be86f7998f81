"""Rows of markers in another order than they were recorded are named and put in order; lost rows are something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve._util.arrays import Array
from musclesolve.laboratory.checks.files.times_units_axes import lost_frames
from tests.support.examined import loaded
from tests.support.recorded_data import recorded


def _reversed(position: Array) -> Array:
    return np.concatenate([position[:40], position[40:55][::-1], position[55:]])


def _exchanged(position: Array) -> Array:
    return np.concatenate([position[:40], position[60:75], position[40:60], position[75:]])


def _pairs_exchanged(position: Array) -> Array:
    changed = position.copy()
    for row in range(5, len(position) - 2, 13):
        changed[[row, row + 1]] = changed[[row + 1, row]]
    return changed


@pytest.mark.parametrize("trial", ["instrumented_knee/walk_ss1.toml", "treadmill_walk/p3/walk.toml"])
@pytest.mark.parametrize("change", [_reversed, _exchanged, _pairs_exchanged])
def test_rows_in_another_order(trial: str, change: Callable[[Array], Array], tmp_path: Path) -> None:
    copy = TrialCopy(recorded(trial))
    right = copy.walk.position
    copy.put(change(right))
    case = loaded(copy.write(tmp_path))
    (found,) = lost_frames(case)
    assert "in another order" in found.what
    even = case.repaired(found).trial.markers.position
    np.testing.assert_allclose(even, right @ copy.rotation.T, atol=2e-5)


@pytest.mark.parametrize("lost", [0, 5])
def test_rows_in_their_order(lost: int, tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_walk/p3/walk.toml"))
    copy.put(
        np.concatenate(
            [copy.walk.position[: 50 - lost], copy.walk.position[50:], copy.walk.position[:lost] * np.nan]
        )
    )
    assert not any("in another order" in found.what for found in lost_frames(loaded(copy.write(tmp_path))))


def test_rows_in_another_order_are_no_moved_cameras(tmp_path: Path) -> None:
    copy, rows = TrialCopy(recorded("instrumented_knee/walk_ss9.toml")), np.arange(130)
    rows[52:92] = np.roll(rows[52:92], 20)
    copy.put(copy.walk.position[rows])
    errors = [found.code for found in copy.examined(tmp_path).findings if found.severity == "error"]
    assert errors == ["frames_skipped"]
