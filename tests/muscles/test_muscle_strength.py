"""Parameters that no human muscle has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import muscle_db
from musclesolve.muscles import MuscleParameters
from musclesolve.muscles.strength import parameter_warnings


def of_set(name: str) -> MuscleParameters:
    muscles = list(muscle_db.load(name))
    values = [[m.max_isometric_force, m.optimal_fiber_length, m.tendon_slack_length] for m in muscles]
    return MuscleParameters.from_values([m.name for m in muscles], "silva_2003", *np.array(values).T)


@pytest.mark.parametrize("name", muscle_db.available())
def test_bundled_sets_are_of_people_and_not_in_another_unit(name: str) -> None:
    muscles = of_set(name)
    force, fiber = muscles.max_isometric_force, muscles.optimal_fiber_length
    assert parameter_warnings([muscles]) == []
    assert parameter_warnings([replace(muscles, max_isometric_force=3.0 * force)]) == []  # a strong person
    for factor in (1000.0, 0.001):  # in mN, in kN
        (sentence,) = parameter_warnings([replace(muscles, max_isometric_force=factor * force)])
        assert muscles.names[int(force.argmax())] in sentence
    for factor in (100.0, 1000.0):  # in cm, in mm
        (sentence,) = parameter_warnings([replace(muscles, optimal_fiber_length=factor * fiber)])
        assert muscles.names[int(fiber.argmax())] in sentence


def test_a_single_muscle_is_named() -> None:
    muscles = MuscleParameters.from_values(["soleus_r", "tibant_r"], "silva_2003", [3549.0, 905e3], 0.05, 0.2)
    (sentence,) = parameter_warnings([muscles])
    assert "tibant_r" in sentence and "soleus_r" not in sentence


@pytest.mark.parametrize("factor", [1000.0, 0.001])
def test_both_legs_in_another_unit_are_one_sentence(factor: float) -> None:
    legs = [
        MuscleParameters.from_values(
            [f"soleus_{side}", f"tibant_{side}"], "silva_2003", factor * 3549.0, 0.05, 0.2
        )
        for side in "rl"
    ]
    (sentence,) = parameter_warnings(legs)
    assert sentence.code == "muscle_parameters"
    assert factor < 1.0 or "of soleus, tibant is" in sentence
