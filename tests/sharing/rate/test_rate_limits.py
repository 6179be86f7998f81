"""Rate limits: what activation dynamics allows, and the motion that respects it."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.rate.rate_certificate import (
    Coupling,
    coupled_residual,
    farkas_ratio,
    least_reserves,
    limit_rows,
)
from musclesolve.sharing.rate.rate_interior_point import solve_coupled
from musclesolve.sharing.rate.rate_limits import RateLimits
from musclesolve.sharing.rate.solve_rate_limited import solve_rate_limited
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status

COSTS = ["force_squared", "stress_cubed", "soft_saturation"]


def burst(frames: int = 24, height: float = 0.8, step: float = 0.01) -> tuple[Problem, np.ndarray]:
    """Two joints, six muscles; a moment that comes and goes faster than muscles can follow at their own optimum."""
    random = np.random.default_rng(2)
    time = step * np.arange(frames)
    arm = np.array([[0.05, 0.04, 0.03, -0.04, -0.03, 0.0], [0.0, 0.03, -0.02, 0.0, 0.03, -0.05]])
    capacity = np.array([900.0, 700.0, 400.0, 800.0, 500.0, 600.0]) * random.uniform(0.9, 1.1, (frames, 6))
    on = (np.arange(frames) > frames // 3) & (np.arange(frames) < 2 * frames // 3)
    moment = np.stack([np.where(on, 50.0, 4.0), np.where(on, -6.0, 3.0)], axis=1) * height
    return Problem(arm, moment, capacity, np.full(6, 1200.0)), time


@pytest.mark.parametrize(("start", "excitation"), [(0.0, 1.0), (0.7, 0.0), (0.3, 1.0), (1.0, 0.0)])
def test_full_and_no_excitation_end_at_the_limits(start, excitation):
    """The differential equation of the docstring, integrated."""
    limits = RateLimits(0.012, 0.045)
    beta = limits.activation_time / limits.deactivation_time

    def rate(_, a):
        return (excitation - (beta + (1 - beta) * excitation) * a) / limits.activation_time

    end = solve_ivp(rate, (0.0, 0.02), [start], rtol=1e-10, atol=1e-12).y[0, -1]
    low, high = limits.reach(np.array(start), 0.02)
    assert end == pytest.approx(high if excitation else low, abs=1e-8)


def test_any_excitation_between_stays_between():
    limits, random = RateLimits(), np.random.default_rng(0)
    beta = limits.activation_time / limits.deactivation_time
    for start in random.uniform(0, 1, 20):
        a, steps = start, 2000
        for u in np.repeat(random.uniform(0, 1, 10), steps // 10):
            a += 0.01 / steps * (u - (beta + (1 - beta) * u) * a) / limits.activation_time
        low, high = limits.reach(np.array(start), 0.01)
        assert low - 1e-4 < a < high + 1e-4


def test_two_short_steps_reach_as_far_as_a_long_one():
    limits, start = RateLimits(), np.array([0.0, 0.2, 0.9])
    once, twice = limits.reach(start, 0.02), [limits.reach(x, 0.01) for x in limits.reach(start, 0.01)]
    np.testing.assert_allclose(once[0], twice[0][0])
    np.testing.assert_allclose(once[1], twice[1][1])


@pytest.mark.parametrize("cost", COSTS)
def test_slack_limits_change_nothing(make_leg, cost):
    """The coupled method itself, not the short cut, with limits that are far away."""
    problem, find = make_leg(5, seed=1, effort=0.3), find_cost(cost)
    coupling = Coupling.of(RateLimits(0.0, 0.0), 0.01 * np.arange(5))
    single = solve(problem, find)
    attempt = solve_coupled(within_domain(problem, find), coupling, find, np.zeros_like(problem.moment))
    assert attempt.residual < 1e-7
    np.testing.assert_allclose(attempt.activation, single.activation, atol=1e-5)
    answer = solve_rate_limited(problem, 0.01 * np.arange(5), cost, RateLimits(0.0, 0.0))
    np.testing.assert_allclose(answer.solution.activation, single.activation, atol=1e-9)
    assert (answer.falling_multiplier == 0).all() and (answer.solution.status == Status.SOLVED).all()


@pytest.mark.parametrize("cost", COSTS)
def test_limits_that_bind_are_kept_and_certified(cost):
    problem, time = burst()
    limits = RateLimits()
    single, answer = solve(problem, cost), solve_rate_limited(problem, time, cost)
    assert limits.excess(single.activation, time).max() > 0.05
    assert limits.excess(answer.solution.activation, time).max() < 1e-9
    assert (answer.solution.status == Status.SOLVED).all() and answer.solution.kkt_residual.max() <= 1e-6
    produced = np.einsum("tkn,tn->tk", problem.moment_matrix, answer.solution.activation)
    np.testing.assert_allclose(produced, problem.moment, atol=1e-6)
    assert answer.solution.cost.sum() > single.cost.sum() * (1 + 1e-6)
    assert answer.rising_multiplier.max() > 0 and answer.falling_multiplier.max() > 0


def test_a_general_purpose_optimiser_agrees():
    problem, time = burst(frames=9, height=0.6)
    cost, coupling = find_cost("force_squared"), Coupling.of(RateLimits(), time)
    answer = solve_rate_limited(problem, time, cost)
    rows = limit_rows(coupling, (9, 6)).toarray()
    room = coupling.slack(np.zeros((9, 6))).reshape(-1)
    matrix = np.zeros((18, 54))
    for t in range(9):
        matrix[2 * t : 2 * t + 2, 6 * t : 6 * t + 6] = problem.moment_matrix[t]
    known = minimize(
        lambda a: 1e-5 * cost.value(problem, a.reshape(9, 6)).sum(),
        np.full(54, 0.2),
        jac=lambda a: 1e-5 * cost.gradient(problem, a.reshape(9, 6)).reshape(-1),
        bounds=[(0.0, 1.0)] * 54,
        constraints=[
            {"type": "eq", "fun": lambda a: matrix @ a - problem.moment.reshape(-1), "jac": lambda a: matrix},
            {"type": "ineq", "fun": lambda a: rows @ a + room, "jac": lambda a: rows},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert known.success or known.status == 8  # 8: no better point within round-off, which is the optimum too
    assert answer.solution.cost.sum() == pytest.approx(1e5 * known.fun, rel=1e-6)
    np.testing.assert_allclose(answer.solution.activation.reshape(-1), known.x, atol=1e-4)


def test_the_multiplier_is_what_a_faster_muscle_would_save():
    """d(total cost) / d(room to rise), by central differences in the limit itself."""
    problem, time = burst()
    cost, coupling = find_cost("force_squared"), Coupling.of(RateLimits(), time)
    answer = solve_rate_limited(problem, time, cost)
    where = np.unravel_index(answer.rising_multiplier.argmax(), answer.rising_multiplier.shape)
    shift, totals = 1e-4, []
    for sign in (1.0, -1.0):

        class Shifted(Coupling):
            def slack(self, a, sign=sign):
                room = super().slack(a)
                room[(1, *where)] += sign * shift
                return room

        moved = Shifted(coupling.e_a, coupling.e_d)
        attempt = solve_coupled(problem, moved, cost, np.zeros_like(problem.moment))
        totals.append(cost.value(problem, attempt.activation).sum())
    saved = (totals[1] - totals[0]) / (2 * shift)
    assert saved == pytest.approx(answer.rising_multiplier[where], rel=1e-3)


@pytest.mark.parametrize("spoil", ["activation", "multiplier", "limit_multiplier"])
def test_the_certificate_detects_a_changed_result(spoil):
    problem, time = burst()
    cost, coupling = find_cost("stress_cubed"), Coupling.of(RateLimits(), time)
    nothing = np.zeros_like(problem.moment)
    attempt = solve_coupled(problem, coupling, cost, nothing)
    parts = {name: getattr(attempt, name) for name in ("activation", "multiplier", "limit_multiplier")}

    def residual():
        a, m, y = parts.values()
        return coupled_residual(problem, coupling, cost, a, nothing, m, y, nothing).max()

    assert residual() < 1e-6
    parts[spoil] = parts[spoil] * 1.01
    assert residual() > 1e-4


def test_a_multiplier_of_a_limit_that_is_not_met_is_refused():
    problem, time = burst()
    cost, coupling = find_cost("stress_cubed"), Coupling.of(RateLimits(0.0, 0.0), time)
    nothing, multiplier = np.zeros_like(problem.moment), np.zeros((2, 23, 6))
    single = solve(problem, cost)
    for value, least in ((0.0, 0.0), (50.0, 1e-4), (-50.0, 1e-4)):
        multiplier[1, 3, 0] = value
        given = (single.activation, nothing, single.multiplier, multiplier, nothing)
        residual = coupled_residual(problem, coupling, cost, *given)
        assert residual.max() < 1e-6 if value == 0 else residual.max() > least


def test_frame_by_frame_keeps_the_limits_but_costs_more():
    problem, time = burst(height=0.5)
    together = solve_rate_limited(problem, time, "stress_cubed")
    apart = solve_rate_limited(problem, time, "stress_cubed", method="frame_by_frame")
    assert RateLimits().excess(apart.solution.activation, time).max() < 1e-9
    assert apart.solution.solved.all() and together.solution.solved.all()
    assert apart.solution.cost.sum() > together.solution.cost.sum()
    assert apart.method == "frame_by_frame" and np.isnan(apart.rising_multiplier).all()


@pytest.mark.parametrize("on_infeasible", ["report", "reserve"])
@pytest.mark.parametrize(
    ("moment", "lower", "upper", "good"),
    [
        ([60.0, 10.0, 10.0], 0.0, [1.0, 0.1, 1.0], [True, False, True]),
        ([1.0, 10.0, 10.0], [0.0, 0.9, 0.0], 1.0, [True, False, True]),
        ([10.0, 10.0, 10.0], [0.1, 0.0, 0.0], [0.1, 0.1 * np.exp(-0.025), 1.0], [True, True, True]),
    ],
)
def test_bounds_that_a_muscle_cannot_reach_in_time_are_not_forced(moment, lower, upper, good, on_infeasible):
    """The last case: bounds that touch what is within reach."""
    lower, upper = (np.broadcast_to(np.reshape(x, (-1, 1)), (3, 2)) for x in (lower, upper))
    problem = Problem(
        [[0.05, 0.05]],
        np.reshape(moment, (3, 1)),
        [1000.0] * 2,
        [1000.0] * 2,
        lower,
        upper,
        reserve_weight=10.0,
    )
    time, limits = np.array([0.0, 0.001, 0.1]), RateLimits()
    answer = solve_rate_limited(
        problem, time, limits=limits, method="frame_by_frame", on_infeasible=on_infeasible
    ).solution
    np.testing.assert_array_equal(answer.solved, good)
    assert (answer.status[~np.array(good)] == Status.INFEASIBLE).all()
    assert limits.excess(answer.activation[good], time[good]).max() < 1e-6


def test_a_motion_too_fast_is_proved_to_be_out_of_reach():
    problem, time = burst(height=0.95, step=0.002)
    limits = RateLimits(0.05, 0.2)
    assert solve(problem).solved.all()
    answer = solve_rate_limited(problem, time, limits=limits)
    assert (answer.solution.status == Status.INFEASIBLE).all()
    assert np.isnan(answer.solution.activation).all()
    assert np.abs(answer.shortage).max() > 1.0
    coupling = Coupling.of(limits, time)
    reach = least_reserves(problem, coupling)
    assert reach.proved
    possible = Problem(
        problem.moment_arm,
        problem.moment - reach.shortage,
        problem.force_capacity,
        problem.max_isometric_force,
    )
    assert not least_reserves(possible, coupling).proved
    assert np.abs(least_reserves(possible, coupling).shortage).max() < 1e-6


def test_no_proof_for_a_motion_within_reach():
    problem, time = burst()
    coupling, random = Coupling.of(RateLimits(), time), np.random.default_rng(1)
    for _ in range(50):
        direction, multiplier = random.standard_normal((24, 2)), random.uniform(0, 5, (2, 23, 6))
        assert farkas_ratio(problem, coupling, direction, multiplier) < 0


@pytest.mark.parametrize("cost", COSTS)
def test_reserves_help_where_the_motion_is_too_fast(cost):
    problem, time = burst(height=0.95, step=0.002)
    limits = RateLimits(0.05, 0.2)
    answer = solve_rate_limited(problem, time, cost, limits, on_infeasible="reserve")
    assert answer.solution.solved.all() and answer.solution.kkt_residual.max() <= 1e-6
    assert (answer.solution.status == Status.SOLVED_WITH_RESERVE).any()
    assert limits.excess(answer.solution.activation, time).max() < 1e-9
    produced = np.einsum("tkn,tn->tk", problem.moment_matrix, answer.solution.activation)
    np.testing.assert_allclose(produced + answer.solution.reserve, problem.moment, atol=1e-5)
    least = np.abs(answer.shortage).sum()
    assert 0.9 * least < np.abs(answer.solution.reserve).sum() < 1.6 * least


def test_an_invalid_frame_is_left_out_and_the_limits_hold_across_it():
    problem, time = burst()
    moment = problem.moment.copy()
    moment[9] = np.nan
    hole = Problem(problem.moment_arm, moment, problem.force_capacity, problem.max_isometric_force)
    answer = solve_rate_limited(hole, time)
    assert answer.solution.status[9] == Status.INVALID_INPUT
    kept = np.arange(24) != 9
    assert (answer.solution.status[kept] == Status.SOLVED).all()
    assert RateLimits().excess(answer.solution.activation[kept], time[kept]).max() < 1e-9
    assert np.isnan(answer.rising_multiplier[8:10]).all() and np.isfinite(answer.rising_multiplier[:8]).all()


def test_a_muscle_of_zero_capacity_and_a_fixed_one_do_no_harm():
    problem, time = burst(height=0.4)
    capacity = problem.force_capacity.copy()
    capacity[:, 5] = 0.0
    lower, upper = np.zeros((24, 6)), np.ones((24, 6))
    lower[:, 4] = upper[:, 4] = 0.1
    fields = (problem.moment_arm, problem.moment, capacity, problem.max_isometric_force, lower, upper)
    answer = solve_rate_limited(Problem(*fields), time)
    assert answer.solution.solved.all() and (answer.solution.activation[:, 4] == 0.1).all()


def test_a_single_frame_has_nothing_to_limit(make_leg):
    problem = make_leg(1)
    answer = solve_rate_limited(problem, [0.0])
    np.testing.assert_allclose(answer.solution.activation, solve(problem).activation)
    assert answer.rising_multiplier.shape == (0, 43)


@pytest.mark.parametrize("method", ["together", "frame_by_frame"])
def test_no_frames_no_solution(method):
    problem, time = burst()
    answer = solve_rate_limited(problem.frames(np.arange(0)), time[:0], method=method)
    assert answer.solution.activation.shape == (0, 6) and answer.method == method


@pytest.mark.parametrize(
    ("change", "code", "part"),
    [
        ({"time": np.zeros(24)}, "time_not_increasing", "frame 1"),
        ({"time": np.arange(3.0)}, "bad_shape", "3"),
        ({"time": "now"}, "not_numbers", "time"),
        ({"time": np.append(np.arange(23.0), np.nan)}, "not_finite", "23"),
        ({"method": "backwards"}, "unknown_name", "backwards"),
        ({"on_infeasible": "ignore"}, "unknown_name", "ignore"),
        ({"cost": "min_max"}, "bad_cost", "min_max"),
        ({"problem": {}}, "bad_type", "dict"),
        ({"limits": (0.01, 0.04)}, "bad_type", "(0.01, 0.04)"),
        ({"limits": 0}, "bad_type", "0"),
        ({"time": ["1.0"] * 24}, "not_numbers", "time"),
        ({"time": 1j * np.arange(24)}, "not_numbers", "time"),
        ({"time": np.ma.masked_array(np.arange(24.0), np.arange(24) == 7)}, "not_finite", "7"),
    ],
)
def test_bad_input_is_named(change, code, part):
    problem, time = burst()
    given = {"problem": problem, "time": time} | change
    with refused(code, part):
        solve_rate_limited(**given)


def test_bounds_above_one_and_bad_constants_are_named():
    problem, time = burst()
    with refused("bad_number", "upper", "2", "muscle_0", "frame 0"):
        solve_rate_limited(problem.with_upper(np.full((24, 6), 2.0)), time)
    for value in (-0.01, np.nan, np.inf, "a", None, True, [0.04]):
        with refused("bad_number", "deactivation_time"):
            RateLimits(0.01, value)
    one = Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2)
    with refused("bad_shape", "problem"):
        solve_rate_limited(one, [0.0])


def test_soft_rows_and_reserves_of_the_problem_are_shared_within_limits_too(make_leg):
    """Joint reactions with reserves: certified, and cheaper than the sum of single frames can never be."""
    leg, time = make_leg(8, seed=4, effort=0.3), 0.03 * np.arange(8)
    cost = find_cost("joint_reaction_squared") + 1e3 * find_cost("stress_cubed")
    problem = leg.with_reserve_weight(np.full_like(leg.moment, 1e5))
    single, answer = solve(problem, cost), solve_rate_limited(problem, time, cost)
    assert answer.solution.solved.all() and answer.solution.kkt_residual.max() <= 1e-6
    assert RateLimits().excess(single.activation, time).max() > 1e-3

    def total(solution):
        return (solution.cost + 0.5e5 * np.square(solution.reserve).sum(axis=1)).sum()

    assert total(single) < total(answer.solution) < 10 * total(single)
