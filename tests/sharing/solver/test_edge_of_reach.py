"""Moments at the edge of what muscles can do, and beyond it by less than the certificate can tell.

The muscles of some joints are all at their bounds there, those of one more joint share a moment of their own. What
that costs at least follows from one number, found by bisection, whatever a solver and the certificate say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from packages import need_solver
from scipy.optimize import linprog
from thorough import THOROUGH
from threadpoolctl import threadpool_info, threadpool_limits

from musclesolve import Problem, Status, costs, solve, solvers
from musclesolve.sharing.certificate import farkas_margin
from musclesolve.sharing.solver.batch import Vectorized
from musclesolve.sharing.solver.frame_program import Claim, frame_by_frame

POWERS = {"force_squared": 2, "stress_cubed": 3}
SHAPES = [(1, 1), (1, 2), (2, 2), (2, 4), (3, 3), (3, 6)]
"""Joints whose muscles are at their bounds, and how many muscles those are."""
INNER = 3


@dataclass(frozen=True)
class EdgeProblem:
    """Moments beyond the edge by the relative `offset` (T,); `least` (T, INNER) activations of the inner joint."""

    problem: Problem
    offset: np.ndarray
    weight: np.ndarray  # of the inner muscles in the sum of powers
    least: np.ndarray

    def cost(self, activation: np.ndarray, power: int) -> np.ndarray:
        return ((self.weight * activation[:, -INNER:]) ** power).sum(axis=1)


def edge(frames, shape, cost, mixed, upper=1.0, seed=7):
    """With `mixed` every row of the problem is a mixture of all joints, so that no zero separates them."""
    joints, bounded = shape
    random, muscles = np.random.default_rng(seed), bounded + INNER
    strongest = random.uniform(100.0, 3000.0, muscles)
    arm = np.zeros((frames, joints + 1, muscles))
    arm[:, :joints, :bounded] = random.uniform(-0.06, 0.06, (frames, joints, bounded))
    arm[:, joints, bounded:] = random.uniform(0.01, 0.06, (frames, INNER))
    arm[:, joints, -1] *= random.choice([1.0, -1.0], frames)
    matrix = arm * strongest
    outward = random.normal(size=(frames, joints))
    activation = np.zeros((frames, muscles))
    activation[:, :bounded] = upper * (np.einsum("tm,tmn->tn", outward, matrix[:, :joints, :bounded]) > 0)
    moment = np.einsum("tmn,tn->tm", matrix, activation)
    most = np.maximum(matrix[:, joints], 0.0).sum(axis=1) * upper
    moment[:, joints] = random.uniform(0.02, 0.9, frames) * most
    offset = 10.0 ** random.uniform(-10.0, -6.3, frames) * random.choice([1, 1, 1, 0, -1], frames)
    step = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    moment[:, :joints] += (offset * np.abs(moment[:, :joints]).max(axis=1))[:, None] * step
    weight = strongest[-INNER:] if cost == "force_squared" else np.ones(INNER)
    least = cheapest(matrix[:, joints, -INNER:], moment[:, joints], weight, POWERS[cost], upper)
    if mixed:
        mixture = random.normal(size=(frames, joints + 1, joints + 1))
        arm, moment = mixture @ arm, np.einsum("tab,tb->ta", mixture, moment)
    return EdgeProblem(Problem(arm, moment, strongest, strongest, upper=upper), offset, weight, least)


def cheapest(row, moment, weight, power, upper):
    """Least sum (weight a)^power with row . a = moment and 0 <= a <= upper, by bisection on the logarithm of lambda."""

    def activation(level):
        pull = np.maximum(np.exp(level)[:, None] * row, 0.0)
        return np.minimum((pull / (power * weight**power)) ** (1.0 / (power - 1)), upper)

    low, high = np.full(len(row), -30.0), np.full(len(row), 60.0)
    for _ in range(100):
        middle = 0.5 * (low + high)
        over = (row * activation(middle)).sum(axis=1) > moment
        low, high = np.where(over, low, middle), np.where(over, middle, high)
    return activation(low)


def examine(case, cost, answer):
    """No frame without a reason, no proof that is none, no more than the least cost; the share that is answered."""
    proved = answer.status == Status.INFEASIBLE
    assert (farkas_margin(case.problem.frames(proved), answer.infeasibility_proof[proved]) > 0.0).all()
    solved, power = answer.status == Status.SOLVED, POWERS[cost]
    found, least = case.cost(answer.activation[solved], power), case.cost(case.least[solved], power)
    # moments are met to 1e-6; where rows are mixtures, of the largest of them
    np.testing.assert_allclose(found, least, rtol=2e-2)
    assert np.median(np.abs(found / least - 1.0)) < 1e-5
    return (solved | proved).mean()


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("upper", [1.0, 3000.0])
@pytest.mark.parametrize("cost", POWERS)
def test_frames_at_the_edge_cost_the_least(cost, upper, mixed):
    for shape in SHAPES:
        case = edge(100, shape, cost, mixed, upper)
        answer = solve(case.problem, cost)
        assert examine(case, cost, answer) > 0.98
        assert (answer.status[case.offset == 0.0] == Status.SOLVED).mean() > 0.95
        assert not (answer.status == Status.MAX_ITERATIONS).any()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("solver", [*(name for name in solvers() if name != "linprog"), Vectorized()])
@pytest.mark.parametrize("cost", POWERS)
def test_no_claim_is_accepted_at_the_edge(cost, solver):
    """A solver that finds the optimum there has it certified; no other answer is certified."""
    if isinstance(solver, str) and "separable" not in need_solver(solver).can:
        cost = "force_squared"  # for solvers of quadratic programs
    surely = solver in ("batch", "ipopt", "quadprog") or isinstance(solver, Vectorized)
    for mixed in (False, True):
        frames = {"trust-constr": 2, "slsqp": 4}.get(str(solver), 12)
        case = edge(frames if THOROUGH else frames // 2, (2, 4), cost, mixed)
        share = examine(case, cost, solve(case.problem, cost, solver))
        assert share > (0.9 if surely else 0.0)


@pytest.mark.parametrize("beyond", [0.0, 1e-10, 1e-9, 1e-8, 1e-7])
@pytest.mark.parametrize("cost", POWERS)
def test_two_joints_of_four_muscles(cost, beyond):
    """Both muscles of the first joint rows are at their bounds; the others share 17 N m as they do at the edge."""
    strongest = np.array([2300.0, 1800.0, 2700.0, 200.0])
    arm = [[-0.02, 0.01, 0.0, 0.0], [-0.01, -0.04, 0.0, 0.0], [0.0, 0.0, 0.03, 0.01]]
    moment = [-28.0 * (1.0 + beyond), -95.0 * (1.0 + beyond), 17.0]
    answer = solve(Problem(arm, moment, strongest, strongest), cost)
    strength = np.array([0.03, 0.01]) * strongest[2:]
    shares = strength / strongest[2:] ** 2 if cost == "force_squared" else np.sqrt(strength)
    if answer.status == Status.INFEASIBLE:
        assert beyond > 0.0
        return
    assert answer.status == Status.SOLVED
    np.testing.assert_allclose(answer.activation[:2], 1.0, atol=1e-6)
    np.testing.assert_allclose(answer.activation[2:], 17.0 * shares / (strength @ shares), rtol=1e-4)


@pytest.mark.parametrize("cost", POWERS)
def test_a_leg_at_the_edge_of_its_strength(cost, make_leg):
    leg = make_leg(200, seed=3)
    random = np.random.default_rng(0)
    outward = random.normal(size=leg.moment.shape)
    full = (np.einsum("tm,tmn->tn", outward, leg.moment_matrix) > 0).astype(float)
    beyond = 10.0 ** random.uniform(-10.0, -7.5, len(full))
    moment = (1.0 + beyond)[:, None] * np.einsum("tmn,tn->tm", leg.moment_matrix, full)
    problem = Problem(leg.moment_arm, moment, leg.force_capacity, leg.max_isometric_force)
    answer = solve(problem, cost)
    assert np.isin(answer.status, (Status.SOLVED, Status.INFEASIBLE)).mean() > 0.97
    assert np.isin(answer.status, (Status.SOLVED, Status.INFEASIBLE, Status.SOLVER_FAILED)).all()
    solved, known = answer.status == Status.SOLVED, costs()[cost]()
    least = known.value(problem, full)[solved]
    np.testing.assert_allclose(answer.cost[solved], least, rtol=1e-3)


@pytest.mark.parametrize("decades", [4, 6, 8])
@pytest.mark.parametrize("solver", ["batch", Vectorized()])
def test_muscles_of_very_different_strength_at_the_edge(solver, decades):
    """The moments of a corner of reach, which a single activation produces: none costs more that is as near."""
    random, frames = np.random.default_rng(decades), 200 if solver == "batch" else 40
    strongest = 1000.0 * 10.0 ** random.uniform(-decades / 2, decades / 2, 10)
    arm = random.uniform(-0.06, 0.06, (frames, 4, 10))
    outward = random.normal(size=(frames, 4))
    corner = (np.einsum("tm,tmn->tn", outward, arm) > 0).astype(float)
    moment = np.einsum("tmn,tn->tm", arm * strongest, corner)
    for cost in ("stress_cubed", "activation_power"):
        problem = Problem(arm, moment, strongest, strongest)
        answer = solve(problem, cost, solver)
        solved = answer.status == Status.SOLVED
        # over eight decades what the weakest muscles bear is as small as the round-off of the strongest
        assert solved.mean() > (0.85 if decades == 8 else 0.99)
        assert not (answer.status == Status.INFEASIBLE).any()
        least = costs()[cost]().value(problem, corner)
        assert (answer.cost <= (1.0 + 1e-3) * least)[solved].all()


@pytest.mark.thorough
def test_levels_at_the_edge_of_reach():
    """Min/max is solved where muscles are at full activation, though their level is above it by rounding."""
    solved = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        rows, muscles = int(random.integers(1, 7)), int(random.integers(8, 44))
        arm = random.normal(0.0, 0.04, (1, rows, muscles)) * (random.random((1, rows, muscles)) < 0.5)
        capacity, direction = random.uniform(100.0, 3000.0, muscles), random.normal(size=rows)
        farthest = linprog(
            np.append(np.zeros(muscles), -1.0),
            A_eq=np.hstack([arm[0] * capacity, -direction[:, None]]),
            b_eq=np.zeros(rows),
            bounds=[(0.0, 1.0)] * muscles + [(0.0, None)],
        )
        if farthest.status == 0 and farthest.x[-1] > 1e-6:
            moment = (farthest.x[-1] * direction)[None]
            solution = solve(Problem(arm, moment, capacity[None], capacity), "min_max", "linprog")
            solved.append(int(solution.status[0]) == Status.SOLVED)
    assert len(solved) > 50 and all(solved)


def test_a_solver_of_frames_has_one_thread_of_blas():
    """The threads of a large machine wait for each other over the small matrices of a frame."""
    seen = []

    def call(program, guess):
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return Claim(guess, None, 0, Status.SOLVED)

    problem = Problem(np.array([[0.04, 0.02]]), [10.0], np.array([700.0, 900.0]), np.array([700.0, 900.0]))
    with threadpool_limits(limits=2, user_api="blas"):
        frame_by_frame(problem, costs()["force_squared"](), None, call)
    assert seen and set(seen) == {1}


@pytest.mark.parametrize("solver", ["slsqp", "cyipopt"])
def test_refinement_keeps_what_was_certified_at_full_activation(solver):
    """Moments of all muscles at full activation leave Newton's method no free muscle to fit the multipliers to."""
    need_solver(solver)
    rng, frames = np.random.default_rng(5), 40 if THOROUGH else 10
    arm, capacity = rng.normal(0.0, 0.05, (frames, 2, 2)), 10.0 ** rng.uniform(2.0, 4.0, 2)
    problem = Problem(arm, (arm * capacity).sum(axis=2), capacity, capacity)
    assert (solve(problem, "activation_power(exponent=2)", solver).status == Status.SOLVED).all()


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-7, 0.4, 30.0])
def test_levels_where_round_off_alone_is_missing(size):
    """A moment against the only muscle, and one beyond its strength, by less than the certificate can tell."""
    for share in (1e-10, 1e-9, 1e-8):
        moment = np.array([[size], [-share * size], [size * (1.0 + share)]])
        capacity = [20.0 * size]
        answer = solve(Problem([[0.05]], moment, capacity, capacity), "min_max")
        assert (answer.status[:2] == Status.SOLVED).all() and (answer.reserve[:2] == 0.0).all()
        assert answer.status[2] in (Status.SOLVED, Status.INFEASIBLE)
        np.testing.assert_allclose(answer.activation[:2, 0], [1.0, 0.0], atol=1e-9)
