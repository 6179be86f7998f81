"""The recorded walk with weak calves: the diagnosis names what linear programming proves, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from said import summary
from scipy.optimize import linprog

import musclesolve as ms
from musclesolve import Problem, diagnose
from musclesolve.laboratory.results.dataset.result_quantities import directions

PLANTARFLEXORS = (
    "gastrocnemius_medial",
    "gastrocnemius_lateral",
    "soleus",
    "tibialis_posterior",
    "flexor_digitorum_longus",
    "flexor_hallucis_longus",
    "peroneus_brevis",
    "peroneus_longus",
)
ANKLE = "ankle_dorsiflexion_r"


@pytest.fixture(scope="module")
def result(recorded_walk_trial):
    return ms.run(recorded_walk_trial, side="r")


@pytest.fixture(scope="module")
def weak(result):
    """The right leg's problem with the plantarflexors at 30 % of their strength, passive forces as they are."""
    dofs = [dof for dof in result.attrs["shared_dofs"] if dof.endswith("_r")]
    strength = np.array([0.3 if name[:-2] in PLANTARFLEXORS else 1.0 for name in result.muscle.values])
    assert (strength < 1).sum() == len(PLANTARFLEXORS)
    arm = result.moment_arm.sel(dof=dofs).values
    passive = result.passive_force.values
    return Problem(
        moment_arm=arm,
        moment=result.joint_moment.sel(dof=dofs).values - np.einsum("tkm,tm->tk", arm, passive),
        force_capacity=strength * result.force_capacity.values,
        max_isometric_force=strength * result.max_isometric_force.values,
        muscle=tuple(result.muscle.values),
        dof=tuple(dofs),
    )


@pytest.mark.thorough
def test_exactly_the_frames_that_linear_programming_proves_are_diagnosed(weak):
    zero = np.zeros(weak.n_muscles)
    rows = zip(weak.moment_matrix, weak.moment, strict=True)
    proved = [linprog(zero, A_eq=matrix, b_eq=moment, bounds=(0, 1)).status == 2 for matrix, moment in rows]
    assert 5 < sum(proved) < 60
    np.testing.assert_array_equal(diagnose(weak).frame, np.flatnonzero(proved))


