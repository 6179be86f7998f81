"""Knees whose markers show another axis than the one about which the shank swings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined
from scipy.spatial.transform import Rotation
from trial_copy import TrialCopy

import musclesolve as ms


@pytest.mark.parametrize(
    ("side", "degrees", "way"), [("r", 18.0, "behind"), ("l", 18.0, "ahead of"), ("l", 0.0, "")]
)
def test_a_knee_axis_turned_about_the_thigh_is_found(
    side: str, degrees: float, way: str, tmp_path: Path
) -> None:
    copy = TrialCopy(ms.data.reference_stride())
    pair = [copy.marker(f"knee_{place}_{side}") for place in ("lateral", "medial")]
    turn = Rotation.from_rotvec(copy.in_file((0.0, 0.0, -np.radians(degrees)))).as_matrix()
    for static in (False, True) if copy.static is not None else (False,):
        markers = copy.static if static else copy.walk
        middle = 0.5 * (markers[pair[0]] + markers[pair[1]])
        for name in pair:
            away = markers[name] - middle
            copy.move(name, slice(None), away @ turn.T - away, static=static)
    found = [each for each in examined(copy.write(tmp_path / "turned")).findings if each.code == "knee_axis"]
    assert [way in each.what and each.where.markers == tuple(pair) for each in found] == [True] * bool(way)
