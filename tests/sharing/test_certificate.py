from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from sharing_cases import SMOOTH, equipped

from musclesolve import Cost, Problem, Status, costs, solve
from musclesolve.sharing import certify, expression_cost, solution_derivatives
from musclesolve.sharing.cost import ActivationPower
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.status import is_solved


@dataclass(frozen=True)
class Liar:
    """Solves honestly, then spoils one array and claims success all the same."""

    spoil: str
    by: float
    name: str = "liar"
    can: frozenset[str] = frozenset({"separable", "rows"})

    def solve(self, problem, cost, warm_start=None):
        attempt = Batch().solve(problem, cost)
        return replace(attempt, **{self.spoil: getattr(attempt, self.spoil) * (1 + self.by)})


@pytest.mark.parametrize(
    ("spoil", "by"), [("activation", 1e-4), ("activation", np.nan), ("multiplier", np.nan)]
)
@pytest.mark.parametrize("cost", SMOOTH)
def test_a_changed_result_is_not_certified(make_leg, spoil, cost, by):
    answer = solve(make_leg(5), cost, Liar(spoil, by))
    assert (answer.status == Status.SOLVER_FAILED).all()
    assert (
        np.isnan(answer.activation).all()
        and np.isnan(answer.multiplier).all()
        and np.isnan(answer.cost).all()
    )
    assert ((answer.gap > 1e-9) | (answer.moment_error > 1e-6)).all()


@pytest.mark.parametrize("cost", SMOOTH)
def test_multipliers_of_a_right_sharing_are_found_again(make_leg, cost):
    """The activations of a solver may be right where its multipliers are not."""
    answer, right = solve(make_leg(5), cost, Liar("multiplier", 1e-4)), solve(make_leg(5), cost)
    assert (answer.status == Status.SOLVED).all()
    np.testing.assert_array_equal(answer.activation, right.activation)
    largest = np.abs(right.multiplier).max()
    np.testing.assert_allclose(answer.multiplier, right.multiplier, atol=1e-6 * largest)


def test_a_reserve_that_was_not_allowed_is_detected(make_leg):
    problem = make_leg(3)
    good = Batch().solve(problem, costs()["stress_cubed"]())
    shifted = np.full_like(problem.moment, 0.5)
    other = Problem(
        problem.moment_arm, problem.moment + shifted, problem.force_capacity, problem.max_isometric_force
    )
    cost = costs()["stress_cubed"]()
    assert np.isinf(certify(other, cost, good.activation, shifted, good.multiplier).gap).all()


@pytest.mark.parametrize("cost", SMOOTH)
def test_feasible_but_not_optimal_fails(cost):
    """Moments are met and bounds kept, yet the load is shared unequally between equals."""
    problem = equipped(Problem([[[0.05, 0.05]]], [[30.0]], [[1000.0] * 2], [1000.0] * 2), alike=True)
    kind = costs()[cost]()
    optimal = solve(problem, kind)
    for activation, holds in (([[0.3, 0.3]], True), ([[0.31, 0.29]], False), ([[0.6, 0.0]], False)):
        found = certify(problem, kind, np.array(activation), np.zeros((1, 1)), optimal.multiplier)
        assert found.holds[0] == holds


@pytest.mark.parametrize("cost", SMOOTH)
def test_the_certificate_does_not_change_with_the_unit_of_the_cost(make_leg, cost):
    """Spoilt by one per cent, the gap is the same for a cost a million times larger."""
    problem, kind = make_leg(5), costs()[cost]()
    answer = solve(problem, kind)
    spoilt = answer.multiplier * 1.01
    plain = certify(problem, kind, answer.activation, answer.reserve, spoilt).gap
    scaled = certify(problem, 1e6 * kind, answer.activation, answer.reserve, 1e6 * spoilt).gap
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)
    assert ((plain > 1e-6) & (plain < 1.0)).all()


@pytest.mark.in_part(3)
@pytest.mark.parametrize("cost", SMOOTH)
@pytest.mark.parametrize("solver", ["batch", "ipopt"])
def test_the_multiplier_is_the_derivative_of_the_cost(make_leg, cost, solver):
    """lambda_k = d(least cost) / d(moment_k), by central differences."""
    problem, step = make_leg(1, seed=2), 1e-3
    multiplier = solve(problem, cost, solver).multiplier[0]
    shift = np.concatenate([np.eye(7), -np.eye(7)])[:, None] * step
    moved = replace(problem.frames(np.zeros(14, int)), moment=(problem.moment + shift)[:, 0])
    value = solve(moved, cost, solver).cost
    np.testing.assert_allclose(
        (value[:7] - value[7:]) / (2 * step), multiplier, rtol=1e-3, atol=1e-3 * np.abs(multiplier).max()
    )


