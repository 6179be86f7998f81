from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from packages import imported, need_solver
from refusals import refused
from scipy.optimize import linprog, lsq_linear
from sharing_cases import SMOOTH

import musclesolve as ms
from musclesolve import Problem, Status, solve
from musclesolve.sharing.certificate import farkas_ratio
from musclesolve.sharing.solver.interior_point import nearest_moments


def mixed(make_leg, frames=40, dofs=4, muscles=12, seed=1):
    """Moments from well within reach to far out of it."""
    base = make_leg(frames, seed=seed, effort=1.0, dofs=dofs, muscles=muscles)
    factor = np.linspace(0.2, 3.0, frames)[:, None]
    return replace(base, moment=factor * base.moment)


def reachable(problem):
    """Return the answer of linear programming."""
    bounds = [(0, 1)] * problem.n_muscles
    zero = np.zeros(problem.n_muscles)
    rows = zip(problem.moment_matrix, problem.moment, strict=True)
    return np.array([linprog(zero, A_eq=a, b_eq=b, bounds=bounds).status == 0 for a, b in rows])


@pytest.mark.parametrize("solver", ["batch", "ipopt"])
@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed"])
def test_infeasible_frames_are_those_of_linear_programming(make_leg, cost, solver):
    problem = mixed(make_leg)
    expected = reachable(problem)
    assert 5 < expected.sum() < 35
    answer = solve(problem, cost, solver)
    np.testing.assert_array_equal(answer.status, np.where(expected, Status.SOLVED, Status.INFEASIBLE))
    assert np.isnan(answer.activation[~expected]).all() and np.isnan(answer.gap[~expected]).all()


def test_the_proof_can_be_checked_by_hand(make_leg):
    problem = mixed(make_leg)
    answer = solve(problem)
    proved = answer.status == Status.INFEASIBLE
    y, matrix = answer.infeasibility_proof[proved], problem.moment_matrix[proved]
    most = np.maximum(np.einsum("tm,tmn->tn", y, matrix), 0).sum(axis=1)
    assert ((y * problem.moment[proved]).sum(axis=1) > most).all()
    assert np.isnan(answer.infeasibility_proof[~proved]).all()


def test_no_direction_proves_a_feasible_frame_infeasible(make_leg):
    problem = make_leg(200, effort=1.0)
    directions = np.random.default_rng(0).standard_normal((50, *problem.moment.shape))
    for direction in directions:
        assert (farkas_ratio(problem, direction) <= 1e-12).all()
    assert (farkas_ratio(problem, np.zeros_like(problem.moment)) == -np.inf).all()


def test_the_remainder_of_least_squares_is_a_proof(make_leg):
    problem = mixed(make_leg)
    remainder = nearest_moments(problem).multiplier
    np.testing.assert_array_equal(farkas_ratio(problem, remainder) > 1e-6, ~reachable(problem))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", SMOOTH)
def test_a_reserve_fills_exactly_what_is_missing(make_leg, cost):
    problem = mixed(make_leg)
    plain, helped = solve(problem, cost), solve(problem, cost, on_infeasible="reserve")
    short = plain.status == Status.INFEASIBLE
    assert short.any()
    np.testing.assert_array_equal(helped.status, np.where(short, Status.SOLVED_WITH_RESERVE, Status.SOLVED))
    np.testing.assert_array_equal(helped.activation[~short], plain.activation[~short])
    assert (helped.gap <= 1e-9).all() and np.isfinite(helped.reserve_weight[short]).all()
    top = (
        np.minimum(1.0, problem.max_isometric_force / problem.force_capacity)
        if cost == "soft_saturation"
        else 1.0
    )
    upper = np.broadcast_to(top, problem.force_capacity.shape)
    for t in np.flatnonzero(short):
        best = lsq_linear(problem.moment_matrix[t], problem.moment[t], (0, upper[t]), tol=1e-14)
        assert np.linalg.norm(helped.reserve[t]) <= np.linalg.norm(best.fun) + 1e-3
        np.testing.assert_allclose(helped.reserve[t], -best.fun, atol=5e-3)


def rows(problem, matrix, moment):
    return replace(problem, moment_arm=matrix, moment=moment, dof=None)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", SMOOTH)
