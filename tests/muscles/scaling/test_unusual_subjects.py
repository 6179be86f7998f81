"""Bundled sets on people of any size: every muscle finds its lengths, and works where muscles work in walking."""

from __future__ import annotations

import numpy as np
import pytest

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles import scale_muscles

WIDE = {"hip_r": np.array([0.0, -0.12, 0.0]), "hip_l": np.array([0.0, 0.12, 0.0])}
"""Half as wide again as in the sets, where the gluteus maximus passes its cylinder on either side."""
SUBJECTS = {
    "adult": human_model(),
    "child": human_model(16.0, 1.0),
    "giant": human_model(110.0, 2.1),
    "wide hips": human_model(90.0, 1.6, "female", offsets=WIDE),
    "long thighs": human_model(offsets={f"knee_{side}": np.array([0.0, 0.0, -0.48]) for side in "rl"}),
}


@pytest.mark.parametrize("rule", ["operating_range", "standing"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_muscles_of_the_source_are_placed_by_either_rule(subject, rule):
    leg = scale_muscles(SUBJECTS[subject], muscle_db.load("silva_2003"), "l", fiber_lengths=rule)
    muscles = leg.parameters
    assert (muscles.optimal_fiber_length > 0.0).all() and (muscles.tendon_slack_length >= 0.0).all()
    assert np.isfinite(muscles.max_isometric_force).all()