def test_a_slope_that_is_not_finite_certifies_nothing():
    problem = Problem([[[0.05, 0.05]]], [[1.0]], [[1000.0] * 2], [1000.0] * 2)
    answer = (np.full((1, 2), 0.01), np.zeros((1, 1)), np.zeros((1, 1)))
    with np.errstate(over="ignore"):
        steep = 1e308 * costs()["force_squared"]()
        assert np.isinf(certify(problem, steep, *answer).gap)


def test_numbers_of_a_solution_belong_together(make_leg):
    problem = make_leg(10)
    answer = solve(problem, "force_squared")
    np.testing.assert_array_equal(answer.force, answer.activation * problem.force_capacity)
    np.testing.assert_allclose(answer.cost, (answer.force**2).sum(axis=1))
    assert (answer.reserve == 0).all() and np.isinf(answer.reserve_weight).all()
    assert answer.solver == "batch" and answer.cost_name == "force_squared" and answer.solved.all()
    recomputed = certify(
        problem, costs()["force_squared"](), answer.activation, answer.reserve, answer.multiplier
    )
    np.testing.assert_allclose(answer.gap, recomputed.gap, rtol=0, atol=1e-20)
    np.testing.assert_allclose(answer.cost_bound, recomputed.cost_bound, rtol=1e-12)
    np.testing.assert_allclose(answer.moment_error, recomputed.moment_error, rtol=0, atol=1e-14)


