"""Maximum isometric forces that no human muscle has."""

from __future__ import annotations

import numpy as np
import pytest

import muscle_db
from musclesolve.muscles.strength import strength_warnings


@pytest.mark.parametrize("name", muscle_db.available())
def test_bundled_sets_are_those_of_people_and_not_in_another_unit(name: str) -> None:
    muscles = muscle_db.load(name)
    names, force = [muscle.name for muscle in muscles], np.array([m.max_isometric_force for m in muscles])
    assert strength_warnings(names, force) == []
    assert strength_warnings(names, 3.0 * force) == []  # a strong person
    (sentence,) = strength_warnings(names, 1000.0 * force)
    assert names[int(force.argmax())] in sentence


def test_a_single_muscle_is_named() -> None:
    (sentence,) = strength_warnings(["soleus_r", "tibant_r"], np.array([3549.0, 905e3]))
    assert "tibant_r" in sentence and "soleus_r" not in sentence
