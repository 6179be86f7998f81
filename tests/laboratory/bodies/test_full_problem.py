"""The full formulation of a model of the laboratory refuses arguments by name."""

from __future__ import annotations

import pytest
from refusals import refused

from musclesolve.laboratory.bodies.linked_bodies import full_problem


@pytest.mark.parametrize("given", [{"dofs": []}, {"states": []}, {"dofs": None}, {"states": 3}])
def test_muscles_and_degrees_of_freedom_have_to_be_given(given):
    with refused("missing_argument", f"{next(iter(given))} is"):
        full_problem(None, None, [], **({"states": [None], "dofs": ["hip_flexion_r"]} | given))
