"""Motions shared within rate limits: optimal, certified, or proved to be out of reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import minimize
from sharing_cases import leg

from musclesolve import Cost, Problem, Status, costs, solve
from musclesolve.sharing import RateLimits, expression_cost
from musclesolve.sharing.certificate import Certificate, certify, within_domain
from musclesolve.sharing.cost import ActivationPower
from musclesolve.sharing.rate_limits import ActivationLimits
from musclesolve.sharing.solver.linked_frames import LinkedAttempt, LinkedFrames
from musclesolve.sharing.solver.linked_frames import minimize as minimize_linked
from musclesolve.trajectory import solve_rate_limited
from musclesolve.trajectory.solve_rate_limited import (
    CoupledMotion,
    MotionCertifier,
    farkas_margin,
    least_reserves,
    limit_rows,
    solve_coupled,
)

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


def exact(problem: Problem) -> np.ndarray:
    """Weights of reserves where there are none."""
    return np.full_like(problem.moment, np.inf)


def certificate(
    problem: Problem, limits: ActivationLimits, cost: Cost, attempt: LinkedAttempt
) -> Certificate:
    return MotionCertifier(problem, limits, cost).certificate(attempt)


@pytest.mark.parametrize("cost", COSTS)
def test_slack_limits_change_nothing(cost):
    """The coupled method itself, not the short cut, with limits that are far away."""
    problem, find = leg(5, seed=1, effort=0.3), costs()[cost]()
    coupling = ActivationLimits.from_rate_limits(RateLimits(0.0, 0.0), 0.01 * np.arange(5))
    single = solve(problem, find)
    problem = within_domain(problem, find)
    attempt = solve_coupled(problem, coupling, find, exact(problem))
    assert certificate(problem, coupling, find, attempt).holds.all()
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
    assert (answer.solution.status == Status.SOLVED).all() and answer.solution.gap.max() <= 1e-9
    produced = np.einsum("tkn,tn->tk", problem.moment_matrix, answer.solution.activation)
    np.testing.assert_allclose(produced, problem.moment, atol=1e-6)
    assert answer.solution.cost.sum() > single.cost.sum() * (1 + 1e-6)
    assert answer.rising_multiplier.max() > 0 and answer.falling_multiplier.max() > 0


@pytest.mark.parametrize("size", [1e-6, 1e-3])
@pytest.mark.parametrize("cost", ["activation_power", "soft_saturation"])
def test_small_moments_are_certified_within_limits_that_bind(cost, size):
    """Activations of a millionth: distances from bounds are small beside them, not beside one."""
    problem, time = burst(height=size)
    limits = RateLimits(0.0, 0.2)
    answer = solve_rate_limited(problem, time, cost, limits)
    assert limits.excess(solve(problem, cost).activation, time).max() > 0.01 * size
    assert answer.solution.solved.all() and answer.solution.gap.max() <= 1e-9
    assert answer.falling_multiplier.max() > 0.0


def test_a_general_purpose_optimizer_agrees():
    problem, time = burst(frames=9, height=0.6)
    cost, coupling = costs()["force_squared"](), ActivationLimits.from_rate_limits(RateLimits(), time)
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
    cost, coupling = costs()["force_squared"](), ActivationLimits.from_rate_limits(RateLimits(), time)
    answer = solve_rate_limited(problem, time, cost)
    where = np.unravel_index(answer.rising_multiplier.argmax(), answer.rising_multiplier.shape)
    shift, totals = 1e-4, []
    for sign in (1.0, -1.0):

        class Shifted(ActivationLimits):
            def slack(self, a, sign=sign):
                room = super().slack(a)
                room[(1, *where)] += sign * shift
                return room

        moved = Shifted(coupling.e_a, coupling.e_d)
        attempt = solve_coupled(problem, moved, cost, exact(problem))
        totals.append(cost.value(problem, attempt.activation).sum())
    saved = (totals[1] - totals[0]) / (2 * shift)
    assert saved == pytest.approx(answer.rising_multiplier[where], rel=1e-3)


@pytest.mark.parametrize("spoil", ["activation", "multiplier", "limit_multiplier"])
def test_the_certificate_detects_a_changed_result(spoil):
    problem, time = burst()
    cost, coupling = costs()["stress_cubed"](), ActivationLimits.from_rate_limits(RateLimits(), time)
    attempt = solve_coupled(problem, coupling, cost, exact(problem))
    assert certificate(problem, coupling, cost, attempt).holds.all()
    spoiled = replace(attempt, **{spoil: 1.01 * getattr(attempt, spoil)})
    assert certificate(problem, coupling, cost, spoiled).worst.min() > 100.0


def test_a_multiplier_of_a_limit_that_is_not_met_is_refused():
    problem, time = burst()
    cost, coupling = costs()["stress_cubed"](), ActivationLimits.from_rate_limits(RateLimits(0.0, 0.0), time)
    multiplier = np.zeros((2, 23, 6))
    single = solve(problem, cost)
    unit = certify(problem, cost, single.activation, single.reserve, single.multiplier).unit.sum()
    for share in (0.0, 1e-3):
        multiplier[1, 3, 0] = share * unit
        attempt = LinkedAttempt(single.activation, single.multiplier, multiplier, 0)
        found = certificate(problem, coupling, cost, attempt)
        assert found.holds.all() if share == 0.0 else found.gap.min() > 1e-6


def test_limits_that_are_violated_are_not_certified():
    """Single frames that ask for too fast changes, with their multipliers: optimal but for the limits."""
    problem, time = burst()
    cost, coupling = costs()["stress_cubed"](), ActivationLimits.from_rate_limits(RateLimits(), time)
    single = solve(problem, cost)
    attempt = LinkedAttempt(single.activation, single.multiplier, np.zeros((2, 23, 6)), 0)
    found = certificate(problem, coupling, cost, attempt)
    assert found.gap.max() <= 1e-9 and found.moment_error.max() > 0.05
    assert not found.holds.all()
    # an optimum for muscles that are faster by some millionths
    attempt = solve_coupled(problem, coupling, cost, exact(problem))
    beyond = ActivationLimits(coupling.e_a * (1.0 + 5e-6), coupling.e_d)
    assert certificate(problem, coupling, cost, attempt).holds.all()
    found = certificate(problem, beyond, cost, attempt)
    assert 1e-6 < found.moment_error.max() < 1e-5 and not found.holds.all()


def null_step(problem: Problem, attempt: LinkedAttempt, coupling: ActivationLimits) -> np.ndarray:
    """A change of activations off their bounds and limits, by 1e-3 at most, that leaves the moments alone."""
    a, change = attempt.activation, np.zeros_like(attempt.activation)
    slack = coupling.slack(a).min(axis=0)
    room = np.minimum(np.minimum(a, 1.0 - a)[1:-1], np.minimum(slack[1:], slack[:-1]))
    for t, free in enumerate(room > 5e-3, 1):
        if free.sum() > 2:
            way = np.linalg.svd(problem.moment_matrix[t][:, free])[2][-1]
            change[t, free] = 1e-3 * way / np.abs(way).max()
            return change
    raise AssertionError("no frame with three free muscles")


@pytest.mark.parametrize("cost", COSTS)
def test_a_motion_off_by_a_thousandth_that_meets_the_moments_is_not_certified(cost):
    """And its excess over the optimum is no more than the gap says."""
    problem, time = burst(height=0.6)
    chosen, coupling = costs()[cost](), ActivationLimits.from_rate_limits(RateLimits(), time)
    attempt = solve_coupled(problem, coupling, chosen, exact(problem))
    spoiled = replace(attempt, activation=attempt.activation + null_step(problem, attempt, coupling))
    found = certificate(problem, coupling, chosen, spoiled)
    assert found.moment_error.max() < 1e-9 and found.gap.min() > 1e-9 and not found.holds.any()
    best, worse = (chosen.value(problem, each.activation).sum() for each in (attempt, spoiled))
    assert 0.0 < worse - best <= found.gap[0] * found.unit.sum() * (1.0 + 1e-6)


@pytest.mark.parametrize("cost", COSTS)
def test_the_gap_bounds_the_excess_of_rough_optima(cost):
    """Of early iterates as well: the bound of the cost of the motion is below the least one."""
    problem, time = burst()
    answer = solve_rate_limited(problem, time, cost)
    least = answer.solution.cost.sum()
    assert answer.cost_bound <= least * (1.0 + 1e-12) and answer.cost_bound == pytest.approx(least, rel=1e-8)
    assert np.ptp(answer.solution.gap) == 0.0 and np.isnan(answer.solution.cost_bound).all()
    chosen, coupling = costs()[cost](), ActivationLimits.from_rate_limits(RateLimits(), time)
    for iterations in (8, 11, 14, 17):
        certifier = MotionCertifier(problem, coupling, chosen)
        linked = LinkedFrames.from_problem(problem, chosen, None, coupling)
        attempt = minimize_linked(linked, certifier.certificate, np.full((24, 6), 0.3), iterations)
        assert certifier.of_frames(attempt).cost_bound.sum() <= least * (1.0 + 1e-9)


@pytest.mark.parametrize("size", [1e-20, 1e20])
def test_the_gap_has_no_unit(size):
    problem, time = burst()
    plain, scaled = (
        solve_rate_limited(problem, time, cost).solution
        for cost in (costs()["stress_cubed"](), size * costs()["stress_cubed"]())
    )
    assert scaled.solved.all()
    np.testing.assert_allclose(scaled.activation, plain.activation, atol=1e-9)
    np.testing.assert_allclose(scaled.gap, plain.gap, rtol=1e-3, atol=1e-13)


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
    assert (
        f"{len(time)} of the {len(time)} infeasible frames are possible without" in answer.solution.summary()
    )
    assert np.isnan(answer.solution.activation).all()
    assert np.abs(answer.shortage).max() > 1.0
    coupling = ActivationLimits.from_rate_limits(limits, time)
    shortage, _, proved = least_reserves(problem, coupling)
    assert proved
    possible = Problem(
        problem.moment_arm, problem.moment - shortage, problem.force_capacity, problem.max_isometric_force
    )
    left, _, proved = least_reserves(possible, coupling)
    assert not proved and np.abs(left).max() < 1e-6


def test_no_proof_for_a_motion_within_reach():
    problem, time = burst()
    coupling, random = ActivationLimits.from_rate_limits(RateLimits(), time), np.random.default_rng(1)
    for _ in range(50):
        direction, multiplier = random.standard_normal((24, 2)), random.uniform(0, 5, (2, 23, 6))
        assert farkas_margin(problem, coupling, direction, multiplier) < 0


@pytest.mark.parametrize("cost", COSTS)
def test_reserves_help_where_the_motion_is_too_fast(cost):
    problem, time = burst(height=0.95, step=0.002)
    limits = RateLimits(0.05, 0.2)
    answer = solve_rate_limited(problem, time, cost, limits, on_infeasible="reserve")
    assert answer.solution.solved.all() and answer.solution.gap.max() <= 1e-9
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


def test_a_muscle_that_loses_its_capacity_for_some_frames_keeps_the_limits_across_them():
    problem, time = burst(height=0.5)
    capacity = problem.force_capacity.copy()
    capacity[10:13, 1] = 0.0
    weak = problem.with_arrays(force_capacity=capacity)
    answer = solve_rate_limited(weak, time)
    assert answer.solution.solved.all() and (answer.solution.force[10:13, 1] == 0).all()
    assert RateLimits().excess(answer.solution.activation, time).max() < 1e-9
    assert answer.solution.cost.sum() > solve_rate_limited(problem, time).solution.cost.sum()


def test_two_frames_of_an_agonist_that_starts_early():
    """By hand: the agonist is as active as it must be to rise in time, its antagonist carries the difference."""
    problem = Problem([[0.05, -0.05]], [[5.0], [45.0]], [1000.0] * 2, [1000.0] * 2)
    limits, time = RateLimits(0.010, 0.0), np.array([0.0, 0.003])
    early = 1.0 - (1.0 - 0.9) * np.exp(0.3)
    for cost in COSTS:
        answer = solve_rate_limited(problem, time, cost, limits)
        assert (answer.solution.status == Status.SOLVED).all()
        expected = [[early, early - 0.1], [0.9, 0.0]]
        np.testing.assert_allclose(answer.solution.activation, expected, atol=1e-6)
        assert answer.rising_multiplier.shape == (1, 2) and answer.rising_multiplier[0, 0] > 0


def test_frames_seconds_apart_do_not_see_each_other():
    problem = leg(6, seed=2, effort=0.3)
    coupling, cost = (
        ActivationLimits.from_rate_limits(RateLimits(), 5.0 * np.arange(6)),
        costs()["force_squared"](),
    )
    attempt = solve_coupled(problem, coupling, cost, exact(problem))
    np.testing.assert_allclose(attempt.activation, solve(problem, cost).activation, atol=1e-6)


@pytest.mark.parametrize("frames", [1, 2])
def test_one_or_two_frames_are_solved_alike(frames):
    """The coupled method itself, where single frames are within the limits."""
    problem = leg(frames, effort=0.3)
    cost, time = costs()["stress_cubed"](), np.arange(float(frames))
    result = CoupledMotion.from_problem(problem, time, cost, RateLimits()).exact(infeasible_frames=False)
    assert result.arrays.solved.all() and result.limit_multiplier.shape == (2, frames - 1, 43)
    np.testing.assert_allclose(result.arrays.activation, solve(problem, cost).activation, atol=1e-5)


def test_a_cost_that_joins_muscles_is_shared_frame_by_frame():
    """As the message of the refusal has it."""
    problem, time = burst(frames=4, height=0.3)
    joined = expression_cost("joined", lambda a, force, data: a.T @ a + 0.1 * (a[0] - a[1]) ** 2, convex=True)
    with refused("bad_cost", "joined", "frame_by_frame"):
        solve_rate_limited(problem, time, joined)
    answer = solve_rate_limited(problem, time, joined, method="frame_by_frame", solver="ipopt")
    assert answer.solution.solved.all()


def test_a_single_frame_has_nothing_to_limit():
    problem = leg(1)
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
        ({"method": "backward"}, "unknown_name", "backward"),
        ({"on_infeasible": "ignore"}, "unknown_name", "ignore"),
        ({"cost": "min_max"}, "bad_cost", "min_max"),
        ({"problem": {}}, "bad_type", "dict"),
        ({"limits": (0.01, 0.04)}, "bad_type", "tuple"),
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


def test_bounds_above_one_and_a_frame_without_axis_are_named():
    problem, time = burst()
    with refused("bad_number", "upper", "2", "muscle_0", "frame 0"):
        solve_rate_limited(problem.with_arrays(upper=np.full((24, 6), 2.0)), time)
    one = Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2)
    with refused("bad_shape", "problem"):
        solve_rate_limited(one, [0.0])


def test_soft_rows_and_reserves_of_the_problem_are_shared_within_limits_too():
    """Joint reactions with reserves: certified, and cheaper than the sum of single frames can never be."""
    whole, time = leg(8, seed=4, effort=0.3), 0.03 * np.arange(8)
    cost = costs()["joint_reaction_squared"]() + 1e3 * costs()["stress_cubed"]()
    problem = whole.with_arrays(reserve_weight=np.full_like(whole.moment, 1e5))
    single, answer = solve(problem, cost), solve_rate_limited(problem, time, cost)
    assert answer.solution.solved.all() and answer.solution.gap.max() <= 1e-9
    assert RateLimits().excess(single.activation, time).max() > 1e-3

    def total(solution):
        return (solution.cost + 0.5e5 * np.square(solution.reserve).sum(axis=1)).sum()

    assert total(single) < total(answer.solution) < 10 * total(single)


@pytest.mark.parametrize("kind", ["a moment twice", "no muscle in a frame", "nothing free in a frame"])
def test_moments_that_depend_on_each_other_are_shared_within_limits(kind):
    """A row that repeats another but for 1e-9, one without capacity, and one whose muscles cannot move."""
    rng, (frames, muscles) = np.random.default_rng(3), (12, 6)
    time, limits = 0.02 * np.arange(frames), RateLimits(0.05, 0.05)
    arm = rng.uniform(0.02, 0.06, (frames, 2, muscles)) * rng.choice([-1.0, 1.0], (2, muscles))
    capacity, activation = np.full((frames, muscles), 1000.0), np.full((frames, muscles), 0.3)
    for t in range(1, frames):
        activation[t] = np.clip(activation[t - 1] + rng.uniform(-0.05, 0.05, muscles), 0.05, 0.9)
    lower, upper = np.zeros_like(activation), np.ones_like(activation)
    if kind == "a moment twice":
        arm[:, 1] = arm[:, 0] * (1.0 + 1e-9 * rng.standard_normal(muscles))
    elif kind == "no muscle in a frame":
        capacity[5] = 0.0
    else:
        lower[5] = upper[5] = activation[5]
    moment = np.einsum("tmn,tn,tn->tm", arm, capacity, activation)
    problem = Problem(arm, moment, capacity, np.full(muscles, 1000.0), lower=lower, upper=upper)
    answer = solve_rate_limited(problem, time, "activation_power", limits).solution
    assert answer.solved.all() and limits.excess(answer.activation, time).max() <= 1e-6
    np.testing.assert_allclose(problem.produced(answer.activation), moment, atol=1e-5)
    assert (answer.activation**2).sum() < (activation**2).sum()


@pytest.mark.parametrize("exponent", [2.0, 3.0, 6.0])
@pytest.mark.parametrize("weight", [1.0, 10.0, 1e3])
def test_reserves_that_bear_much_beside_limits_that_bind_are_certified(exponent, weight):
    """Multipliers of limits are then a hundred thousand times the marginal costs: the active set is met exactly."""
    time, capacity = 0.02 * np.arange(12), np.array([1000.0, 400.0, 400.0])
    moment = 20.0 * np.sin(30.0 * time)[:, None]
    problem = Problem(
        [[0.05, 0.03, -0.04]], moment, np.tile(capacity, (12, 1)), capacity, reserve_weight=weight
    )
    cost = ActivationPower(exponent)
    limited = solve_rate_limited(problem, time, cost, RateLimits(0.05, 0.2))
    solution = limited.solution
    assert solution.solved.all() and (solution.gap <= 1e-9).all() and np.abs(solution.reserve).max() > 10.0
    assert RateLimits(0.05, 0.2).excess(solution.activation, time).max() <= 1e-9
    total = solution.cost.sum() + 0.5 * weight * np.square(solution.reserve).sum()
    assert total - 1e-6 * solution.cost.sum() * exponent <= limited.cost_bound <= total * (1.0 + 1e-12)
