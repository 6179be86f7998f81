"""Whole motions: the reference agrees, optima are minima, other starts, moments out of reach, and extreme input."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pytest
from motion_cases import attempt_cost, small_motion, small_muscles, weak_start
from random_motions import random_motion
from refusals import refused
from thorough import some

from musclesolve import Status, costs, solve
from musclesolve.errors import InputError
from musclesolve.muscles import ElasticMuscles
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.trajectory import MotionProblem, solve_motion
from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
from musclesolve.trajectory.certificate import Certifier
from musclesolve.trajectory.collocation import Collocation
from musclesolve.trajectory.motion_problem import MotionCost
from musclesolve.trajectory.solve_motion import MotionSolution, static_problem, static_start

FAMILIES = ["de_groote_2016", "millard_2013", "thelen_2003", "silva_2003"]
COSTS = ["stress_cubed", "activation_power", "activation_volume", "soft_saturation", "force_squared"]


def certified(found: MotionSolution) -> bool:
    return found.solver == "structured" and bool(found.solved.all()) and float(found.gap.max()) <= 1e-7


def total(problem: MotionProblem, found: MotionSolution) -> float:
    return float(problem.weight @ found.cost)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_reference_finds_nothing_better_nearby(family, cost):
    """It begins at the solution and, a method that descends, ends there: activations to 1e-4, costs to 1e-6."""
    problem = small_motion(family=family)
    found = solve_motion(problem, cost)
    assert certified(found)
    chosen = MotionCost.from_cost(problem, cost)
    z = (found.tendon_length - problem.muscles.rest) / problem.muscles.stretch
    attempt = Collocation().solve(problem, chosen, (z, found.activation))
    assert Certifier(problem, chosen).certificate(attempt).holds.all()
    assert np.abs(attempt.activation - found.activation).max() < 1e-4
    assert attempt_cost(problem, chosen, attempt) == pytest.approx(total(problem, found), rel=1e-6)


@pytest.mark.parametrize(
    ("moments", "cost"), [(1, "stress_cubed"), (2, "stress_cubed"), (2, "force_squared")]
)
@pytest.mark.parametrize("family", ["de_groote_2016", "millard_2013"])
def test_reference_agrees_from_a_start_of_its_own(family, moments, cost):
    problem = small_motion(moments=moments, family=family)
    found = solve_motion(problem, cost)
    chosen = MotionCost.from_cost(problem, cost)
    attempt = Collocation().solve(problem, chosen, weak_start(problem))
    assert certified(found) and Certifier(problem, chosen).certificate(attempt).holds.all()
    assert np.abs(attempt.activation - found.activation).max() < 1e-4
    assert attempt_cost(problem, chosen, attempt) == pytest.approx(total(problem, found), rel=1e-6)
    apart = attempt.multiplier / problem.weight[:, None] - found.multiplier
    assert np.abs(apart).max() < 1e-4 * np.abs(found.multiplier).max()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", ["stress_cubed", "activation_power"])
def test_other_starts_end_in_an_optimum_that_is_hardly_worse(cost, monkeypatch):
    """There are several optima, most of all at the ends of a motion; the usual start is among the best."""
    module = import_module("musclesolve.trajectory.solve_motion")
    problem = small_motion(moments=2)
    usual = total(problem, solve_motion(problem, cost))
    z, a, lacks = static_start(problem, costs()[cost]())
    random, ends = np.random.default_rng(0), []
    for _ in some(range(20), 2):
        start = z + random.uniform(-0.3, 0.3, z.shape[1]) + 0.1 * random.normal(size=z.shape)
        start = start, a, lacks
        monkeypatch.setattr(module, "static_start", lambda *_, start=start: start)
        found = solve_motion(problem, cost)
        assert certified(found)
        ends.append(total(problem, found) / usual)
    assert min(ends) > 0.995 and max(ends) < 1.01, sorted(ends)
    assert (np.abs(np.array(ends) - 1.0) < 1e-5).mean() > 0.25, sorted(ends)


@pytest.mark.parametrize("cost", COSTS)
def test_rigid_tendons_without_limits_are_single_frames(cost):
    problem = replace(small_motion(moments=2), muscles=small_muscles(elastic=False), limits=None)
    found = solve_motion(problem, cost)
    static, passive = static_problem(problem)
    alone = solve(static, cost, on_infeasible="report")
    assert certified(found) and alone.solved.all()
    assert np.abs(found.activation - alone.activation).max() < 2e-6
    assert found.passive_force == pytest.approx(passive, abs=1e-9)
    assert (found.tendon_strain == 0.0).all() and (found.tendon_energy == 0.0).all()


def with_parts(**changes) -> ElasticMuscles:
    muscles = small_muscles()
    return replace(muscles, parameters=replace(muscles.parameters, **changes))


def slack_tendon() -> MotionProblem:
    muscles = small_muscles()
    longer = muscles.parameters.tendon_slack_length.copy()
    longer[3] = 0.30
    return replace(small_motion(), muscles=with_parts(tendon_slack_length=longer))


def tiny_muscle() -> MotionProblem:
    strongest = small_muscles().parameters.max_isometric_force.copy()
    strongest[3] = 1e-3
    return replace(small_motion(), muscles=with_parts(max_isometric_force=strongest))


def rigid_among_elastic() -> MotionProblem:
    """The short extensor's tendon has no length."""
    muscles, problem = small_muscles(), small_motion()
    slack = muscles.parameters.tendon_slack_length
    none, strain, start = (
        np.where(np.arange(4) == 3, 0.0, part)
        for part in (slack, muscles.strain_by_coordinate, muscles.strain_at_start)
    )
    changed = replace(
        with_parts(tendon_slack_length=none), strain_by_coordinate=strain, strain_at_start=start
    )
    shorter = problem.musculotendon_length - slack * (np.arange(4) == 3)
    return replace(problem, muscles=changed, musculotendon_length=shorter)


