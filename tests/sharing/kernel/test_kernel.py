"""The compiled solver against the vectorized one, and its certificate against the one in numpy."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from sharing_cases import SMOOTH

from musclesolve import Problem, Status, costs, solve
from musclesolve.sharing import RateLimits, certify
from musclesolve.sharing.cost import ActivationPower, SoftSaturation, StressCubed
from musclesolve.sharing.cost.sum_of_terms import SumOfTerms
from musclesolve.sharing.kernel.constants import UNRESOLVED
from musclesolve.sharing.solver.batch import Batch, Vectorized
from musclesolve.sharing.solver.kernel_problem import KernelProblem
from musclesolve.trajectory import solve_rate_limited

COSTS = [
    *(costs()[name]() for name in SMOOTH),
    *(ActivationPower(1.5), ActivationPower(4.0), SoftSaturation(3.0)),
    StressCubed() + 1e3 * ActivationPower(3.0) + 5.0 * SoftSaturation(),
    costs()["joint_reaction_squared"]() + 1e4 * costs()["emg_tracking"](),
]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.label)
def test_compiled_and_numpy_methods_agree(make_leg, cost):
    problem = make_leg(20, seed=6)
    fast, slow = solve(problem, cost), solve(problem, cost, Vectorized())
    np.testing.assert_array_equal(fast.status, slow.status)
    assert (fast.status == Status.SOLVED).all()
    np.testing.assert_allclose(fast.activation, slow.activation, atol=1e-6)
    np.testing.assert_allclose(fast.cost, slow.cost, rtol=1e-7)
    np.testing.assert_allclose(fast.force, slow.force, atol=1e-6 * problem.force_capacity.max())


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.label)
def test_no_frame_is_unresolved(make_leg, cost):
    problem = make_leg(20, seed=6)
    far = replace(problem, moment=np.linspace(0.2, 30.0, 20)[:, None] * problem.moment)
    for given in (problem, far, replace(problem, reserve_weight=1e3)):
        answer = Batch().solve_certified(given, cost, allow_reserve=True)
        assert answer is not None and (answer.status != UNRESOLVED).all()


@pytest.mark.parametrize("weight", [None, 1e3])
@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.label)
def test_compiled_and_numpy_certificates_are_equal(make_leg, cost, weight):
    """Certify answers that are right, a little wrong, beyond the bounds, nothing at all, and no numbers."""
    problem = replace(make_leg(12, seed=8), reserve_weight=weight)
    random = np.random.default_rng(0)
    answer = solve(problem, cost)
    activation, reserve = answer.activation.copy(), answer.reserve.copy()
    multiplier = answer.multiplier.copy()
    activation[1] *= 1.0 + 1e-3 * random.standard_normal(activation.shape[1])
    multiplier[2] *= 1.01
    reserve[3] += 0.1
    activation[4], activation[5] = 1.5, -0.5
    multiplier[6], activation[7] = 0.0, 0.0
    activation[8], multiplier[9] = random.random(activation.shape[1]), 1e30
    activation[10, 3], multiplier[11, 2] = np.nan, np.inf
    task = KernelProblem.from_problem(problem, cost)
    assert task is not None
    numpy = certify(problem, cost, activation, reserve, multiplier)
    gap, bound, error = task.certify(activation, reserve, multiplier)
    # the points beyond the minimum differ, within a factor
    np.testing.assert_array_equal(np.isinf(gap), np.isinf(numpy.gap))
    seen = np.isfinite(gap) & (numpy.gap > 1e-15)
    assert ((gap < 10.0 * numpy.gap) & (numpy.gap < 10.0 * gap))[seen].all() and (gap < 1e-12)[
        ~np.isinf(gap) & ~seen
    ].all()
    np.testing.assert_allclose(error[:10], numpy.moment_error[:10], rtol=1e-9, atol=1e-12)
    assert np.isinf(numpy.gap[10:]).all() and numpy.holds[0] and not numpy.holds[1:10].any()
    assert (bound <= answer.cost + 1e-9 * np.abs(answer.cost))[[0, 1, 2, 8]].all() or weight is not None


def test_threads_and_blocks_change_nothing(make_leg):
    problem = make_leg(700, seed=9)
    answers = [
        solve(problem, "soft_saturation", Batch(block=block, threads=threads))
        for block, threads in ((512, 1), (100, 2), (37, 3))
    ]
    for other in answers[1:]:
        np.testing.assert_array_equal(other.activation, answers[0].activation)
        np.testing.assert_array_equal(other.multiplier, answers[0].multiplier)
    backward = solve(problem.frames(np.arange(700)[::-1]), "soft_saturation")
    np.testing.assert_allclose(backward.activation[::-1], answers[0].activation, atol=1e-8)


class OwnVersion(StressCubed):
    """Another slope than the class whose terms it inherits."""

    def term_gradient(self, problem, activation):
        return 2.0 * super().term_gradient(problem, activation)


def described(cost, problem):
    return KernelProblem.from_problem(problem, cost) is not None


def test_terms_of_a_parent_class_are_not_used_for_a_cost_of_the_user(make_leg):
    problem = make_leg(2)
    assert not described(OwnVersion(), problem)
    assert not described(2.0 * OwnVersion(), problem)
    assert not described(StressCubed() + OwnVersion(), problem)
    assert described(2.0 * StressCubed(), problem)


class Mine(SumOfTerms):
    """A power of somebody's own."""

    name = "mine"

    def coefficient(self, problem):
        return np.ones_like(problem.force_capacity)


