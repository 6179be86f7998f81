"""Both legs at once: what each leg has alone, and nothing about the joints of the other one."""

from __future__ import annotations

import numpy as np

import muscle_db
from musclesolve.dynamics.inverse.newton_euler import distal_loads, segment_motion
from musclesolve.muscles.muscle_state import joined_state, muscle_state
from musclesolve.muscles.placing.place_muscles import JoinedLegs, place_muscles
from musclesolve.pipeline.recorded_body import leg_loads

COLUMNS = (
    "musculotendon_length",
    "musculotendon_velocity",
    "fiber_length",
    "force_capacity",
    "passive_force",
)


def test_both_legs_are_the_two_legs(model, motion, wrenches):
    database = muscle_db.load("rajagopal_2023")
    legs = tuple(place_muscles(model, database, side) for side in "rl")
    both = joined_state(model, JoinedLegs(legs), motion)
    segments = segment_motion(model, motion)
    joined = leg_loads(model, motion, distal_loads(model, segments, wrenches), both)
    first = 0
    for number, leg in enumerate(legs):
        columns, rows = slice(first, first + len(leg.names)), slice(7 * number, 7 * number + 7)
        first = columns.stop
        alone, part = muscle_state(model, leg, motion), both.stretch(leg.parameters, rows, columns)
        for name in (*COLUMNS, "moment_arm"):
            np.testing.assert_allclose(getattr(part, name), getattr(alone, name), atol=1e-12, err_msg=name)
        others = np.delete(both.moment_arm[:, rows], np.r_[columns], axis=2)
        assert not others.any()
        loads = leg_loads(model, motion, distal_loads(model, segments, wrenches), alone)
        some = joined.part(loads.joints, columns)
        for name in ("net", "across", "net_moment", "moment_across", "patella"):
            np.testing.assert_allclose(getattr(some, name), getattr(loads, name), atol=1e-9, err_msg=name)
