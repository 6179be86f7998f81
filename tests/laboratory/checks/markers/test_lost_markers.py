"""A marker that no frame shows is named as such: no choice of a time range mends it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve.data import reference_stride
from musclesolve.studies import synthetic_recording


@pytest.mark.parametrize(("rows", "range_helps"), [(slice(None), False), (slice(60, 140), True)])
def test_a_range_is_proposed_where_one_helps(tmp_path: Path, rows: slice, range_helps: bool) -> None:
    copy = TrialCopy(synthetic_recording(tmp_path / "whole", truth=False))
    position = copy.walk.position.copy()
    position[rows, copy.walk.names.index("hip_center_l")] = np.nan
    copy.put(position)
    found = copy.examined(tmp_path / "lost").findings
    (gap,) = [each for each in found if each.code == "gap" and each.severity == "error"]
    assert "hip_center_l" in gap.what and ("[time]" in gap.remedy) == range_helps


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("one", "other", "cause"),
    [
        ("heel_r", "", "its positions are ten times too large"),
        ("asis_l", "", "its positions are ten times too large"),
        ("knee_lateral_l", "psis_r", "'psis_r' is there"),
        ("shoulder_r", "heel_l", "'heel_l' is there"),
    ],
)
def test_of_one_marker_elsewhere_no_other_finding_follows(
    one: str, other: str, cause: str, tmp_path: Path
) -> None:
    """A marker in another unit, or a copy of another one, spoils units, axes, sides, labels, gaps and contacts."""
    copy = TrialCopy(reference_stride())
    position, names = copy.walk.position.copy(), copy.walk.names
    own = names.index(one)
    position[:, own] = copy.walk[other] if other else 10.0 * position[:, own]
    copy.put(position)
    (astray,) = (f for f in copy.examined(tmp_path, costs=False).findings if f.severity != "note")
    assert (astray.code, astray.severity, astray.where.markers) == ("marker_moved", "error", (one,))
    assert cause in astray.what
