"""Markers that run backward in time are named; a walk backward is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from tests.support.recorded_data import recorded


@pytest.mark.parametrize("trial", ["instrumented_knee/walk_ss1.toml", "treadmill_walk/p3/walk.toml"])
@pytest.mark.parametrize(("of_markers", "of_forces"), [(1, 1), (-1, 1), (-1, -1)])
def test_frames_in_reverse_order(trial: str, of_markers: int, of_forces: int, tmp_path: Path) -> None:
    """With forces in reverse order, too, the recording is one of a walk backward."""
    copy = TrialCopy(recorded(trial))
    copy.put(copy.walk.position[::of_markers])
    for plate in copy.plates():
        for role in ("force", "point", "moment"):
            copy.set_plate(plate, role, np.ascontiguousarray(copy.plate(plate, role)[::of_forces]))
    found = copy.examined(tmp_path)
    backward = [f.what for f in found.findings if f.code == "time_offset"]
    assert len(backward) == (of_markers != of_forces) and all(
        "run backward in time" in what for what in backward
    )
