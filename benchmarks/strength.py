"""The largest isometric moments of the standard subject beside those that young men were measured with.

    python -m benchmarks.strength

Measured are C1 (mean and standard deviation, times m g h) and C3, the angle of the largest moment, of Table 3 of
Anderson, Madigan & Nussbaum (2007), J Biomech 40:3105-3113, men of 18 to 25 years, as RBDL tabulates it. How their
other joints were held is not known here: the poses are stated below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from rich.table import Table

import muscle_db
from benchmarks.timing import console
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import scale_muscles
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
    still = np.zeros_like(angles)
    state = muscle_state(
        model, leg, motion_from(model, np.arange(degrees.size, dtype=float), angles, still, still)
    )
    arm = state.moment_arm[:, leg.dof_names.index(exertion.dof)]
    length, velocity = state.musculotendon_length, state.musculotendon_velocity
    sign = np.full(degrees.size, exertion.sign)
    moment = sign * strength_moments(state.parameters, length, velocity, arm, sign, elastic).moment
    return float(moment.max()), float(degrees[moment.argmax()])


def main() -> None:
    """Print a row for each exertion, a pair of columns for each muscle set."""
    table = Table("exertion", "measured N m", *muscle_db.available())
    for name, exertion in EXERTIONS.items():
        mean, sd = measured(exertion)
        cells = []
        for database in muscle_db.available():
            (rigid, _), (elastic, angle) = (largest(database, exertion, each) for each in (False, True))
            cells.append(f"{rigid:.0f}, {elastic:.0f} at {angle:.0f} deg")
        table.add_row(name, f"{mean:.0f} ({sd:.0f}) at {exertion.angle_deg:.0f} deg", *cells)
    console.print(table)


if __name__ == "__main__":
    main()
