"""The reference method: certified solutions, schemes that converge to each other, and its ends without a solution."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from motion_cases import small_motion, small_muscles
from refusals import refused

from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.trajectory import MotionProblem
from musclesolve.trajectory.certificate import Certifier
from musclesolve.trajectory.collocation.collocation import (
    Collocation,
    CollocationReport,
    program_residual,
    sentence,
)
from musclesolve.trajectory.collocation.program import Program
from musclesolve.trajectory.collocation.transcription import spline_scheme
from musclesolve.trajectory.motion_problem import MotionCost

GOOD = 1e-6


def solved(problem: MotionProblem, cost: str = "activation_power", **options) -> CollocationReport:
    return Collocation(**options).report(problem, MotionCost.from_cost(problem, cost))


def certificate(problem: MotionProblem, report: CollocationReport, cost: str = "activation_power") -> float:
    return float(
        Certifier(problem, MotionCost.from_cost(problem, cost)).misses(report.attempt).residual.max()
    )


@pytest.mark.parametrize("cost", ["activation_power", "activation_volume", "stress_cubed", "soft_saturation"])
@pytest.mark.parametrize("family", ["de_groote_2016", "millard_2013"])
def test_spline_scheme_is_certified(family, cost):
    problem = small_motion(family=family)
    report = solved(problem, cost)
    assert certificate(problem, report, cost) <= GOOD
    assert report.kkt_residual <= GOOD


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
    report = solved(problem)
    assert certificate(problem, report) <= GOOD
    assert report.kkt_residual <= GOOD
    assert np.abs(report.reserve - problem.compliance * report.attempt.multiplier).max() <= 1e-9


def test_cost_is_that_of_the_states():
    problem = small_motion()
    report, cost = solved(problem), MotionCost.from_cost(problem, "activation_power")
    state = Certifier(problem, cost).state(report.attempt.coordinate)
    by_frame = cost.value(state.active.value, report.attempt.activation)
    assert report.cost == pytest.approx(problem.weight @ by_frame, rel=1e-10)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("options", [{}, {"mesh": 2}, {"scheme": "radau", "order": 2}], ids=str)
def test_multiplier_is_the_derivative_of_the_cost_by_a_moment(options):
    problem = small_motion()
    cost, step, frame = MotionCost.from_cost(problem, "activation_power"), 1e-3, 9
    base = Collocation(**options).report(problem, cost)
    start = base.attempt.coordinate, base.attempt.activation
    changed = []
    for sign in (-1.0, 1.0):
        moment = problem.moment.copy()
        moment[frame] += sign * step
        changed.append(Collocation(**options).report(replace(problem, moment=moment), cost, start).cost)
    slope = (changed[1] - changed[0]) / (2.0 * step)
    assert base.attempt.multiplier[frame, 0] == pytest.approx(slope, rel=1e-4)


@cache
def from_one_start(scheme: str, order: int, mesh: int) -> CollocationReport:
    """All schemes from the same states: a motion has more than one local optimum."""
    problem = small_motion()
    cost = MotionCost.from_cost(problem, "activation_power")
    return Collocation(scheme, order, mesh).report(problem, cost, common_start())


@cache
def common_start() -> tuple[np.ndarray, np.ndarray]:
    first = Collocation("radau", 2, 4).solve(
        small_motion(), MotionCost.from_cost(small_motion(), "activation_power")
    )
    return first.coordinate, first.activation


SCHEMES = [
    ("spline", 1, 0.006),
    ("radau", 1, 0.012),
    ("radau", 2, 0.003),
    ("radau", 3, 0.0015),
]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("scheme", "order", "tolerance"), SCHEMES)
def test_schemes_converge_to_each_other(scheme, order, tolerance):
    """Root mean square of the difference of activations, at one and four intervals per frame."""
    finest = from_one_start("radau", 3, 6)
    reports = [from_one_start(scheme, order, mesh) for mesh in (1, 4)]
    assert max(report.kkt_residual for report in reports) <= GOOD
    apart = [report.attempt.activation - finest.attempt.activation for report in reports]
    error = np.sqrt([np.square(each).mean() for each in apart])
    assert (error <= tolerance * np.array([1.0, 0.5])).all(), error
    assert error[1] < 0.5 * error[0]
    assert reports[1].cost == pytest.approx(finest.cost, rel=0.015 if order == 1 else 1e-3)


@pytest.mark.parametrize(("scheme", "order"), [("spline", 1), ("radau", 2)])
def test_defects_shrink(scheme, order):
    coarse, fine = (np.abs(from_one_start(scheme, order, mesh).defect).max() for mesh in (1, 4))
    assert fine < 0.5 * coarse < 0.03


def test_moments_hold_at_the_frames_in_every_scheme():
    problem = small_motion()
    for report in (
        from_one_start("radau", 2, 1),
        from_one_start("spline", 1, 2),
    ):
        tendon = problem.muscles.curves.tendon(report.attempt.coordinate).value
        produced = np.einsum("tkn,tn->tk", problem.lever, tendon)
        assert np.abs(produced - problem.moment).max() <= 1e-9
        assert np.isnan(
            report.attempt.balance_multiplier
        ).all()  # they belong to equations between the frames


def test_start_does_not_change_a_solution_found_before():
    problem = small_motion()
    found = solved(problem).attempt
    cost = MotionCost.from_cost(problem, "activation_power")
    again = Collocation().solve(problem, cost, (found.coordinate, found.activation))
    assert again.activation == pytest.approx(found.activation, abs=1e-6)


@pytest.mark.thorough
def test_moments_out_of_reach_are_named_as_such():
    problem = small_motion(load=20.0)
    report = solved(problem)
    assert report.attempt.message == sentence("Infeasible_Problem_Detected") != ""
    assert report.kkt_residual > 0.1
    assert certificate(problem, report) > 0.1
    with_reserves = replace(problem, reserve_weight=1.0)
    assert certificate(with_reserves, solved(with_reserves)) <= GOOD


def test_too_few_iterations_are_named_as_such():
    report = solved(small_motion(), max_iterations=3)
    assert report.attempt.iterations == 3
    assert report.attempt.message == sentence("Maximum_Iterations_Exceeded") != ""
    assert report.kkt_residual > GOOD


def test_every_end_but_success_has_a_sentence():
    assert sentence("Solve_Succeeded") == ""
    assert "Something_New" in sentence("Something_New")


def test_residual_shows_what_is_changed():
    problem = small_motion()
    cost = MotionCost.from_cost(problem, "activation_power")
    found = solved(problem).attempt
    program = Program.from_problem(problem, cost, spline_scheme(problem.time, 1))
    x = program.start(found.coordinate, np.zeros_like(found.coordinate), found.activation)
    rows = np.zeros(sum(int(np.prod(shape)) for shape in program.row_shapes))
    assert program_residual(program, x, rows, np.zeros_like(x)) > 0.1
    assert program_residual(program, x, rows, np.full_like(x, np.nan)) == np.inf


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("unknown_name", {"scheme": "hermite"}),
        ("bad_number", {"scheme": "radau", "order": 0}),
        ("bad_number", {"scheme": "radau", "order": 10}),
        ("bad_number", {"mesh": 0}),
        ("bad_number", {"mesh": 1.5}),
        ("bad_number", {"tolerance": 0.0}),
        ("bad_number", {"max_iterations": 0}),
    ],
)
def test_bad_options_are_refused(code, options):
    with refused(code, f"Collocation.{list(options)[-1]}"):
        Collocation(**options)


def test_start_of_another_shape_is_refused():
    problem = small_motion()
    cost = MotionCost.from_cost(problem, find_cost("activation_power"))
    nothing = np.zeros((3, 4))
    with refused("bad_shape", "start", "tendon coordinate"):
        Collocation().solve(problem, cost, (nothing, nothing))


def test_more_moments_than_muscles_are_refused():
    problem = small_motion()
    arms = np.repeat(problem.moment_arm, 5, axis=1)
    moments = np.repeat(problem.moment, 5, axis=1)
    many = replace(problem, moment_arm=arms, moment=moments, dof=tuple("abcde"))
    with refused("conflict", "Collocation"):
        Collocation().solve(many, MotionCost.from_cost(many, "activation_power"))