def irregular() -> MotionProblem:
    return replace(small_motion(), time=np.cumsum(np.random.default_rng(0).uniform(0.005, 0.015, 20)))


EXTREMES = {
    "four frames": lambda: small_motion().frames(slice(0, 4)),
    "five frames": lambda: small_motion().frames(slice(5, 10)),
    "many frames": lambda: small_motion(frames=300, moments=2, step=0.005),
    "uneven times": irregular,
    "no moments": lambda: replace(small_motion(), moment=np.zeros((20, 1))),
    "tiny moments": lambda: replace(small_motion(), moment=1e-6 * small_motion().moment),
    "a muscle off": lambda: replace(small_motion(), upper=[1.0, 1.0, 1.0, 0.0]),
    "a muscle held": lambda: replace(small_motion(), lower=[0.0, 0.0, 0.0, 0.1], upper=[1.0, 1.0, 1.0, 0.1]),
    "bounds inside": lambda: replace(small_motion(), lower=0.05, upper=0.7),
    "no limits": lambda: replace(small_motion(), limits=None),
    "weak muscle": tiny_muscle,
    "slack tendon": slack_tendon,
    "rigid among elastic": rigid_among_elastic,
    "stiff tendons": lambda: replace(small_motion(), muscles=small_muscles(strain=0.01)),
    "reserves": lambda: replace(small_motion(moments=2), reserve_weight=1.0),
    "a muscle without arm": lambda: replace(
        small_motion(), moment_arm=small_motion().moment_arm * np.array([1.0, 1.0, 1.0, 0.0])
    ),
}


@pytest.mark.in_part(3)
@pytest.mark.parametrize("cost", ["stress_cubed", "activation_power"])
@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_motions_are_solved(case, cost):
    problem = EXTREMES[case]()
    found = solve_motion(problem, cost)
    assert certified(found)
    assert (found.activation >= problem.lower).all() and (found.activation <= problem.upper).all()
    short = problem.moment - found.reserve
    produced = np.einsum("tkn,tn->tk", problem.moment_arm, found.force + found.passive_force)
    assert np.abs(produced - short).max() <= 1e-5 * max(1.0, np.abs(problem.moment).max())


def test_a_tendon_that_stays_slack_has_no_force_and_a_note():
    problem = slack_tendon()
    found = solve_motion(problem)
    assert np.abs((found.force + found.passive_force)[:, 3]).max() < 0.005 * 600.0
    assert len(found.notes) == 1 and "short_extensor" in found.notes[0]
    assert solve_motion(small_motion()).notes == ()


@cache
def out_of_reach(cost: str = "stress_cubed") -> tuple[MotionProblem, MotionSolution]:
    """Three frames with a moment no muscle has; solved with reserves."""
    problem = small_motion(frames=30)
    moment = problem.moment.copy()
    moment[14:17] -= 120.0
    problem = replace(problem, moment=moment)
    return problem, solve_motion(problem, cost, on_infeasible="reserve")


def test_what_is_out_of_reach_is_reported():
    problem, helped = out_of_reach()
    found = solve_motion(problem, "stress_cubed")
    assert not found.solved.any() and np.isnan(found.activation).all()
    assert (found.gap == np.inf).all()
    worst = int(np.abs(helped.reserve[:, 0]).argmax())
    (note,) = found.notes
    for part in ("knee", f"{abs(helped.reserve[worst, 0]):.3g} N m", f"{problem.time[worst]:.2f} s"):
        assert part in note, note


@pytest.mark.parametrize("cost", ["stress_cubed", "activation_power"])
def test_reserves_stand_where_something_lacks(cost):
    problem, found = out_of_reach(cost)
    assert certified(found)
    helped = found.status == Status.SOLVED_WITH_RESERVE
    np.testing.assert_array_equal(helped, needs_reserve(found.reserve, problem.moment).any(axis=1))
    assert helped[14:17].all() and not helped[[0, 1, 2, -2, -1]].any()
    assert np.abs(found.reserve[~helped]).max() < 1e-4
    produced = np.einsum("tkn,tn->tk", problem.moment_arm, found.force + found.passive_force)
    np.testing.assert_allclose(produced + found.reserve, problem.moment, atol=1e-5)


