"""The knee adduction moment beside that of a commercial program, on two people on a treadmill."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from recorded_data import recorded

import musclesolve as ms


@pytest.mark.in_part(2)
@pytest.mark.parametrize("person", ["p1", "p3"])
def test_the_knee_adduction_moment_is_near_that_of_a_commercial_program(person):
    """The program's moment is internal; its axes of the shank come from the markers in another way."""
    walk = recorded("treadmill_walk") / person
    result, reference = ms.run(walk / "walk.toml"), pd.read_csv(walk / "reference.csv")
    for side in "rl":
        own = result["knee_adduction_moment"].sel(side=side).values / result.attrs["subject_mass_kg"]
        time = reference["time_s"]
        other = -np.interp(result["time"].values, time, reference[f"knee_{side}_moment_y_Nm_per_kg"])
        there = np.isfinite(own) & (result["time"].values < time.iloc[-1])
        assert np.corrcoef(own[there], other[there])[0, 1] > 0.95
        assert np.sqrt(np.mean((own - other)[there] ** 2)) < 0.2
