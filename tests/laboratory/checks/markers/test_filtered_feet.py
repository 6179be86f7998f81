"""Markers of one foot that were filtered more than the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined
from trial_copy import TrialCopy

from musclesolve.dynamics import low_pass
from musclesolve.laboratory import Trial


@pytest.mark.parametrize(("cutoff", "found"), [(2.0, True), (3.0, True), (6.0, False)])
def test_a_foot_that_was_filtered_too_much_is_found(
    cutoff: float, found: bool, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded_walk_trial.path)
    for part in ("heel", "toe", "metatarsal_5"):
        marker = copy.marker(f"{part}_r")
        path = copy.walk[marker]
        assert np.isfinite(path).all()
        copy.move(marker, slice(None), low_pass(path, copy.walk.rate, cutoff) - path)
    said = [each for each in examined(copy.write(tmp_path)).findings if each.code == "over_filtered"]
    assert ["right foot" in each.what for each in said] == [True] * found
