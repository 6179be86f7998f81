"""Joint reactions: laws with and without muscles."""

from __future__ import annotations

import numpy as np
from model_reactions import contact_reactions, path_wrenches
from sampled_motion import at_rest, free_names, sine_motion

from musclesolve.models.opensim import inverse_dynamics, opensim_geometry
from musclesolve.models.opensim.inverse_dynamics import distal_reactions
from musclesolve.models.opensim.kinematics import body_motion

TIME = np.linspace(0.0, 1.0, 11)
MUSCLES = ("one_r", "two_r", "three_r")


def test_muscle_forces_have_no_resultant(small) -> None:
    """Tension is an inner force: over all bodies force and moment vanish."""
    motion = sine_motion(small, TIME)
    force = np.random.default_rng(1).uniform(10.0, 500.0, (len(TIME), 3))
    wrench = path_wrenches(small, motion.value, MUSCLES, force)
    np.testing.assert_allclose(wrench.sum(axis=1), 0.0, atol=1e-8)
    assert np.abs(wrench).max() > 100.0


def test_power_of_muscles_on_the_bodies_is_moment_arm_times_force(small) -> None:
    motion, names = sine_motion(small, TIME), free_names(small)
    force = np.random.default_rng(2).uniform(10.0, 500.0, (len(TIME), 3))
    wrench = path_wrenches(small, motion.value, MUSCLES, force)
    twist = body_motion(small, motion.value, names).twist
    given = {name: motion.value[:, small.coordinate_number[name]] for name in names}
    arms = opensim_geometry(small, given, names, MUSCLES).moment_arm
    expected = (arms @ force[..., None])[..., 0]
    np.testing.assert_allclose(np.einsum("tkbi,tbi->tk", twist, wrench), expected, atol=1e-8)


def test_about_the_axes_of_a_joint_muscles_and_reaction_make_the_moment(small) -> None:
    motion = sine_motion(small, TIME)
    dynamics = inverse_dynamics(small, motion)
    force = np.random.default_rng(3).uniform(10.0, 500.0, (len(TIME), 3))
    found = contact_reactions(small, dynamics, motion.value, MUSCLES, force)
    ankle = found.joints.index("ankle_r")
    names = ["ankle_a_r", "ankle_b_r"]
    given = {name: motion.value[:, small.coordinate_number[name]] for name in free_names(small)}
    arms = opensim_geometry(small, given, names, MUSCLES).moment_arm
    for k, name in enumerate(names):
        twist = body_motion(small, motion.value, [name]).twist[:, 0, small.body_number["talus_r"]]
        about = found.moment[:, ankle] + np.cross(found.point[:, ankle], found.force[:, ankle])
        power = (twist * np.concatenate([about, found.force[:, ankle]], axis=1)).sum(axis=1)
        expected = dynamics.column(name) - (arms[:, k] * force).sum(axis=1)
        np.testing.assert_allclose(power, expected, atol=1e-8)


def test_without_muscles_a_joint_carries_what_hangs_on_it(small) -> None:
    motion = at_rest(small, sine_motion(small, TIME).value)
    found = distal_reactions(small, inverse_dynamics(small, motion))
    knee = found.joints.index("knee_joint_r")
    beyond = sum(small.masses[body].mass for body in ("tibia_r", "talus_r"))
    np.testing.assert_allclose(found.force[:, knee], np.tile(-beyond * small.gravity, (len(TIME), 1)))


def test_tension_across_a_joint_presses_its_bodies_together(small) -> None:
    motion = at_rest(small, sine_motion(small, TIME).value)
    dynamics = inverse_dynamics(small, motion)
    pull = 250.0
    net = distal_reactions(small, dynamics)
    contact = contact_reactions(small, dynamics, motion.value, ["three_r"], np.full((len(TIME), 1), pull))
    ankle = net.joints.index("ankle_r")
    added = contact.force[:, ankle] - net.force[:, ankle]
    np.testing.assert_allclose(np.linalg.norm(added, axis=1), pull)  # a straight muscle from shank to talus
    elsewhere = [k for k in range(len(net.joints)) if k != ankle]
    np.testing.assert_allclose(contact.force[:, elsewhere], net.force[:, elsewhere], atol=1e-9)
