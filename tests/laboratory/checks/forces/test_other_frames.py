"""Markers and points of force in other frames: the way of a belt added to one, or points behind the heel."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial_copy import TrialCopy

from musclesolve.data import reference_stride


@pytest.mark.parametrize("speed", [1.2, -1.2])
def test_the_way_of_a_belt_in_the_markers_alone_is_named(speed: float, tmp_path: Path) -> None:
    copy = TrialCopy(reference_stride())
    way = (copy.walk.time - copy.walk.time[0])[:, None] * copy.in_file((speed, 0.0, 0.0))
    copy.put(copy.walk.position + way[:, None])
    found = [each for each in copy.examined(tmp_path, costs=False).findings if each.severity == "error"]
    assert [each.code for each in found] == ["pressure_offset"]
    assert f"({speed:+.0f}." in found[0].what and "the way of a belt" in found[0].what
