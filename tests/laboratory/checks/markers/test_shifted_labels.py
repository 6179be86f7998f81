"""Labels that stand one column beside their markers are named as that, with the first and the last of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from recorded_data import recorded
from trial_copy import TrialCopy

from musclesolve.data import reference_stride

P1 = Path("treadmill_walk", "p1", "walk.toml")


@pytest.mark.parametrize("role", ["walk", "static"])
@pytest.mark.parametrize("first", [0, 19])
def test_labels_beside_their_markers_are_one_finding(role: str, first: int, tmp_path: Path) -> None:
    copy = TrialCopy(reference_stride())
    markers = getattr(copy, role)
    names = markers.names[:first] + markers.names[first + 1 :] + markers.names[first : first + 1]
    setattr(copy, role, replace(markers, names=names))
    found = [each for each in copy.examined(tmp_path, costs=False).findings if each.severity != "note"]
    assert [each.code for each in found] == ["labels_exchanged"]
    assert f"from {names[first]} to {names[-1]} stand one column before" in found[0].what


def test_a_motion_without_a_standing_trial_shows_it(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_walk").parent / P1)
    copy.walk = replace(copy.walk, names=(copy.walk.names[-1], *copy.walk.names[:-1]))
    report = copy.examined(tmp_path, costs=False)
    assert any(
        each.code == "labels_exchanged" and "one column after" in each.what for each in report.findings
    )
