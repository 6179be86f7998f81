"""Margins, ranges and missing moments lie between what is proved and what is found, by programs in rational numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from rational_programs import rational_optimum

from musclesolve import Problem, Status, diagnose, solve
from musclesolve.sharing import check_reserves, force_range, least_assistance, strength_margin
from musclesolve.sharing.analysis import linear_program
from musclesolve.sharing.analysis.reserve_check import Verdict
from musclesolve.sharing.certificate import farkas_margin

ZERO, ONE = Fraction(0), Fraction(1)
SEEDS = (*range(60), 98)  # 98: an end of a range lay 0.6 N from the number that was called exact


def hard_problem(seed: int, passive: bool = False) -> tuple[Problem, bool]:
    """A frame of up to six muscles and three moments, and whether its moments are at the edge of reach.

    Strengths over four decades, arms of two moments that differ by a share of 1e-7 to 1e-2 only.
    """
    random = np.random.default_rng(seed)
    muscles = int(random.integers(2, 7))
    dofs = min(int(random.integers(1, 4)), muscles)
    arm = 0.05 * random.standard_normal((dofs, muscles))
    if dofs > 1 and random.random() < 0.4:
        arm[1] = arm[0] + 10.0 ** random.uniform(-7, -2) * arm[1]
    capacity = 10.0 ** random.uniform(0, 4, muscles)
    lower, upper = np.zeros(muscles), np.ones(muscles)
    if random.random() < 0.3:
        lower, upper = random.uniform(0.0, 0.2, muscles), random.uniform(0.3, 1.5, muscles)
    activation = lower + (upper - lower) * random.beta(0.5, 1.0, muscles)
    edge = bool(random.random() < 0.3)
    if edge:
        activation = np.where(random.random(muscles) < 0.5, lower, upper)
    moment = arm @ (capacity * activation)
    if random.random() < 0.3:
        moment, edge = moment * random.uniform(0.9, 2.5), False
    names = tuple(f"muscle_{k}" for k in range(muscles))
    force = random.uniform(0.0, 0.2, muscles) * capacity if passive else None
    bounds = {"lower": lower, "upper": upper}
    return Problem(arm, moment, capacity, capacity, muscle=names, passive_force=force, **bounds), edge


def exact(values: np.ndarray) -> np.ndarray:
    """The values as fractions."""
    return np.vectorize(Fraction, otypes=[object])(values)


def matrix_of(problem: Problem) -> np.ndarray:
    """The moment matrix of a single frame as fractions, without round-off."""
    return exact(problem.moment_arm[0]) * exact(problem.force_capacity[0])


def weak_of(problem: Problem, seed: int) -> np.ndarray:
    """Some of the muscles, at least the first one."""
    return (np.random.default_rng(1000 + seed).random(problem.n_muscles) < 0.4) | (
        np.arange(problem.n_muscles) == 0
    )


def least_scale(problem: Problem, weak: np.ndarray, of: str) -> Fraction | None:
    """The least strength, or the least bound of activations, of the weak muscles; None without one."""
    matrix, right = matrix_of(problem), exact(problem.moment[0])
    lower, upper = exact(problem.lower[0]), exact(problem.upper[0])
    numbers, count = np.flatnonzero(weak), problem.n_muscles
    column = np.array([ZERO] * problem.n_dof)
    low, high, width = lower.copy(), upper.copy(), np.array([ONE] * count)
    ends = (max(lower[weak]), max(upper[weak]))
    if of == "strength":
        low[weak], high, width = ZERO, np.where(weak, upper - lower, upper), upper - lower
        column, ends = matrix[:, weak] @ lower[weak], (ZERO, ONE)
        if problem.passive_force is not None:
            borne = exact(problem.moment_arm[0])[:, weak] @ exact(problem.passive_force[0])[weak]
            column, right = column + borne, right + borne
    rows = [[*matrix[k], *[ZERO] * len(numbers), column[k]] for k in range(problem.n_dof)]
    for place, i in enumerate(numbers):
        slack = [Fraction(int(j == place)) for j in range(len(numbers))]
        rows.append([*[Fraction(int(j == i)) for j in range(count)], *slack, -width[i]])
    bounds = [*low, *[ZERO] * len(numbers), ends[0]], [*high, *[width[i] * ends[1] for i in numbers], ends[1]]
    cost = [ZERO] * (count + len(numbers)) + [ONE]
    found = rational_optimum(cost, rows, [*right, *[ZERO] * len(numbers)], *bounds)
    return found[0] if isinstance(found, tuple) else None


def least_missing(problem: Problem) -> Fraction:
    """The least sum of missing moments of a frame [N m]."""
    matrix, right = matrix_of(problem), exact(problem.moment[0])
    dofs, count = problem.n_dof, problem.n_muscles
    most = sum((abs(v) for v in (*right, *matrix.ravel())), ONE) * 2
    rows = [[*matrix[k], *[Fraction(int(j == k)) for j in range(dofs)], *[Fraction(-int(j == k)) for j in range(dofs)]]
            for k in range(dofs)]  # fmt: skip
    bounds = [*exact(problem.lower[0]), *[ZERO] * 2 * dofs], [*exact(problem.upper[0]), *[most] * 2 * dofs]
    found = rational_optimum([ZERO] * count + [ONE] * 2 * dofs, rows, right, *bounds)
    assert isinstance(found, tuple)
    return found[0]


def check_ends(
    proved: float, least: Fraction | None, found: float, edge: bool, seed: int, size: float = 1.0
) -> None:
    """Proved <= exact <= found. At the edge of reach round-off of the moments may decide whether there is a number."""
    if least is None:
        assert np.isnan(found) or edge, seed
    elif np.isnan(found):
        assert edge, seed
    else:
        assert Fraction(proved) <= least <= Fraction(found) + (Fraction(1e-9 * size) if edge else 0), seed


@pytest.mark.parametrize(("of", "passive"), [("strength", False), ("strength", True), ("activation", False)])
def test_the_least_strength_is_between_its_ends(of, passive):
    needed = 0
    for seed in SEEDS:
        problem, edge = hard_problem(seed, passive)
        weak = weak_of(problem, seed)
        margin = strength_margin(problem, [f"muscle_{k}" for k in np.flatnonzero(weak)], of=of)
        check_ends(margin.proved[0], least_scale(problem, weak, of), margin.strength[0], edge, seed)
        assert np.isnan(margin.gap[0]) or 0.0 <= margin.gap[0] <= 1e-3, seed
        start = problem.lower[0, weak].max() if of == "activation" else 0.0
        assert np.isnan(margin.proof[0]).any() != (margin.proved[0] > start), seed
        needed += margin.proved[0] > 0.01
    assert needed > 15


def test_the_ends_of_a_range_are_between_what_is_proved_and_found():
    attained = 0
    for seed in SEEDS:
        problem, edge = hard_problem(seed)
        span, capacity = force_range(problem, ["muscle_0"]), problem.force_capacity[0, 0]
        for sign, end, gap in ((1, span.least, span.gap_least), (-1, -span.greatest, span.gap_greatest)):
            cost = [Fraction(sign * int(i == 0)) for i in range(problem.n_muscles)]
            bounds = exact(problem.lower[0]), exact(problem.upper[0])
            optimum = rational_optimum(cost, matrix_of(problem), exact(problem.moment[0]), *bounds)
            least = optimum[0] * Fraction(capacity) if isinstance(optimum, tuple) else None
            room = 2.0 * np.finfo(float).eps * abs(end[0])  # of the product with the force capacity
            check_ends(end[0] - gap[0], least, end[0] + room, edge, seed, capacity)
            assert np.isnan(gap[0]) or 0.0 <= gap[0] <= 1e-4 * capacity, seed
            attained += bool(0.0 < gap[0])
    assert attained > 20


def test_missing_moments_are_between_what_is_proved_and_found():
    lacking = 0
    for seed in SEEDS:
        problem, edge = hard_problem(seed)
        why, least = diagnose(problem), least_missing(problem)
        assert len(why.frame) == 1 or least == 0 or edge, seed
        if len(why.frame):
            size = float((np.abs(problem.moment_matrix) @ problem.upper[0] + np.abs(problem.moment)).sum())
            assert (
                0.0
                < Fraction(why.proved[0])
                <= least
                <= Fraction(why.total[0] + 20 * np.finfo(float).eps * size)
            )
            assert why.gap[0] <= 1e-6 * size, seed
            assert (np.abs(why.certain[0]) <= np.abs(why.alone[0]) + 1e-12 * size).all(), seed
            lacking += least > 1e-3
    assert lacking > 2


def test_the_least_torque_is_that_of_rational_numbers():
    helped = 0
    for seed in SEEDS:
        problem, edge = hard_problem(seed)
        torque, dofs, count = least_assistance(problem, problem.dof[0])[0], problem.n_dof, problem.n_muscles
        matrix, right = matrix_of(problem), exact(problem.moment[0])
        unit = [[Fraction(int(k == 0)), Fraction(-int(k == 0))] for k in range(dofs)]
        most = sum((abs(v) for v in (*right, *matrix.ravel())), ONE) * 2
        bounds = [*exact(problem.lower[0]), ZERO, ZERO], [*exact(problem.upper[0]), most, most]
        rows = [[*row, *signs] for row, signs in zip(matrix, unit, strict=True)]
        optimum = rational_optimum([ZERO] * count + [ONE, ONE], rows, right, *bounds)
        if not isinstance(optimum, tuple):
            assert np.isnan(torque) or edge, seed
            continue
        least, values = optimum
        assert abs(torque - float(values[count] - values[count + 1])) <= 1e-6 * float(most), seed
        assert edge or Fraction(abs(torque)) >= least, seed
        helped += least > 0
    assert helped > 2  # not empty; how many depends on the last digits of the drawn problems


def one_joint(arm, moment, capacity, **fields) -> Problem:
    """Muscles of one moment, in one frame."""
    names = tuple(f"muscle_{k}" for k in range(len(arm)))
    return Problem(np.array([arm]), np.array([moment]), capacity, capacity, muscle=names, **fields)


def test_a_weak_muscle_among_strong_ones_is_needed():
    """Its 5e-7 N m are less than a solved frame may miss; they decide all the same."""
    problem = one_joint([0.05, 0.05], 100.0 + 0.485 * 5e-7, np.array([2000.0, 1e-5]))
    margin = strength_margin(problem, ["muscle_1"])
    np.testing.assert_allclose([margin.strength[0], margin.proved[0]], 0.485, atol=1e-5)
    assert 0.0 < margin.gap[0] < 1e-5


def test_moments_are_those_given_not_those_within_a_tolerance():
    """The strong muscle lacks 6e-7 N m; another one with an arm of a thousandth of a millimeter bears them by 0.6 N."""
    problem = one_joint([0.05, 1e-6], 100.0 + 6e-7, np.array([2000.0, 1000.0]))
    span = force_range(problem)
    np.testing.assert_allclose(span.least[1], 0.6, atol=1e-6)
    np.testing.assert_allclose(span.least[0], 2000.0 - 0.02 + 1.2e-5, atol=1e-8)
    assert 0.0 < span.gap_least[1] < 1e-6


def test_what_is_missing_is_missing_however_little():
    """Less is missing than a solved frame may miss: the reason, the margin and the check of reserves know of it."""
    problem = one_joint([0.05, 0.03], 68.0 + 5e-7, np.array([1000.0, 600.0]), reserve_weight=1e6)
    why = diagnose(problem)
    assert why.frame.tolist() == [0]
    np.testing.assert_allclose([why.proved[0], why.total[0], why.certain[0, 0]], 5e-7, rtol=1e-6)
    assert why.proved[0] <= why.total[0]
    assert np.isnan(strength_margin(problem, ["muscle_0"]).strength[0])
    check = check_reserves(problem, solve(problem, "force_squared"))
    assert check.proved[0] == pytest.approx(5e-7, rel=1e-6)
    exact_problem = replace(problem, reserve_weight=None)
    answer = solve(exact_problem, "force_squared")
    assert answer.status == Status.SOLVED
    check = check_reserves(exact_problem, answer)
    assert check.verdict == (Verdict.NONE,) and "5e-07 N m are proved to be missing" in check.sentence(
        "dof_0"
    )


def test_a_reserve_is_more_than_every_sharing_needs():
    """A cheap reserve bears a part of a moment that the muscles could bear; the proved end is zero there."""
    problem = one_joint([0.05, 0.03], 30.0, np.array([1000.0, 600.0]), reserve_weight=1.0)
    check = check_reserves(problem, solve(problem, "force_squared"))
    assert check.peak[0] > 1.0 and check.proved[0] == 0.0
    beyond = replace(problem, moment=np.array([[70.0]]))
    check = check_reserves(beyond, solve(beyond, "force_squared"))
    np.testing.assert_allclose(check.proved, 2.0)
    assert check.proved[0] <= check.peak[0]


def test_a_margin_is_a_proof_only_beyond_its_round_off():
    """Random directions never prove a frame impossible that is possible in rational numbers, even at the edge."""
    random, proofs = np.random.default_rng(7), 0
    for seed in SEEDS:
        problem, _ = hard_problem(seed)
        least = least_missing(problem)
        why = diagnose(problem)
        directions = [*random.standard_normal((20, problem.n_dof)), *why.proof, *np.eye(problem.n_dof)]
        for y in directions:
            margin = farkas_margin(problem, y[None])[0]
            assert Fraction(margin) <= least, seed
            proofs += margin > 0.0
    assert proofs > 20
    assert farkas_margin(problem, np.zeros((1, problem.n_dof))) == -np.inf


def test_blocks_of_frames_change_nothing(make_leg, monkeypatch):
    problem = make_leg(20, seed=3, effort=1.5, dofs=4, muscles=10)
    names = list(problem.muscle[:2])
    whole = [diagnose(problem), strength_margin(problem, names), force_range(problem, names)]
    monkeypatch.setattr(linear_program, "BLOCK", 7)
    parts = [diagnose(problem), strength_margin(problem, names), force_range(problem, names)]
    assert 0 < len(whole[0].frame) < 20
    np.testing.assert_array_equal(whole[0].shortage, parts[0].shortage)
    np.testing.assert_array_equal(whole[1].strength, parts[1].strength)
    np.testing.assert_array_equal(whole[2].greatest, parts[2].greatest)


def test_muscles_all_at_their_limits_are_decided(make_leg):
    """Moments at the edge of reach, where round-off alone decides whether they can be produced: they are, to it."""
    problem = make_leg(20, seed=4, dofs=4, muscles=10)
    direction = np.random.default_rng(1).standard_normal(problem.moment.shape)
    activation = np.where(problem.pull(direction) > 0.0, problem.upper, problem.lower)
    edge = replace(problem, moment=problem.produced(activation))
    margin, span = strength_margin(edge, list(edge.muscle[:3])), force_range(edge, list(edge.muscle[:1]))
    needed = (activation[:, :3] > 0.0).any(axis=1)
    np.testing.assert_allclose(margin.strength, needed, atol=1e-9)
    np.testing.assert_allclose(span.least[:, 0], edge.force_capacity[:, 0] * activation[:, 0], atol=1e-6)
    assert diagnose(edge).frame.size == 0
