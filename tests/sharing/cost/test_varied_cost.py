"""Costs near a cost: what is varied is the cost of that exponent and those weights; what is not stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve import Cost
from musclesolve.sharing.cost import (
    ActivationPower,
    ActivationVolume,
    EmgTracking,
    ForceSquared,
    JointReactionSquared,
    JointWeightedActivation,
    KneeSparingActivation,
    MinMax,
    SoftSaturation,
    StressCubed,
)
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.cost.sum_of_terms import can_vary, varied
from musclesolve.sharing.solving import solve_part


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
    assert (near.gap <= 1e-9).all()


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


WEIGHED = np.array([1.0, 4.0, 1.0, 9.0, 3.0, 1.0])
WEIGHTS = {"soleus": 9.0, "vastus_lateralis_r": 4.0, "gastrocnemius": 2.0, "gastrocnemius_medialis_r": 3.0}
LEG = ("iliacus", "vastus_lateralis", "vastus_medialis", "soleus", "gastrocnemius_medialis", "popliteus")


@pytest.mark.parametrize("kind", [StressCubed, ActivationPower, ActivationVolume, KneeSparingActivation])
def test_a_cost_weighs_muscles_by_the_words_of_their_names(problem: ms.Problem, kind: Any) -> None:
    """Against factors on the terms, another solver, and the text of the label."""
    right = replace(problem, muscle=[f"{name}_r" for name in LEG], dof=["knee", "ankle"])
    cost = kind(weights=WEIGHTS)
    ours = ms.solve(right, cost)
    assert ours.solved.all()
    np.testing.assert_allclose(
        ours.activation, ms.solve(right, varied(kind(), 1.0, WEIGHED)).activation, atol=1e-6
    )
    np.testing.assert_allclose(ours.activation, ms.solve(right, cost, "slsqp").activation, atol=1e-4)
    assert np.abs(ours.activation - ms.solve(right, kind()).activation).max() > 0.05
    assert find_cost(cost.label) == cost
    apart, inside = cost.apart(right), np.full(right.lower.shape, 0.4)
    np.testing.assert_allclose(apart.gradient(right, inside), cost.gradient(right, inside), rtol=1e-12)


def test_weights_of_the_other_side_change_nothing_there(problem: ms.Problem) -> None:
    left = replace(problem, muscle=[f"{name}_l" for name in LEG])
    cost = StressCubed(weights={"soleus_r": 9.0})
    assert np.array_equal(ms.solve(left, cost).activation, ms.solve(left, StressCubed()).activation)
    reactions = {"reaction_matrix": np.ones((8, 3, 6)), "reaction_offset": np.zeros((8, 3))}
    left = replace(left, **reactions, reaction=["knee_l_x", "knee_l_y", "hip_l_x"])
    spared = JointReactionSquared({"knee_r": 1.0, "hip": 2.0})
    assert spared.component_weights(left).tolist() == [0.0, 0.0, 2.0]
    for wrong in (StressCubed(weights={"solius": 2.0}), JointReactionSquared({"ancle_r": 1.0})):
        with refused("unknown_name", str(wrong.weights[0][0])):
            ms.solve(left, wrong)


def test_every_door_refuses_a_weight_of_no_muscle(problem: ms.Problem) -> None:
    typed = StressCubed(weights={"solius": 2.0})
    pattern = ms.solve(problem, "stress_cubed").activation
    for call in (
        lambda: ms.sharing.program(problem, typed),
        lambda: ms.sharing.solve_constrained(problem, typed),
        lambda: ms.sharing.fit_cost(problem, pattern, family=[typed, ActivationPower()]),
    ):
        with refused("unknown_name", "solius"):
            call()


def test_a_part_without_the_weighted_muscles_is_shared_as_without_weights(problem: ms.Problem) -> None:
    trunk = replace(problem, muscle=[f"trunk_{k}" for k in range(problem.n_muscles)])
    weighted = 2.0 * StressCubed(weights={"soleus": 9.0})
    part = solve_part(trunk, weighted)
    assert np.array_equal(part.activation, ms.solve(trunk, 2.0 * StressCubed()).activation)
    with refused("unknown_name", "soleus"):
        ms.solve(trunk, weighted)
    weighted.check_names((), ("trunk_1", "soleus_r"), ())


@pytest.mark.parametrize(
    ("weights", "code"),
    [({"soleus": 0.0}, "bad_number"), ({"soleus": "2"}, "bad_number"), (["soleus", 2.0], "bad_type")],
)
def test_what_is_no_weight_is_refused(weights: Any, code: str) -> None:
    with refused(code, "stress_cubed"):
        StressCubed(weights=weights)


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


def test_a_nested_list_of_weights_is_an_array():
    listed = StressCubed(weights=[[1, 2.0], [3, 4]])
    assert listed == StressCubed(weights=np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert StressCubed(weights=[("soleus", 2)]) == StressCubed(weights={"soleus": 2})


@pytest.mark.parametrize("bad", [-1.0, 0.0, np.nan, np.inf])
def test_a_bad_weight_of_an_array_is_named_with_frame_muscle_and_value(bad):
    weights = np.ones((6, 5))
    weights[4, 2] = bad
    with refused("bad_number", "frame 4, muscle 2", f"is {bad:g}"):
        StressCubed(weights=weights)
    with refused("bad_number", "at muscle 2", f"is {bad:g}"):
        StressCubed(weights=weights[4])