@pytest.mark.parametrize("activation", [0.5, 1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("power", [2.0, 3.0, 10.0])
def test_tiny_activations_are_told_apart_as_large_ones_are(power, activation):
    """Two equal muscles, one of them 5 % too active and the other as much too little: (p - 1) 0.05^2 in the cost."""
    problem = Problem([[0.05, 0.05]], [100 * activation], [1000.0] * 2, [1000.0] * 2)
    cost, optimal = ActivationPower(power), solve(problem, ActivationPower(power))
    multiplier = cost.gradient(problem, np.full((1, 2), activation))[:, :1] / 50.0
    spoilt = activation * np.array([[1.05, 0.95]])
    found = certify(problem, cost, spoilt, np.zeros((1, 1)), multiplier)
    excess = (cost.value(problem, spoilt) / optimal.cost - 1.0)[0] / power
    assert excess <= found.gap[0] < 30.0 * excess and optimal.solved.all()


@pytest.mark.parametrize("moment", [0.0, 1e-3, 0.5, 30.0])
def test_moments_count_from_one_newton_meter(moment):
    cost, arms = ActivationPower(), [[0.05, 0.05]]
    even, multiplier = np.full((1, 2), moment / 100), np.full((1, 1), 2 * moment / 100 / 50)
    for miss in (2e-7, -3e-4):
        shifted = Problem(arms, [moment + miss], [1000.0] * 2, [1000.0] * 2)
        found = certify(shifted, cost, even, np.zeros((1, 1)), multiplier)
        assert found.moment_error[0] == pytest.approx(abs(miss) / max(1.0, moment + miss), rel=1e-6)
        worth = abs(miss) / moment if moment > 0.0 else 0.0
        assert found.gap[0] < 1e-28 and found.moment_cost[0] == pytest.approx(worth, rel=1e-6)
        assert found.holds[0] == (abs(miss) <= 1e-6 and worth <= 1e-6)


def test_every_status_is_a_sentence():
    assert all(status.sentence.endswith(".") and status.remedy.endswith(".") for status in Status)
    assert all(Status(int(status)) is status for status in Status)
    assert Status.SOLVED == 0


def test_the_page_of_the_certificate_says_what_each_status_says():
    page = (Path(__file__).parents[2] / "docs" / "certificate.md").read_text(encoding="utf-8")
    assert [each.name for each in Status if f"| `{each.name}` | {each.sentence} |" not in page] == []


def test_two_statuses_are_those_of_a_solution():
    solved = {Status.SOLVED, Status.SOLVED_WITH_RESERVE}
    assert {each for each in Status if is_solved(each)} == solved
    codes = np.array([list(Status), list(Status)], np.int8)
    assert is_solved(codes).tolist() == 2 * [[each in solved for each in Status]]


@pytest.mark.parametrize(("cost", "solver"), [("stress_cubed", "batch"), ("min_max", "linprog")])
def test_arrays_of_a_single_frame_need_no_frame_axis(cost, solver):
    problem = Problem([[0.05, 0.03, -0.04]], [20.0], [1000.0, 400.0, 400.0], [1000.0, 400.0, 400.0])
    found = solve(problem, cost, solver)
    arrays = found.activation, found.reserve, found.multiplier, found.level_multiplier
    gap = certify(problem, costs()[cost](), *arrays).gap
    assert gap.shape == () and abs(gap - found.gap) < 1e-20
    assert not certify(problem, costs()[cost](), 0.9 * found.activation, *arrays[1:]).holds
    with_axis = (None if array is None else array[None] for array in arrays)
    assert certify(problem, costs()[cost](), *with_axis).gap.tolist() == [gap]


@pytest.mark.parametrize("name", ["activation", "reserve", "multiplier"])
def test_arrays_that_are_none_of_the_problem_are_refused(make_leg, name):
    problem, cost = make_leg(3), costs()["stress_cubed"]()
    found = solve(problem, cost)
    arrays = {each: getattr(found, each) for each in ("activation", "reserve", "multiplier")}
    for wrong, code in ((arrays[name].T, "bad_shape"), (arrays[name][0], "bad_shape"), ("a", "not_numbers")):
        with refused(code, name):
            certify(problem, cost, **{**arrays, name: wrong})


SHARP_POWER = "muscle_power(exponent={})"


def weak_and_strong() -> Problem:
    """Two muscles of 40 and 4000 N with one arm, which share equally where a power of the force counts."""
    return Problem([[0.05, 0.05]], [2.0], [40.0, 4000.0], [40.0, 4000.0], fiber_velocity=[0.1, 0.1])


@pytest.mark.parametrize("exponent, activation", [(6, [1.0, 0.0]), (10, [0.9, 1e-3]), (30, [0.04, 0.0096])])
def test_sharp_powers_of_unlike_muscles_certify_no_other_sharing(exponent, activation):
    """The slope of the strong muscle at half the activation of the weak one is no measure of any miss."""
    problem, cost = weak_and_strong(), find_cost(SHARP_POWER.format(exponent))
    activation = np.array([activation])
    multiplier = cost.gradient(problem, activation)[:, :1] / problem.moment_matrix[:, :, 0]
    assert certify(problem, cost, activation, np.zeros((1, 1)), multiplier).gap > 1e-6


@pytest.mark.parametrize("exponent", [4, 10, 30])
@pytest.mark.parametrize("solver", ["batch", "ipopt"])
def test_sharp_powers_of_unlike_muscles_are_solved(exponent, solver):
    answer = solve(weak_and_strong(), SHARP_POWER.format(exponent), solver)
    assert answer.status == Status.SOLVED
    np.testing.assert_allclose(answer.activation, [0.5, 0.005], rtol=1e-4)


def test_activations_above_a_high_lower_bound_are_resolved():
    """Half the largest activation above a lower bound of 0.3 is more than any muscle of the frame has."""
    problem = Problem([[0.05, 0.05]], [32.5], [1e3, 1e3], [1e3, 1e3], lower=[0.3, 0.0])
    cost, activation = ActivationPower(300.0), np.array([[0.35, 0.3]])
    multiplier = cost.gradient(problem, activation)[:, 1:] / problem.moment_matrix[:, :, 1]
    assert certify(problem, cost, activation, np.zeros((1, 1)), multiplier).gap > 1e-2


@pytest.mark.parametrize(
    ("form", "exponent"),
    [("power", 300.0), *(("expression", exponent) for exponent in (300.0, 3000.0, 100000.0))],
)
def test_slopes_lost_in_underflow_certify_no_sharing(exponent, form):
    """Two equal muscles share equally; where every slope is zero as a float, nothing tells that they do."""
    if form == "expression":
        cost = expression_cost(
            "power", lambda a, force, data: a[0] ** exponent + a[1] ** exponent, convex=True
        )
    else:
        cost = ActivationPower(exponent)
    demand = np.array([0.0, 5.0])[:, None]
    problem = Problem(np.full((1, 2), 0.05), demand, np.full(2, 1000.0), np.full(2, 1000.0))
    uneven = np.array([[0.0, 0.0], [0.06, 0.04]])
    nothing = np.zeros((2, 1))
    found = certify(problem, cost, uneven, nothing, nothing)
    assert found.holds.tolist() == [True, False]
    status = solve(problem, cost).status
    assert status[0] == Status.SOLVED and not is_solved(status[1])


@pytest.mark.parametrize("solver", ["batch", "ipopt", "slsqp", "trust-constr"])
def test_a_constant_cost_is_certified(make_leg, solver):
    cost = expression_cost("constant", lambda a, force, data: 3.0 + 0.0 * a[0], convex=True)
    assert (solve(make_leg(3), cost, solver).status == Status.SOLVED).all()


@pytest.mark.parametrize("factor", [0.0, 1e-290])
def test_flat_costs_and_tiny_multiples_are_certified(factor):
    def flat_below_a_half(a, force, data):
        return sum((a[i] - 0.5 + ((a[i] - 0.5) ** 2) ** 0.5) ** 2 for i in range(2))

    problem = Problem(np.full((1, 2), 0.05), [5.0], np.full(2, 1000.0), np.full(2, 1000.0))
    cost = expression_cost("square", lambda a, force, data: factor * (a[0] ** 2 + a[1] ** 2), convex=True)
    assert solve(problem, cost).status == Status.SOLVED
    flat = expression_cost("flat", flat_below_a_half, convex=True)
    assert certify(problem, flat, np.array([0.06, 0.04]), np.zeros(1), np.zeros(1)).holds


@dataclass(frozen=True)
class FreeBelow(Cost):
    """sum_i max(a_i - 0.2, 0)^2: activations up to 0.2 cost nothing."""

    name = "free_below"

    def term_value(self, problem, activation):
        return (np.maximum(activation - 0.2, 0.0) ** 2).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 2.0 * np.maximum(activation - 0.2, 0.0)


@pytest.mark.parametrize("weight", [1e-3, 2400.0, [2400.0, np.inf]])
def test_moments_that_muscles_carry_free_of_charge_need_no_reserve(weight):
    arm = [[0.0003, -0.047, -0.009, 0.0], [-0.002, -0.019, -0.023, -0.002]]
    moment = [[-4e-4, -4e-3], [-0.9, -1.6], [-30.0, -25.0]]
    problem = Problem(arm, moment, np.full(4, 1000.0), np.full(4, 1000.0), reserve_weight=weight)
    answer = solve(problem, FreeBelow())
    assert answer.solved.all() and (answer.cost[:2] == 0.0).all() and answer.cost[2] > 0.0
    np.testing.assert_allclose(answer.reserve[:2], 0.0, rtol=0, atol=1e-9)


def decades_apart(seed: int, frames: int, dofs: int, muscles: int) -> Problem:
    """Strengths over six decades, upper bounds over two, and moments of drawn activations."""
    random = np.random.default_rng(seed)
    strength = 10.0 ** random.uniform(0.0, 6.0, muscles)
    arm = random.normal(0.0, 0.05, (frames, dofs, muscles)) * (random.random((frames, dofs, muscles)) < 0.8)
    upper = 10.0 ** random.uniform(-2.0, 0.0, (frames, muscles))
    active = upper * random.beta(0.5, 1.5, (frames, muscles))
    moment = ((arm * strength) @ active[:, :, None])[:, :, 0]
    return Problem(arm, moment, strength, strength, upper=upper)


@pytest.mark.parametrize("cost", ["activation_power", "stress_cubed", "force_moment_squared"])
def test_activations_are_exact_where_strengths_lie_decades_apart(cost):
    problem = decades_apart(11, 100, 4, 8)
    answer = solve(problem, cost)
    found = solution_derivatives(problem, cost, answer)
    assert answer.solved.all() and (found.activation_error < 1e-6).all()
    part, optimum = problem.frames(np.arange(5)), found.optimum.activation[:5]
    np.testing.assert_allclose(solve(part, cost, "ipopt").activation, optimum, rtol=0, atol=1e-9)
    other = solve(part, cost, "slsqp")
    error = solution_derivatives(part, cost, other).activation_error
    np.testing.assert_allclose(error, np.abs(other.activation - optimum).max(axis=1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("frames", [1, 3])
def test_the_error_of_activations_is_what_was_spoilt(make_leg, frames):
    problem = make_leg(frames)
    answer = solve(problem, "stress_cubed")
    spoilt = replace(answer, activation=answer.activation * (1 - 1e-7))
    error = solution_derivatives(problem, "stress_cubed", spoilt).activation_error
    np.testing.assert_allclose(error, 1e-7 * answer.activation.max(axis=-1), rtol=1e-2)


def nearly_dependent(share: float) -> tuple[Problem, np.ndarray]:
    """Two coordinates that only two weak muscles distinguish, weaker by a share; and the activations of least squares.

    Multipliers are drawn, and 2 a = A^T lambda gives the activations.
    """
    random = np.random.default_rng(5)
    strength = 1e4 * np.array([share, share, 1.0, 1.0, 1.0, 1.0])
    arm = random.uniform(0.03, 0.05, (200, 3, 6))
    arm[:, 1, :2] -= 0.02
    arm[:, 1, 2:] = arm[:, 0, 2:]
    along, apart, third = random.uniform(0.5, 1.0, (3, 200)) * np.array([[1e-3], [4e-3 / share], [1e-3]])
    multiplier = np.stack([apart, along - apart, third], axis=1)
    activation = 0.5 * ((arm * strength).transpose(0, 2, 1) @ multiplier[:, :, None])[:, :, 0]
    moment = ((arm * strength) @ activation[:, :, None])[:, :, 0]
    return Problem(arm, moment, strength, strength), activation


@pytest.mark.parametrize("share", [1e-4, 1e-6, 1e-7])
def test_moments_that_nearly_depend_on_each_other_are_shared_exactly(share):
    problem, optimum = nearly_dependent(share)
    answer = solve(problem, "activation_power")
    np.testing.assert_allclose(answer.activation, optimum, rtol=0, atol=1e-6)


def test_an_exchange_that_moments_hardly_show_is_an_error_of_activations():
    """Other multipliers change two weak muscles alone. The certificate of the own moments holds, at their optimum."""
    problem, optimum = nearly_dependent(1e-7)
    answer = solve(problem, "activation_power")
    multiplier = answer.multiplier * np.array([1.01, 1.0, 1.0])
    multiplier[:, 1] -= 0.01 * answer.multiplier[:, 0]
    activation = 0.5 * problem.pull(multiplier)
    distance = np.abs(activation - optimum).max(axis=1)
    assert (distance > 1e-3).all()
    found = certify(problem, ActivationPower(2.0), activation, answer.reserve, multiplier)
    # the moments that it misses are small, and worth as much as the exchange
    assert (
        (found.gap < 1e-12).all() and (found.moment_error < 1e-3).all() and (found.moment_cost > 1e-6).all()
    )
    assert not found.holds.any()


def of_rounded_moments(problem: Problem, optimum: np.ndarray) -> np.ndarray:
    """How far the round-off of moments moves the largest activation of least squares, (T,), by linear response.

    Muscles between their bounds change by A^T (A A^T)^-1 d for moments that change by d. The given moments A a have a
    round-off of n u sum_i |A_ki| a_i, u = 2^-53 (Higham 2002, section 3.1), and so have the ones whose difference from
    the given ones is judged: with that of the difference, 2 (n + 1) u sum_i |A_ki| a_i. The pseudoinverse is computed
    from A itself, by singular values, where A A^T would lose twice the digits.
    """
    free = (optimum > problem.lower) & (optimum < problem.upper)
    response = np.linalg.pinv(problem.moment_matrix * free[:, None, :], rcond=1e-15)
    sums = np.abs(problem.moment_matrix) @ optimum[:, :, None]
    rounded = 2.0 * (problem.n_muscles + 1) * 2.0**-53 * sums
    return (np.abs(response) @ rounded)[:, :, 0].max(axis=1)


@pytest.mark.parametrize("share", [1e-8, 1e-9, 1e-10, 1e-12])
@pytest.mark.parametrize("held", [0.0, 0.5])
def test_the_error_of_activations_is_true_or_unknown_where_arms_nearly_depend(share, held):
    """Arms about one coordinate are twice the ones about another, but for a share: exchanges hardly show in moments."""
    random = np.random.default_rng(7)
    arm = random.normal(0.0, 0.05, (300, 3, 6))
    arm[:, 2] = 2.0 * arm[:, 0] + share * random.normal(0.0, 0.05, (300, 6))
    strength = np.full(6, 1000.0)
    multiplier = random.normal(0.0, 0.01, (300, 3))
    multiplier[:, 2] = random.normal(0.0, 0.01, 300) / share
    multiplier[:, 0] -= 2.0 * multiplier[:, 2]
    pull = ((arm * strength).transpose(0, 2, 1) @ multiplier[:, :, None])[:, :, 0]
    optimum = np.clip(0.5 * pull, held * random.random((300, 6)) * 0.3, 1.0)
    lower = np.where(0.5 * pull < optimum, optimum, 0.0)
    moment = ((arm * strength) @ optimum[:, :, None])[:, :, 0]
    problem = Problem(arm, moment, strength, strength, lower=lower)
    answer = solve(problem, "activation_power")
    error = solution_derivatives(problem, "activation_power", answer).activation_error
    known = np.isfinite(error)
    distance = np.abs(answer.activation - optimum).max(axis=1)
    allowed = 1e-6 + of_rounded_moments(problem, optimum)[known]
    assert (np.abs(error[known] - distance[known]) <= allowed).all()
