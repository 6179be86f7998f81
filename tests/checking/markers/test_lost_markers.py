"""A marker that no frame shows is named as such: no choice of a time range mends it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve import synthetic_recording


@pytest.mark.parametrize(("rows", "range_helps"), [(slice(None), False), (slice(60, 140), True)])
def test_a_range_is_proposed_where_one_helps(tmp_path: Path, rows: slice, range_helps: bool) -> None:
    copy = TrialCopy(synthetic_recording(tmp_path / "whole", truth=False))
    position = copy.walk.position.copy()
    position[rows, copy.walk.names.index("hip_center_l")] = np.nan
    copy.put(position)
    found = copy.examined(tmp_path / "lost").findings
    (gap,) = [each for each in found if each.code == "gap" and each.severity == "error"]
    assert "hip_center_l" in gap.what and ("[time]" in gap.remedy) == range_helps
