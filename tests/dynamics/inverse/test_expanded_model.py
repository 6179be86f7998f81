"""The expanded system: nothing shared, the same mechanics, redundant rows, and reactions that do not depend on them."""

import numpy as np
import pytest
from natural_projection import redundant_rows
from small_models import random_chain, random_motion

from musclesolve.dynamics import expand, joint_reactions, projected_moments
from musclesolve.dynamics.inverse.inverse_dynamics import required_force
from musclesolve.dynamics.inverse.joint_reactions import reactions_of
from musclesolve.dynamics.inverse.lagrange_multipliers import couple_rows, minimum_norm
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from


@pytest.fixture(scope="module")
def expanded(model):
    return expand(model)


def test_no_two_bodies_share_anything(expanded):
    held = [name for body in expanded.topology.bodies for name in (*body.points, *body.vectors)]
    assert len(held) == len(set(held)) == len(expanded.topology.coordinate_names) == 105


def test_copies_move_as_their_bodies(expanded, model, motion):
    """Forward kinematics of the expanded tree gives the copies of the original coordinates."""
    moved = motion_from(expanded, motion.time, motion.coordinates, motion.rates, motion.second)
    copied = expanded.motion(motion)
    for name in ("q", "qd", "qdd"):
        np.testing.assert_allclose(getattr(moved, name), getattr(copied, name), atol=1e-11)


def test_every_row_is_met_by_position_velocity_and_acceleration(expanded, motion):
    copied, rows = expanded.motion(motion), expanded.constraints
    jacobian = rows.jacobian(copied.q)
    assert np.abs(rows.violation(copied.q)).max() < 1e-13
    assert np.abs(np.einsum("tcnx,tnx->tc", jacobian, copied.qd)).max() < 1e-12
    assert np.abs(np.einsum("tcnx,tnx->tc", jacobian, copied.qdd) - rows.gamma(copied.qd)).max() < 1e-11
    directions = expanded.tree.allowed(copied.q, motion.coordinates[:, 38:41])
    assert np.abs(np.einsum("tcnx,tnxk->tck", jacobian, directions)).max() < 1e-13


def test_rows_leave_the_same_freedom_and_some_are_redundant(expanded, motion):
    """105 points and vectors, 44 degrees of freedom; every joint of one axis has a row too many."""
    q = expanded.motion(motion.frames(slice(0, 1))).q
    jacobian = expanded.constraints.jacobian(q)[0].reshape(-1, 315)
    assert np.linalg.matrix_rank(jacobian) == 315 - 44
    repeated = redundant_rows(jacobian, expanded.constraints.names)
    assert len(repeated) == len(jacobian) - (315 - 44) == 26
    assert all("=" in name for name in repeated)


def test_moments_and_reactions_do_not_depend_on_how_rows_are_scaled_or_repeated(expanded, motion, wrenches):
    some = motion.frames(slice(0, 4))
    few = [type(w)(w.body, w.force[:4], w.moment[:4]) for w in wrenches]
    copied = expanded.motion(some)
    jacobian = expanded.constraints.jacobian(copied.q)
    count, rng = jacobian.shape[1], np.random.default_rng(0)
    actuators = couple_rows(expanded, copied)
    needed = -required_force(expanded, copied.q, copied.qd, copied.qdd, few).reshape(4, -1)
    found, split = [], []
    for scale in (np.ones(count), 10.0 ** rng.uniform(-1, 1, count)):
        rows = np.concatenate([jacobian * scale[:, None, None], actuators, 3.0 * jacobian[:, -40:]], axis=1)
        multipliers = minimum_norm(rows.reshape(4, -1, 315), needed)
        each = multipliers[:, :count] * scale
        each[:, -40:] += 3.0 * multipliers[:, -40:]
        split.append(each)
        found.append((*reactions_of(expanded, copied.q, each)[1:], multipliers[:, count : count + 44]))
    for one, other in zip(*found, strict=True):
        assert np.abs(one - other).max() < 1e-10 * np.abs(one).max()
    assert np.abs(split[0] - split[1]).max() > 1.0  # the multipliers themselves do


@pytest.mark.parametrize("drivers", ["couples", "drivers", "mixture"])
def test_net_joint_moments_are_those_of_the_original(expanded, model, motion, wrenches, drivers):
    some = motion.frames(slice(0, 6))
    few = [type(w)(w.body, w.force[:6], w.moment[:6]) for w in wrenches]
    names = {"couples": (), "drivers": model.topology.dof_names, "mixture": model.topology.dof_names[::3]}[
        drivers
    ]
    moments = joint_reactions(expanded, some, few, names).moments
    expected = projected_moments(model, some, few)
    assert np.abs(moments - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(3))
def test_random_chains_expand(seed):
    chain = random_chain(5, seed)
    moving = random_motion(chain, seed)
    moments = joint_reactions(expand(chain), moving, []).moments
    expected = projected_moments(chain, moving, [])
    assert np.abs(moments - expected).max() < 1e-10 * np.abs(expected).max()
