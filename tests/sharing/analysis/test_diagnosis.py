"""The reason of an infeasible frame, against closed forms and independent linear programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import linprog

from musclesolve import Problem, Status, diagnose, solve
from musclesolve.sharing import check_reserves
from musclesolve.sharing.analysis.reserve_check import Verdict, worst_reserve
from musclesolve.sharing.certificate import farkas_margin


def elbow(moment, **fields):
    """Two flexors of 50 N m and 18 N m, an extensor of 16 N m."""
    strongest = np.array([1000.0, 600.0, 400.0])
    names = {"muscle": ("biceps", "brachialis", "triceps"), "dof": ("elbow_flexion",)}
    return Problem(
        np.array([[0.05, 0.03, -0.04]]), np.array([moment]), strongest, strongest, **names, **fields
    )


def mixed(make_leg, seed=1):
    base = make_leg(30, seed=seed, effort=1.0, dofs=4, muscles=12)
    factor = np.linspace(0.2, 3.0, 30)[:, None]
    return Problem(base.moment_arm, factor * base.moment, base.force_capacity, base.max_isometric_force)


@pytest.fixture(scope="module")
def problem(make_leg):
    return mixed(make_leg)


@pytest.fixture(scope="module")
def found(problem):
    return diagnose(problem)


def test_one_joint_by_hand():
    found = diagnose(elbow(80.0))
    assert found.frame.tolist() == [0]
    for shortage in (found.shortage, found.alone, found.certain):
        np.testing.assert_allclose(shortage, [[12.0]], atol=1e-9)
    assert found.limited.tolist() == [[True, True, False]]
    np.testing.assert_allclose([found.strength_factor, found.limited_factor], 80 / 68, rtol=1e-9)
    assert found.sentence(0, [0.91], {"elbow_flexion": ("flexion", "extension")}) == (
        "elbow_flexion lacks 12.0 N m of flexion at 0.910 s; biceps and brachialis are at their limit; "
        "1.18 times their strength would suffice"
    )


def test_the_other_way():
    found = diagnose(elbow(-20.0))
    np.testing.assert_allclose(found.shortage, [[-4.0]], atol=1e-9)
    assert found.limited_muscles(0) == ["triceps"]
    text = found.sentence(0)
    assert text == (
        "elbow_flexion lacks 4.0 N m of negative moment in frame 0; triceps is at its limit; 1.25 times its strength "
        "would suffice"
    )


def test_nothing_to_say_of_feasible_frames():
    found = diagnose(elbow(60.0))
    assert found.frame.size == 0 and found.shortage.shape == (0, 1) and found.limited.shape == (0, 3)
    assert str(found) == "Every frame is feasible." and str(diagnose(elbow(80.0))).startswith(
        "elbow_flexion lacks 12.0"
    )


def test_frames_are_those_that_the_solver_proves_infeasible(problem, found):
    np.testing.assert_array_equal(found.frame, np.flatnonzero(solve(problem).status == Status.INFEASIBLE))


def test_shortages_fill_the_gap_and_no_less_would_do(problem, found):
    assert found.frame.size > 5
    for k, t in enumerate(found.frame):
        filled = problem.moment[t] - found.shortage[k]
        met = linprog(np.zeros(12), A_eq=problem.moment_matrix[t], b_eq=filled, bounds=(0, 1))
        assert met.status == 0
        size = np.abs(found.proof[k]).max()
        assert size <= 1 + 1e-9
        pull = found.proof[k] @ problem.moment_matrix[t]
        weakest = found.proof[k] @ problem.moment[t] - np.maximum(pull, 0.0).sum()
        assert weakest == pytest.approx(found.total[k], rel=1e-7)
    assert (farkas_margin(problem.frames(found.frame), found.proof) > 0.0).all()


def test_alone_and_for_certain(problem, found):
    """alone fills the gap by itself and is never less than what is certain."""
    finite = np.isfinite(found.alone)
    assert finite.any()
    for k, dof in np.argwhere(finite):
        t = found.frame[k]
        filled = problem.moment[t].copy()
        filled[dof] -= found.alone[k, dof]
        assert linprog(np.zeros(12), A_eq=problem.moment_matrix[t], b_eq=filled, bounds=(0, 1)).status == 0
        assert abs(found.alone[k, dof]) >= found.total[k] - 1e-6
    assert (np.abs(found.certain) <= np.abs(found.alone) + 1e-6).all()
    assert (np.abs(found.certain) <= np.abs(found.shortage) + 1e-6).all()


def test_the_strength_factors_are_the_smallest_that_do(problem, found):
    for factor, who in (
        (found.strength_factor, np.ones_like(found.limited)),
        (found.limited_factor, found.limited),
    ):
        use = np.isfinite(factor)
        assert use.any() and (factor[use] > 1).all()
        part = problem.frames(found.frame[use])
        for share, expected in ((1 + 1e-4, Status.SOLVED), (1 - 1e-4, Status.INFEASIBLE)):
            stronger = np.where(who[use], share * factor[use, None], 1.0) * part.force_capacity
            answer = solve(replace(part, force_capacity=stronger), "force_squared")
            assert (answer.status == expected).all()
    both = np.isfinite(found.limited_factor)
    assert found.frame.size > 5 and both.any()


def test_passive_forces_do_not_grow_with_the_strength():
    """Two flexors bear 68 N m when active; what passive force bears of the moment is not in it any more."""
    for passive in (0.0, 200.0):
        found = diagnose(elbow(80.0), np.array([passive, 0.0, 0.0]))
        np.testing.assert_allclose(found.strength_factor, 80 / 68, rtol=1e-9)


def test_a_joint_that_no_muscle_moves():
    problem = Problem(
        np.array([[0.05], [0.0]]), np.array([10.0, 3.0]), np.array([1000.0]), np.array([1000.0])
    )
    found = diagnose(problem)
    assert found.lacking(0) == ["dof_1"]
    assert np.isinf(found.strength_factor[0]) and np.isinf(found.alone[0, 0])
    assert found.sentence(0) == "dof_1 lacks 3.0 N m of positive moment in frame 0; no muscle can produce it"


def test_frames_that_are_no_numbers_are_left_out(problem, found):
    moment = problem.moment.copy()
    moment[[0, 29], 1] = np.nan
    frames = diagnose(replace(problem, moment=moment)).frame
    whole = found.frame
    np.testing.assert_array_equal(frames, whole[whole < 29])
    assert 29 in whole


def test_only_the_frames_given(problem, found):
    whole = found
    some = diagnose(problem, frames=whole.frame[1:3])
    np.testing.assert_array_equal(some.frame, whole.frame[1:3])
    np.testing.assert_allclose(some.shortage, whole.shortage[1:3])
    mask = np.isin(np.arange(30), whole.frame[1:3])
    np.testing.assert_array_equal(diagnose(problem, frames=mask).frame, whole.frame[1:3])
    assert diagnose(problem, frames=[]).frame.size == 0
    for wrong in (0.7, [0.0, 1.0], [True, False], "a", [None]):
        with refused("bad_type", "diagnose"):
            diagnose(problem, frames=wrong)
    for wrong, number in (([30], "30"), ([3, -1], "-1")):
        with refused("bad_number", number):
            diagnose(problem, frames=wrong)
    with refused("bad_shape", "passive_force"):
        diagnose(problem, passive_force=np.zeros(5))


@pytest.mark.parametrize(
    ("force", "code", "parts"),
    [
        ([0.0, np.nan, 0.0], "bad_number", ("passive_force", "nan", "brachialis", "frame 0")),
        ([0.0, 0.0, -1.0], "bad_number", ("passive_force", "-1", "triceps", "frame 0")),
        (["a"] * 3, "not_numbers", ("passive_force",)),
        (np.ones(3) * 1j, "not_numbers", ("passive_force",)),
    ],
)
def test_passive_forces_that_are_none_are_named(force, code, parts):
    with refused(code, *parts):
        diagnose(elbow(80.0), passive_force=force)


def test_passive_forces_of_frames_that_are_no_numbers_do_not_matter(problem, found):
    moment, passive = problem.moment.copy(), np.zeros_like(problem.force_capacity)
    moment[29], passive[29] = np.nan, np.nan
    factor = diagnose(replace(problem, moment=moment), passive).strength_factor
    np.testing.assert_array_equal(factor, found.strength_factor[found.frame < 29])


@pytest.mark.parametrize(
    ("missing", "verdict"),
    [(0.0, Verdict.NONE), (2.0, Verdict.SMALL), (6.0, Verdict.TOLERABLE), (30.0, Verdict.LARGE)],
)
def test_verdict_on_reserves(missing, verdict):
    """68 N m is what the flexors have."""
    moments = np.array([[10.0], [68.0 + missing]])
    problem = replace(
        elbow(1.0),
        moment_arm=np.tile([[[0.05, 0.03, -0.04]]], (2, 1, 1)),
        moment=moments,
        force_capacity=np.tile([1000.0, 600.0, 400.0], (2, 1)),
        lower=0.0,
        upper=1.0,
    )
    problem = replace(problem, moment=moments - 1e-3 * (missing == 0))
    answer = solve(problem, "force_squared", on_infeasible="reserve")
    check = check_reserves(problem, answer)
    assert check.verdict == (verdict,)
    np.testing.assert_allclose(check.share, missing / (68.0 + missing), atol=1e-4)
    assert np.isfinite(check.weight[0]) == (missing > 0)
    text = check.sentence("elbow_flexion")
    assert ("needs no reserve" in text) == (missing == 0)
    assert ("beyond the limit of 10 %" in text) == (verdict is Verdict.LARGE)


def test_the_worst_reserve_is_the_largest_beyond_the_limit_or_else_the_largest_share():
    assert worst_reserve(np.array([3.0, 91.0, 200.0]), np.array([0.9, 0.4, 0.05])) == 1
    assert worst_reserve(np.array([0.5, 8.0, 3.0]), np.array([24.0, 0.1, 0.3])) == 2
    assert worst_reserve(np.array([0.5, 0.8]), np.array([24.0, 0.1])) == 1
    answer = solve(elbow(68.5), "force_squared", on_infeasible="reserve")
    check = check_reserves(elbow(68.5), answer, moment=[0.02])
    assert check.verdict == (Verdict.SMALL,)
    assert check.sentence("elbow_flexion") == (
        "the reserve of elbow_flexion reaches 0.5 N m, at most 1 N m: small"
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_moments_that_are_not_known_give_no_verdict(value):
    problem = elbow(70.0)
    answer = solve(problem, "force_squared", on_infeasible="reserve")
    with refused("not_finite", "elbow_flexion", "frame 0", str(value)):
        check_reserves(problem, answer, moment=[value])


def test_moments_of_frames_that_are_no_numbers_do_not_matter(make_leg):
    leg = mixed(make_leg)
    moment = leg.moment.copy()
    moment[3, 0] = np.nan
    hole = replace(leg, moment=moment)
    answer = solve(hole, on_infeasible="reserve")
    known = np.arange(30) != 3
    np.testing.assert_array_equal(
        check_reserves(hole, answer, moment).moment_peak, np.abs(moment[known]).max(axis=0)
    )


def test_what_is_no_problem_or_not_its_solution_is_refused(make_leg):
    problem = elbow(70.0)
    answer = solve(problem, "force_squared", on_infeasible="reserve")
    with refused("bad_type", "dict"):
        diagnose({})
    with refused("bad_type", "dict"):
        check_reserves({}, answer)
    with refused("bad_type", "NoneType"):
        check_reserves(problem, None)
    with refused("bad_shape", "30", "4"):
        check_reserves(problem, solve(mixed(make_leg)))


def test_limits_can_be_set_and_are_checked():
    problem = elbow(70.0)
    answer = solve(problem, "force_squared", on_infeasible="reserve")
    assert check_reserves(problem, answer).verdict == (Verdict.SMALL,)
    assert check_reserves(problem, answer, limits=(0.001, 0.01)).verdict == (Verdict.LARGE,)
    assert check_reserves(problem, answer, moment=[25.0]).verdict == (Verdict.TOLERABLE,)
    for wrong in ((0.2, 0.1), (0.1,), 0.1, (np.nan, 0.1), (0.05, np.inf)):
        with refused("bad_range", str(wrong)):
            check_reserves(problem, answer, limits=wrong)
    for wrong in (("a", "b"), ("0.05", "0.1")):
        with refused("not_numbers", "limits"):
            check_reserves(problem, answer, limits=wrong)
    with refused("not_numbers", "moment"):
        check_reserves(problem, answer, moment="x")
    with refused("bad_shape", "moment"):
        check_reserves(problem, answer, moment=[1.0, 2.0])


@pytest.mark.parametrize(("moment", "number"), [(10.0, 0), (90.0, 1), (90.0, "0"), (90.0, 0.0)])
def test_a_frame_that_is_not_infeasible_has_no_reason(moment, number):
    found = diagnose(elbow([moment]))
    for reason in (found.sentence, found.remedy, found.lacking, found.limited_muscles):
        with refused("bad_value", "number"):
            reason(number)


def cause(moment_arm, moment, capacity, lower=0.0):
    """The sentence of a frame after the missing moments."""
    problem = Problem(np.array(moment_arm), np.array(moment), capacity, capacity, lower=lower)
    return diagnose(problem).sentence(0).partition("frame 0; ")[2]


def test_least_activation_is_named_where_it_is_the_cause():
    """An antagonist at half of its strength; strength of the agonist alone would do, too, but is not the cause."""
    arm, capacity = [[0.04, -0.03]], [100.0, 400.0]
    said = cause(arm, [0.5], capacity, [0.01, 0.5])
    assert "the least activation of muscle_1 is too large; without it the muscles would suffice" in said
    assert "passive" not in said and "times" not in said
    # too much in the direction of the moment
    assert cause([[0.04, 0.03]], [1.0], capacity, 0.5).startswith(
        "the least activation of muscle_1 and muscle_0"
    )
    # little of it is no cause: the agonist is too weak
    weak = cause(arm, [5.0], capacity, [0.01, 0.01])
    assert weak == "muscle_0 is at its limit; 1.29 times the strength of all muscles would suffice"


def test_moments_that_contradict_each_other_are_named():
    """Equal arms with unequal moments, and a muscle of one coordinate that always acts on the other."""
    contradict = "the moments of dof_0 and dof_1 contradict each other at any strength"
    assert cause([[0.04, -0.03]] * 2, [2.0, 2.1], [100.0, 400.0]) == contradict
    assert cause([[0.04, 0.03], [0.04, 0.0]], [2.0, 3.0], [1000.0, 1000.0]) == contradict
    assert cause([[0.04, 0.03], [0.0, 0.0]], [2.0, 3.0], [1e3, 1e3]) == "no muscle can produce it"
    assert cause([[0.04, 0.03]], [-2.0], [1e3, 1e3]) == "no muscle can produce it"


def test_no_strength_suffices_only_where_no_strengths_of_single_muscles_do():
    """A common factor raises the least forces, too; two muscles that are stronger alone solve the frame."""
    arm = [[0.009, 0.0, -0.041, 0.041, 0.039], [0.006, 0.0, 0.0, 0.0, -0.033]]
    capacity, lower = np.array([222.0, 249.0, 195.0, 449.0, 255.0]), [0.23, 0.17, 0.12, 0.03, 0.26]
    said = cause(arm, [1.3, 7.8], capacity, lower)
    assert said == "muscle_0 is at its limit; more strength of muscle_0 and muscle_2 alone would suffice"
    stronger = Problem(np.array(arm), np.array([1.3, 7.8]), capacity, capacity, lower=lower)
    upper = np.where(np.isin(np.arange(5), [0, 2]), 1e3, 1.0)
    assert solve(replace(stronger, upper=upper), "force_squared").status == Status.SOLVED
    assert "no strength would suffice" in cause([[0.04, -0.03], [0.0, 0.03]], [60.0, -0.2], [1e3, 1e3], 0.01)


def test_a_strong_muscle_that_may_hardly_act_is_named():
    """Its missing activation, 2e-10, is below the tolerance of solvers of linear programs."""
    arm, capacity = np.array([[-0.3], [0.7]]), np.array([1e7])
    weak = Problem(arm, 1.19e-9 * capacity * arm[:, 0], capacity, capacity, upper=1e-9)
    why = diagnose(weak)
    assert why.frame.tolist() == [0] and why.lacking(0) == ["dof_1", "dof_0"]
    assert why.sentence(0).endswith("muscle_0 is at its limit; 1.19 times its strength would suffice")


def test_numbers_beyond_other_linear_programs_are_diagnosed():
    strength = np.array([1e21, 400.0])
    why = diagnose(Problem(np.array([[0.05, 0.03]]), np.array([-20.0]), strength, strength))
    assert why.sentence(0) == "dof_0 lacks 20.0 N m of negative moment in frame 0; no muscle can produce it"


def test_every_proof_of_solve_is_diagnosed():
    """Eight moments of two muscles contradict each other, by 1e-5 N m: every frame is impossible, and has its proof."""
    random = np.random.default_rng(5)
    arm, strength = 0.05 * random.normal(size=(40, 8, 2)), random.uniform(100.0, 900.0, (40, 2))
    moment = (arm * strength[:, None]).sum(axis=2) + 1e-5 * random.normal(size=(40, 8))
    problem = Problem(arm, moment, strength, np.full(2, 900.0))
    assert (solve(problem, "force_squared").status == Status.INFEASIBLE).sum() > 15
    why = diagnose(problem)
    np.testing.assert_array_equal(why.frame, np.arange(40))
    assert (farkas_margin(problem, why.proof) > 0.0).all() and (why.gap <= 1e-9).all()


def test_a_cost_that_ends_at_the_strength_of_a_muscle_explains_its_frames():
    strong = Problem([[0.05, 0.03]], [75.0], [1200.0, 600.0], [1000.0, 600.0], dof=["elbow"])
    assert solve(strong, "soft_saturation").status == Status.INFEASIBLE
    with refused("bad_value", "soft_saturation"):
        diagnose(strong).lacking(0)
    found = diagnose(strong, cost="soft_saturation")
    with refused("bad_value") as another:
        found.lacking(1)
    assert "soft_saturation" not in str(another.value)  # this cost has no more frames
    np.testing.assert_allclose(found.shortage, [[7.0]], atol=1e-9)
    assert found.sentence(0).startswith("elbow lacks 7.0 N m")
    active = replace(strong, lower=np.array([0.95, 0.0]))  # beyond the end of the domain, 1000 / 1200
    np.testing.assert_allclose(diagnose(active, cost="soft_saturation").shortage, [[7.0]], atol=1e-9)
