"""Weights of points that are not measured are refused with their place."""

import numpy as np
import pytest

from musclesolve.dynamics import Targets, human_model
from musclesolve.errors import InputError


def test_weight_of_a_point_that_is_not_measured() -> None:
    model = human_model(mass=70.0, stature=1.75, sex="male")
    with pytest.raises(InputError) as refused:
        Targets.build(model, {"knee_r": np.zeros((3, 3))}, {}, {"nose": 2.0})
    assert (refused.value.code, refused.value.where) == ("unknown_name", "weights")
    assert refused.value.expected == "one of knee_r" and refused.value.remedy