@pytest.mark.parametrize("solver", ["batch", "ipopt"])
def test_a_degree_of_freedom_without_muscles(make_leg, cost, solver):
    base = make_leg(5, seed=3)
    arm, moment = base.moment_arm.copy(), base.moment.copy()
    arm[:, 2], moment[:, 2] = 0.0, 0.0
    assert (solve(rows(base, arm, moment), cost, solver).status == Status.SOLVED).all()
    moment[:, 2] = [0.0, 1e-3, -2.0, 50.0, 0.0]
    answer = solve(rows(base, arm, moment), cost, solver)
    np.testing.assert_array_equal(answer.status == Status.INFEASIBLE, moment[:, 2] != 0)
    assert (np.abs(answer.infeasibility_proof[1:4]).argmax(axis=1) == 2).all()


@pytest.mark.parametrize("cost", [name for name in SMOOTH if name != "force_moment_squared"])
def test_degrees_of_freedom_that_depend_on_each_other(make_leg, cost):
    base = make_leg(5, seed=4)
    arm, moment = base.moment_arm.copy(), base.moment.copy()
    arm[:, 6], moment[:, 6] = arm[:, 0] - 2 * arm[:, 1], moment[:, 0] - 2 * moment[:, 1]
    answer = solve(rows(base, arm, moment), cost)
    assert (answer.status == Status.SOLVED).all() and (answer.gap <= 1e-9).all()
    six = solve(rows(base, arm[:, :6], moment[:, :6]), cost)
    np.testing.assert_allclose(answer.activation, six.activation, atol=1e-6)
    moment[:, 6] += 1.0
    assert (solve(rows(base, arm, moment), cost).status == Status.INFEASIBLE).all()


@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed"])
def test_the_edge_of_what_is_possible(cost):
    """All agonists at their bound is the only admissible answer; a little more is too much."""
    arm, capacity = np.array([[0.05, 0.03, -0.02]]), np.array([1000.0, 500.0, 300.0])
    most = 0.05 * 1000 + 0.03 * 500
    edge = solve(Problem(arm, [most], capacity, capacity), cost)
    assert edge.status == Status.SOLVED
    np.testing.assert_allclose(edge.activation, [1, 1, 0], atol=1e-5)
    assert solve(Problem(arm, [most + 0.01], capacity, capacity), cost).status == Status.INFEASIBLE


@pytest.mark.parametrize("cost", ["stress_cubed", "activation_power", "joint_weighted_activation"])
@pytest.mark.filterwarnings("ignore:moment_arm is up to")
def test_reserves_are_within_their_bound_of_the_least(cost):
    """100 F |s|^2 + f is least, and f changes by at most F: |s|^2 is at most 0.01 (N m)^2 above the least one."""
    arm = np.array([[50.0] + 20 * [0.0053]])
    beyond = np.array([arm.sum() + 0.001])
    reserve = solve(Problem(arm, beyond, np.ones(21), np.ones(21)), cost, on_infeasible="reserve").reserve
    assert 0.001**2 <= float(reserve @ reserve) <= 0.001**2 + 0.01
    assert abs(reserve[0]) > 0.02, "nearer to the bound than the moments of a leg come"


@pytest.mark.parametrize("apart", [1e-8, 1e-2])
def test_arms_that_nearly_agree_resolve_activations(apart):
    """Two muscles and two moments have one answer, where the certificate fixes little."""
    arm, capacity, load = np.array([[0.05, 0.03], [0.05, 0.03 + apart]]), np.full(2, 1000.0), [0.2, 1.0]
    answer = solve(Problem(arm, arm @ (capacity * load), capacity, capacity), "stress_cubed")
    assert answer.status == Status.SOLVED
    np.testing.assert_allclose(answer.activation, load, rtol=0, atol=1e-6)


