"""The Pareto front: its ends, its shape, and that nothing beats it."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve import Problem, Status, solve
from musclesolve.sharing import pareto_front
from musclesolve.sharing.cost import ForceSquared, SoftSaturation, StressCubed

PAIR = [StressCubed(), ForceSquared()]


@pytest.fixture
def problem(make_leg) -> Problem:
    return make_leg(6, seed=3, effort=0.6)


@pytest.fixture(params=["frame", "motion"])
def front(problem, request):
    return pareto_front(problem, PAIR, divisions=8, scope=request.param)


def test_the_ends_are_the_optima_of_the_single_costs(problem, front):
    assert front.weight.shape == (9, 2) and front.complete.all()
    for column, cost in enumerate(PAIR):
        (row,) = np.flatnonzero(front.weight[:, column] == 1.0)
        single = solve(problem, cost)
        np.testing.assert_allclose(front.activation[row], single.activation, atol=1e-8)
        np.testing.assert_allclose(front.cost[row, :, column], single.cost, rtol=1e-9)
    np.testing.assert_allclose(front.normalized[[0, -1]][..., 0].reshape(2, -1)[:, 0], [1.0, 0.0], atol=1e-12)


def test_more_weight_is_never_worse(front):
    order = np.argsort(front.weight[:, 0])
    first, second = np.moveaxis(front.normalized[order], -1, 0)
    assert (np.diff(first, axis=0) < 1e-9).all() and (np.diff(second, axis=0) > -1e-9).all()


def test_the_front_is_convex(front):
    """The slope between neighbors is that of the weights, between the one before and the one after."""
    order = np.argsort(front.weight[:, 0])
    weight = front.weight[order]
    first, second = np.moveaxis(front.normalized[order], -1, 0)
    slope = np.diff(second, axis=0) / np.diff(first, axis=0)
    assert (np.diff(slope, axis=0) < 1e-6).all()
    with np.errstate(divide="ignore"):
        ratio = (-weight[:, 0] / weight[:, 1]).reshape(-1, *[1] * (slope.ndim - 1))
    assert (slope <= ratio[:-1] + 1e-6).all() and (slope >= ratio[1:] - 1e-6).all()


def test_no_admissible_activation_beats_a_point(problem):
    """Between any two answers lie admissible ones; none of them is better than a point of the front in both costs."""
    front = pareto_front(problem, PAIR, divisions=4)
    for t in (0.1, 0.5, 0.9):
        for i, j in np.ndindex(5, 5):
            between = t * front.activation[i] + (1 - t) * front.activation[j]
            value = np.stack([cost.value(problem, between) for cost in PAIR], axis=-1)
            better = value < front.cost * (1 - 1e-7)
            assert not better.all(axis=-1).any()


def test_the_whole_motion_has_one_trade_off(problem):
    """The optimum for given weights of the sums is that of a plain weighted sum in every frame."""
    front = pareto_front(problem, PAIR, divisions=2, scope="motion")
    reach = front.largest - front.least
    plain = solve(problem, (0.5 / reach[0]) * PAIR[0] + (0.5 / reach[1]) * PAIR[1])
    np.testing.assert_allclose(front.activation[1], plain.activation, atol=1e-6)
    np.testing.assert_allclose(front.total[1], front.cost[1].sum(axis=0))


def test_in_the_scope_frame_a_frame_does_not_depend_on_the_others(problem):
    whole = pareto_front(problem, PAIR, divisions=3)
    part = pareto_front(problem.frames(np.array([2])), PAIR, divisions=3)
    np.testing.assert_allclose(part.activation[:, 0], whole.activation[:, 2], atol=1e-7)


def test_every_point_is_found_by_ipopt_as_well(problem):
    few = problem.frames(np.array([0, 3]))
    batch, ipopt = (pareto_front(few, PAIR, divisions=3, solver=name) for name in ("batch", "ipopt"))
    np.testing.assert_allclose(batch.cost, ipopt.cost, rtol=1e-6)


def test_three_costs_make_a_surface(problem):
    front = pareto_front(problem, [*PAIR, SoftSaturation()], divisions=3)
    assert front.weight.shape == (10, 3)
    np.testing.assert_allclose(front.weight.sum(axis=1), 1.0)
    assert len(np.unique(front.weight, axis=0)) == 10
    assert front.complete.all() and (front.normalized > -1e-9).all()
    assert front.costs == ("stress_cubed", "force_squared", "soft_saturation")


def test_costs_with_the_same_optimum_have_no_range(problem):
    front = pareto_front(problem, [ForceSquared(), 3.0 * ForceSquared()], divisions=2)
    assert (np.abs(front.normalized) < 1e-6).all() and front.complete.all()


def test_a_frame_out_of_reach_has_no_front_and_does_not_disturb(problem):
    moment = problem.moment.copy()
    moment[2] *= 100.0
    moment[4, 0] = np.nan
    fields = (problem.moment_arm, moment, problem.force_capacity, problem.max_isometric_force)
    for scope in ("frame", "motion"):
        front = pareto_front(Problem(*fields), PAIR, divisions=2, scope=scope)
        assert (front.status[:, 2] == Status.INFEASIBLE).all()
        assert (front.status[:, 4] == Status.INVALID_INPUT).all()
        np.testing.assert_array_equal(front.complete, [True, True, False, True, False, True])
        assert np.isnan(front.activation[:, 2]).all() and np.isfinite(front.total).all()


@pytest.mark.parametrize(
    ("costs", "options", "code", "part"),
    [
        (["stress_cubed"], {}, "missing_argument", "costs"),
        ("stress_cubed", {}, "missing_argument", "costs"),
        (None, {}, "missing_argument", "costs"),
        (iter(["stress_cubed"]), {}, "missing_argument", "costs"),
        (["stress_cubed", "min_max"], {}, "bad_cost", "min_max"),
        (["stress_cubed", "emg_tracking"], {}, "missing_argument", "Problem.emg"),
        (PAIR, {"divisions": 0}, "bad_number", "divisions is 0"),
        (PAIR, {"divisions": 2.5}, "bad_number", "divisions is 2.5"),
        (PAIR, {"scope": "trial"}, "unknown_name", "'trial'"),
    ],
)
def test_bad_input_is_named(problem, costs, options, code, part):
    bare = Problem(problem.moment_arm, problem.moment, problem.force_capacity, problem.max_isometric_force)
    with refused(code, part):
        pareto_front(bare, costs, **options)


def test_costs_may_come_from_a_generator(problem):
    given = pareto_front(problem.frames(np.array([0])), (name for name in PAIR), divisions=2)
    assert given.costs == tuple(cost.label for cost in PAIR) and given.weight.shape == (3, 2)


def test_reserves_are_refused(problem):
    fields = (problem.moment_arm, problem.moment, problem.force_capacity, problem.max_isometric_force)
    with refused("conflict", "Problem.reserve_weight"):
        pareto_front(Problem(*fields, reserve_weight=1.0), PAIR)


def test_soft_rows_are_weighed_like_terms(problem):
    """Joint reactions against activations: the weighted optimum is that of the plain sum with the same weights."""
    few = problem.frames(np.array([1]))
    costs = [ms.costs()["joint_reaction_squared"](), StressCubed()]
    front = pareto_front(few, costs, divisions=4)
    assert front.complete.all()
    reach = (front.largest - front.least)[0]
    for row in (1, 2, 3):
        w = front.weight[row] / reach
        plain = solve(few, float(w[0]) * costs[0] + float(w[1]) * costs[1])
        np.testing.assert_allclose(front.activation[row], plain.activation, atol=1e-5)