def test_ankle_and_newton_meters_are_named_where_linear_programming_proves_them(weak):
    """The least shortage of the ankle when every other degree of freedom may have whatever it lacks."""
    k, count, free = weak.dof.index(ANKLE), weak.n_muscles, weak.n_dof - 1
    others = np.delete(np.eye(weak.n_dof), k, axis=1)
    unit = np.eye(weak.n_dof)[:, k : k + 1]
    bounds = [(0, 1)] * count + [(None, None)] * free + [(0, None)] * 2
    cost = np.concatenate([np.zeros(count + free), np.ones(2)])
    missing = np.zeros(weak.n_frames)
    for t in range(weak.n_frames):
        rows = np.hstack([weak.moment_matrix[t], others, unit, -unit])
        found = linprog(cost, A_eq=rows, b_eq=weak.moment[t], bounds=bounds)
        missing[t] = found.x[-2] - found.x[-1]
    proved = np.flatnonzero(missing < -1e-6)
    assert proved.size > 15
    diagnosis = diagnose(weak)
    named = [ANKLE in diagnosis.lacking(number) for number in range(diagnosis.frame.size)]
    np.testing.assert_array_equal(diagnosis.frame[named], proved)
    np.testing.assert_allclose(diagnosis.shortage[named, k], missing[proved], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(diagnosis.certain[named, k], missing[proved], rtol=1e-6, atol=1e-6)


def test_the_sentence_says_it(weak, result):
    diagnosis = diagnose(weak)
    number = int(np.abs(diagnosis.shortage[:, weak.dof.index(ANKLE)]).argmax())
    names = {ANKLE: ("dorsiflexion", "plantarflexion")}
    text = diagnosis.sentence(number, result.time.values, names)
    newton_meters = abs(diagnosis.shortage[number, weak.dof.index(ANKLE)])
    assert text.startswith(f"{ANKLE} lacks {newton_meters:.1f} N m of plantarflexion")
    assert f"at {result.time.values[diagnosis.frame[number]]:.3f} s" in text
    assert "soleus_r" in text and "times their strength would suffice" in text


@pytest.mark.thorough
def test_weak_calves_lack_more_than_strong_ones(weak, result):
    """At full strength the ankle lacks something in fewer frames, and never more."""
    strength = np.array([0.3 if name[:-2] in PLANTARFLEXORS else 1.0 for name in weak.muscle])
    strong = replace(weak, force_capacity=weak.force_capacity / strength)
    k = weak.dof.index(ANKLE)
    before, after = (np.zeros(weak.n_frames) for _ in range(2))
    for problem, missing in ((strong, before), (weak, after)):
        found = diagnose(problem)
        missing[found.frame] = np.abs(found.certain[:, k])
    assert (before <= after + 1e-9).all() and (before > 0).sum() < (after > 0).sum()


@pytest.mark.thorough
def test_the_strength_factor_is_that_of_a_whole_run(recorded_walk_trial, result):
    """All muscles that much stronger, passive forces as they are: the worst frame is just within reach."""
    dofs = [dof for dof in result.attrs["shared_dofs"] if dof.endswith("_r")]
    arm = result.moment_arm.sel(dof=dofs).values
    needed = result.joint_moment.sel(dof=dofs).values
    needed = needed - np.einsum("tkm,tm->tk", arm, result.passive_force.values)
    least = np.array(result.attrs.get("least_activation", 0.0))
    problem = Problem(
        arm, needed, result.force_capacity.values, result.max_isometric_force.values, lower=least
    )
    found = diagnose(problem, result.passive_force.values)
    worst = int(found.strength_factor.argmax())
    for share, expected in ((1.0 + 1e-4, ms.Status.SOLVED), (1.0 - 1e-3, ms.Status.SOLVED_WITH_RESERVE)):
        factor = float(found.strength_factor[worst] * share)
        stronger = ms.run(recorded_walk_trial.with_settings(muscles={"strength": factor}), side="r")
        status = stronger.status.values[:, 0]
        assert status[found.frame[worst]] == expected
        if share > 1:
            assert (status == ms.Status.SOLVED).all()


def test_factors_of_the_summary_work_in_a_run(recorded_walk_trial, result):
    """The proposal of each sentence, given as strength of the trial, solves the frame that the sentence is about."""
    told = [
        re.search(r"at ([\d.]+) s;.* strength = ([\d.]+) in", reason) for reason in result.attrs["reasons_r"]
    ]
    assert any(told)
    for time, factor in (found.groups() for found in told if found):
        stronger = ms.run(recorded_walk_trial.with_settings(muscles={"strength": float(factor)}), side="r")
        before, after = (
            int(each.status.sel(side="r").sel(time=float(time), method="nearest"))
            for each in (result, stronger)
        )
        assert (before, after) == (ms.Status.SOLVED_WITH_RESERVE, ms.Status.SOLVED)


@pytest.mark.thorough
def test_the_problem_of_a_leg_gives_the_sentences_of_the_run(result):
    """It carries the passive forces: the factors are the same, without giving them again."""
    problem = ms.leg_problem(result, "r")
    found = ms.diagnose(problem)
    names = {dof: directions(dof) for dof in problem.dof}
    sentences = [found.sentence(number, result.time.values, names) for number in range(found.frame.size)]
    told = [reason for reason in result.attrs["reasons_r"] if " lacks " in reason]
    assert told and all(any(reason.startswith(sentence) for sentence in sentences) for reason in told)
    again = ms.diagnose(problem, result.passive_force.values)
    np.testing.assert_array_equal(again.strength_factor, found.strength_factor)


def test_the_summary_of_a_run_says_why(result):
    reasons = result.attrs["reasons_r"]
    assert any(" lacks " in reason and " at " in reason for reason in reasons)
    assert all(reason in summary(result) for reason in reasons)
    assert "of its peak moment" in reasons[-1]
