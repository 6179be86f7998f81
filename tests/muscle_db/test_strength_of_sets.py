"""The largest isometric moments of the standard subject against those of young men.

Measured are C1 (mean and standard deviation, times m g h) and C3, the angle of the largest moment, of Table 3 of
Anderson, Madigan & Nussbaum (2007), J Biomech 40:3105-3113, men of 18 to 25 years, as RBDL tabulates it. How their
other joints were held is not known here: the poses are stated below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from poses import motion_through

import muscle_db
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import human_model
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.muscles.strength_tests import strength_moments

MASS, STATURE = 70.25, 1.70
"""Of the standard subject [kg, m]."""
STEP_DEG = 5.0


class Exertion(NamedTuple):
    """A direction of a joint: the pose of the other joints and the range of angles [deg]; measured moments over m g h.

    angle_deg: where the measured moment is largest, in the direction of the degree of freedom.
    """

    dof: str
    sign: float
    pose_deg: dict[str, float]
    range_deg: tuple[float, float]
    mean: float
    sd: float
    angle_deg: float


SITTING = {"hip_flexion_r": 80.0, "knee_flexion_r": 80.0}
EXERTIONS = {
    "hip extension": Exertion(
        "hip_flexion_r", -1.0, {"knee_flexion_r": 45.0}, (-10, 100), 0.161, 0.049, 53.4
    ),
    "hip flexion": Exertion("hip_flexion_r", 1.0, {"knee_flexion_r": 45.0}, (-10, 100), 0.113, 0.025, -12.3),
    "knee extension": Exertion("knee_flexion_r", -1.0, {"hip_flexion_r": 80.0}, (0, 105), 0.163, 0.040, 64.9),
    "knee flexion": Exertion("knee_flexion_r", 1.0, {"hip_flexion_r": 80.0}, (0, 105), 0.087, 0.015, 29.9),
    "plantarflexion": Exertion("ankle_dorsiflexion_r", -1.0, SITTING, (-40, 25), 0.095, 0.022, 23.4),
    "dorsiflexion": Exertion("ankle_dorsiflexion_r", 1.0, SITTING, (-40, 25), 0.033, 0.005, -10.7),
}


def measured(exertion: Exertion) -> tuple[float, float]:
    """Mean and standard deviation [N m] of young men of the size of the standard subject."""
    size = MASS * STANDARD_GRAVITY * STATURE
    return exertion.mean * size, exertion.sd * size


def largest(database: str, exertion: Exertion, elastic: bool) -> tuple[float, float]:
    """The largest isometric moment [N m] of the right leg of the standard subject, and its angle [deg]."""
    model = human_model()
    leg = scale_muscles(model, muscle_db.load(database), "r", passive="none")
    degrees = np.arange(exertion.range_deg[0], exertion.range_deg[1] + 1.0, STEP_DEG)
    angles = np.zeros((degrees.size, len(model.topology.dof_names)))
    for name, angle in exertion.pose_deg.items():
        angles[:, model.dof(name)] = np.radians(angle)
    angles[:, model.dof(exertion.dof)] = np.radians(degrees)
    state = muscle_state(model, leg, motion_through(model, angles))
    arm = state.moment_arm[:, leg.dof_names.index(exertion.dof)]
    length, velocity = state.musculotendon_length, state.musculotendon_velocity
    sign = np.full(degrees.size, exertion.sign)
    moment = sign * strength_moments(state.parameters, length, velocity, arm, sign, elastic).moment
    return float(moment.max()), float(degrees[moment.argmax()])


@pytest.mark.parametrize(("database", "most"), [("gait2392", 2.5), ("rajagopal_2023", 4.0)])
def test_the_sets_are_those_of_strong_men(database: str, most: float) -> None:
    """They can do what young men do, in nearly the same order of exertions."""
    found = {name: largest(database, exertion, elastic=True) for name, exertion in EXERTIONS.items()}
    ratio = [found[name][0] / measured(exertion)[0] for name, exertion in EXERTIONS.items()]
    assert 0.9 < min(ratio) and max(ratio) < most
    assert 40.0 <= found["knee extension"][1] <= 80.0  # measured: 65 degrees
    moments = np.array([[found[name][0], measured(exertion)[0]] for name, exertion in EXERTIONS.items()])
    ranks = np.argsort(np.argsort(moments, axis=0), axis=0)
    assert np.corrcoef(ranks.T)[0, 1] > 0.7


def test_knee_extension_of_gait2392_is_that_of_young_men() -> None:
    mean, sd = measured(EXERTIONS["knee extension"])
    assert abs(largest("gait2392", EXERTIONS["knee extension"], elastic=True)[0] - mean) < sd
