"""The made study of insoles is usable throughout, and its planted difference is the size that statics gives."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from said import judgement

import musclesolve as ms

MAKE = Path(__file__).parents[2] / "examples" / "study" / "make_insole_study.py"


@pytest.mark.thorough
def test_insoles_lower_the_knee_adduction_moment(tmp_path):
    made = runpy.run_path(str(MAKE))
    made["write_trial"](tmp_path / "shoe", 70.0, 1.75, {"right": 0.0, "left": 0.0}, 1)
    made["write_trial"](tmp_path / "wedge", 70.0, 1.75, {"right": 0.007, "left": 0.007}, 1)
    shoe, wedge = (ms.run(tmp_path / name / "trial.toml") for name in ("shoe", "wedge"))
    for result in (shoe, wedge):
        assert judgement(result).verdict == "usable"
    for side in ("r", "l"):
        lower, force = (
            each.sel(side=side).values
            for each in (
                wedge["knee_adduction_moment"] - shoe["knee_adduction_moment"],
                shoe["ground_reaction_force"].sel(axis="z"),
            )
        )
        stance = force > 200.0
        np.testing.assert_allclose(lower[stance], -0.007 * force[stance], rtol=0.05, atol=0.25)
