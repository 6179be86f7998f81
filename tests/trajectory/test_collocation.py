"""The reference method: certified solutions, and its ends without a solution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_cases import attempt_cost, small_motion, small_muscles, weak_start
from refusals import refused

from musclesolve import costs
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.certificate import Certifier, MotionAttempt
from musclesolve.trajectory.collocation import Collocation, sentence, spline_equations
from musclesolve.trajectory.motion_problem import MotionCost, TimeBasis

GOOD = 1.0


def solved(problem: MotionProblem, cost: str = "activation_power", **options) -> MotionAttempt:
    return Collocation(**options).solve(problem, MotionCost.from_cost(problem, cost), weak_start(problem))


def certificate(problem: MotionProblem, attempt: MotionAttempt, cost: str = "activation_power") -> float:
    return float(Certifier(problem, MotionCost.from_cost(problem, cost)).certificate(attempt).worst.max())


@pytest.mark.parametrize("cost", ["activation_power", "activation_volume", "stress_cubed", "soft_saturation"])
@pytest.mark.parametrize("family", ["de_groote_2016", "millard_2013"])
def test_every_cost_is_certified(family, cost):
    problem = small_motion(family=family)
    assert certificate(problem, solved(problem, cost), cost) <= GOOD


CHANGES = {
    "two moments": {},
    "reserves": {"reserve_weight": 1.0},
    "no limits": {"limits": None},
    "bounds": {"lower": 0.05, "upper": 0.7},
    "rigid": {"moments": 1, "muscles": small_muscles(elastic=False)},
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_kind_of_problem_is_certified(change):
    changes = {"moments": 2} | CHANGES[change]
    problem = replace(small_motion(moments=changes.pop("moments")), **changes)
    assert certificate(problem, solved(problem)) <= GOOD


def test_multiplier_is_the_derivative_of_the_cost_by_a_moment():
    problem = small_motion()
    cost, step, frame = MotionCost.from_cost(problem, "activation_power"), 1e-3, 9
    base = Collocation().solve(problem, cost, weak_start(problem))
    start = base.coordinate, base.activation
    changed = []
    for sign in (-1.0, 1.0):
        moment = problem.moment.copy()
        moment[frame] += sign * step
        moved = replace(problem, moment=moment)
        changed.append(attempt_cost(moved, cost, Collocation().solve(moved, cost, start)))
    slope = (changed[1] - changed[0]) / (2.0 * step)
    assert base.multiplier[frame, 0] == pytest.approx(slope, rel=1e-4)


def test_moments_hold_at_the_frames():
    problem = small_motion()
    tendon = problem.muscles.curves.tendon(solved(problem).coordinate).value
    produced = np.einsum("tkn,tn->tk", problem.lever, tendon)
    assert np.abs(produced - problem.moment).max() <= 1e-9


def test_rates_are_those_of_the_time_basis():
    time = np.cumsum(np.random.default_rng(0).uniform(0.005, 0.02, 9))
    basis = TimeBasis.from_times(time)
    z = np.random.default_rng(1).random((len(time), 3))
    of_state, of_rate = spline_equations(time)
    assert np.abs(of_state @ z + of_rate @ basis.rates(basis.coefficients(z))).max() <= 1e-13
    assert np.linalg.cond(of_rate.toarray()) < 100.0  # so nothing else satisfies the equations


def test_start_does_not_change_a_solution_found_before():
    problem = small_motion()
    found = solved(problem)
    cost = MotionCost.from_cost(problem, "activation_power")
    again = Collocation().solve(problem, cost, (found.coordinate, found.activation))
    assert again.activation == pytest.approx(found.activation, abs=1e-6)


@pytest.mark.thorough
def test_moments_out_of_reach_are_named_as_such():
    problem = small_motion(load=20.0)
    report = solved(problem)
    assert report.message == sentence("Infeasible_Problem_Detected") != ""
    assert certificate(problem, report) > 0.1
    with_reserves = replace(problem, reserve_weight=1.0)
    assert certificate(with_reserves, solved(with_reserves)) <= GOOD


def test_too_few_iterations_are_named_as_such():
    problem = small_motion()
    report = solved(problem, max_iterations=3)
    assert report.iterations == 3
    assert report.message == sentence("Maximum_Iterations_Exceeded") != ""
    assert certificate(problem, report) > GOOD


def test_every_end_but_success_has_a_sentence():
    assert sentence("Solve_Succeeded") == ""
    assert "Something_New" in sentence("Something_New")


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("bad_number", {"tolerance": 0.0}),
        ("bad_number", {"max_iterations": 0}),
        ("bad_number", {"max_iterations": 1.5}),
        ("bad_number", {"max_seconds": 0.0}),
    ],
)
def test_bad_options_are_refused(code, options):
    with refused(code, f"Collocation.{list(options)[-1]}"):
        Collocation(**options)


def test_start_of_another_shape_is_refused():
    problem = small_motion()
    cost = MotionCost.from_cost(problem, costs()["activation_power"]())
    nothing = np.zeros((3, 4))
    with refused("bad_shape", "start", "tendon coordinate"):
        Collocation().solve(problem, cost, (nothing, nothing))


def test_more_moments_than_muscles_are_refused():
    problem = small_motion()
    arms = np.repeat(problem.moment_arm, 5, axis=1)
    moments = np.repeat(problem.moment, 5, axis=1)
    many = replace(problem, moment_arm=arms, moment=moments, dof=tuple("abcde"))
    with refused("conflict", "Collocation"):
        Collocation().solve(many, MotionCost.from_cost(many, "activation_power"), weak_start(many))
