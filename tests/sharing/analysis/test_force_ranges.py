"""Feasible and near-optimal ranges of muscle forces against closed forms, linear programming and the laws."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import casadi
import numpy as np
import pytest
from refusals import refused
from scipy.optimize import linprog

from musclesolve import Problem, Status, costs, solve
from musclesolve.sharing import expression_cost, force_range

COSTS = ("force_squared", "stress_cubed", "soft_saturation")


def pair(moment=30.0):
    """Two muscles of 1000 N and 600 N with arms of 5 cm and an antagonist of 400 N with 4 cm."""
    strongest = np.array([1000.0, 600.0, 400.0])
    return Problem(np.array([[0.05, 0.05, -0.04]]), np.array([moment]), strongest, strongest)


def test_two_muscles_and_an_antagonist_by_hand():
    """Either can do it alone, with the antagonist pulling or not."""
    span = force_range(pair())
    np.testing.assert_allclose(span.least, [0.0, 0.0, 0.0], atol=1e-3)
    np.testing.assert_allclose(span.greatest, [920.0, 600.0, 400.0], atol=1e-3)
    np.testing.assert_allclose(force_range(pair(60.0)).least, [600.0, 200.0, 0.0], atol=1e-3)


def test_a_cost_asks_for_a_share_within_which_it_may_rise():
    for choice in ({"cost": "stress_cubed"}, {"solver": "batch"}, {"accuracy": 1e-3}):
        with refused("conflict", "within"):
            force_range(pair(), **choice)


def test_every_end_is_that_of_a_linear_program(make_leg):
    problem = make_leg(4, seed=5, effort=0.8, dofs=4, muscles=10)
    span = force_range(problem)
    for t in range(4):
        for i, slope in enumerate(np.eye(10)):
            for sign, end in ((1.0, span.least), (-1.0, span.greatest)):
                found = linprog(
                    sign * slope, A_eq=problem.moment_matrix[t], b_eq=problem.moment[t], bounds=(0, 1)
                )
                expected = sign * found.fun * problem.force_capacity[t, i]
                assert end[t, i] == pytest.approx(expected, abs=1e-5 * problem.force_capacity[t, i])
    gaps = np.stack([span.gap_least, span.gap_greatest])
    assert (gaps >= 0).all() and (gaps <= 2e-6 * problem.force_capacity).all()


def test_no_admissible_solution_is_outside(make_leg):
    problem = make_leg(20, seed=6)
    span = force_range(problem, muscles=problem.muscle[:6])
    for cost in COSTS:
        force = solve(problem, cost).force[:, :6]
        assert (force >= (span.least - span.gap_least)[:, :6] - 1e-3).all()
        assert (force <= (span.greatest + span.gap_greatest)[:, :6] + 1e-3).all()
    assert np.isnan(span.least[:, 6:]).all()


def test_what_is_infeasible_has_no_range(make_leg):
    problem = make_leg(6, seed=7, dofs=4, muscles=10)
    hard = replace(problem, moment=problem.moment * np.array([1, 50, 1, 50, 1, np.nan])[:, None])
    status = solve(hard).status
    span = force_range(hard, muscles=["muscle_0"])
    np.testing.assert_array_equal(np.isfinite(span.least[:, 0]), status == Status.SOLVED)
    near = force_range(hard, within=0.05, muscles=["muscle_0"])
    np.testing.assert_array_equal(np.isfinite(near.greatest[:, 0]), status == Status.SOLVED)


def test_a_single_frame_has_no_frame_axis():
    assert force_range(pair()).least.shape == (3,)
    assert force_range(pair(), cost="force_squared", within=0.05).least.shape == (3,)


def test_a_range_of_force_squared_by_hand():
    """Equal muscles on one joint: f = F1^2 + F2^2, F1 + F2 = S, so F1 = S/2 (1 +- sqrt(within))."""
    strongest = np.full(2, 1000.0)
    problem = Problem(np.array([[0.05, 0.05]]), np.array([30.0]), strongest, strongest)
    for within in (0.01, 0.05, 0.25):
        span = force_range(problem, cost="force_squared", within=within, accuracy=1e-6)
        np.testing.assert_allclose(span.least, 300.0 * (1 - np.sqrt(within)), atol=2e-3)
        np.testing.assert_allclose(span.greatest, 300.0 * (1 + np.sqrt(within)), atol=2e-3)


@pytest.mark.parametrize("cost", COSTS)
def test_the_ends_cost_what_is_allowed(make_leg, cost):
    """Held at an end, the muscle costs the allowed share more, or the end is that of the feasible range."""
    problem, within = make_leg(5, seed=8), 0.1
    names = problem.muscle[:5]
    best, span = (
        solve(problem, cost),
        force_range(problem, cost=cost, within=within, muscles=names, accuracy=1e-6),
    )
    outer = force_range(problem, names)
    domain = costs()[cost]().largest_activation(problem)
    reached = 0
    for i in range(5):
        for end, limit in ((span.least, outer.least), (span.greatest, outer.greatest)):
            value = end[:, i] / problem.force_capacity[:, i]
            lower, upper = problem.lower.copy(), problem.upper.copy()
            lower[:, i] = upper[:, i] = value
            held = solve(replace(problem, lower=lower, upper=upper), cost)
            assert (held.cost <= (1 + within) * best.cost * (1 + 1e-6)).all()
            extreme = np.abs(end - limit)[:, i] <= 1e-3 * problem.force_capacity[:, i]
            extreme |= value >= domain[:, i] - 1e-3
            np.testing.assert_allclose(held.cost[~extreme], (1 + within) * best.cost[~extreme], rtol=1e-3)
            reached += (~extreme).sum()
    assert reached > 20


@pytest.mark.parametrize("cost", COSTS)
def test_ranges_are_nested(make_leg, cost):
    problem = make_leg(5, seed=9)
    names = problem.muscle[:4]
    best, outer = solve(problem, cost).force, force_range(problem, names)
    spans = [force_range(problem, cost=cost, within=within, muscles=names) for within in (0.01, 0.05, 0.2)]
    slack = 2e-4 * problem.force_capacity[:, :4]
    inner = best[:, :4]
    for span in (*spans, outer):
        least, greatest = span.least[:, :4], span.greatest[:, :4]
        assert (least <= inner + slack).all() and (greatest >= inner - slack).all()
    for small, large in zip(spans, [*spans[1:], outer], strict=True):
        assert ((small.least - large.least)[:, :4] >= -slack).all()
        assert ((large.greatest - small.greatest)[:, :4] >= -slack).all()


def test_reserves_count_as_cost():
    """f = F^2 + w s^2 / 2 with r F + s = b is a parabola in F, whose width follows from its least value."""
    arm, moment, weight, within = 0.05, 30.0, 1000.0, 0.05
    strongest = np.array([1000.0])
    problem = Problem(np.array([[arm]]), np.array([moment]), strongest, strongest, reserve_weight=weight)
    curvature = 1.0 + 0.5 * weight * arm**2
    best = 0.5 * weight * arm * moment / curvature
    least = best**2 + 0.5 * weight * (moment - arm * best) ** 2
    reach = np.sqrt(within * least / curvature)
    span = force_range(problem, cost="force_squared", within=within, accuracy=1e-6)
    np.testing.assert_allclose([span.least[0], span.greatest[0]], [best - reach, best + reach], atol=2e-3)


def test_a_muscle_without_capacity_has_no_force():
    problem = replace(pair(), force_capacity=np.array([1000.0, 600.0, 0.0]))
    span, near = force_range(problem), force_range(problem, cost="force_squared", within=0.05)
    assert span.least[2] == span.greatest[2] == near.greatest[2] == 0.0
    np.testing.assert_allclose(span.greatest[:2], 600.0, atol=1e-3)


def test_muscles_may_be_named_in_any_way():
    for find in (force_range, partial(force_range, within=0.05)):
        spans = [find(pair(), muscles=names) for names in ("muscle_1", ["muscle_1"], iter(["muscle_1"]))]
        for span in spans:
            assert np.isfinite(span.least).tolist() == [False, True, False]
            np.testing.assert_array_equal(span.greatest, spans[0].greatest)


def test_a_share_of_less_than_nothing_is_refused():
    """A constant moves the width of the range, and ends it below zero."""
    squares = expression_cost("squares", lambda a, force, data: casadi.sumsqr(a), convex=True)
    below = expression_cost("below", lambda a, force, data: casadi.sumsqr(a) - 10.0, convex=True)
    assert (force_range(pair(), cost=squares, within=0.05).width > 1.0).any()
    with refused("bad_cost", "below", "frame 0", "-9"):
        force_range(pair(), cost=below, within=0.05)


def test_refusals():
    with refused("unknown_name", "'biceps'"):
        force_range(pair(), ["biceps"])
    for wrong in (-0.1, "5%", [0.05], True, np.inf):
        with refused("bad_number", "within", str(wrong)):
            force_range(pair(), within=wrong)
    with refused("bad_number", "accuracy"):
        force_range(pair(), within=0.05, accuracy=0.0)
    for find in (force_range, partial(force_range, within=0.05)):
        with refused("bad_type", "dict"):
            find({})
        for none in (0, [], ()):
            with refused("missing_argument", "muscles"):
                find(pair(), muscles=none)
    with refused("bad_cost", "min_max"):
        force_range(pair(), cost="min_max", within=0.05)