def test_a_cost_class_of_the_user_is_solved_in_numpy(make_leg):
    problem = make_leg(4)
    assert not described(Mine(), problem) and not described(Mine() + StressCubed(), problem)
    answer = solve(problem, Mine())
    assert answer.solved.all()
    np.testing.assert_allclose(answer.activation, solve(problem, ActivationPower()).activation, atol=1e-6)


def test_invalid_frames_do_not_affect_others(make_leg):
    problem = make_leg(6, seed=2)
    moment, arm = problem.moment.copy(), problem.moment_arm.copy()
    velocity = problem.fiber_velocity.copy()
    moment[1, 0], arm[2, 1, 5], velocity[3, 4] = np.nan, np.inf, np.nan
    spoilt = replace(problem, moment=moment, moment_arm=arm, fiber_velocity=velocity)
    answer, whole = solve(spoilt), solve(problem)
    np.testing.assert_array_equal(answer.status, [0, 4, 4, 4, 0, 0])
    # a frame starts from the last solved one
    np.testing.assert_allclose(answer.activation[[0, 4, 5]], whole.activation[[0, 4, 5]], rtol=0, atol=1e-12)
    assert np.isnan(answer.activation[1:4]).all() and np.isnan(answer.gap[1:4]).all()


@pytest.mark.parametrize("cost", ["stress_cubed", "force_moment_squared", "soft_saturation"])
@pytest.mark.parametrize("number", [1e308, np.inf, np.nan])
def test_an_invalid_capacity_causes_no_warning(cost, number, make_leg):
    problem = make_leg(3)
    capacity = problem.force_capacity.copy()
    capacity[1, 0] = number
    answer = solve(replace(problem, force_capacity=capacity), cost)
    np.testing.assert_array_equal(answer.status, [0, 4, 0])


def test_many_muscles_and_moments(make_leg):
    problem = make_leg(4, seed=3, dofs=30, muscles=200)
    fast, slow = solve(problem), solve(problem, solver=Vectorized())
    assert (fast.status == Status.SOLVED).all()
    np.testing.assert_allclose(fast.activation, slow.activation, atol=1e-6)


def test_more_moments_than_muscles():
    random = np.random.default_rng(1)
    arm = random.uniform(-0.05, 0.05, (3, 5, 2))
    moment = np.einsum("tmn,n->tm", arm * 1000.0, [0.2, 0.4])
    moment[2] += 1.0
    answer = solve(Problem(arm, moment, [1000.0] * 2, [1000.0] * 2))
    np.testing.assert_array_equal(answer.status, [Status.SOLVED, Status.SOLVED, Status.INFEASIBLE])
    np.testing.assert_allclose(answer.activation[:2], [[0.2, 0.4]] * 2, atol=1e-6)


