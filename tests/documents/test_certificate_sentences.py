"""The sentences of the pages on the certificate: each is on its page, and a law or a test holds to it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from document_pages import DOCS, ROOT, text_of

import musclesolve as ms
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.kernel.constants import GAP, TOLERANCE
from musclesolve.trajectory.certificate import STATIONARY_GAP

PAIR = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])

HELD = [
    ("certificate.md", "No muscle forces within their limits produce these moments; this is proved.",
     "sharing/test_infeasible.py::test_infeasible_frames_are_those_of_linear_programming"),
    ("certificate.md", "Newton's method starts from the multipliers of the frame before.",
     "sharing/test_gap.py::test_the_order_of_frames_changes_nothing"),
    ("certificate.md", "`ms.sharing.activation_bound` is a proved distance",
     "sharing/test_gap.py::test_activations_lie_within_their_proved_distance"),
    ("certificate.md", "A small gap shows a stationary point (`stationary_only`)",
     "sharing/test_symbolic_program.py::test_a_stationary_point_is_not_called_an_optimum"),
    ("sharing.md", "`moment_error` is the largest difference of these moments from the given ones.",
     "sharing/test_gap.py::test_the_bound_of_the_cost_is_one_of_the_given_moments"),
    ("sharing.md", "The shortage is the least sum of missing moments, between `why.proved` and `why.total`.",
     "sharing/analysis/test_two_ends.py::test_missing_moments_are_between_what_is_proved_and_found"),
    ("sharing.md", "Beyond its gap (`gap_least`, `gap_greatest`) forces are proved impossible.",
     "sharing/analysis/test_two_ends.py::test_the_ends_of_a_range_are_between_what_is_proved_and_found"),
    ("sharing.md", "The `gap` is one number of the whole motion.",
     "trajectory/test_solve_rate_limited.py::test_limits_that_bind_are_kept_and_certified"),
    ("questions.md", "Every margin has two ends, and the tables print the gap between them.",
     "sharing/analysis/test_two_ends.py::test_the_least_strength_is_between_its_ends"),
    ("elastic_tendons.md", "so no bound of the least cost is known",
     "trajectory/test_certificate.py::test_the_gap_is_the_fall_of_the_lagrangian_to_the_bounds"),
]  # fmt: skip


def page(name):
    return ROOT / name if name == "README.md" else DOCS / name


def says(name, sentence):
    """Return whether a page has a sentence, whatever its lines."""
    return " ".join(sentence.split()) in " ".join(
        re.sub(r"^> ?", "", text_of(page(name)), flags=re.M).split()
    )


@pytest.mark.parametrize(("name", "sentence", "test"), HELD)
def test_a_sentence_stands_on_its_page_and_its_test_exists(name, sentence, test):
    assert says(name, sentence)
    file, function = test.split("::")
    assert f"\ndef {function}(" in text_of(ROOT / "tests" / file)


def motion(seed=0, frames=20):
    """Frames of two moments and six muscles within reach."""
    random = np.random.default_rng(seed)
    arm, capacity = random.uniform(-0.06, 0.06, (frames, 2, 6)), random.uniform(300.0, 2000.0, (frames, 6))
    activation = random.random((frames, 6)) ** 2
    moment = np.einsum("tmn,tn,tn->tm", arm, capacity, activation)
    return ms.Problem(arm, moment, capacity, np.full(6, 1500.0))


@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed", "activation_power(exponent=8)"])
def test_a_solved_frame_costs_at_most_a_millionth_more_than_the_least(cost):
    """No point on the way to another sharing of the same moments costs less than f - G, nor f - 1e-6 f."""
    assert says(
        "certificate.md", "A solved frame costs at most a millionth more than the least possible cost"
    )
    assert says("certificate.md", "No other sharing costs less than f(a) - G.")
    problem = motion()
    solution, chosen, random = ms.solve(problem, cost), find_cost(cost), np.random.default_rng(1)
    assert solution.solved.all()
    found = ms.sharing.certify(problem, cost, solution.activation, solution.reserve, solution.multiplier)
    assert (solution.cost_bound <= solution.cost + TOLERANCE * found.unit).all()
    base = np.linalg.svd(problem.moment_matrix)[2][:, 2:]
    for _ in range(200):
        way = np.einsum("tk,tkn->tn", random.standard_normal((20, 4)), base)
        room = np.where(way > 0, 1.0 - solution.activation, solution.activation) / np.abs(way)
        other = solution.activation + random.random((20, 1)) ** 4 * room.min(axis=1, keepdims=True) * way
        least = chosen.value(problem, np.clip(other, 0.0, 1.0))
        assert (least >= solution.cost - found.excess - 1e-12 * solution.cost).all()
        assert (least >= (1.0 - 1e-6) * solution.cost).all()


def test_a_frame_is_solved_where_three_numbers_are_within_their_limits():
    assert says("certificate.md", "three numbers are within their limits")
    table = text_of(DOCS / "certificate.md")
    rows = [
        (name, float(limit)) for name, limit in re.findall(r"^\| `(\w+)`[^|]*\| (1e-\d+) \|", table, re.M)
    ]
    assert rows == [("gap", GAP), ("moment_error", TOLERANCE), ("moment_cost", TOLERANCE)]
    best = ms.solve(PAIR, "force_squared")
    found = ms.sharing.certify(PAIR, "force_squared", best.activation, best.reserve, best.multiplier)
    for name, limit in rows:
        for times, expected in ((0.99, True), (1.01, False)):
            assert replace(found, **{name: np.float64(times * limit)}).holds == expected


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 7.5])
def test_the_unit_of_a_power_is_its_exponent_times_its_cost(exponent):
    assert says("certificate.md", "For a power it is the exponent times the cost.")
    cost = ms.sharing.cost.ActivationPower(exponent)
    a = np.array([0.3, 0.2])
    found = ms.sharing.certify(PAIR, cost, a, np.zeros(1), np.ones(1))
    np.testing.assert_allclose(found.unit, exponent * (a**exponent).sum(), rtol=1e-14)


@pytest.mark.parametrize("factor", [-3.0, 0.0, 0.5, 0.999, 1.001, 40.0])
def test_wrong_multipliers_only_make_the_gap_large(factor):
    assert says("certificate.md", "Wrong multipliers only make G large.")
    best = ms.solve(PAIR, "force_squared")
    found = ms.sharing.certify(PAIR, "force_squared", best.activation, best.reserve, factor * best.multiplier)
    assert found.excess > 0.0 and not found.holds


def test_the_multiplier_of_the_optimum_certifies_what_is_slightly_worse():
    """The gap of the page's other sharing is what it costs more, as a share of twice its cost, at least."""
    assert says(
        "certificate.md", "Here the multiplier of the optimum certifies a sharing that is slightly worse"
    )
    best = ms.solve(PAIR, "force_squared")
    worse = best.activation + np.array([-0.006, 0.025])
    found = ms.sharing.certify(PAIR, "force_squared", worse, best.reserve, best.multiplier)
    more = find_cost("force_squared").value(PAIR, worse[None])[0] - best.cost
    assert 0.0 < more <= found.excess < 10.0 * more


