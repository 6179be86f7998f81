"""Costs that are squares of combinations of the activations: joint reactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from sharing_cases import SMOOTH

from musclesolve import Problem, Status, costs, solve
from musclesolve.sharing.cost import ForceSquared, JointReactionSquared, NormalizedForceSquared


def reactions(problem, answer):
    return np.einsum("tkn,tn->tk", problem.reaction_matrix, answer.force) + problem.reaction_offset


@pytest.mark.parametrize("solver", ["batch", "ipopt"])
def test_two_muscles_and_one_reaction(solver):
    """Least (R0 + c.F)^2 + e |F/F0|^2 on r.F = M, by elimination of one force."""
    arm, across, strongest = np.array([0.05, 0.04]), np.array([0.9, -0.3]), np.array([1500.0, 1200.0])
    moment, offset, effort = 30.0, -500.0, 1e4
    problem = Problem(
        *(arm[None], [moment], strongest, strongest),
        reaction_matrix=across[None],
        reaction_offset=[offset],
        reaction=["knee_r_z"],
    )
    answer = solve(problem, JointReactionSquared(effort=effort), solver)
    start, along = np.array([moment / arm[0], 0.0]), np.array([-arm[1] / arm[0], 1.0])
    left = np.array([across @ along, *(np.sqrt(effort) * along / strongest)])
    right = -np.array([offset + across @ start, *(np.sqrt(effort) * start / strongest)])
    expected = start + along * (left @ right) / (left @ left)
    assert (expected > 0).all() and (expected < strongest).all()
    np.testing.assert_allclose(answer.force, expected, rtol=1e-6)
    load = offset + across @ expected
    np.testing.assert_allclose(answer.cost, load**2 + effort * ((expected / strongest) ** 2).sum(), rtol=1e-9)


@pytest.mark.parametrize("effort", [0.2, 0.8])
def test_no_other_cost_loads_the_joint_less(make_leg, effort):
    """Up to what the small effort can account for."""
    problem = make_leg(10, seed=21, effort=effort)
    knee = JointReactionSquared({"knee": 1.0})
    best = solve(problem, knee)
    assert (best.status == Status.SOLVED).all()
    for name in SMOOTH:
        other = solve(problem, name)
        assert (knee.value(problem, other.activation) >= best.cost * (1 - 1e-7)).all(), name
    load = np.square(reactions(problem, best)[:, 3:]).sum(axis=1)
    plain = np.square(reactions(problem, solve(problem, "normalized_force_squared"))[:, 3:]).sum(axis=1)
    assert (load < plain).all() and load.mean() < 0.7 * plain.mean()


@pytest.mark.parametrize("asked", ["value", "gradient", "hessian_diagonal"])
def test_without_reactions_it_is_no_cost(asked):
    problem = Problem(np.array([[0.04, 0.02]]), [10.0], np.array([700.0, 900.0]), np.array([700.0, 900.0]))
    with refused("missing_argument", "reaction_matrix"):
        getattr(JointReactionSquared(), asked)(problem, np.zeros((1, 2)))


def test_rows_of_a_sum_and_a_multiple_add_up(make_leg):
    problem = make_leg(4)
    both = JointReactionSquared(effort=0.0)
    apart = JointReactionSquared({"hip": 1.0}, effort=0.0) + JointReactionSquared({"knee": 1.0}, effort=0.0)
    activation = np.random.default_rng(0).random(problem.force_capacity.shape)
    np.testing.assert_allclose(apart.value(problem, activation), both.value(problem, activation))
    np.testing.assert_allclose(
        (3 * apart).hessian(problem, activation), 3 * both.hessian(problem, activation)
    )
    assert (3 * apart + ForceSquared()).needs == {"separable", "rows"}


def test_the_more_the_reaction_counts_the_smaller_it_becomes(make_leg):
    problem, previous = make_leg(20, seed=22), np.inf
    for weight in (1e-8, 1e-6, 1e-4, 1e-2):
        cost = weight * JointReactionSquared({"knee": 1.0}, effort=0.0) + NormalizedForceSquared()
        answer = solve(problem, cost)
        assert (answer.status == Status.SOLVED).all() and (answer.gap <= 1e-9).all()
        load = np.square(reactions(problem, answer)[:, 3:]).sum(axis=1)
        assert (load <= previous * (1 + 1e-6)).all()
        previous = load


def test_without_weight_nothing_changes(make_leg):
    problem = make_leg(5)
    answer = solve(problem, JointReactionSquared({"knee": 0.0}))
    np.testing.assert_allclose(
        answer.activation, solve(problem, "normalized_force_squared").activation, atol=1e-7
    )


def test_infeasible_frames_stay_infeasible_whatever_the_rows(make_leg):
    base = make_leg(20, seed=1, effort=1.0, dofs=4, muscles=12)
    problem = replace(base, moment=np.linspace(0.2, 3.0, 20)[:, None] * base.moment)
    plain, rows = solve(problem, "force_squared"), solve(problem, "joint_reaction_squared")
    assert 3 < (plain.status == Status.INFEASIBLE).sum() < 17
    np.testing.assert_array_equal(plain.status, rows.status)
    helped = solve(problem, "joint_reaction_squared", on_infeasible="reserve")
    assert helped.solved.all() and (helped.gap <= 1e-9).all()


def test_the_certificate_includes_the_soft_rows(make_leg):
    """The optimum of the terms alone does not pass for the optimum with rows, whatever the multipliers."""
    from musclesolve.sharing import certify

    problem = make_leg(5)
    alone = solve(problem, "normalized_force_squared")
    cost = costs()["joint_reaction_squared"]()
    for factor in (1.0, 1e4, 1e6):
        found = certify(problem, cost, alone.activation, alone.reserve, factor * alone.multiplier)
        assert (found.gap > 1e-2).all()
