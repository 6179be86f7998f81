"""Joint reactions as linear functions of the muscle forces."""

from __future__ import annotations

import numpy as np
import pytest

import muscle_db
from musclesolve.dynamics.inverse.newton_euler import segment_motion
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.placing.place_muscles import place_muscles
from musclesolve.pipeline.recorded_body import leg_loads


@pytest.mark.parametrize("side", ["r", "l"])
def test_rows_and_offset_give_the_contact_forces(model, motion, wrenches, side):
    state = muscle_state(model, place_muscles(model, muscle_db.load("silva_2003"), side), motion)
    segments = segment_motion(model, motion)
    loads = leg_loads(model, motion, segments, wrenches, state)
    force = 800.0 * np.random.default_rng(41).random(state.force_capacity.shape)
    found = np.einsum("tkn,tn->tk", loads.matrix, force) + loads.offset(state.passive_force)
    contact = loads.contact(force + state.passive_force)
    names = loads.components
    assert len(names) == found.shape[1] == 9
    for joint, expected in contact.items():
        first = names.index(f"{joint}_x")
        np.testing.assert_allclose(found[:, first : first + 3], expected, atol=1e-9)