def test_a_problem_too_wide_for_the_compiled_code_is_solved_all_the_same(monkeypatch):
    """A smaller limit than that of the compiled code shows it as well."""
    monkeypatch.setattr("musclesolve.sharing.solver.kernel_problem.MAX_MUSCLES", 40)
    muscles = 44
    problem = Problem(np.full((1, muscles), 0.05), [30.0], np.full(muscles, 100.0), np.full(muscles, 100.0))
    assert KernelProblem.from_problem(replace(problem), StressCubed()) is None
    answer = solve(problem)
    assert answer.status == Status.SOLVED
    np.testing.assert_allclose(answer.activation, 30.0 / (5.0 * muscles), rtol=1e-5)


class Uncompiled(Vectorized):
    """The kernel's method by another name, so that the loop over frames is the one in Python."""


@pytest.mark.parametrize("on_infeasible", ["report", "reserve"])
@pytest.mark.parametrize("cost", ["stress_cubed", "soft_saturation"])
def test_frame_by_frame_within_rate_limits_is_the_same_compiled(make_leg, cost, on_infeasible):
    problem = make_leg(30, seed=4, effort=0.3, dofs=3, muscles=15)
    moment = problem.moment.copy()
    moment[12, 0] = np.nan
    problem = replace(problem, moment=moment)
    time = 0.01 * np.arange(30)
    fast, slow = (
        solve_rate_limited(
            problem, time, cost, RateLimits(0.01, 0.05), "frame_by_frame", solver, on_infeasible
        ).solution
        for solver in (Batch(), Uncompiled())
    )
    np.testing.assert_array_equal(fast.status, slow.status)
    assert fast.solved.sum() > 5 and (fast.status == Status.INVALID_INPUT).sum() == 1
    np.testing.assert_allclose(fast.activation, slow.activation, atol=1e-5)
    np.testing.assert_allclose(fast.reserve, slow.reserve, atol=1e-5)


def test_an_unresolved_frame_in_the_middle_is_solved_and_the_others_follow_it(make_leg, monkeypatch):
    problem = make_leg(8, seed=4, effort=0.3, dofs=3, muscles=15)
    time = 0.02 * np.arange(8)
    whole = solve_rate_limited(problem, time, method="frame_by_frame").solution
    in_order = KernelProblem.solve_in_order
    monkeypatch.setattr(
        KernelProblem,
        "solve_in_order",
        lambda kernel, first, found, **options: (
            first if first in (0, 3) else in_order(kernel, first, found, **options)
        ),
    )
    again = solve_rate_limited(problem, time, method="frame_by_frame").solution
    np.testing.assert_array_equal(again.status, whole.status)
    np.testing.assert_allclose(again.activation, whole.activation, atol=1e-9)


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"threads": 1.5}, {"block": 0}])
def test_a_number_of_threads_or_frames_below_one_is_refused(wrong):
    with refused("bad_number", next(iter(wrong))):
        Batch(**wrong)


FORKED = """
import os, signal
from musclesolve.studies.benchmark.measure import random_problem
from musclesolve import solve
from musclesolve.sharing.solver.batch import Batch
problem, two = random_problem(300), Batch(threads=2)
before = solve(problem, solver=two).activation
if child := os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
signal.alarm(60)  # a process without threads would wait for them for ever
os._exit(0 if (solve(problem, solver=two).activation == before).all() else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_has_threads_of_its_own():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed", "soft_saturation"])
def test_the_frame_before_saves_steps_and_changes_no_solution(make_leg, cost):
    """Also where some frames are out of reach in between."""
    problem = make_leg(90, seed=5)
    moment = problem.moment.copy()
    moment[40:45] *= 30.0
    problem = replace(problem, moment=moment)
    fast = solve(problem, cost, on_infeasible="reserve")
    slow = solve(problem, cost, Vectorized(), on_infeasible="reserve")
    np.testing.assert_array_equal(fast.status, slow.status)
    assert (fast.status[40:45] == Status.SOLVED_WITH_RESERVE).all() and fast.gap.max() <= 1e-9
    assert np.median(fast.iterations) < 0.85 * np.median(slow.iterations)
    np.testing.assert_allclose(fast.activation, slow.activation, atol=1e-6)
    np.testing.assert_allclose(fast.reserve, slow.reserve, atol=1e-5)
