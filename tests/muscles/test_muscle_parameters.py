"""Parameters of muscles as arrays: what no muscle can have is refused, by its name, before anything is computed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from elastic_muscle import elastic_muscles, three_muscles
from refusals import refused

from musclesolve.muscles import ElasticMuscles, MuscleParameters

IMPOSSIBLE = [
    ("max_isometric_force", -4000.0, "bad_number"),
    ("max_isometric_force", np.nan, "bad_number"),
    ("optimal_fiber_length", 0.0, "bad_number"),
    ("tendon_slack_length", -0.2, "bad_number"),
    ("pennation_angle", 25.0, "bad_number"),
    ("max_shortening_velocity", -10.0, "bad_number"),
]
"""Numbers of one muscle; 25 is a pennation angle in degrees."""


@pytest.mark.parametrize(("name", "value", "code"), IMPOSSIBLE)
def test_impossible_numbers(name, value, code):
    with refused(code):
        three_muscles(**{name: value})
    possible = three_muscles()
    with refused(code):
        ElasticMuscles.from_parameters(replace(possible, **{name: np.full(3, value)}))


@pytest.mark.parametrize(
    ("passive", "code"),
    [
        ((-100.0, 0.0, 0.6), "bad_number"),
        ((100.0, 0.6, 0.0), "bad_number"),
        ((np.nan, 0.0, 0.6), "bad_number"),
        ((100.0, 0.6), "bad_shape"),
        (3.0, "bad_shape"),
    ],
)
def test_impossible_passive_elements(passive, code):
    with refused(code):
        three_muscles(passive=passive)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("max_isometric_force", [1000.0, 900.0], "bad_shape"),
        ("optimal_fiber_length", "long", "not_numbers"),
        ("names", ["soleus_r"], "bad_shape"),
        ("names", None, "bad_shape"),
    ],
)
def test_numbers_that_do_not_fit_the_names(name, value, code):
    with refused(code):
        three_muscles(**{name: value})


@pytest.mark.parametrize("family", ["hill_1938", 3, None])
def test_unknown_curves(family):
    with refused("unknown_name", str(family)):
        MuscleParameters.from_values(["a"], family, 1000.0, 0.05, 0.2)


@pytest.mark.parametrize("strain", [0.0, -0.05, 5.0, np.nan])
def test_only_tendons_that_stretch_need_a_strain(strain):
    with refused("bad_number", "soleus_r"):
        elastic_muscles(strain=strain)
    assert not elastic_muscles(strain=strain, elastic=False).elastic.any()
