"""Laws of the duality gap: a bound of the excess, blind to units, sharp at the optimum, and the same in every order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from sharing_cases import SMOOTH, equipped
from thorough import some

from musclesolve import Cost, Problem, Status, costs, diagnose, solve
from musclesolve.sharing import (
    activation_bound,
    certify,
    expression_constraint,
    expression_cost,
    solve_constrained,
)
from musclesolve.sharing.cost import ActivationPower, ActivationVolume, EmgTracking, MusclePower
from musclesolve.sharing.kernel.constants import GAP
from musclesolve.sharing.solver.kernel_problem import KernelProblem

LONG = np.longdouble


def least_of_power(
    weight: np.ndarray, power: float, pull: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> LONG:
    """The least value of sum w a^p - pull a within the bounds, in 80 bits where the processor has them."""
    weight, pull, lower, upper = (np.asarray(array, LONG) for array in (weight, pull, lower, upper))
    inner = (np.maximum(pull, 0) / (LONG(power) * weight)) ** (1 / (LONG(power) - 1))
    a = np.clip(inner, lower, upper)
    return (weight * a ** LONG(power) - pull * a).sum()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 4),
    st.sampled_from([1.1, 1.5, 2.0, 3.0, 4.0, 8.0, 20.0]),
    st.sampled_from([0.0, 0.5, 2.0, 4.0]),
)
def test_the_gap_is_never_below_the_excess(seed, muscles, dofs, power, decades):
    """For any activations within bounds and any multipliers, G >= f(a) - lambda . A a - min (f - lambda . A x)."""
    random = np.random.default_rng(seed)
    strength = 10.0 ** random.uniform(0.0, max(decades, 1e-9), muscles)
    arm = random.normal(0.0, 0.05, (dofs, muscles))
    lower = np.where(random.random(muscles) < 0.3, 0.1, 0.0)
    upper = lower + 10.0 ** random.uniform(-2.0, 0.0, muscles)
    a = lower + (upper - lower) * np.where(random.random(muscles) < 0.3, 0.0, random.random(muscles))
    problem = Problem(arm, (arm * strength) @ a, strength, strength, lower=lower, upper=upper)
    cost = ActivationPower(power)
    if random.random() < 0.5:
        multiplier = random.normal(size=dofs) * 10.0 ** random.uniform(-3.0, 1.0) / strength.mean() / 0.05
    else:  # near the ones of the slopes
        slope = cost.gradient(problem, a[None])[0]
        multiplier = np.linalg.lstsq((arm * strength).T, slope, rcond=None)[0] * (
            1.0 + 1e-8 * random.normal()
        )
    found = certify(problem, cost, a, np.zeros(dofs), multiplier)
    matrix = arm.astype(LONG) * strength.astype(LONG)
    pull = multiplier.astype(LONG) @ matrix
    value = (a.astype(LONG) ** LONG(power) - pull * a.astype(LONG)).sum()
    excess = value - least_of_power(np.ones(muscles), power, pull, lower, upper)
    noise = np.finfo(LONG).eps * 50.0 * (np.abs(pull) * upper).sum()
    bound = found.gap * found.unit if found.unit > 0.0 else found.gap  # at rest: nothing, or nothing proved
    assert bound >= excess * (1 - LONG(1e-12)) - noise
    compiled = KernelProblem.from_problem(problem, cost)
    assert compiled is not None
    gap = compiled.certify(a[None], np.zeros((1, dofs)), multiplier[None])[0][0]
    assert (gap * found.unit if found.unit > 0.0 else gap) >= excess * (1 - LONG(1e-12)) - noise


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("unit", [1e-30, 1e-10, 1.0, 1e30])
def test_an_exact_optimum_of_squares_is_certified_in_every_unit_and_no_other(scale, unit):
    """min u sum a^2 with sum A a = b has a = A b / sum A^2: as fractions. 1e-4 more in the cost is seen."""
    arm, strength = (
        [Fraction(3, 64), Fraction(1, 32), Fraction(5, 128)],
        [Fraction(1024), Fraction(256), Fraction(2048)],
    )
    row = [r * c for r, c in zip(arm, strength, strict=True)]
    square = sum(x * x for x in row)
    moment = Fraction(20)
    exact = np.array([float(x * moment / square) for x in row]) * scale
    problem = Problem(
        [[float(r) for r in arm]], [20.0 * scale], [float(c) for c in strength], [float(c) for c in strength],
        upper=max(1.0, scale),
    )  # fmt: skip
    cost, multiplier = unit * ActivationPower(2.0), np.array([float(2 * moment / square)]) * scale * unit
    found = certify(problem, cost, exact, np.zeros(1), multiplier)
    assert found.holds and found.gap < 1e-25
    across = np.array([row[1], -row[0], 0], dtype=float)
    moved = exact + 1e-2 * across * np.sqrt((exact**2).sum() / (across**2).sum())
    spoilt = certify(problem, cost, moved, np.zeros(1), multiplier)
    # f is 1e-4 f too large, W is 2 f, and a chord instead of the parabola doubles twice
    assert not spoilt.holds and 0.99 * 1e-4 / 2 < spoilt.gap < 4.01 * 1e-4 / 2
    if scale == 1.0:
        shifted = cost + unit * expression_cost(
            "constant", lambda a, force, data: 1e6 + 0.0 * a[0], convex=True
        )
        again = certify(problem, shifted, moved, np.zeros(1), multiplier)
        assert again.gap >= spoilt.gap * 0.5


def one_moment(random: np.random.Generator, frames: int) -> Problem:
    muscles = int(random.integers(2, 12))
    strength = 10.0 ** random.uniform(0.0, 3.5, muscles)
    arm = np.abs(random.normal(0.0, 0.05, (frames, 1, muscles))) + 0.002
    active = random.beta(0.5, 1.0, (frames, muscles)) * 10.0 ** random.uniform(-3.0, 0.0, (frames, 1))
    moment = ((arm * strength) @ active[:, :, None])[:, :, 0]
    speed = random.normal(0.0, 0.3, (frames, muscles))
    length = 10.0 ** random.uniform(-2.0, -0.5, muscles)
    return Problem(arm, moment, strength, strength, fiber_velocity=speed, optimal_fiber_length=length)


def several_moments(random: np.random.Generator, frames: int) -> Problem:
    dofs = int(random.integers(2, 6))
    muscles = int(random.integers(dofs + 1, 3 * dofs + 6))
    strength = 10.0 ** random.uniform(1.0, 4.0, muscles)
    arm = random.normal(0.0, 0.05, (frames, dofs, muscles))
    active = random.beta(0.5, 1.0, (frames, muscles)) * 10.0 ** random.uniform(-3.0, 0.0, (frames, 1))
    moment = ((arm * strength) @ active[:, :, None])[:, :, 0]
    return Problem(arm, moment, strength, strength, fiber_velocity=random.normal(0.0, 0.3, (frames, muscles)))


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 20.0])
@pytest.mark.parametrize("kind", [ActivationPower, MusclePower])
@pytest.mark.parametrize("make", [one_moment, several_moments])
def test_the_order_of_frames_changes_nothing(make, kind, power):
    random = np.random.default_rng(int(power))
    for _ in range(2 if power == 20.0 else 4):
        problem, cost = make(random, 70), kind(power)
        order = random.permutation(70)
        forth, back = solve(problem, cost), solve(problem.frames(order), cost)
        alone = solve(problem.frames([33]), cost)
        np.testing.assert_array_equal(back.status, forth.status[order])
        np.testing.assert_allclose(back.activation, forth.activation[order], rtol=0, atol=1e-11)
        np.testing.assert_allclose(alone.activation[0], forth.activation[33], rtol=0, atol=1e-11)


@pytest.mark.parametrize("cost", ["force_moment_squared", "stress_cubed", "soft_saturation"])
def test_a_start_of_no_help_leaves_activations_to_the_last_digits(cost):
    """Each frame after each other one: within the steps from multipliers of an unlike frame nothing is found."""
    problem = several_moments(np.random.default_rng(2), 12)
    alone = np.stack([solve(problem.frames([t]), cost).activation[0] for t in range(12)])
    for before in range(12):
        pairs = np.stack([np.full(12, before), np.arange(12)], axis=1)
        found = np.stack([solve(problem.frames(pair), cost).activation[1] for pair in pairs])
        np.testing.assert_allclose(found, alone, rtol=0, atol=1e-11)


def test_a_frame_after_another_is_solved_as_alone():
    """The multipliers of the frame before are 1e17 times too large for this one."""
    problem = Problem(
        np.full((2, 1, 2), 0.05), [[0.931], [0.00196]], [10.0, 3000.0], [10.0, 3000.0],
        fiber_velocity=[[0.68, 0.113], [0.00196, 0.911]],
    )  # fmt: skip
    both, alone = solve(problem, MusclePower(6.0)), solve(problem.frames([1]), MusclePower(6.0))
    assert both.solved.all() and both.cost[1] == pytest.approx(alone.cost[0], rel=1e-11)


@pytest.mark.parametrize("power", [2.0, 5.0, 8.0])
@pytest.mark.parametrize("kind", [ActivationPower, MusclePower, ActivationVolume])
def test_no_other_point_on_the_line_of_the_moment_is_certified(kind, power):
    """Every sharing that meets the moments and costs 1 + 1e-6 times the least is refused, with any multipliers."""
    random = np.random.default_rng(3)
    for _ in some(range(5), 2):
        problem, cost = one_moment(random, 8), kind(power)
        answer = solve(problem, cost)
        assert answer.solved.all()
        row = problem.moment_matrix[:, 0]
        for _ in range(30):
            i, j = random.choice(problem.n_muscles, 2, replace=False)
            step = np.zeros_like(answer.activation)
            step[:, i], step[:, j] = row[:, j], -row[:, i]
            longest = np.where(
                step != 0, np.where(step > 0, 1.0 - answer.activation, answer.activation), np.inf
            )
            length = np.min(longest / np.where(step != 0, np.abs(step), 1.0), axis=1, keepdims=True)
            moved = answer.activation + random.uniform() ** 8 * length * step
            moved = np.clip(moved, 0.0, 1.0)
            reached = ((row * moved).sum(axis=1) - problem.moment[:, 0]) / problem.moment[:, 0]
            dearer = (cost.value(problem, moved) > (1.0 + 1e-6) * answer.cost) & (np.abs(reached) < 1e-9)
            slope = cost.gradient(problem, moved)
            for k in (i, j, int(slope[0].argmax())):
                multiplier = (slope[:, k] / row[:, k])[:, None]
                for guess in (multiplier, answer.multiplier):
                    found = certify(problem, cost, moved, np.zeros((8, 1)), guess)
                    assert not (found.holds & dearer).any()


def test_a_strong_muscle_beside_a_bound_leaves_no_weak_one_free():
    """3000 N within 1e-6 of rest are worth 30 N that a weak muscle of 10 N bears: the cost doubles."""
    problem = Problem(
        [[0.05, 0.05]], [0.4], [10.0, 3000.0], [10.0, 3000.0], optimal_fiber_length=[0.05, 0.05]
    )
    cost = ActivationVolume(5.0)
    answer = solve(problem, cost)
    share = np.linspace(0.0, 1.0, 41)
    weak = share * 0.8
    points = np.stack([weak, (0.4 / 0.05 - 10.0 * weak) / 3000.0], axis=1)
    many = problem.frames(np.zeros(41, int))
    for k in (0, 1):
        multiplier = cost.gradient(many, points)[:, k] / problem.moment_matrix[0, 0, k]
        found = certify(many, cost, points, np.zeros((41, 1)), multiplier[:, None])
        assert not (found.holds & (cost.value(many, points) > (1.0 + 1e-6) * answer.cost)).any()


@pytest.mark.parametrize("bound", ["upper", "equation"])
def test_a_violated_constraint_of_any_unit_is_not_solved(bound):
    """1e6 a3 + a1 <= 0.1: its largest coefficient says nothing of what a violation is worth."""
    problem = Problem([[0.05, 0.05, 0.05]], [20.0], [1000.0] * 3, [1000.0] * 3)
    limits = {"upper": 0.1} if bound == "upper" else {"lower": 0.1, "upper": 0.1}
    limit = expression_constraint("limit", lambda a, force, data: 1e6 * a[2] + a[0], **limits)
    for solver in ("batch", "ipopt"):
        found = solve_constrained(problem, "activation_power", [limit], solver=solver)
        if found.solved:
            assert found.constraint_value[0] <= 0.1 * (1.0 + 1e-6)
            np.testing.assert_allclose(found.activation[:2], [0.1, 0.3], rtol=1e-5)


def test_measured_activations_that_meet_the_moments_cost_nothing():
    random = np.random.default_rng(1)
    emg = random.random((20, 6))
    arm, strength = random.normal(0.0, 0.05, (20, 3, 6)), np.full(6, 800.0)
    problem = Problem(arm, ((arm * strength) @ emg[:, :, None])[:, :, 0], strength, strength, emg=emg)
    answer = solve(problem, EmgTracking())
    assert answer.solved.all()
    np.testing.assert_allclose(answer.activation, emg, atol=1e-9)


@pytest.mark.parametrize("cost", SMOOTH)
def test_frames_at_rest_on_equal_bounds_and_above_lower_bounds(cost):
    arm, strength = [[0.05, 0.03, -0.04]], [1000.0, 400.0, 600.0]
    kind = costs()[cost]()
    rest = equipped(Problem(arm, [0.0], strength, strength), alike=True)
    fixed = np.array([0.2, 0.1, 0.05])
    equal = equipped(
        Problem(
            arm, [float(np.array(arm[0]) * strength @ fixed)], strength, strength, lower=fixed, upper=fixed
        ),
        alike=True,
    )
    above = equipped(Problem(arm, [12.0], strength, strength, lower=[0.0, 0.3, 0.1]), alike=True)
    for problem in (rest, equal, above):
        assert solve(problem, kind).status == Status.SOLVED


def test_the_gap_is_quadratic_in_the_distance_from_the_optimum():
    problem = Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
    best = solve(problem, "force_squared")
    along = np.array([-0.012, 0.05])  # the same moment
    gaps = [
        certify(problem, "force_squared", best.activation + step * along, best.reserve, best.multiplier).gap
        for step in (1.0, 1e-2)
    ]
    assert gaps[0] / gaps[1] == pytest.approx(1e4, rel=0.1)


def test_the_bound_of_the_cost_is_one_of_the_given_moments():
    """A sharing of other moments bounds the cost of the given ones from below, by the worth of the difference."""
    random = np.random.default_rng(7)
    problem = one_moment(random, 40)
    cost = ActivationPower(3.0)
    near = solve(
        replace(problem, moment=problem.moment * (1.0 + 0.1 * random.uniform(-1.0, 1.0, (40, 1)))), cost
    )
    found = certify(problem, cost, near.activation, near.reserve, near.multiplier)
    least = solve(problem, cost).cost
    assert (found.cost_bound <= least * (1.0 + 1e-12)).all() and (found.cost_bound > 0.9 * least).all()
    assert (np.abs(solve(problem, cost).cost_bound / least - 1.0) < 1e-8).all()


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e4])
def test_the_bound_counts_reserves_as_they_are_stated(weight):
    """Reserves that leave a part of the moments: the bound stays below the least cost, and near it."""
    random = np.random.default_rng(8)
    problem, cost = one_moment(random, 40), ActivationPower(2.0)
    soft = problem.with_arrays(reserve_weight=np.full_like(problem.moment, weight))
    best = solve(soft, cost)
    least = best.cost + 0.5 * weight * best.reserve[:, 0] ** 2
    np.testing.assert_allclose(best.cost_bound, least, rtol=1e-8)
    for share in (1e-9, 1e-4, 1e-2):
        off = best.reserve * (1.0 + share * random.normal(size=best.reserve.shape))
        found = certify(soft, cost, best.activation, off, best.multiplier)
        assert (found.cost_bound <= least * (1.0 + 1e-9)).all()
        assert (found.cost_bound >= least * (1.0 - 10.0 * share) - 1e-12).all()


@pytest.mark.parametrize("power", [2.0, 3.0, 4.0])
def test_activations_lie_within_their_proved_distance(power):
    random = np.random.default_rng(11)
    problem, cost = one_moment(random, 30), ActivationPower(power)
    answer = solve(problem, cost)
    assert (activation_bound(problem, cost, answer) < 1e-5).all()
    # another sharing: the optimum of its own moments is within the distance
    spoilt = replace(
        answer,
        activation=np.clip(
            answer.activation * (1.0 + 1e-3 * random.normal(size=answer.activation.shape)), 0.0, 1.0
        ),
    )
    own = solve(problem.with_arrays(moment=problem.produced(spoilt.activation)), cost)
    distance = np.abs(own.activation - spoilt.activation)
    assert (distance <= activation_bound(problem, cost, spoilt) * (1.0 + 1e-9) + 1e-12).all()


def test_a_linear_cost_leaves_activations_as_far_as_the_bounds():
    problem = Problem([[0.05, 0.05]], [30.0], [1000.0, 1000.0], [1000.0, 1000.0])
    answer = solve(problem, ActivationPower(1.0))
    assert (
        answer.status == Status.SOLVED
        and (activation_bound(problem, ActivationPower(1.0), answer) > 0.1).any()
    )


def test_a_solved_frame_has_a_gap_of_at_most_the_limit(make_leg):
    for cost in SMOOTH:
        answer = solve(make_leg(20, seed=4), cost)
        assert answer.solved.all() and (answer.gap <= GAP).all()
        assert (answer.moment_error <= 1e-6).all() and (answer.cost_bound <= answer.cost * (1.0 + 1e-9)).all()


def test_the_bound_counts_the_round_off_of_moments_that_large_multipliers_weigh():
    """Arms alike to 1e-11: the least cost of the given moments was computed with fractions."""
    arm = [
        [-0.05839440745487227, -0.03506516382104444, -0.06359205164806132, -0.044491793469150984],
        [-0.058394407455665986, -0.035065163822787286, -0.06359205164837067, -0.044491793470795175],
    ]
    strength = [383.0, 573.0, 535.0, 691.0]
    problem = Problem(arm, [-33.62384537469082, -33.62384537534482], strength, strength)
    answer = solve(problem, ActivationPower(2.0))
    if answer.solved:
        assert answer.cost_bound <= 0.38720307622


def test_a_constraint_that_exact_activations_meet_is_not_proved_impossible():
    """All numbers are dyadic: a = (25/64, 0, 0) meets the moment and the equation, whose constant takes digits."""
    arm, slope = [0.203125, 0.1875, 0.203125], [-6.5, -3.0625, -103.625]
    problem = Problem([arm], [2.5390625], [32.0, 32.0, 512.0], [32.0, 32.0, 512.0])
    for constant in (-512.0, -32768.0):
        value = constant - 2.5390625
        held = expression_constraint(
            "held",
            lambda a, f, d, constant=constant: constant + sum(slope[i] * a[i] for i in range(3)),
            lower=value,
            upper=value,
        )
        assert solve_constrained(problem, "force_squared", held).status != Status.INFEASIBLE


def test_a_frame_that_round_off_leaves_undecided_is_not_diagnosed():
    arm = [
        [
            0.01271537500079522,
            0.0716437557996556,
            -0.04112229887599249,
            -0.023805118648376394,
            0.041983239925740046,
        ],
        [
            0.012715375000711654,
            0.07164375579949872,
            -0.04112229887618628,
            -0.02380511864843948,
            0.041983239925677276,
        ],
    ]
    strength = [
        71.71422725648165,
        48.3411824297782,
        2065.0776364245357,
        1304.323858223303,
        3897.6715471393736,
    ]
    upper = [
        0.08154507732081329,
        26.951636061947262,
        0.1644539731774007,
        0.06096995581313124,
        0.21055186168354018,
    ]
    problem = Problem(arm, [9.094838653235428, 9.09483865313443], strength, strength, upper=upper)
    assert diagnose(problem).frame.size == 0


def test_arrays_of_another_problem_are_refused_by_name():
    one = Problem([[0.05, 0.05]], [30.0], [1000.0, 1000.0], [1000.0, 1000.0])
    three = one.frames(np.zeros(3, int))
    answer = solve(one, "force_squared")
    numbers = answer.activation, answer.reserve, answer.multiplier
    with refused("bad_shape", "level_multiplier"):
        certify(one, "min_max", *numbers, np.zeros((4, 7)))
    with refused("bad_shape", "solution"):
        activation_bound(three, "force_squared", answer)
    with refused("bad_type", "solution"):
        activation_bound(one, "force_squared", None)
    with refused("bad_cost", "levels"):
        activation_bound(one, "min_max", answer)


class FourthPowerOfTarget(Cost):
    """Sum of (a - 0.3)^4."""

    name = "fourth_power_of_target"

    def term_value(self, problem, activation):
        return ((activation - 0.3) ** 4).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 4.0 * (activation - 0.3) ** 3

    def term_hessian_diagonal(self, problem, activation):
        return 12.0 * (activation - 0.3) ** 2

    def term_parameters(self, problem):
        return ()

    def term_expression(self, casadi, activation, parameters):
        return casadi.sum1((activation - 0.3) ** 4)


@pytest.mark.parametrize("moved", [1e-7, 1e-6, 1e-5])
def test_targets_above_the_lower_bound_do_not_loosen_the_certificate(moved):
    """At targets that are nearly met every marginal cost is tiny; a cost 1.4 % above the least is no least one."""
    problem = Problem([[0.05, 0.02]], [21.001], [1000.0, 1000.0], [1000.0, 1000.0])
    cost = FourthPowerOfTarget()
    best = np.array([0.3, 0.3]) + 0.001 / 50.0 / (1.0 + 0.4 ** (4 / 3)) * np.array([1.0, 0.4 ** (1 / 3)])
    multiplier = cost.gradient(problem, best[None])[0, 0] / 50.0
    spoiled = best + moved * np.array([-0.4, 1.0])
    above = cost.value(problem, spoiled[None])[0] / cost.value(problem, best[None])[0] - 1.0
    assert above > 1e-4
    assert not certify(problem, cost, spoiled[None], np.zeros((1, 1)), np.array([[multiplier]])).holds.any()
    answer = solve(problem, cost)
    assert answer.status == Status.SOLVED
    assert answer.cost <= cost.value(problem, best[None])[0] * (1.0 + 1e-6)
