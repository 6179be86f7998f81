"""Stated reserves that bear what the muscles could bear: how much, in which frames, and a weight that suffices."""

import re
from dataclasses import replace

import casadi
import numpy as np
import pytest

import musclesolve as ms
from musclesolve.sharing import expression_cost
from musclesolve.sharing.analysis.needless_reserves import LEAST_SHARE, needless_reserves
from musclesolve.sharing.solving import solve_part

START = "Reserves of "


def notes(solution: ms.Solution) -> list[str]:
    """The notes on needless reserves."""
    return [note for note in solution.notes if note.startswith(START)]


def test_what_reserves_bear_is_computed_by_hand():
    """One muscle, f = a^2, b = 20 a + s: the share of the reserve is 1 / (1 + 200 w)."""
    moment = np.array([4.0, 8.0, 30.0])[:, None]  # the last one is out of reach
    problem = ms.Problem(
        np.full((3, 1, 1), 0.02), moment, [1000.0], [1000.0], dof=["elbow"], reserve_weight=0.02
    )
    solution = ms.solve(problem, "activation_power")
    found = needless_reserves(problem, ms.costs()["activation_power"](), solution, solve_part)
    share = 1.0 / (1.0 + 200.0 * 0.02)
    np.testing.assert_allclose([found.share[0], found.reserve[0], found.moment[0]], [share, 8.0 * share, 8.0])
    assert (found.dof, found.frames, found.looked_at, found.frame[0]) == (("elbow",), 2, 3, 1)
    (note,) = notes(solution)
    for part in ("weight 0.02", "20 % of the moment of elbow", "1.6 of 8 N m in frame 1", "2 of 3 frames"):
        assert part in note
    needed = (1.0 / LEAST_SHARE - 1.0) / 200.0
    assert needed <= found.weight * found.factor <= 6.0 * needed
    assert note in solution.summary()


@pytest.mark.parametrize("cost", ["stress_cubed", "activation_power", "soft_saturation"])
@pytest.mark.parametrize("weight", [1e-4, 1e-3, np.array([np.inf, *[1e-3] * 4, np.inf, 1e-3])])
def test_both_remedies_work(make_leg, cost, weight):
    problem = replace(make_leg(30), reserve_weight=weight)
    solution = ms.solve(problem, cost)
    (note,) = notes(solution)
    entries = "the finite entries of reserve_weight" if np.ndim(weight) else "reserve_weight"
    stated = float(re.search(f"raise {entries} to ([0-9.e+]+), with", note).group(1))
    raised = replace(problem, reserve_weight=np.where(np.isfinite(weight), stated, np.inf))
    again = ms.solve(raised, cost)
    assert again.solved.all() and not notes(again)
    helped = again.status == ms.Status.SOLVED_WITH_RESERVE
    borne, moment = np.abs(again.reserve[helped]).sum(axis=0), np.abs(problem.moment[helped]).sum(axis=0)
    assert (borne <= LEAST_SHARE * moment).all()
    without = ms.solve(replace(problem, reserve_weight=None), cost, on_infeasible="reserve")
    assert (without.status == ms.Status.SOLVED).all()


def test_weights_of_their_own_are_multiplied(make_leg):
    weight = np.geomspace(1e-3, 1e-1, 7)
    problem = replace(make_leg(10), reserve_weight=weight)
    (note,) = notes(ms.solve(problem, "force_squared"))
    factor = float(re.search("multiply reserve_weight by ([0-9.e+]+), with", note).group(1))
    assert factor > 1.0 and not notes(
        ms.solve(replace(problem, reserve_weight=factor * weight), "force_squared")
    )


def test_reserves_that_the_muscles_need_are_no_warning(make_leg):
    problem = make_leg(6)
    far = replace(problem, moment=50.0 * problem.moment, reserve_weight=1e-3)
    assert not notes(ms.solve(far, "force_squared"))
    assert not notes(ms.solve(replace(problem, moment=50.0 * problem.moment), on_infeasible="reserve"))
    stiff = replace(problem, reserve_weight=1e9)
    assert not notes(ms.solve(stiff, "stress_cubed"))
    assert not notes(ms.solve(replace(problem, reserve_weight=1e-9), "min_max"))


def test_a_single_frame_and_a_solver_of_one_frame_after_the_other(make_leg):
    problem = make_leg(60)
    arrays = (
        problem.moment_arm[0],
        problem.moment[0],
        problem.force_capacity[0],
        problem.max_isometric_force,
    )
    assert len(notes(ms.solve(ms.Problem(*arrays, reserve_weight=1e-3), "force_squared"))) == 1
    coupled = expression_cost("coupled", lambda a, f, d: casadi.sumsqr(a) + casadi.sum1(a) ** 2)
    (note,) = notes(ms.solve(replace(problem, reserve_weight=1e-3), coupled))
    assert "50 frames" in note
