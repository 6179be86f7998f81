"""Joint reactions by every route: multipliers of the expanded system, Newton-Euler, and the laws they must obey."""

import numpy as np
import pytest
from link_projection import absolute_system, joint_wrenches, reactions_by_projection
from natural_projection import reactions_classical
from poses import motion_through
from small_models import random_chain, random_motion

from musclesolve.dynamics import (
    Wrench,
    expand,
    forward_human_model,
    joint_loads,
    joint_reactions,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.inverse.lagrange_multipliers import acting_bodies


@pytest.fixture(scope="module")
def few(motion):
    return motion.frames(slice(0, 41, 6))


@pytest.fixture(scope="module")
def pushes(wrenches):
    return [Wrench(w.body, w.force[::6], w.moment[::6]) for w in wrenches]


@pytest.fixture(scope="module")
def by_multipliers(model, few, pushes):
    return joint_reactions(expand(model), few, pushes)


def actuator_moment(model, motion, moments, far):
    """Sum of the moments about the axes of the joint before a body, whose axes are square to each other (T, 3)."""
    own = acting_bodies(model)[1] == model.body(far)
    joints = model.tree.joint_count
    return np.einsum("tk,tkx->tx", moments[:, :joints] * own, model.tree.axes(motion.q))


def last_dof(model, far):
    own = np.flatnonzero(acting_bodies(model)[1] == model.body(far))
    return model.topology.dof_names[own[-1]]


def check_against_newton_euler(model, motion, wrenches, reactions, tolerance):
    segments = segment_motion(model, motion)
    scale = np.abs(reactions.force).max(), np.abs(reactions.moment).max()
    for k, (far, _) in enumerate(reactions.joints):
        dof = last_dof(model, far)
        load = joint_loads(model, motion, segments, wrenches, [dof])[dof]
        moment = reactions.moment[:, k] + actuator_moment(model, motion, reactions.moments, far)
        assert np.abs(reactions.force[:, k] - load.force).max() < tolerance * scale[0], far
        assert np.abs(moment - load.moment).max() < tolerance * scale[1], far


def test_multipliers_of_the_expanded_human_are_the_joint_loads(model, few, pushes, by_multipliers):
    assert len(by_multipliers.joints) == 32
    check_against_newton_euler(model, few, pushes, by_multipliers, 1e-9)


def test_spherical_joints_and_extra_points_give_the_joint_loads(model):
    """The 29-degree-of-freedom body: shared points alone, and points tied to a base by linear combination."""
    body = forward_human_model(model)
    moving = random_motion(body, 5)
    reactions = joint_reactions(expand(body), moving, [])
    check_against_newton_euler(body, moving, [], reactions, 1e-9)
    check_projection(body, moving, [], reactions_by_projection)
    check_projection(body, moving, [], reactions_classical)


@pytest.mark.parametrize("seed", range(4))
def test_multipliers_of_expanded_chains_are_the_joint_loads(seed):
    chain = random_chain(6, seed)
    moving = random_motion(chain, seed)
    rng = np.random.default_rng(seed)
    size = (len(moving.time), 3)
    push = [Wrench("hand", 50.0 * rng.normal(size=size), 5.0 * rng.normal(size=size))]
    check_against_newton_euler(chain, moving, push, joint_reactions(expand(chain), moving, push), 1e-9)


def test_reactions_do_no_work_on_the_joint_axes(model, few, by_multipliers):
    reactions = by_multipliers
    axes, behind = model.tree.axes(few.q), acting_bodies(model)[1]
    for k, (far, _) in enumerate(reactions.joints):
        for dof in np.flatnonzero(behind == model.body(far)):
            about = np.einsum("tx,tx->t", axes[:, dof], reactions.moment[:, k])
            assert np.abs(about).max() < 1e-9 * np.abs(reactions.moment).max()


def test_a_hanging_leg_is_held_from_above(model):
    """Nothing moves, nothing touches the ground: the hip pulls the leg upward with its weight (correction B5)."""
    zero = np.zeros((1, 44))
    still = motion_through(model, zero)
    reactions = joint_reactions(expand(model), still, [])
    leg = sum(
        model.mass.mass[model.body(n)]
        for n in ("thigh_proximal_r", "thigh_r", "shank_r", "shank_distal_r", "foot_r")
    )
    hip = reactions.force[0, reactions.joint("thigh_proximal_r")]
    np.testing.assert_allclose(hip, [0.0, 0.0, leg * 9.80665], atol=1e-8)
    np.testing.assert_allclose(reactions.moments, projected_moments(model, still, []), atol=1e-8)


FORMULAS = {"2.10": reactions_by_projection, "2.11": reactions_classical}


def check_projection(model, motion, wrenches, formula):
    """All six components of what every joint transmits: reactions and couples together are the joint load."""
    system, segments = absolute_system(model, motion, wrenches), segment_motion(model, motion)
    force, moment = joint_wrenches(system, formula(system))
    for j, joint in enumerate(system.links.joints):
        dof = model.topology.dof_names[joint.dofs[-1]]
        load = joint_loads(model, motion, segments, wrenches, [dof])[dof]
        far = system.links.names[joint.distal]
        assert np.abs(force[:, j] - load.force).max() < 1e-9 * np.abs(force).max(), far
        assert (
            np.abs(moment[:, j] + system.couples[:, j] - load.moment).max() < 1e-9 * np.abs(moment).max()
        ), far
    return system, force, moment


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_projection_gives_the_joint_loads_of_the_human(model, few, pushes, formula):
    check_projection(model, few, pushes, formula)


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
@pytest.mark.parametrize("seed", range(3))
def test_projection_gives_the_joint_loads_of_random_chains(seed, formula):
    chain = random_chain(6, seed)
    moving = random_motion(chain, seed)
    rng = np.random.default_rng(seed)
    push = [Wrench("link3", *(30.0 * rng.normal(size=(2, len(moving.time), 3))))]
    check_projection(chain, moving, push, formula)


def test_projection_and_multipliers_give_the_same_reactions(model, few, pushes, by_multipliers):
    """Where one joint has no massless body in it, both report the same force and the same constraint moment."""
    system = absolute_system(model, few, pushes)
    force, moment = joint_wrenches(system, reactions_by_projection(system))
    other = by_multipliers
    pairs = {names: k for k, names in enumerate(other.joints)}
    compared = 0
    for j, joint in enumerate(system.links.joints):
        k = pairs.get((system.links.names[joint.distal], system.links.names[joint.proximal]))
        if k is not None:
            compared += 1
            assert np.abs(force[:, j] - other.force[:, k]).max() < 1e-9 * np.abs(force).max()
            assert np.abs(moment[:, j] - other.moment[:, k]).max() < 1e-9 * np.abs(moment).max()
    assert compared == 22
