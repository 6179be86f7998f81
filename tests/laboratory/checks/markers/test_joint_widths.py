"""Knees of unequal width between their markers: the one that is off, what it costs, and a remedy that works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined
from thorough import some
from trial_copy import TrialCopy

from musclesolve.laboratory import Trial

MARKERS = {"r": ("R.Knee", "R.MKnee"), "l": ("L.Knee", "L.MKnee")}


def set_width(copy: TrialCopy, side: str, width: float) -> None:
    lateral, medial = (np.nanmean(copy.static[name], axis=0) for name in MARKERS[side])
    line = medial - lateral
    by = width - np.linalg.norm(line)
    copy.move(MARKERS[side][1], slice(None), by * line / np.linalg.norm(line), static=True)


def widths_found(trial: Path):
    return [finding for finding in examined(trial).findings if finding.code == "joint_width"]


@pytest.mark.parametrize(
    ("widths", "caliper", "side"),
    [
        *some([({"r": 0.102}, None, "r"), ({"l": 0.078}, None, "l"), ({"r": 0.160}, None, "r")], 3),
        ({"l": 0.115}, None, ""),  # both of them are usual at this stature
        *some([({"l": 0.115}, 0.119, "l"), ({"l": 0.115}, 0.100, "r")], 2),
        ({"r": 0.102, "l": 0.078}, None, ""),  # both are narrower than bones
        ({"r": 0.200, "l": 0.200}, None, ""),  # alike, but wider than anybody's
    ],
)
def test_the_knee_that_is_off_is_named_with_its_cost_and_the_remedy_works(
    widths: dict[str, float], caliper: float | None, side: str, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    for each, width in widths.items():
        set_width(copy, each, width)
    if caliper is not None:
        copy.set_key("subject", "knee_width_m", str(caliper))
    (found,) = widths_found(copy.write(tmp_path / "spoilt"))
    assert found.side == side and found.severity == "warning"
    concerned = [name for each in ([side] if side else "rl") for name in MARKERS[each]]
    assert set(found.where.markers) == set(concerned)
    assert found.cost is not None and found.cost.size > 1.0
    assert ("knee_width_m;" in found.remedy) == (caliper is None)
    # As the remedy says: "the left one 55 mm away from the lateral marker".
    words = found.remedy.partition("line between both: ")[2].partition(", or")[0].split(" and ")
    for move in words:
        _, name, _, size, _, way, *_ = move.split()
        each = name[0]
        now = np.subtract(*(np.nanmean(copy.static[marker], axis=0) for marker in MARKERS[each]))
        set_width(copy, each, np.linalg.norm(now) + 0.001 * float(size) * (1.0 if way == "away" else -1.0))
    assert not widths_found(copy.write(tmp_path / "mended"))
