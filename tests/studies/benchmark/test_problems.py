"""Made-up problems: feasible, and like those of a leg. Nothing here looks at a time."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

import musclesolve as ms
from musclesolve import Problem, Status
from musclesolve.studies.benchmark.measure import random_problem, varied


@settings(max_examples=25)
@given(st.integers(1, 12), st.integers(0, 30), st.integers(1, 4), st.integers(0, 1000))
def test_random_problems_have_a_solution(dofs, more, frames, seed):
    problem = random_problem(frames, dofs, dofs + more, seed)
    assert problem.moment_arm.shape == (frames, dofs, dofs + more)
    for cost in ("force_squared", "soft_saturation"):
        answer = ms.solve(problem, cost)
        assert (answer.status == Status.SOLVED).all(), answer.summary()


def test_a_muscle_crosses_one_joint_or_two_neighbors():
    """Seven moments: joints of three, one, two and, what is left, one."""
    problem = random_problem(2, 7, 60, seed=3)
    joints = np.array(
        [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0, 1]]
    )
    used = (problem.moment_arm[0] != 0).astype(int)
    across = joints @ used > 0
    assert set(across.sum(axis=0)) == {1, 2}
    first = across.argmax(axis=0)
    assert all(across[first[i] : first[i] + across[:, i].sum(), i].all() for i in range(60))
    assert (used == (joints.T @ across > 0)).all() and (used.sum(axis=1) >= 1).all()


def test_the_same_seed_gives_the_same_problem():
    one, two, other = random_problem(3, seed=5), random_problem(3, seed=5), random_problem(3, seed=6)
    np.testing.assert_array_equal(one.moment, two.moment)
    assert np.abs(one.moment - other.moment).max() > 1.0


def test_neighboring_frames_are_alike():
    problem = random_problem(200)
    assert np.abs(np.diff(problem.moment, axis=0)).max() < 0.1 * np.abs(problem.moment).max()


@pytest.mark.parametrize(("frames", "dofs", "muscles"), [(0, 7, 43), (5, 0, 3), (5, 8, 7)])
def test_sizes_that_make_no_problem_are_refused(frames, dofs, muscles):
    with refused("bad_number", f"{frames} frames"):
        random_problem(frames, dofs, muscles)


@pytest.mark.filterwarnings("ignore:the moment of .* if they are in N mm")
def test_varied_frames_follow_the_pattern_and_can_be_solved():
    """One of four frames is out of reach and one is not a number: the others come again and again."""
    leg = random_problem(4, seed=2)
    moment = leg.moment.copy()
    moment[1] *= 1e3
    moment[2, 0] = np.nan
    given_fields = {f.name: getattr(leg, f.name) for f in fields(Problem) if f.init}
    problem = varied(Problem(**given_fields | {"moment": moment}), 50, seed=1)
    assert (ms.solve(problem, "soft_saturation").status == Status.SOLVED).all()
    pattern = leg.moment_arm[np.tile([0, 3], 25)]
    there = pattern != 0
    assert 0.015 < np.std(problem.moment_arm[there] / pattern[there]) < 0.025
    with refused("bad_result"):
        varied(Problem(**given_fields | {"moment": np.full_like(moment, 1e6)}), 5)
