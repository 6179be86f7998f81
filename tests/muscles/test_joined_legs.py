"""Both legs at once: what each leg has alone, and nothing about the joints of the other one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import muscle_db
from musclesolve.dynamics import segment_motion
from musclesolve.dynamics.inverse.newton_euler import distal_loads
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.muscles.scaling.scale_muscles import joined

COLUMNS = (
    "musculotendon_length",
    "musculotendon_velocity",
    "fiber_length",
    "force_capacity",
    "passive_force",
)


def test_both_legs_are_the_two_legs(model, motion, wrenches):
    database = muscle_db.load("rajagopal_2023")
    legs = tuple(scale_muscles(model, database, side, passive="table") for side in "rl")
    both = muscle_state(model, joined(legs), motion)
    segments = segment_motion(model, motion)
    all_loads = MuscleJoints(model, both.muscles).loads(motion, distal_loads(model, segments, wrenches), both)
    first = 0
    for number, leg in enumerate(legs):
        columns, rows = slice(first, first + len(leg.names)), slice(7 * number, 7 * number + 7)
        first = columns.stop
        alone = muscle_state(model, leg, motion)
        for name in COLUMNS:
            part = getattr(both, name)[:, columns]
            np.testing.assert_allclose(part, getattr(alone, name), atol=1e-12, err_msg=name)
        np.testing.assert_allclose(both.moment_arm[:, rows, columns], alone.moment_arm, atol=1e-12)
        others = np.delete(both.moment_arm[:, rows], np.r_[columns], axis=2)
        assert not others.any()
        loads = MuscleJoints(model, alone.muscles).loads(
            motion, distal_loads(model, segments, wrenches), alone
        )
        tension = np.random.default_rng(number).uniform(0.0, 500.0, alone.force_capacity.shape)
        of_both = np.zeros(both.force_capacity.shape)
        of_both[:, columns] = tension
        of_whole, carried = all_loads.carried(of_both), loads.carried(tension)
        for kind, by_joint in carried.items():
            for joint, values in by_joint.items():
                np.testing.assert_allclose(of_whole[kind][joint], values, atol=1e-6, err_msg=joint)


def test_the_legs_of_one_frame_are_frames(model, motion, wrenches):
    database = muscle_db.load("rajagopal_2023")
    legs = tuple(scale_muscles(model, database, side, passive="table") for side in "rl")
    here = motion.frames(slice(20, 21))
    pushes = [replace(wrench, force=wrench.force[20:21], moment=wrench.moment[20:21]) for wrench in wrenches]
    forces = distal_loads(model, segment_motion(model, here), pushes)
    both = muscle_state(model, joined(legs), here)
    muscles = slice(0, len(both.parameters.names))
    states = both.alike(legs[0].parameters, 2, slice(0, 14), muscles)
    loads = MuscleJoints(model, both.muscles).loads(here, forces, both).alike(2, slice(0, 6), muscles)
    for number, leg in enumerate(legs):
        alone = muscle_state(model, leg, here)
        for name in (*COLUMNS, "moment_arm"):
            part = getattr(states, name)[number]
            np.testing.assert_allclose(part, getattr(alone, name)[0], atol=1e-12, err_msg=name)
        own = MuscleJoints(model, alone.muscles).loads(here, forces, alone)
        for part, single in zip(
            (loads.net, loads.net_moment, *loads.all_pulls[:2]),
            (own.net, own.net_moment, *own.all_pulls[:2]),
            strict=True,
        ):
            np.testing.assert_allclose(part[number], single[0], atol=1e-9)
