"""Bundled muscle sets on people of any size, along the reference stride."""

from __future__ import annotations

import numpy as np
import pytest
from poses import motion_through

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.studies.synthetic import reference_stride

WIDE = {"hip_r": np.array([0.0, -0.12, 0.0]), "hip_l": np.array([0.0, 0.12, 0.0])}
"""Half as wide again as in the sets, where the gluteus maximus passes its cylinder on either side."""


SUBJECTS = {
    "adult": human_model(),
    "child": human_model(16.0, 1.0),
    "giant": human_model(110.0, 2.1),
    "wide hips": human_model(90.0, 1.6, "female", offsets=WIDE),
    "long thighs": human_model(offsets={f"knee_{side}": np.array([0.0, 0.0, -0.48]) for side in "rl"}),
}


def gait(model):
    """The joint angles of the reference stride, on another person."""
    stride = reference_stride()
    angles = stride.joint_angles(np.linspace(0.0, stride.period, 40, endpoint=False))
    coordinates = np.zeros((len(angles), len(model.topology.dof_names)))
    coordinates[:, [model.dof(name) for name in stride.dof_names[: angles.shape[1]]]] = angles
    return motion_through(model, coordinates)


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2023"])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_muscles_work_where_muscles_work_in_walking(subject, name):
    """Normalized fiber lengths; semimembranosus and the glutei of gait2392 come near .4 at the end of their range."""
    model = SUBJECTS[subject]
    muscles = scale_muscles(model, muscle_db.load(name), "r")
    state = muscle_state(model, muscles, gait(model))
    normal = state.fiber_length / muscles.parameters.optimal_fiber_length
    assert not state.slack.any()
    assert normal.min() > 0.3 and normal.max() < 1.6
    assert (np.quantile(normal, [0.05, 0.95]) > [0.5, 0.9]).all() and np.quantile(normal, 0.95) < 1.35