@pytest.mark.thorough
def test_reserves_are_about_the_least():
    """One motion where reserves are all that costs: their squares, by the reference."""
    problem, found = out_of_reach()
    only = replace(problem, reserve_weight=1e4)
    chosen = MotionCost.from_cost(only, "activation_power")
    attempt = Collocation().solve(only, chosen, weak_start(only))
    assert Certifier(only, chosen).certificate(attempt).holds.all()
    reserves = only.compliance * attempt.multiplier, found.reserve
    least, own = (float(problem.weight @ np.square(each[:, 0])) for each in reserves)
    assert 0.999 * least <= own < 1.1 * least
    assert 30.0 < np.abs(found.reserve).max() < 120.0


def test_all_muscles_off_leave_everything_to_reserves():
    problem = replace(small_motion(), upper=0.0)
    found = solve_motion(problem, on_infeasible="reserve")
    assert found.solved.all() and (found.activation == 0.0).all()
    produced = np.einsum("tkn,tn->tk", problem.moment_arm, found.passive_force)
    assert found.reserve == pytest.approx(problem.moment - produced, abs=0.05)


def test_progress_goes_steadily_from_the_first_iteration_to_the_last():
    seen = list[float]()
    found = solve_motion(small_motion(), "stress_cubed", BandedInteriorPoint(progress=seen.append))
    assert len(seen) >= found.iterations and seen[0] == 0.0 and seen[-1] > 0.8
    assert (np.diff(seen) >= 0.0).all() and np.diff(seen).max() < 0.5


@pytest.mark.thorough
def test_the_reference_helps_where_the_structured_method_fails():
    """One iteration is too few for the structured method, with and without reserves."""
    impatient = BandedInteriorPoint(max_iterations=1)
    found = solve_motion(small_motion(), "stress_cubed", impatient)
    assert found.solved.all() and found.solver.startswith("collocation")
    assert any("reference" in note for note in found.notes)
    assert found.activation == pytest.approx(
        solve_motion(small_motion(), "stress_cubed").activation, abs=1e-4
    )
    problem, usual = out_of_reach()
    helped = solve_motion(problem, "stress_cubed", impatient, on_infeasible="reserve")
    assert helped.solved.all() and helped.solver.startswith("collocation")
    assert np.abs(helped.reserve).max() == pytest.approx(np.abs(usual.reserve).max(), rel=0.05)


@pytest.mark.thorough
def test_more_moments_than_muscles_lack_something():
    """The reference, which cannot choose forces then, is not asked without reserves."""
    whole = small_motion(moments=2)
    problem = replace(
        whole,
        muscles=whole.muscles.muscles(np.array([0])),
        moment_arm=whole.moment_arm[:, :, :1],
        musculotendon_length=whole.musculotendon_length[:, :1],
        musculotendon_velocity=whole.musculotendon_velocity[:, :1],
        lower=0.0,
        upper=1.0,
    )
    for method in ("structured", BandedInteriorPoint(max_iterations=1)):
        *_, note = solve_motion(problem, "stress_cubed", method).notes
        assert "knee" in note and "hip" in note
    assert solve_motion(problem, on_infeasible="reserve").solved.all()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("seed", some(range(20), 4))
def test_whatever_muscles_can_do_is_solved(seed):
    """Random muscles about one to four joints and a motion of theirs: it is never said to be out of reach."""
    problem = random_motion(seed)
    found = solve_motion(problem, COSTS[seed % len(COSTS)])
    assert found.solved.all() and found.gap.max() <= 1e-7, found.notes
    produced = np.einsum("tkn,tn->tk", problem.moment_arm, found.force + found.passive_force)
    assert np.abs(produced - problem.moment).max() <= 1e-5 * max(1.0, np.abs(problem.moment).max())


@pytest.mark.parametrize("cost", ["muscle_power", "joint_reaction_squared", "min_max"])
def test_costs_that_motions_cannot_have_are_refused(cost):
    with pytest.raises(InputError) as raised:
        solve_motion(small_motion(), cost)
    for part in (cost, "rigid"):
        assert part in str(raised.value), raised.value


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("unknown_name", {"cost": "stress_fifth"}),
        ("unknown_name", {"method": "simplex"}),
        ("unknown_name", {"on_infeasible": "hope"}),
        ("bad_type", {"problem": "walk"}),
        ("bad_type", {"method": 3}),
    ],
)
def test_unknown_arguments_are_refused(code, arguments):
    named = next(iter(arguments)) if code == "bad_type" else next(iter(arguments.values()))
    with refused(code, named):
        solve_motion(**({"problem": small_motion()} | arguments))