def test_min_max_shares_what_the_least_reserves_leave():
    """Reserves are exact: round-off in their pull on a muscle between its bounds decides none."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        muscles, dofs = int(rng.integers(4, 12)), int(rng.integers(2, 5))
        arm = rng.normal(0.0, 0.05, (dofs, muscles)) * (rng.random((dofs, muscles)) < 0.5)
        capacity = rng.uniform(200.0, 3000.0, muscles)
        moment = 2.0 * (arm * capacity) @ rng.uniform(0.0, 1.0, muscles) + rng.normal(0.0, 5.0, dofs)
        problem = Problem(arm, moment, capacity, capacity, reserve_weight=np.full(dofs, 1e-2))
        answer = solve(problem, "min_max", "linprog")
        least = lsq_linear(arm * capacity, moment, (0.0, 1.0), "bvls", 1e-14)
        assert answer.solved and (answer.reserve**2).sum() == pytest.approx(2.0 * least.cost, abs=1e-9)


def without_reserve_of_one(make_leg):
    """A leg whose second moment has no reserve, and is out of reach in some frames, and the weights of the others."""
    leg = make_leg(30, effort=0.5, dofs=3, muscles=9)
    far = np.array(leg.moment)
    far[10:20, 0] *= 4.0
    far[20:, 1] *= 6.0
    weight = np.array([50.0, np.inf, 10.0])
    return replace(leg, moment=far, reserve_weight=weight), weight


@pytest.mark.parametrize("solver", ["batch", "ipopt", "slsqp", "quadprog"])
def test_an_infinite_weight_leaves_a_moment_without_a_reserve(make_leg, solver):
    """The reference is a quadratic program with a column for each of the other reserves."""
    solve_qp = imported("qpsolvers").solve_qp
    need_solver(solver)
    problem, weight = without_reserve_of_one(make_leg)
    answer = solve(problem, "activation_power", solver)
    n, proof = problem.n_muscles, answer.infeasibility_proof
    columns, ends = np.eye(3)[:, [0, 2]], np.r_[np.ones(n), 1e9, 1e9]
    curvature = np.diag(np.r_[2.0 * np.ones(n), weight[[0, 2]]])
    for t in range(problem.n_frames):
        row = problem.moment_matrix[t, 1]
        possible = row.clip(max=0.0).sum() <= problem.moment[t, 1] <= row.clip(min=0.0).sum()
        if not possible:
            assert answer.status[t] == Status.INFEASIBLE and (proof[t, [0, 2]] == 0.0).all()
            assert proof[t, 1] * problem.moment[t, 1] > np.maximum(proof[t, 1] * row, 0.0).sum()
            continue
        rows, least = np.hstack([problem.moment_matrix[t], columns]), -ends * (ends > 1.0)
        best = solve_qp(
            curvature, np.zeros(n + 2), A=rows, b=problem.moment[t], lb=least, ub=ends, solver="quadprog"
        )
        np.testing.assert_allclose(answer.activation[t], best[:n], atol=1e-7)
        np.testing.assert_allclose(answer.reserve[t], [best[n], 0.0, best[n + 1]], atol=1e-7)
    assert answer.reserve[answer.solved, 1].max() == 0.0
    assert 0 < (answer.status == Status.INFEASIBLE).sum() < 15 and answer.solved[10:20].all()


def test_a_moment_without_reserve_at_the_edge_of_reach(make_leg):
    """At the edge of reach it is met, beyond it by half the tolerance of a moment it is proved infeasible."""
    for beyond, status in ((0.0, Status.SOLVED_WITH_RESERVE), (5e-7, Status.INFEASIBLE)):
        moment = [100.0 * (1.0 + beyond), 3.0]
        pair = Problem(
            [[0.05, 0.05], [0.03, -0.03]], moment, [1e3] * 2, [1e3] * 2, reserve_weight=[np.inf, 1.0]
        )
        assert solve(pair, "activation_power").status == status


def test_infinite_weights_in_the_other_functions(make_leg):
    problem, _ = without_reserve_of_one(make_leg)
    answer = solve(problem, "activation_power")
    infeasible = answer.status == Status.INFEASIBLE
    helped = solve(problem, "activation_power", on_infeasible="reserve")
    assert helped.solved.all() and (helped.reserve[infeasible, 1] != 0.0).all()
    np.testing.assert_array_equal(np.isinf(helped.reserve_weight[:, 1]), ~infeasible)
    np.testing.assert_array_equal(helped.reserve_weight[:, [0, 2]], answer.reserve_weight[:, [0, 2]])
    why = ms.diagnose(problem)
    np.testing.assert_array_equal(why.frame, np.flatnonzero(infeasible))
    assert (why.shortage[:, [0, 2]] == 0.0).all() and why.sentence(0).startswith("dof_1 lacks")
    near = problem.frames(np.arange(4))
    program = ms.sharing.program(near, "activation_power").solve()
    np.testing.assert_allclose(program.activation, answer.activation[:4], atol=1e-7)
    reserves = np.nansum(0.5 * np.array([50.0, 0.0, 10.0]) * answer.reserve[:4] ** 2)
    assert program.total_cost == pytest.approx(answer.cost[:4].sum() + reserves, rel=1e-6)
    slopes = ms.sharing.solution_derivatives(near, "activation_power", solve(near, "activation_power"))
    assert (slopes.reserve_by_moment[:, 1] == 0.0).all() and np.isfinite(slopes.by_moment).all()
    with refused("bad_number", "reserve_weight", "min_max", "ActivationPower(20)"):
        solve(problem, "min_max")
    assert replace(problem, reserve_weight=np.inf).reserve_weight is None
