"""Muscles with elastic tendons for tests."""

from __future__ import annotations

import numpy as np

from musclesolve.muscles import ElasticMuscles, MuscleParameters

THREE = {
    "names": ("soleus_r", "vastus_lateralis_r", "gluteus_medius_1_r"),
    "max_isometric_force": [4000.0, 2000.0, 800.0],
    "optimal_fiber_length": [0.05, 0.10, 0.07],
    "tendon_slack_length": [0.26, 0.17, 0.05],
    "pennation_angle": [0.45, 0.25, 0.0],
    "max_shortening_velocity": [10.0, 10.0, 12.0],
    "passive": ([4000.0, 1800.0, 500.0], [-0.1, 0.0, -0.05], [0.5, 0.7, 0.6]),
}
"""Three muscles: a strong one with a long tendon, one between, and one without pennation."""


def three_muscles(family="de_groote_2016", strain=0.049, **changed):
    """The three with the curves of a family, one strain at one maximum isometric force, and changed parameters."""
    return MuscleParameters.from_values(curves=family, tendon_strain=strain, **(THREE | changed))


def elastic_muscles(family="de_groote_2016", strain=0.049, elastic=True, **changed):
    """The three with their tendons."""
    return ElasticMuscles.from_parameters(three_muscles(family, strain, **changed), elastic)


def path_length(muscles, fiber, strain=0.02):
    """Musculotendon lengths (n,) at which fibers have the length `fiber` L0 and tendons a strain."""
    along = np.sqrt((fiber * muscles.parameters.optimal_fiber_length) ** 2 - muscles.thickness**2)
    return along + muscles.parameters.tendon_slack_length * (1.0 + strain)
