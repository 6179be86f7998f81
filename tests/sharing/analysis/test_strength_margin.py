"""Least strength: closed forms, an independent linear program, and solutions on both sides of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import linprog

import musclesolve as ms
from musclesolve import Problem
from musclesolve.sharing import least_assistance, strength_margin
from musclesolve.sharing.analysis.strength_margin import with_strength

NAMES = tuple(f"muscle_{k}" for k in range(9))


def elbow(**other) -> Problem:
    """Two flexors of 50 and 15 N m, one extensor; 20 N m of flexion."""
    return Problem(
        moment_arm=np.array([[[0.05, 0.03, -0.02]]]),
        moment=np.array([[20.0]]),
        force_capacity=np.array([1000.0, 500.0, 800.0]),
        max_isometric_force=np.array([1000.0, 500.0, 800.0]),
        muscle=("strong", "weak", "extensor"),
        **other,
    )


def random_problem(seed: int, passive: bool) -> Problem:
    """Thirty frames of three moments and nine muscles, most of them possible."""
    random = np.random.default_rng(seed)
    arm = 0.05 * random.standard_normal((30, 3, 9))
    capacity = random.uniform(200.0, 2000.0, (30, 9))
    activation = random.uniform(0.1, 0.9, (30, 9)) * (random.random((30, 9)) < 0.7)
    return Problem(
        moment_arm=arm,
        moment=np.einsum("tmn,tn,tn->tm", arm, capacity, activation),
        force_capacity=capacity,
        max_isometric_force=np.full(9, 1500.0),
        lower=np.full(9, 0.01),
        muscle=NAMES,
        passive_force=random.uniform(0.0, 300.0, (30, 9)) if passive else None,
    )


@pytest.mark.parametrize(
    ("muscles", "expected"),
    [(["strong"], 5.0 / 50.0), (["weak"], 0.0), (["strong", "weak"], 20.0 / 65.0), (["extensor"], 0.0)],
)
def test_one_joint_in_closed_form(muscles, expected):
    margin = strength_margin(elbow(), muscles)
    np.testing.assert_allclose(margin.strength, [expected], atol=1e-9)
    assert np.isnan(margin.proof).all() == (expected == 0.0)


def test_passive_forces_shrink_with_the_strength():
    # 200 N of passive force of the strong flexor bear 10 N m, which are not in the moment of 10 N m that is left:
    # 15 N m of the weak one leave 5 N m of all 20 N m to s (50 + 10) N m
    problem = replace(elbow(passive_force=np.array([200.0, 0.0, 0.0])), moment=np.array([[10.0]]))
    np.testing.assert_allclose(strength_margin(problem, ["strong"]).strength, [5.0 / 60.0], atol=1e-9)


@pytest.mark.parametrize("passive", [False, True])
def test_a_linear_program_finds_the_same(passive):
    problem = random_problem(3, passive)
    weak = np.isin(NAMES, ["muscle_0", "muscle_4", "muscle_7"])
    found = strength_margin(problem, [name for name, own in zip(NAMES, weak, strict=True) if own])
    assert np.isfinite(found.strength).sum() > 20
    assert (found.strength[np.isfinite(found.strength)] > 0.01).any()
    for t in np.flatnonzero(np.isfinite(found.strength)):
        # unknowns: u = s a of weak muscles, a of the others, and s
        matrix, lower, upper = problem.moment_matrix[t], problem.lower[t], problem.upper[t]
        lost = np.zeros(3)
        if problem.passive_force is not None:
            lost = (problem.moment_arm[t] * problem.passive_force[t])[:, weak].sum(axis=1)
        equal = np.column_stack([matrix, lost])
        rows = [
            (row, -bound if sign > 0 else bound)
            for k in np.flatnonzero(weak)
            for sign, bound in ((1.0, upper[k]), (-1.0, lower[k]))
            if (row := sign * np.eye(9)[k]) is not None
        ]
        limits = np.array([[*row, bound] for row, bound in rows])
        bounds = [
            (0.0, None) if own else (low, high) for own, low, high in zip(weak, lower, upper, strict=True)
        ]
        least = linprog(
            [*np.zeros(9), 1.0],
            limits,
            np.zeros(len(limits)),
            equal,
            problem.moment[t] + lost,
            [*bounds, (0.0, 1.0)],
        )
        assert least.status == 0
        np.testing.assert_allclose(found.strength[t], least.x[-1], atol=1e-5)


def test_the_edge_is_between_a_solution_and_a_proof():
    problem = random_problem(5, passive=True)
    weak = np.isin(NAMES, ["muscle_1", "muscle_2"])
    found = strength_margin(problem, ["muscle_1", "muscle_2"])
    inside = np.flatnonzero((found.strength > 0.02) & (found.strength < 0.98))
    assert inside.size
    part, strength = problem.frames(inside), found.strength[inside][:, None]
    for factor, expected in ((1.01, ms.Status.SOLVED), (0.99, ms.Status.INFEASIBLE)):
        status = ms.solve(with_strength(part, np.where(weak, factor * strength, 1.0))).status
        assert (status == expected).all()


def test_what_is_not_possible_has_no_margin():
    impossible = strength_margin(replace(elbow(), moment=np.array([[70.0]])), ["strong"])
    assert np.isnan(impossible.strength).all()
    with refused("no_overlap", "full strength"):
        _ = impossible.tightest
    with refused("unknown_name", "strnog"):
        strength_margin(elbow(), ["strnog"])


def test_a_bound_of_activation_without_passive_forces_is_a_strength():
    """Without passive forces and least activation both bound the same force."""
    problem = random_problem(3, passive=False).with_arrays(lower=np.zeros((30, 9)))
    for muscles in (["muscle_2"], ["muscle_0", "muscle_5"]):
        bound, strength = (
            strength_margin(problem, muscles, of="activation"),
            strength_margin(problem, muscles),
        )
        np.testing.assert_allclose(bound.strength, strength.strength, atol=2e-5)


def test_the_least_bound_of_activation_is_that_of_a_linear_program():
    problem = random_problem(4, passive=True)
    found = strength_margin(problem, ["muscle_1", "muscle_4"], of="activation").strength
    for frame in np.flatnonzero(np.isfinite(found))[:12]:
        rows = np.zeros((2, 10))
        rows[0, [1, 9]] = rows[1, [4, 9]] = 1.0, -1.0
        answer = linprog(
            np.eye(10)[9],
            A_ub=rows,
            b_ub=np.zeros(2),
            A_eq=np.hstack([problem.moment_matrix[frame], np.zeros((3, 1))]),
            b_eq=problem.moment[frame],
            bounds=[(0.01, 1.0)] * 9 + [(0.0, 1.0)],
        )
        assert max(found[frame], 0.01) == pytest.approx(answer.fun, abs=1e-6)


def test_the_least_torque_is_that_of_a_linear_program():
    problem = random_problem(5, passive=False)
    problem = problem.with_arrays(moment=2.5 * problem.moment)
    found = least_assistance(problem, problem.dof[1])
    counts = {"possible": 0, "helped": 0, "hopeless": 0}
    for frame in range(30):
        extra = np.zeros((3, 2))
        extra[1] = 1.0, -1.0
        answer = linprog(
            np.r_[np.zeros(9), 1.0, 1.0],
            A_eq=np.hstack([problem.moment_matrix[frame], extra]),
            b_eq=problem.moment[frame],
            bounds=[(0.01, 1.0)] * 9 + [(0.0, None)] * 2,
        )
        if not answer.success:
            assert np.isnan(found[frame])
            counts["hopeless"] += 1
            continue
        torque = answer.x[9] - answer.x[10]
        assert found[frame] == pytest.approx(torque, rel=1e-5, abs=1e-5)
        counts["possible" if torque == 0.0 else "helped"] += 1
    assert all(counts.values()), counts
    with refused("unknown_name", "elbow"):
        least_assistance(problem, "elbow")


def test_a_margin_is_of_strength_or_of_activation():
    with refused("unknown_name", "activations", "strength"):
        strength_margin(elbow(), ["weak"], of="activations")
