"""Points of force that lie too near the middle of their plate travel a short way under the foot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined

from musclesolve.data import reference_stride
from musclesolve.synthetic.trial_copy import open_copy, write_copy


@pytest.mark.parametrize(("factor", "is_found"), [(0.5, True), (0.85, False), (1.0, False), (1.7, True)])
def test_the_way_of_scaled_points(factor: float, is_found: bool, tmp_path: Path) -> None:
    copy = open_copy(reference_stride())
    for side in "rl":
        plate = copy.plates(side)[0]
        point = copy.plate(plate, "point")
        middle = np.nanmedian(point, axis=0)
        copy.set_plate(plate, "point", middle + factor * (point - middle))
    found = [each for each in examined(write_copy(copy, tmp_path)).findings if each.code == "pressure_way"]
    assert len(found) == 2 * is_found
