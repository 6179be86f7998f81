"""Forces and moments at joints as linear functions of the muscle forces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import muscle_db
from musclesolve.dynamics import joint_loads, projected_moments, segment_motion
from musclesolve.dynamics.inverse.newton_euler import distal_loads
from musclesolve.models.knee import quadriceps
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles import muscle_state, scale_muscles


@pytest.mark.parametrize("side", ["r", "l"])
def test_rows_and_offset_give_the_contact_forces(model, motion, wrenches, side):
    state = muscle_state(
        model, scale_muscles(model, muscle_db.load("silva_2003"), side, passive="table"), motion
    )
    segments = segment_motion(model, motion)
    loads = MuscleJoints(model, state.muscles).loads(motion, distal_loads(model, segments, wrenches), state)
    force = 800.0 * np.random.default_rng(41).random(state.force_capacity.shape)
    found = np.einsum("tkn,tn->tk", loads.matrix, force) + loads.offset(state.passive_force)
    contact = loads.contact(force + state.passive_force)
    names = loads.components
    assert len(names) == found.shape[1] == 9
    for joint, expected in contact.items():
        first = names.index(f"{joint}_x")
        np.testing.assert_allclose(found[:, first : first + 3], expected, atol=1e-9)


@pytest.mark.parametrize("database", ["silva_2003", "gait2392", "rajagopal_2023"])
def test_about_the_axes_of_a_joint_the_moment_is_what_muscles_leave(model, motion, wrenches, database):
    """M . a = joint moment - moment arm . tension, also where points and frames move on their bodies.

    Hip rotation is left out: a part of the thigh turns about its axis that is not beyond the joint.
    """
    state = muscle_state(model, scale_muscles(model, muscle_db.load(database), "l", passive="table"), motion)
    loads = MuscleJoints(model, state.muscles).loads(
        motion, distal_loads(model, segment_motion(model, motion), wrenches), state
    )
    tension = 800.0 * np.random.default_rng(42).random(state.force_capacity.shape)
    axes, moments = model.tree.axes(motion.q), projected_moments(model, motion, wrenches)
    found = loads.carried(tension)["contact_moment"]
    for joint, dofs in {
        "hip_l": ("hip_flexion_l", "hip_adduction_l"),
        "knee_l": ("knee_flexion_l",),
        "ankle_l": ("ankle_dorsiflexion_l", "ankle_inversion_l"),
    }.items():
        for dof in dofs:
            number, row = model.dof(dof), state.muscles.dof_names.index(dof)
            left = moments[:, number] - np.einsum("tn,tn->t", state.moment_arm[:, row], tension)
            about = np.einsum("tx,tx->t", found[joint], axes[:, number])
            np.testing.assert_allclose(about, left, atol=1e-9 * np.abs(left).max())


def test_moments_are_the_direct_sums_over_the_points(model, motion, wrenches):
    """A route of its own for straight paths: forces along the segments between points, on the bodies beyond.

    Without the quadriceps, which pulls at the shank through the patellar ligament (test_patella.py).
    """
    state = muscle_state(
        model, scale_muscles(model, muscle_db.load("silva_2003"), "r", passive="table"), motion
    )
    segments = segment_motion(model, motion)
    loads = MuscleJoints(model, state.muscles).loads(motion, distal_loads(model, segments, wrenches), state)
    tension = 500.0 + 300.0 * np.random.default_rng(43).random(state.force_capacity.shape)
    tension[:, quadriceps(state.parameters.names)] = 0.0
    paths, position = state.muscles.paths, state.path.nodes.position
    on = paths.on_path(motion.coordinates)
    dofs = {"hip_r": "hip_flexion_r", "knee_r": "knee_flexion_r", "ankle_r": "ankle_dorsiflexion_r"}
    net = joint_loads(model, motion, segments, wrenches, list(dofs.values()))
    for joint, dof in dofs.items():
        beyond, center = set(model.distal_bodies(dof)), motion.q[:, model.tree.pivot[model.joint(dof)]]
        for t in (0, 17, 40):
            force, moment = net[dof].force[t].copy(), net[dof].moment[t].copy()
            for m in range(tension.shape[1]):
                points = [p for p in np.flatnonzero(paths.layout.point_muscle == m) if on[t, p]]
                for one, other in pairwise(points):
                    along = position[t, other] - position[t, one]
                    pull = tension[t, m] * along / np.linalg.norm(along)
                    for p, each in ((one, pull), (other, -pull)):
                        if paths.point_body[p] in beyond:
                            force -= each
                            moment -= np.cross(position[t, p] - center[t], each)
            np.testing.assert_allclose(loads.contact(tension)[joint][t], force, atol=1e-8)
            np.testing.assert_allclose(loads.carried(tension)["contact_moment"][joint][t], moment, atol=1e-8)
