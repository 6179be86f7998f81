"""Costs near a cost: what is varied is the cost of that exponent and those weights; what is not stays."""

from __future__ import annotations

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.sharing.cost import (
    ActivationPower,
    ActivationVolume,
    EmgTracking,
    ForceSquared,
    JointReactionSquared,
    JointWeightedActivation,
    MinMax,
    SoftSaturation,
    StressCubed,
)
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.sum_of_terms import can_vary, varied


@pytest.fixture
def problem() -> ms.Problem:
    """Two moments and six muscles, three of which cross both joints, in some frames."""
    random = np.random.default_rng(0)
    arm = 0.03 * random.uniform(0.5, 1.5, (8, 2, 6)) * np.array([[1, -1, 0, 0, 1, -1], [0, 0, 1, -1, 1, 1]])
    strength = random.uniform(500.0, 3000.0, 6)
    capacity = strength * random.uniform(0.6, 1.1, (8, 6))
    moment = np.einsum("tmn,tn->tm", arm, capacity * random.uniform(0.05, 0.5, (8, 6)))
    crossed = np.array([1, 1, 1, 1, 2, 2])
    length = random.uniform(0.04, 0.1, 6)
    return ms.Problem(
        arm, moment, capacity, strength, lower=0.01, joints_crossed=crossed, optimal_fiber_length=length
    )


SAME = (
    (JointWeightedActivation(), JointWeightedActivation(exponent=2.5)),
    (ActivationPower(exponent=3.0), ActivationPower(exponent=4.0)),
    (ActivationVolume(), ActivationVolume(exponent=2.5)),
)


@pytest.mark.parametrize(("cost", "other"), SAME)
def test_another_exponent_is_that_cost(problem: ms.Problem, cost: Cost, other: Cost) -> None:
    """1 + (p - 1) 1.5 of squares is 2.5, of cubes 4."""
    near = ms.solve(problem, varied(cost, 1.5, np.ones(6)))
    assert near.activation == pytest.approx(ms.solve(problem, other).activation, abs=1e-6)
    assert (near.kkt_residual < 1e-6).all()


def test_an_exponent_ends_where_the_exponents_of_costs_end(problem: ms.Problem) -> None:
    near = varied(ActivationPower(300.0), 1.5, np.ones(6))
    assert (near.term_value(problem, problem.upper) == 6.0).all()


def test_a_factor_on_muscles_of_two_joints_is_their_weight(problem: ms.Problem) -> None:
    factor = np.where(problem.joints_crossed > 1, 1.7, 1.0)
    near = ms.solve(problem, varied(JointWeightedActivation(), 1.0, factor))
    exact = ms.solve(problem, JointWeightedActivation(multi_joint_weight=5.1))
    assert near.activation == pytest.approx(exact.activation, abs=1e-6)


def test_a_factor_for_all_muscles_moves_nothing(problem: ms.Problem) -> None:
    for cost in (StressCubed(), ForceSquared()):
        near = ms.solve(problem, varied(cost, 1.0, np.full(6, 3.0)))
        assert near.activation == pytest.approx(ms.solve(problem, cost).activation, abs=1e-6)


def test_the_solvers_agree_on_it(problem: ms.Problem) -> None:
    cost = varied(StressCubed(), 0.6, np.linspace(0.5, 2.0, 6))
    batch, slsqp = (ms.solve(problem, cost, solver=name) for name in ("batch", "slsqp"))
    assert batch.activation == pytest.approx(slsqp.activation, abs=1e-4)


def test_what_is_no_power_sum_stays() -> None:
    reactions = JointReactionSquared()
    for cost in (SoftSaturation(), MinMax(), EmgTracking(), reactions):
        assert not can_vary(cost)
        assert varied(cost, 1.5, np.ones(3)) is cost
    mixed = varied(ActivationPower() + 0.3 * EmgTracking(unmeasured_weight=0.0), 1.5, np.ones(3))
    (one, effort), (weight, misfit) = mixed.summands
    assert effort.form.exponent == 2.5 and misfit == EmgTracking(unmeasured_weight=0.0)
    assert (one, weight) == (1.0, 0.3)
    assert can_vary(mixed) and not can_vary(reactions + EmgTracking())
