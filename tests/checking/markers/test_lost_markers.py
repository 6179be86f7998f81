"""A marker that no frame shows is named as such: no choice of a time range mends it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined

from musclesolve import synthetic_recording
from musclesolve.synthetic.trial_copy import open_copy, write_copy


@pytest.mark.parametrize(("rows", "range_helps"), [(slice(None), False), (slice(60, 140), True)])
def test_a_range_is_proposed_where_one_helps(tmp_path: Path, rows: slice, range_helps: bool) -> None:
    copy = open_copy(synthetic_recording(tmp_path / "whole", truth=False))
    position = copy.walk.position.copy()
    position[rows, copy.walk.names.index("hip_center_l")] = np.nan
    copy.put(position)
    found = examined(write_copy(copy, tmp_path / "lost")).findings
    (gap,) = [each for each in found if each.code == "gap" and each.severity == "error"]
    assert "hip_center_l" in gap.what and ("[time]" in gap.remedy) == range_helps