def test_all_costs_by_name_are_convex():
    assert says("certificate.md", "All costs by name are convex.")
    assert all("nonconvex" not in kind().needs for kind in ms.costs().values())


@pytest.mark.parametrize("solver", ["batch", "slsqp", "ipopt"])
def test_the_certificate_is_computed_from_the_problem_whichever_solver_was_used(solver):
    assert says("sharing.md", "Both numbers are recomputed from the problem, whichever solver was used.")
    problem = motion(frames=4)
    answer = ms.solve(problem, "force_squared", solver)
    again = ms.sharing.certify(problem, "force_squared", answer.activation, answer.reserve, answer.multiplier)
    assert answer.solved.all() and again.holds.all()
    np.testing.assert_allclose(answer.moment_error, again.moment_error, atol=1e-15)
    assert (np.abs(answer.gap - again.gap) <= 1e-14 + 0.5 * again.gap).all()


def test_reserves_appear_only_in_frames_without_a_certified_solution():
    assert says("certificate.md", "a reserve appears only in a frame without a certified solution")
    assert says("README.md", "A solved frame has a proof of how little its cost can exceed the least cost")
    problem = motion()
    moment = problem.moment.copy()
    moment[::5] *= 100.0
    hard = replace(problem, moment=moment)
    plain, helped = ms.solve(hard, "force_squared"), ms.solve(hard, "force_squared", on_infeasible="reserve")
    out = np.arange(20) % 5 == 0
    assert (plain.solved == ~out).all() and helped.solved.all()
    assert (helped.reserve[~out] == 0.0).all() and (np.abs(helped.reserve[out]).max(axis=1) > 1.0).all()
    proved = np.isfinite(helped.infeasibility_proof).all(axis=1)
    assert (proved == out).all()
    y = np.where(out[:, None], helped.infeasibility_proof, 0.0)
    most = np.maximum(np.einsum("tm,tmn->tn", y, hard.moment_matrix), 0.0).sum(axis=1)
    assert ((y * moment).sum(axis=1)[out] > most[out]).all()


def test_a_motion_within_rate_limits_has_one_gap_and_frames_no_bound_of_their_own():
    assert says("certificate.md", "have one gap for the motion, and no `cost_bound` of their own")
    time = 0.02 * np.arange(12)
    problem = ms.Problem(
        np.tile([[0.05, 0.03, -0.04]], (12, 1, 1)), 20.0 * np.sin(15.0 * time)[:, None],
        np.tile([1000.0, 400.0, 400.0], (12, 1)), np.array([1000.0, 400.0, 400.0]),
    )  # fmt: skip
    limited = ms.trajectory.solve_rate_limited(
        problem, time, "force_squared", ms.sharing.RateLimits(0.01, 0.04)
    )
    assert limited.solution.solved.all() and np.unique(limited.solution.gap).size == 1
    assert np.isnan(limited.solution.cost_bound).all()
    assert limited.cost_bound <= limited.solution.cost.sum() * (1.0 + 1e-12)


def test_a_motion_with_elastic_tendons_is_certified_to_the_gap_of_its_page():
    assert says("elastic_tendons.md", f"the gap is at most {STATIONARY_GAP:.0e}".replace("e-0", "e-"))
